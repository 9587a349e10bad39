"""Frequency oracles: how often each value of a domain is held, from reports that each person randomized."""
