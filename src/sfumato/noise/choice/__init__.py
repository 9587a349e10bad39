"""One of several candidates, by exact probabilities."""
