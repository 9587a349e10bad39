"""Sums of several parties, each of which adds its share of the noise, so that nobody sees an exact one."""
