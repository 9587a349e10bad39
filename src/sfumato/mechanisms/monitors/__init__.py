"""Alarms over a stream: which ticks lie beyond a threshold."""
