"""How well one report hides in a crowd: the distribution of the privacy loss of shuffled reports, rounded up."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import expm1, sqrt
from typing import Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.local.core.odds import local_epsilon, odds
from sfumato.local.core.protocol import LocalProtocol
from sfumato.local.frequency.direct import DirectEncoding
from sfumato.numeric.rationals import Number, positive_integer
from sfumato.numeric.rounding import exp_bounds, exp_down, float_up
from sfumato.privacy.events import FiniteEvent

Floats: TypeAlias = NDArray[np.float64]

LARGEST_CROWD: Final = 10**8
_BUCKETS: Final = 1000
_TAIL: Final = 1e-14
"""The mass that is left out at each end of each sum; it counts as not shuffled at all."""
_ERROR: Final = 1e-10
"""Above the relative error of all masses, of their sums, and of losses."""
_GRID: Final = 1 << 128
_ROWS: Final = 200  # numbers of people at the two values, of each parity; those between are rounded
_FEWER_ROWS: Final = 100  # where each of them has
_COLUMNS: Final = 24  # numbers of people at the third thing; those between count as the next lower one


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """Others among whose reports one person's report hides, if all that differs are two values.

    Each of the others reports, whatever they hold: one of the two values, both equally often, with probability `near`;
    or a third thing with probability `far`. What they report otherwise is given to the adversary. The person reports
    the third thing with probability `aside`, and otherwise a value that is the true one R times as often as the other.

    Attributes:
        epsilon: ln R, or a little more.
        ratio: R, or a little more.
        others: How many there are.
        near: At most the probability of the two values.
        far: At most the probability of the third thing.
        aside: The probability that the person says nothing of the two values.
    """

    epsilon: Fraction
    ratio: float
    others: int
    near: float
    far: float
    aside: float

    @classmethod
    def of_any(cls, epsilon: Fraction, reports: int) -> Self:
        """Clones of a report of any protocol: each other person is one with probability e^−ε.

        References:
            [FMT21] Theorem 3.1.
        """
        return cls(
            epsilon=epsilon, ratio=1 + expm1(float_up(epsilon)) * (1 + _ERROR), others=reports - 1,
            near=exp_down(-epsilon) * (1 - _ERROR), far=0.0, aside=0.0,
        )  # fmt: skip

    @classmethod
    def of_direct(cls, epsilon: Fraction, realized: Fraction, values: int, reports: int) -> Self:
        """Those who answer k-ary randomized response uniformly, with probability k/(R + k − 1): their blanket.

        References:
            [BBGN19] Section 3.
        """
        ratio = odds(epsilon)
        each = 1 / (ratio + values - 1)
        near, far = 2 * each, (values - 2) * each
        return cls(
            epsilon=realized, ratio=float(ratio) * (1 + _ERROR), others=reports - 1, near=float(near) * (1 - _ERROR),
            far=float(far) * (1 - 3 * _ERROR), aside=float(far),
        )  # fmt: skip

    def losses(self) -> tuple[Floats, Floats]:
        """A grid of losses, and the weight of each: of all losses up to it that are above the one before.

        Of s people at the two values, a at the one and b at the other, and c at the third thing, the loss is
        ±ln((R·a + b + c)/(a + R·b + c)). It grows with |a − b| and falls with s and c. So numbers are taken in steps:
        s and c as the least of a step, and |a − b| as that of the largest s, which is of the same parity.
        """
        first, masses = binomial_masses(self.others, self.near)
        least = self.others - first - len(masses) + 1  # who remain, if as many as can be are at the two values
        share = self.far / (1 - self.near)
        alone = float_up(self.epsilon)
        grid = np.append(np.linspace(0, self._largest(first, max(0, least), share), _BUCKETS), alone)
        reach = np.tanh(grid / 2) * ((1 - _ERROR) / (self.ratio - 1))
        below = np.zeros(len(grid))
        for themselves, chance in ((1, 1 - self.aside), (0, self.aside)):
            if not chance:
                continue
            for parity in (0, 1):
                counts = masses[parity::2]
                for start, end in _steps(len(counts), _FEWER_ROWS if share else _ROWS):
                    low, high = (first + parity + 2 * at for at in (start, end - 1))
                    mass = chance * float(counts[start:end].sum())
                    below += mass * self._below(
                        2 * reach, least=low + themselves, most=high + themselves,
                        rest=binomial_masses(self.others - high, share), more=1 - themselves,
                    )  # fmt: skip
        weights = np.diff(below, prepend=0.0)
        weights[-1] = max(0.0, 1 - below[-2])
        return grid, weights

    def _largest(self, first: int, remaining: int, share: float) -> float:
        """A loss that hardly any is above, where people are as few as they can be."""
        alone = float_up(self.epsilon)
        if first == 0:
            return alone
        others = binomial_masses(remaining, share)[0]
        ahead = min(9 * sqrt(first), float(first))
        total = 2 * (first + others) + (self.ratio - 1) * first
        return min(alone, float(2 * np.arctanh(min((self.ratio - 1) * ahead / total, 1 - 1e-15))))

    def _below(self, reach: Floats, *, least: int, most: int, rest: tuple[int, Floats], more: int) -> Floats:
        """The probability of losses up to each of the grid, where between `least` and `most` people are at the two."""
        begin, halves = binomial_masses(most, 0.5)
        odd = most % 2
        spread = 2 * halves[(most + 1) // 2 - begin :]
        spread[0] /= 2 - odd  # where nobody is ahead
        upto = np.append(0.0, np.cumsum(spread))
        start, masses = rest
        below = np.zeros(len(reach))
        for low, high in _steps(len(masses), _COLUMNS):
            total = (start + low + more + least) + (self.ratio - 1) * least / 2
            places = np.minimum((reach * total - odd) // 2, len(spread) - 1).astype(np.int64) + 1
            below += float(masses[low:high].sum()) * upto[np.maximum(places, 0)]
        return below


def binomial_masses(trials: int, probability: float) -> tuple[int, Floats]:
    """The probabilities of a binomial, but for `_TAIL` at each end: where they begin, and their values.

    Ratios of neighbors are multiplied from the middle on and then divided by their sum, so that each one is right to
    far less than `_ERROR`.

    Example:
        >>> first, masses = binomial_masses(2, 0.5)
        >>> first, masses.round(6).tolist()
        (0, [0.25, 0.5, 0.25])
    """
    mean = trials * probability
    reach = 10 * sqrt(mean * (1 - probability)) + 60
    first, last = max(0, int(mean - reach)), min(trials, int(mean + reach) + 1)
    middle = min(int(mean), last)
    up, down = np.arange(middle + 1, last + 1, dtype=np.float64), np.arange(middle, first, -1, dtype=np.float64)
    odds_of = probability / (1 - probability)
    above = np.cumprod((trials - up + 1) / up * odds_of)
    below = np.cumprod(down / (trials - down + 1) / odds_of) if len(down) else down
    masses = np.concatenate((below[::-1], [1.0], above))
    masses /= masses.sum()
    kept = np.flatnonzero((np.cumsum(masses) > _TAIL) & (np.cumsum(masses[::-1])[::-1] > _TAIL))
    return first + int(kept[0]), masses[kept[0] : kept[-1] + 1]


def _steps(items: int, most: int) -> list[tuple[int, int]]:
    """So many steps at most that together are all items, each with its end."""
    ends = np.unique(np.linspace(0, items, min(items, most) + 1).astype(np.int64)).tolist()
    return list(pairwise(ends))


def crowd_of(reported: LocalProtocol | Number, *, reports: int) -> Crowd:
    """Those among whom a report hides: a protocol's own crowd where it has one, and else clones by ε alone.

    Args:
        reported: The protocol of all reports, or the ε of one of them.
        reports: How many people report honestly, with the one in question.

    Raises:
        ParameterError: An argument is out of range.
    """
    people = positive_integer(reports, "reports", most=LARGEST_CROWD)
    match reported:
        case DirectEncoding():
            return Crowd.of_direct(reported.epsilon, reported.realized_epsilon, len(reported.domain), people)
        case LocalProtocol():
            return Crowd.of_any(reported.realized_epsilon, people)
        case _:
            return Crowd.of_any(local_epsilon(reported), people)


def dominating_event(crowd: Crowd) -> FiniteEvent:
    """The pair of distributions of a crowd's losses, each of them rounded up, in exact rationals.

    **Guarantee**: the pair dominates that of the crowd. Proof: proofs/local/shuffle/crowds.md.

    Example:
        >>> event = dominating_event(Crowd.of_any(Fraction(1), 1))
        >>> round(float(max(event.p) / min(event.p)), 4)
        2.7183
    """
    grid, weights = crowd.losses()
    held, other = list[Fraction](), list[Fraction]()
    remaining = _GRID
    for loss, weight in zip(grid[:-1], weights[:-1], strict=True):
        mass = min(int(weight * (1 - _ERROR) * _GRID), remaining)
        if mass:
            remaining -= mass
            _add(mass, Fraction(loss), held, other)
    _add(remaining, crowd.epsilon, held, other)
    return FiniteEvent(tuple(held), tuple(other))


def crowd_epsilon(crowd: Crowd, delta: float) -> float:
    """The ε of a crowd at a δ, rounded up: at most that of one report. A δ below 10^−10 gains nothing."""
    grid, weights = crowd.losses()
    shares = weights * (1 - _ERROR)
    shares[-1] += max(0.0, 1 - float(shares.sum()))

    def reached(tried: float) -> float:
        """Σ weight·max(0, (e^loss − e^tried)/(1 + e^loss)), enlarged."""
        over = np.maximum(0.0, -np.expm1(tried - grid)) / (1 + np.exp(-grid))
        return float(shares @ over) * (1 + _ERROR)

    low, high = 0.0, float_up(crowd.epsilon)
    if reached(low) <= delta:
        return 0.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) > delta else (low, middle)
    return high


def _add(mass: int, loss: Fraction, held: list[Fraction], other: list[Fraction]) -> None:
    """Two outcomes with so much mass together, of which one is e^loss times as likely under the first value."""
    precision = 128
    bound = exp_bounds(loss, precision)[0]  # below 2^128·e^−loss
    rarer = mass * bound // ((1 << precision) + bound)
    for_held, for_other = Fraction(mass - rarer, _GRID), Fraction(rarer, _GRID)
    held += [for_held, for_other]
    other += [for_other, for_held]
