"""Means and distributions of numbers, from reports that each person randomized."""
