"""Counters: events in, a noisy total out at every step."""
