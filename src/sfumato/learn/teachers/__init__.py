"""Teachers on disjoint parts of the rows vote on public rows; a student learns from their noisy votes."""
