"""Exact planar Laplace noise on whole places: probability falls with the distance in the plane [ABCP13].

A place is proposed by two independent discrete Laplace integers and kept with a probability that makes the square's
diamonds round. Nearly four in five are kept, whatever the scale.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import isqrt
from typing import Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.laws.discrete_laplace import discrete_laplace
from sfumato.noise.uniform.bernoulli import MARGIN, WORD, Booleans, below
from sfumato.noise.uniform.integers import SMALLEST_SCALE, Integers
from sfumato.noise.uniform.uniform import accepted
from sfumato.numeric.rounding import exp_bounds

LARGEST_PLANAR_SCALE: Final = 1 << 40

_SLOPE: Final = Fraction(70, 99)
"""Below 1/√2, so that slope · (|u| + |v|) is at most √(u² + v²)."""
_FARTHEST: Final = 64.0  # scales, up to which the float of an exponent is right to 2^−42
_ULP: Final = 2.0**-53


def planar_laplace(scale: Fraction, size: int) -> Integers:
    """`size` independent places (u, v) of whole numbers with P(u, v) ∝ exp(−√(u² + v²)/scale), exactly.

    u and v are proposed with probability ∝ exp(−slope·|u|/scale) each, slope = 70/99, and kept with probability
    exp(−(√(u² + v²) − slope·(|u| + |v|))/scale). A float decides where its error cannot; elsewhere the root is enclosed
    by whole numbers until the coin is decided.

    **Guarantee**: the distribution is exact, on all of the plane. Its normalizer is the same wherever it is centered.
    Proof: proofs/noise/laws/planar_laplace.md.

    Args:
        scale: A rational between 1/1000 and 2^40, in steps of the lattice.
        size: How many, 0 or more.

    Returns:
        `size` rows of two: int64, or Python integers if one of them does not fit.

    Raises:
        ParameterError: The scale or the size is out of range.

    Example:
        >>> planar_laplace(Fraction(10, 3), 5).shape
        (5, 2)

    References:
        [ABCP13] for the continuous distribution.
    """
    if not SMALLEST_SCALE <= scale <= LARGEST_PLANAR_SCALE:
        raise ParameterError("scale", scale, "must lie between 1/1000 and 2^40 cells; change ε or the cells")
    return accepted(partial(_attempts, scale), size)


def _attempts(scale: Fraction, count: int) -> Integers:
    """The places that come out of `count` proposals, in order."""
    across, up = (discrete_laplace(scale / _SLOPE, count) for _ in range(2))
    x, y = np.abs(across).astype(np.float64), np.abs(up).astype(np.float64)
    distances = np.hypot(x, y) / float(scale)
    exponents = distances - (x + y) * (float(_SLOPE) / float(scale))
    words = entropy.random_words(count)
    differences = np.exp(-exponents) - (words >> np.uint64(11)).view(np.int64) * _ULP
    kept: Booleans = differences > 0
    for i in np.flatnonzero((np.abs(differences) <= MARGIN) | (distances > _FARTHEST)).tolist():
        kept[i] = below(int(words[i]), WORD, keeping(scale, int(across[i]), int(up[i])))
    places: Integers = np.stack([across, up], axis=1)[kept]
    return places


def keeping(scale: Fraction, across: int, up: int) -> Callable[[int], tuple[int, int]]:
    """Bounds, at any precision, of the probability with which a proposed place is kept.

    Example:
        >>> keeping(Fraction(1), 3, 4)(10)  # 2^10·exp(−(5 − 490/99)): the root is whole
        (973, 974)
    """
    square, along = across**2 + up**2, _SLOPE * (abs(across) + abs(up))

    def bounds(precision: int) -> tuple[int, int]:
        bits = precision + 2 + max(0, (1 / scale).numerator.bit_length() - scale.numerator.bit_length() + 1)
        root = isqrt(square << 2 * bits)
        is_whole = root * root == square << 2 * bits
        near, far = Fraction(root, 1 << bits), Fraction(root + (not is_whole), 1 << bits)
        least, most = max(Fraction(0), near - along) / scale, max(Fraction(0), far - along) / scale
        return exp_bounds(most, precision)[0], exp_bounds(least, precision)[1]

    return bounds
