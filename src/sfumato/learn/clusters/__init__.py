"""Clusters of rows: around noisy means of each."""
