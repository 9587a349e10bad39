"""Games, their limits and outcomes."""
