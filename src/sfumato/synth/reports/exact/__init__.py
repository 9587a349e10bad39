"""Exact comparisons, which read data without noise: for the owner alone."""
