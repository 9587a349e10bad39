"""What values are, and what functions and expressions make of them, in plain Python: as every engine keeps it."""
