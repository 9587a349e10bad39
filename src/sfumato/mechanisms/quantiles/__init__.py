"""Medians and other quantiles of values in public bounds."""
