"""Uniform numbers, and events of a given probability."""
