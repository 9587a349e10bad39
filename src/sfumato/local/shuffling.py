"""The shuffle model: reports lose their senders and their order, and reveal less of each person than they cost alone.

A separate process, the shuffler, collects the reports of n people and hands on the multiset of them, without order,
time, address or key. What a collector sees then is that of `shuffled`, if the shuffler does so and at least n people
report honestly. Reports that reach the collector with a key, a time or an order cost their own ε.
"""

from fractions import Fraction
from math import ceil, exp, expm1, inf, log, log1p, sqrt
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from sfumato.local.core.odds import local_epsilon
from sfumato.numeric.rationals import Number, open_probability, positive_integer
from sfumato.numeric.rounding import exp_bounds, float_up
from sfumato.privacy.events import FiniteEvent

Floats: TypeAlias = NDArray[np.float64]

LARGEST_CROWD: Final = 10**8
_BUCKETS: Final = 1000
_TAIL: Final = 1e-14
"""The mass that is left out at each end of each sum; it counts as not shuffled at all."""
_ERROR: Final = 1e-10
"""Above the relative error of the masses of SciPy, of their sums, and of logarithms."""
_GRID: Final = 1 << 128
_ROWS: Final = 400  # totals at which the distribution is worked out; those between count as the next lower one


def shuffled(epsilon: Number, *, reports: int) -> FiniteEvent:
    """What the shuffled reports of n people reveal of one of them, if each report alone has this ε.

    Whatever the protocol is, each other person acts as a clone of the one person with probability e^−ε: C of n − 1 do,
    and then A of C + 1 look like the first value. The pair of distributions is that of theorem 3.1 of [FMT21], by the
    size of its privacy loss: C ~ Bin(n − 1, e^−ε), A ~ Bin(C + 1, ½), and the loss
    ±ln((R·A + B)/(A + R·B)) with B = C + 1 − A and R = e^ε. Losses are rounded up to a grid.

    **Guarantee**: the event dominates the pair, and therefore the reports of every ε-differentially private protocol.
    Proof: proofs/local/shuffling.md.

    Args:
        epsilon: Of one report, from 10^−6 to 100.
        reports: n, how many people report honestly, from 1 to 10^8.

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> from sfumato.accounting import PLDAccountant
        >>> event = shuffled(1, reports=10_000)
        >>> round(float(PLDAccountant().compose(event).epsilon(delta="1e-6")), 3)
        0.053

    References:
        [FMT21].
    """
    alone, people = local_epsilon(epsilon), positive_integer(reports, "reports", most=LARGEST_CROWD)
    grid, weights = _losses(alone, people)
    held, other = list[Fraction](), list[Fraction]()
    left = _GRID
    for loss, weight in zip(grid[:-1], weights[:-1], strict=True):
        mass = min(int(weight * (1 - _ERROR) * _GRID), left)
        if mass:
            left -= mass
            _add(mass, Fraction(loss), held, other)
    _add(left, alone, held, other)
    return FiniteEvent(tuple(held), tuple(other))


def shuffled_epsilon(epsilon: Number, *, reports: int, delta: Number) -> float:
    """The ε of shuffled reports at a δ: at most that of one report, rounded up. A δ below 10^−10 gains nothing.

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> round(shuffled_epsilon(1, reports=10_000, delta="1e-6"), 3)
        0.053

    References:
        [FMT21] Theorem 3.1.
    """
    alone, people = local_epsilon(epsilon), positive_integer(reports, "reports", most=LARGEST_CROWD)
    wanted = float(open_probability(delta, "delta"))
    grid, weights = _losses(alone, people)
    shares = weights * (1 - _ERROR)
    shares[-1] += max(0.0, 1 - float(shares.sum()))

    def reached(tried: float) -> float:
        """Σ weight·max(0, (e^loss − e^tried)/(1 + e^loss)), enlarged."""
        over = np.maximum(0.0, -np.expm1(tried - grid)) / (1 + np.exp(-grid))
        return float(shares @ over) * (1 + _ERROR)

    low, high = 0.0, float_up(alone)
    if reached(low) <= wanted:
        return 0.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) > wanted else (low, middle)
    return high


def shuffled_epsilon_closed(epsilon: Number, *, reports: int, delta: Number) -> float:
    """The closed form of [FMT21]: 3 to 5 times larger than `shuffled_epsilon`, and infinite where it does not hold.

    ln(1 + (R − 1)/(R + 1)·(8·√(R·ln(4/δ)/n) + 8·R/n)), for ε ≤ ln(n/(16·ln(2/δ))).

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> round(shuffled_epsilon_closed(1, reports=10_000, delta="1e-6"), 5)
        0.21403

    References:
        [FMT21] Theorem 3.1.
    """
    alone = float(local_epsilon(epsilon))
    people = positive_integer(reports, "reports", most=LARGEST_CROWD)
    wanted = float(open_probability(delta, "delta"))
    if alone > log(people / (16 * (log(2) - log(wanted)))):
        return inf
    ratio = exp(alone)
    spread = 8 * sqrt(ratio * (log(4) - log(wanted)) / people) + 8 * ratio / people
    return log1p(expm1(alone) / (ratio + 1) * spread)


def _losses(epsilon: Fraction, reports: int) -> tuple[Floats, Floats]:
    """A grid of losses, and the weight of each: of all losses up to it that are above the one before.

    Fewer clones hide less. So totals are taken in steps, each as the least of its step, and what lies below the
    smallest has the whole ε, the last of the grid.
    """
    alone = float_up(epsilon)
    clones = binom(reports - 1, exp(-float(epsilon)) * (1 - _ERROR))
    first, last = int(clones.ppf(_TAIL)), int(clones.ppf(1 - _TAIL))
    starts = np.unique(np.linspace(first, last + 1, min(_ROWS, last + 1 - first) + 1).astype(np.int64))
    masses = clones.sf(starts[:-1] - 1) - clones.sf(starts[1:] - 1)
    most = alone
    if first > 0:
        middle = (first + 1) / 2
        reach = 9 * sqrt(first + 1) / 2
        most = min(alone, float(_loss(np.array([min(middle + reach, first + 1.0)]), first + 1, epsilon)[0]))
    grid = np.append(np.linspace(0, most, _BUCKETS), alone)
    weights = np.zeros(len(grid))
    for clone, mass in zip(starts[:-1].tolist(), masses.tolist(), strict=True):
        total = clone + 1
        low = int(binom.ppf(_TAIL, total, 0.5))
        ahead = np.arange(ceil(total / 2), total - low + 1)
        shares = binom.pmf(ahead, total, 0.5) * np.where(2 * ahead == total, 1.0, 2.0)
        losses = _loss(ahead.astype(np.float64), total, epsilon) * (1 + _ERROR)
        places = np.searchsorted(grid, losses).clip(max=len(grid) - 1)
        weights += mass * np.bincount(places, weights=shares, minlength=len(grid))
    return grid, weights


def _loss(ahead: Floats, total: int, epsilon: Fraction) -> Floats:
    """ln((R·a + b)/(a + R·b)) for a of the total, b = total − a ≤ a."""
    ratio = exp(-float(epsilon))
    behind = total - ahead
    losses: Floats = np.log1p((1 - ratio) * (ahead - behind) / (ratio * ahead + behind))
    return losses


def _add(mass: int, loss: Fraction, held: list[Fraction], other: list[Fraction]) -> None:
    """Two outcomes with so much mass together, of which one is e^loss times as likely under the first value."""
    precision = 128
    bound = exp_bounds(loss, precision)[0]  # below 2^128·e^−loss
    rarer = mass * bound // ((1 << precision) + bound)
    for_held, for_other = Fraction(mass - rarer, _GRID), Fraction(rarer, _GRID)
    held += [for_held, for_other]
    other += [for_other, for_held]
