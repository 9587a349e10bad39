"""Fits by the name and the arguments of an estimator: how a client orders them, and how servers plan them."""
