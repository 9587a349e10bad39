"""Noise that follows how much the data at hand can change an answer."""
