"""Exact discrete Laplace noise without set-up: a geometric magnitude and a sign, zero counted once [CKS20].

Nothing is kept between calls, so this is also the sampler for a scale that is itself secret.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.noise import entropy
from sfumato.noise.domain import drawable
from sfumato.noise.laws.geometric import ATTEMPT_BITS, geometric_attempts, geometric_one
from sfumato.noise.uniform.integers import Integers
from sfumato.noise.uniform.rejection import accepted


def universal_laplace(scale: Fraction, size: int) -> Integers:
    """As `discrete_laplace`: `size` independent integers k with P(k) ∝ exp(−|k|/scale), exactly.

    **Guarantee**: no table is built for the scale and none is looked up. Proof: proofs/noise/laws/discrete_laplace.md.

    Example:
        >>> len(universal_laplace(Fraction(10, 3), 5))
        5
    """
    drawable(scale, "scale")
    return accepted(lambda count: laplace_attempts(scale, count), size)


def universal_laplace_one(scale: Fraction) -> int:
    """One draw of `universal_laplace`, of a scale that is known to be drawable."""
    while True:
        bits = int.from_bytes(entropy.random_bytes(ATTEMPT_BITS // 8 + 1))
        magnitude, negative = geometric_one(scale, bits >> 8), bits & 1
        if magnitude or (magnitude == 0 and not negative):
            return -magnitude if negative else magnitude


def laplace_attempts(scale: Fraction, count: int) -> Integers:
    """The draws that come out of `count` attempts, in order: a fair sign for each magnitude.

    −0 is discarded, or +0 and −0 together would count zero twice.
    """
    magnitudes = geometric_attempts(scale, entropy.random_words(count))
    negative = _fair_bits(len(magnitudes))
    signed: Integers = (magnitudes ^ -negative) + negative
    kept: Integers = signed[(magnitudes | (1 - negative)) != 0]
    return kept


def _fair_bits(count: int) -> NDArray[np.int64]:
    octets = np.frombuffer(entropy.random_bytes(count + 7 >> 3), dtype=np.uint8)
    return np.unpackbits(octets, count=count).astype(np.int64)
