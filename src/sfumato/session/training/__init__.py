"""Models that are fitted inside a session: what is read for them, and what stands for one in a plan."""
