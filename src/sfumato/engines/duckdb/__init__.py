"""Statements on DuckDB, which also reads files and frames."""
