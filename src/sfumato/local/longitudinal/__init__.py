"""Values that are reported again and again: devices remember permanent responses, and randomize them in each report."""
