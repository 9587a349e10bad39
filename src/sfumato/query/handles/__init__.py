"""Columns in Python: handles that make expressions, with operators and functions."""
