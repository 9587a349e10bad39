"""An exact test of P(S) ≤ e^ε·Q(S) + δ by bets against it, and a ranking of events by the ε that it would refute.

Each run is one bet, whose stake was fixed on other runs. If the claim holds no bet gains on average, so wealth that
began at 1 reaches 1/α with probability at most α. One test weighs both databases at once, where two confidence limits
would add the errors of both.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from sfumato.accounting.core.conversions import group
from sfumato.audit.search.bounds import Count
from sfumato.numeric.rounding import exp_up, float_up
from sfumato.privacy.guarantees import ApproxDP, NoGuarantee

Array: TypeAlias = NDArray[np.float64]
Pair: TypeAlias = tuple[Count, Count]
Gains: TypeAlias = tuple[Array, Array, Array, Array]
Counts: TypeAlias = NDArray[np.int64]

_ROUNDING: Final = 1e-6  # of the logarithm of a wealth, a sum of four products
_SHARES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the likelier side's chance, which the runs without the event pay
_BISECTIONS: Final = 30
_SAME: Final = 1e-11  # relative; far less than any bound is worth
_UP: Final = 1 + 1e-12  # more than some operations on doubles lose
_LARGEST_EXPONENT: Final = 230.0
_BOLDEST: Final = 1 - 1e-9
_LARGEST_FACTOR: Final = 1e100  # as e^ε; larger ones are refuted by nothing that anybody can count
_EPSILONS: Final = np.arange(0, 20, 0.01)
_DELTAS: Final = np.unique(np.concatenate([[0.0], np.geomspace(1e-9, 0.1, 500), np.arange(0.001, 1, 0.001)]))
_WIDEST: Final = 24.0  # of ε, either way; no sample that anybody draws comes near it
_PRECISION: Final = 2.0**-10


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What the test that follows a search will ask of an event.

    An event that is only a little likelier than a claim allows may still be the one that bounds ε best, and one that
    happened five times of five the one that bounds it worst. So events are not scored by how far they lie beyond the
    claim, but by their lower limit.

    Args:
        runs: The number of runs on each side of the search.
        delta: The claimed δ.
        significance: The significance of the test.
        distance: The number of steps between the databases.

    Example:
        >>> pure = Ranking(runs=1000, delta=Fraction(0), significance=1e-6)
        >>> limit, place = pure.strongest(np.array([5, 500]), np.array([0, 50]))
        >>> place, round(limit, 1)
        (1, 1.6)
    """

    runs: int
    delta: Fraction
    significance: float
    distance: int = 1

    def strongest(self, likelier: Counts, other: Counts) -> tuple[float, int]:
        """The largest ε that one of many events would refute, and the place of that event.

        Args:
            likelier: The count of each event on the side where it seems likelier.
            other: The count of each event on the other side.
        """
        wanted = -math.log(self.significance)
        low, high, kept = -_WIDEST, _WIDEST, np.arange(len(likelier))
        strengths = self._evidence(likelier, other, low)
        while high - low > _PRECISION:
            middle = (low + high) / 2
            tried = self._evidence(likelier[kept], other[kept], middle)
            enough = tried >= wanted
            if enough.any():
                low, kept, strengths = middle, kept[enough], tried[enough]
            else:
                high = middle
        return low, int(kept[strengths.argmax()])

    def _evidence(self, likelier: Counts, other: Counts, epsilon: float) -> NDArray[np.float64]:
        """About −ln of what the test would say of each event against this ε, or 0 where the two agree."""
        factors, growths = along(np.array([epsilon]), distance=self.distance)
        factor, delta = float(factors[0]), float(self.delta) * float(growths[0])
        if self.delta == 0:  # Chernoff's exponent of the conditional binomial test
            total, share = likelier + other, factor / (1 + factor)
            exponent = xlogy(likelier, likelier / np.maximum(total * share, 1e-300))
            exponent += xlogy(other, other / np.maximum(total * (1 - share), 1e-300))
            return np.where(likelier > total * share, exponent, 0.0)
        if delta >= 1:
            return np.zeros(len(likelier))
        return growth(likelier, other, runs=self.runs, factor=factor, delta=delta)


@dataclass(frozen=True, slots=True)
class Bettor:
    """Stakes from what was seen in runs that are not those of the test.

    On the likelier side a run pays m and wins 1 if S happened; on the other it pays e^ε if S happened and wins m − δ.
    Both are multiplied by a stake λ. With p ≤ e^ε·q + δ the average gain, over the coin too, is λ(p − δ − e^ε·q)/2 ≤ 0.

    **Guarantee**: for runs divided by fair coins, and an event chosen without them, each bound exceeds the true value
    with probability at most `significance`. So is the probability that one of them refutes a true claim. Proof:
    proofs/audit/search/bets.md.

    Databases that are d steps apart are tested against what the claim promises to groups of d units, and the bounds
    are those of one unit.

    Args:
        first: The count of the event on the side where it seems likelier.
        second: The count of the event on the other side.
        distance: d, how many steps apart the databases are.

    References:
        [WR24] for tests by betting; [DR14] Theorem 2.2 for groups.
    """

    first: Count
    second: Count
    distance: int = 1

    def epsilon_lower_bound(self, first: Count, second: Count, *, claim: ApproxDP, significance: float) -> float:
        """An ε that the mechanism cannot undercut at the claimed δ; −∞ where the counts say nothing.

        Args:
            first: The count in the test on the side where the event seems likelier.
            second: The count in the test on the other side.
            claim: ε lies on the grid of those that are tried, so that a refuted claim is always below the bound.
            significance: The probability that the bound is wrong.

        Example:
            >>> claim = ApproxDP(1, "0.001")
            >>> counts = Count(500, 1000), Count(50, 1000)
            >>> bettor = Bettor(*counts)
            >>> round(bettor.epsilon_lower_bound(*counts, claim=claim, significance=1e-6), 2)
            1.63
        """
        epsilons, at = _with(_EPSILONS, float(claim.epsilon))
        factors, growths = along(epsilons, distance=self.distance)
        deltas = np.minimum(float_up(claim.delta) * growths, 1)
        factors[at], deltas[at] = self._claimed(claim)
        refuted = self._refuted((first, second), factors, deltas, significance)
        last = _first_kept(refuted) - 1
        if last < 0:
            return -math.inf
        found = float(epsilons[last])
        return max(found, math.nextafter(float(claim.epsilon), math.inf)) if last >= at else found

    def delta_lower_bound(self, first: Count, second: Count, *, claim: ApproxDP, significance: float) -> float:
        """A δ that the mechanism cannot undercut at the claimed ε: 0 where the counts say nothing.

        Args:
            first: The count in the test on the side where the event seems likelier.
            second: The count in the test on the other side.
            claim: δ lies on the grid of those that are tried.
            significance: The probability that the bound is wrong.

        Example:
            >>> counts = Count(500, 1000), Count(50, 1000)
            >>> claim = ApproxDP(1, "0.001")
            >>> round(Bettor(*counts).delta_lower_bound(*counts, claim=claim, significance=1e-6), 2)
            0.22
        """
        claimed = float_up(claim.delta)
        each, at = _with(_DELTAS, claimed)
        factors, growths = along(np.full(len(each), float(claim.epsilon)), distance=self.distance)
        deltas = np.minimum(each * growths, 1)
        factors[:], deltas[at] = self._claimed(claim)
        # Without δ every bet is one on the database given that S happened, which the conditional test refutes too.
        shares = _SHARES if claim.delta > 0 else _SHARES[:1]
        last = _first_kept(self._refuted((first, second), factors, deltas, significance, shares)) - 1
        if last < 0:
            return 0.0
        found = float(each[last])
        return max(found, math.nextafter(claimed, math.inf)) if last >= at else found

    def _claimed(self, claim: ApproxDP) -> tuple[float, float]:
        """What the claim itself promises to databases so far apart: e^ε and δ, rounded up."""
        factor, together = min(exp_up(claim.epsilon * self.distance), _LARGEST_FACTOR), group(claim, self.distance)
        return factor, 1.0 if isinstance(together, NoGuarantee) else float_up(together.delta)

    def _refuted(
        self, tested: Pair, factors: Array, deltas: Array, significance: float, shares: tuple[float, ...] = _SHARES
    ) -> NDArray[np.bool_]:
        gains, stake = self.bets(factors, deltas, shares=shares)
        return np.asarray(_log_wealth(_tally(tested), gains, stake) - _ROUNDING >= -math.log(significance))

    def bets(self, factors: Array, deltas: Array, *, shares: tuple[float, ...] = _SHARES) -> tuple[Gains, Array]:
        """Against each claim the bets that would have made most of what was seen.

        Args:
            factors: e^ε of each claim.
            deltas: δ of each claim.
            shares: Shares of the probability of S, which runs without S pay; 0 takes δ/2 instead.

        Returns:
            What a run in each of the four cells gains at a stake of 1, and the stake.
        """
        seen, smoothed = _tally((self.first, self.second)), _tally((self.first, self.second), prior=0.5)
        chance = (self.first.events + 0.5) / (self.first.runs + 1)
        best, paid, stake = np.full(len(factors), -math.inf), deltas / 2, np.zeros(len(factors))
        for share in shares:
            tried = deltas / 2 if share == 0 else np.full(len(factors), share * chance)
            gains = _gains(factors, deltas, tried)
            staked = _best_stake(smoothed, gains)
            hoped = _log_wealth(seen, gains, staked)
            paid, stake = np.where(hoped > best, tried, paid), np.where(hoped > best, staked, stake)
            best = np.maximum(hoped, best)
        return _gains(factors, deltas, paid), stake


def along(epsilons: Array, *, distance: int) -> tuple[Array, Array]:
    """What ε promises to databases d steps apart, rounded up: e^(dε), and Σ_{i<d} e^(iε), by which δ grows.

    Args:
        epsilons: Some ε, of one step; those below 0 are no promises, but a search ranks by them.
        distance: d.

    Example:
        >>> [found.round(2).tolist() for found in along(np.array([0.0, 1.0]), distance=2)]
        [[1.0, 7.39], [2.0, 3.72]]
    """
    steps = np.outer(np.arange(distance + 1), epsilons)
    powers = np.exp(np.clip(steps, -_LARGEST_EXPONENT, _LARGEST_EXPONENT)) * _UP
    return powers[-1], powers[:-1].sum(axis=0) * _UP


def growth(likelier: NDArray[np.int64], other: NDArray[np.int64], *, runs: int, factor: float, delta: float) -> Array:
    """The largest log-wealth that bets on each of many events could have reached; 0 where none gains.

    Runs without the event pay δ/2 here, whichever side they are on, so that the best stake has a closed form.

    Args:
        likelier: The count of each event on the side where it seems likelier.
        other: The count of each event on the other side.
        runs: The number of runs on each side.
        factor: e^ε.
        delta: δ, below 1.

    Example:
        >>> growth(np.array([50, 10]), np.array([2, 10]), runs=100, factor=1.0, delta=0.1).round(1).tolist()
        [18.7, 0.0]
    """
    win, loss, fee = 1 - delta / 2, factor + delta / 2, delta / 2
    neither = 2 * runs - likelier - other
    constant = likelier * win - other * loss - neither * fee
    slope = likelier * win * (loss + fee) + other * loss * (win - fee) + neither * fee * (win - loss)
    square = 2.0 * runs * win * loss * fee
    root = np.sqrt(np.maximum(slope**2 - 4 * square * constant, 0))
    stake = np.clip(2 * constant / np.maximum(slope + root, 1e-300), 0, _BOLDEST / loss)
    return np.asarray(
        likelier * np.log1p(stake * win) + other * np.log1p(-stake * loss) + neither * np.log1p(-stake * fee)
    )


def _tally(pair: Pair, *, prior: float = 0.0) -> tuple[float, float, float, float]:
    """How often S happened and did not, on the likelier side and then on the other."""
    first, second = pair
    return (
        first.events + prior,
        first.runs - first.events + prior,
        second.events + prior,
        second.runs - second.events + prior,
    )


def _gains(factors: Array, deltas: Array, paid: Array) -> Gains:
    """Of a run in each of the four cells, at a stake of 1."""
    return 1 - paid, -paid, paid - deltas - factors, paid - deltas


def _best_stake(counts: tuple[float, ...], gains: Gains) -> Array:
    """Where the logarithm of the wealth, a concave function of the stake, is largest."""
    worst = -np.minimum.reduce(gains)
    low, high = np.zeros(len(worst)), _BOLDEST / np.maximum(worst, 1e-300)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        rising = sum(count * gain / (1 + middle * gain) for count, gain in zip(counts, gains, strict=True)) > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    return low


def _log_wealth(counts: tuple[float, ...], gains: Gains, stake: Array) -> Array:
    return np.asarray(sum(count * np.log1p(stake * gain) for count, gain in zip(counts, gains, strict=True)))


def _with(grid: Array, claimed: float) -> tuple[Array, int]:
    """A rising grid with the claim in the place of values within rounding of it, and that place."""
    kept = grid[np.abs(grid - claimed) > _SAME * claimed]
    at = int(np.searchsorted(kept, claimed))
    return np.insert(kept, at, claimed), at


def _first_kept(refuted: NDArray[np.bool_]) -> int:
    """How many claims are refuted before the first that is not."""
    return len(refuted) if refuted.all() else int(np.argmin(refuted))
