"""Runs of what is audited, and the findings they lead to."""
