"""Noise that each of several parties adds a share of."""
