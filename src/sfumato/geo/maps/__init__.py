"""Noisy maps: public cells, their counts and means through a session, GeoJSON, pictures and pages."""
