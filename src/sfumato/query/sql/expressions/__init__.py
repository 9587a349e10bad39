"""Expressions of SQL by an allow-list: constants, truth, numbers, text, dates and times; rules by the parsed node."""
