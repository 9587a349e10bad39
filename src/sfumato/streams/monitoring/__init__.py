"""Monitors: alarms over a stream, charged once."""
