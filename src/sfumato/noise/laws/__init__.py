"""Exact samplers, one distribution each."""
