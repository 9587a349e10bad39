"""Statements on PostgreSQL, and what its catalog says."""
