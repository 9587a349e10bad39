"""Statements on PostgreSQL, and what its catalogue says."""
