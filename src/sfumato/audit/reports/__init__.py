"""Findings on a page, and on the command line."""
