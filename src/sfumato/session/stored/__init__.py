"""Answers that are kept, and found again."""
