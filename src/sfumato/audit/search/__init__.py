"""The event that refutes a guarantee best."""
