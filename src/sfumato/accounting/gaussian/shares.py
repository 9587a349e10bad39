"""Sums of discrete Gaussian shares: how far they are from one discrete Gaussian, and the share for a wanted ρ."""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, positive, positive_integer
from sfumato.numeric.rounding import exp_up, inflated
from sfumato.numeric.search import smallest_dyadic

_TWICE_PI_SQUARED: Final = Fraction(19739, 1000)  # below 2π²
_LARGEST_RATIO: Final = 0.25
_SEPARATE: Final = 64  # shares that are added up one by one; each later one is bounded by the first of them
_BITS: Final = 24  # of a calibrated stddev


def spread_up(*, stddev: Number, shares: int) -> float:
    """How far the sum of independent discrete Gaussian shares can be from one discrete Gaussian, rounded up.

    ln(P(sum = x)/G(x)) − ln(P(sum = y)/G(y)) for all integers x and y, where G is the discrete Gaussian of variance
    parameter shares·stddev². It is at most Σ ln((1 + 2q_k/(1 − q_k))/(1 − 2q_k)) over k from 1 to shares − 1, with
    q_k = exp(−2π²·stddev²·k/(k + 1)); infinite where some q_k is above 1/4.

    **Guarantee**: at or above the exact value. Proof: proofs/accounting/gaussian/shares.md.

    Args:
        stddev: The parameter of each share, above 0.
        shares: How many, 1 or more.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> spread_up(stddev=1, shares=1), round(spread_up(stddev=1, shares=2), 6)
        (0.0, 0.000207)

    References:
        [KLS21], which bounds it by 10·Σ exp(−2π²·stddev²·k/(k + 1)).
    """
    return _spread_up(positive(stddev, "stddev"), positive_integer(shares, "shares"))


def shares_rho_up(*, stddev: Number, shares: int, l2_sensitivity: Number, l0_sensitivity: int = 1) -> Fraction | None:
    """A ρ for which sums with so many shares of noise are ρ-zCDP; None where there is none.

    Δ²/(2·shares·stddev²) + l0_sensitivity·`spread_up`: the divergence of order α is at most α·Δ²/(2·shares·stddev²) +
    l0_sensitivity·spread, whatever α.

    **Guarantee**: for vectors of integers that one unit moves by at most Δ in L2, in at most `l0_sensitivity`
    coordinates, ρ-zero-concentrated differential privacy. Proof: proofs/accounting/gaussian/shares.md.

    Args:
        stddev: The parameter of each share, above 0.
        shares: How many honest ones there are at least.
        l2_sensitivity: Δ, above 0.
        l0_sensitivity: 1 or more.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> float(shares_rho_up(stddev=5, shares=4, l2_sensitivity=1))
        0.005

    References:
        [KLS21]; [BS16] for zCDP.
    """
    noise, count, distance = positive(stddev, "stddev"), positive_integer(shares, "shares"), l2_sensitivity
    spread = _spread_up(noise, count)
    if math.isinf(spread):
        return None
    moved = positive_integer(l0_sensitivity, "l0_sensitivity")
    return positive(distance, "l2_sensitivity") ** 2 / (2 * count * noise**2) + moved * Fraction(spread)


def share_stddev(*, rho: Number, shares: int, l2_sensitivity: Number, l0_sensitivity: int = 1) -> Fraction:
    """The smallest stddev of a share for which `shares_rho_up` is at most ρ, rounded up to a dyadic of 24 bits.

    Raises:
        ParameterError: A parameter is out of range, or no noise that can be drawn is enough.

    Example:
        >>> round(float(share_stddev(rho="0.005", shares=4, l2_sensitivity=1)), 4)
        5.0
    """
    wanted = positive(rho, "rho")
    arguments = {"shares": shares, "l2_sensitivity": l2_sensitivity, "l0_sensitivity": l0_sensitivity}

    def is_enough(stddev: Fraction) -> bool:
        cost = shares_rho_up(stddev=stddev, **arguments)  # type: ignore[arg-type] # each by its name
        return cost is not None and cost <= wanted

    found = smallest_dyadic(is_enough, guess=Fraction(1), bits=_BITS)
    if found is None:
        raise ParameterError("rho", rho, "is too small for noise that can be drawn")
    return found


@lru_cache(maxsize=1024)
def _spread_up(stddev: Fraction, shares: int) -> float:
    total = 0.0
    for k in range(1, min(shares, _SEPARATE + 1)):
        q = exp_up(-_TWICE_PI_SQUARED * stddev**2 * Fraction(k, k + 1))
        if q > _LARGEST_RATIO:
            return math.inf
        last = inflated(math.log1p(2 * q / (1 - q)) - math.log1p(-2 * q))
        total += last
    if shares - 1 > _SEPARATE:
        total += last * (shares - 1 - _SEPARATE)
    return inflated(total)
