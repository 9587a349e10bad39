"""Locations: a place reported with planar noise, once, of a tile, or along a trace."""
