"""Numbers with noise added."""
