"""Mechanisms whose running state is as private as what they release."""
