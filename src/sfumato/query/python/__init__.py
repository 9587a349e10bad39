"""Questions asked in Python: frames and expressions of columns."""
