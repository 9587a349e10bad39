"""Many sums of the same numbers, answered together."""
