"""Flows between places, synthesized from counts and a public prior."""
