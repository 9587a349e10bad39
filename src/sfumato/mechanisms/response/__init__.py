"""Answers that each person changes at random."""
