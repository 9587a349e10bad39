"""Synthetic data of two tables: units, and their rows in another table."""
