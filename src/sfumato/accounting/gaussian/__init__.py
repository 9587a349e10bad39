"""Gaussian noise and its kin: exact curves, zero-concentrated and Gaussian privacy."""
