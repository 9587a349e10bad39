"""Counters that release at every tick of a public clock: noise for a whole horizon, without a budget of their own."""
