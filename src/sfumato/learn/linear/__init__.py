"""Models that are linear in their features."""
