"""Distributions drawn from tables of their probabilities."""
