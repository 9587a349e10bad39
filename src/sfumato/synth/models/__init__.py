"""Graphical models: fitted to released noisy marginals, in NumPy alone."""
