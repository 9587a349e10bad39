"""Pure maths: exact rationals, directed rounding, divergences, distributions.

It knows nothing of privacy, reads no randomness and touches no file.
"""
