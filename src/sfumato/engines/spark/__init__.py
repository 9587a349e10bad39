"""Statements on Spark."""
