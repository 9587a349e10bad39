"""Federated learning: many owners with samples of their own train one network, and the privacy unit is an owner."""
