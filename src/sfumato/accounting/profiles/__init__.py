"""Privacy profiles of single events: certified bounds of δ(ε) on both sides."""
