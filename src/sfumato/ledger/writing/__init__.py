"""What may be written, in which order, by whom."""
