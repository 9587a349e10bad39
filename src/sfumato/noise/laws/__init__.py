"""Exact samplers, one law each."""
