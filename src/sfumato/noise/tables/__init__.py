"""Laws drawn from tables of their probabilities."""
