"""A parameter drawn from its posterior."""
