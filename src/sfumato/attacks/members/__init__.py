"""Whether a person is in the data."""
