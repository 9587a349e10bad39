"""Conformal prediction: sets and intervals around the predictions of a private model, with a stated coverage."""
