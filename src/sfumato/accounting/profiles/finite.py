"""Privacy profiles of finitely many losses: probability vectors, the worst (ε, δ) pair, a bounded range."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Final

import numpy as np

from sfumato.accounting.profiles.profile import MARGIN, TINY, ULP, Array, Profile, exp_down, float_down, share
from sfumato.numeric.rounding import float_up, log_near, log_up


@dataclass(frozen=True, slots=True)
class FinitePair(Profile):
    """One outcome drawn from p against one drawn from q: δ(ε) = Σ max(p − e^ε q, 0).

    **Guarantee**: the sums are of exact rationals, and their bounds are within 1e-14 + ε·2e-14 of P(S).
    """

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ at each ε."""
        table = _table(self)
        index = np.searchsorted(table.losses, epsilon, side="right")
        error = ULP * (80 * epsilon + 4 * table.log_q_size[index])  # losses are rounded up by as much as 64 of the 80
        second = exp_down(epsilon + table.log_q[index], error=error)
        return share(table.p_up[index] * (1 + MARGIN) - second)

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of the outcomes whose loss exceeds ε."""
        table = _table(self)
        index = np.searchsorted(table.losses, epsilon, side="right")
        return table.p_down[index], table.q_up[index]

    @property
    def highest_loss(self) -> float:
        """The largest finite loss, rounded up."""
        losses = _table(self).losses
        return max(float(losses[-1]), 0.0) if losses.size else 0.0

    def reversed(self) -> "FinitePair":
        """The same pair in the other order."""
        return FinitePair(self.q, self.p)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Losses, growing and rounded up, and sums over the outcomes from each loss on; the last sums: no finite loss."""

    losses: Array
    p_up: Array
    p_down: Array
    q_up: Array
    log_q: Array
    log_q_size: Array
    """|log_q|, and 0 where the logarithm is infinite."""


@lru_cache(maxsize=256)
def _table(pair: FinitePair) -> _Table:
    ratios: dict[Fraction, tuple[Fraction, Fraction]] = {}
    for a, b in zip(pair.p, pair.q, strict=True):
        if a and b:
            p, q = ratios.get(a / b, (Fraction(0), Fraction(0)))
            ratios[a / b] = p + a, q + b
    certain = sum((a for a, b in zip(pair.p, pair.q, strict=True) if not b), start=Fraction(0))
    growing = sorted(ratios)
    p_sums = _suffix_sums([ratios[ratio][0] for ratio in growing], certain)
    q_sums = _suffix_sums([ratios[ratio][1] for ratio in growing], Fraction(0))
    log_q = np.array([log_near(value) if value else -np.inf for value in q_sums])
    return _Table(
        losses=np.array([float_up(log_up(ratio)) for ratio in growing]),
        p_up=np.array([float_up(value) for value in p_sums]),
        p_down=np.array([float_down(value) for value in p_sums]),
        q_up=np.array([float_up(value) for value in q_sums]),
        log_q=log_q,
        log_q_size=np.where(np.isfinite(log_q), np.abs(log_q), 0.0),
    )


def _suffix_sums(values: list[Fraction], last: Fraction) -> list[Fraction]:
    return list(accumulate(reversed(values), initial=last))[::-1]


@dataclass(frozen=True, slots=True)
class WorstPair(Profile):
    """The worst (ε₀, δ₀) pair: with δ₀ the truth itself, else randomized response of ε₀.

    δ(ε) = δ₀ + (1 − δ₀)(e^ε₀ − e^ε)⁺/(1 + e^ε₀).

    **Guarantee**: every (ε₀, δ₀)-differentially private mechanism is a post-processing of it, in either order.

    References:
        [KOV15]; [MV16].
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ at each ε."""
        missing = epsilon - self.highest_loss - 2 * ULP * (epsilon + self.highest_loss)
        response = -np.expm1(np.minimum(missing, 0.0)) / (1 + np.exp(-self.highest_loss)) * (1 + MARGIN)
        rest = float_up(1 - self.delta) * np.where(epsilon >= self.highest_loss, 0.0, response)
        return share(float_up(self.delta) + rest * (1 + MARGIN))

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of the answers whose loss exceeds ε."""
        odds = np.exp(-float_down(self.epsilon))
        certain, rest = float_down(self.delta), float_up(1 - self.delta)
        included = epsilon < float_down(self.epsilon)
        first = np.maximum(certain + rest / (1 + odds) * (1 - 4 * MARGIN), 0.0)
        second = rest * odds / (1 + odds) * (1 + 4 * MARGIN) + TINY
        return np.where(included, first, certain), np.where(included, second, 0.0)

    @property
    def highest_loss(self) -> float:
        """ε₀, rounded up."""
        return float_up(self.epsilon)


NOTHING: Final = WorstPair(Fraction(0))
"""Equal distributions: δ = 0 at every ε."""

EVERYTHING: Final = WorstPair(Fraction(0), Fraction(1))
"""Distributions that share no outcome: δ = 1 at every ε."""


def randomized_response(probability: Fraction, categories: int) -> FinitePair:
    """The answers to two different truths, of randomized response among `categories`: losses ε₀, 0 and −ε₀.

    With `probability` the truth is said, otherwise a uniform one of the categories.
    """
    lie = (1 - probability) / categories
    truth, others = probability + lie, (categories - 2) * lie
    return FinitePair((truth, others, lie), (lie, others, truth))


@dataclass(frozen=True, slots=True)
class BoundedRange(Profile):
    """All mechanisms whose losses lie, for each pair of neighbors, in some interval [t − ε₀, t].

    δ(ε) = (1 − e^((ε − ε₀)/2))²/(1 − e^−ε₀) for ε ≤ ε₀, then 0: the largest of all pairs of two losses t and t − ε₀.

    **Guarantee**: dominates every mechanism of that range, so the exponential mechanism of parameter ε₀, in either
    order. The tests are those of randomized response of ε₀/2, whose range is ε₀.

    References:
        [DDR20]; [DR19].
    """

    epsilon: Fraction

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ at each ε."""
        missing = epsilon - self.highest_loss - 2 * ULP * (epsilon + self.highest_loss)
        root = np.expm1(np.minimum(missing, 0.0) / 2)
        bound = root**2 / -np.expm1(-self.highest_loss) * (1 + 2 * MARGIN)
        return np.where(epsilon >= self.highest_loss, 0.0, share(bound))

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Of the answers of randomized response whose loss exceeds ε."""
        return WorstPair(self.epsilon / 2).test_down(epsilon)

    @property
    def highest_loss(self) -> float:
        """ε₀, rounded up."""
        return float_up(self.epsilon)
