"""Exact Pólya (negative binomial) integers with a shape of at most 1: shares of geometric noise."""

from fractions import Fraction

import numpy as np

from sfumato.errors import ParameterError
from sfumato.noise.laws.geometric import geometric
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.noise.uniform.integers import Integers, narrow
from sfumato.noise.uniform.uniform_each import uniform_below_each


def polya(shape: Fraction, scale: Fraction, size: int) -> Integers:
    """`size` independent integers k ≥ 0 with P(k) = Γ(k + r)/(k!·Γ(r)) · (1 − q)^r · q^k, q = e^(−1/scale), exactly.

    n of them with r = 1/n add up to a geometric integer with ratio q, and the difference of two such sums is discrete
    Laplace noise. Here a geometric integer is broken into uniform pieces, as a stick is, and each piece is kept with
    probability r: about ln(scale) uniform integers and coins a draw.

    **Guarantee**: the law is exact. Proof: proofs/noise/laws/polya.md.

    Args:
        shape: r, a rational above 0 and at most 1.
        scale: A rational between 1/1000 and 2^50.
        size: How many, 0 or more.

    Returns:
        int64; Python integers if one of them does not fit.

    Raises:
        ParameterError: A parameter lies outside.

    Example:
        >>> shares = [polya(Fraction(1, 3), Fraction(10), 1000) for _ in range(3)]
        >>> bool((sum(shares) >= 0).all())
        True

    References:
        [GX17] for the use; [BM73] for the urn behind the pieces.
    """
    if not 0 < shape <= 1:
        raise ParameterError("shape", shape, "must be above 0 and at most 1")
    remaining = geometric(scale, size)
    kept = np.zeros_like(remaining)
    active = np.flatnonzero(remaining > 0)
    while len(active):
        pieces = uniform_below_each(remaining[active]) + 1
        mine = bernoulli(shape, len(active))
        kept[active[mine]] += pieces[mine]
        remaining[active] -= pieces
        active = active[remaining[active] > 0]
    return narrow(kept)
