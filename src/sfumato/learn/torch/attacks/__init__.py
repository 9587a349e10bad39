"""Attacks on the training of networks: what an update gives away of the example that it was computed from."""
