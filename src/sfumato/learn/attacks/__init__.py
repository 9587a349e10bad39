"""Attacks on models: rows chosen by coins, scores of attacks, and what they say of a claim."""
