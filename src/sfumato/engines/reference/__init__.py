"""Statements in plain Python: slow, and what all engines are compared with."""
