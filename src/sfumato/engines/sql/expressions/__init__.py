"""Expressions in SQL, by kind: numbers, text, days, casts."""
