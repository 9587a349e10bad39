"""Forests: trees that split at random, on the public lattice of columns, with noisy counts in their leaves."""
