"""People found again in data without names."""
