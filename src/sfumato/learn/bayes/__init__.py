"""Naive Bayes: models whose features are independent within a class, from noisy tallies of each."""
