"""Sketches, for texts and large domains: a report says a little of one row, which has a public hash function."""
