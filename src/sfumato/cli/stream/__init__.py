"""`sfumato stream`: events from standard input, noisy sums at every tick of the clock."""
