"""Exact samplers: integers whose distribution is the one in the formula, bit for bit.

Every sampler is made of uniform integers and comparisons of integers, so no floating-point rounding shapes the noise.
Entropy is read in `entropy` alone; nothing here takes a seed, and nothing here knows what the noise is for.
It does not run in constant time: rejection loops and memory access leak timing, as in every peer.
"""
