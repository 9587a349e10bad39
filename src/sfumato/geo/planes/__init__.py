"""Planes: from latitude and longitude to meters, and the grids of public cells there."""
