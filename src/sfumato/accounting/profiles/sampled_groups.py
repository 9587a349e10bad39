"""Samples that hold several units of a group, or one of two that replace each other: who is there is a random number.

All profiles here bound, for a set S, the chance of S where units are there by its chance where none is. With the same S
for every number of units drawn they add up: that is exact for noise on a line, whose worst sets are half-lines.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.core.integer_moves import longest_move
from sfumato.accounting.core.normal_form import NeighborGroup, flattened
from sfumato.accounting.profiles.profile import MARGIN, ULP, Array, DominatingPair, Profile, float_down, share
from sfumato.numeric.rationals import sqrt_up
from sfumato.numeric.rounding import float_up
from sfumato.privacy.events import DiscreteGaussianEvent, DiscreteLaplaceEvent, Event, GaussianEvent, LaplaceEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

_SLACK: Final = 1e-12  # relative; above the error of e^x for the x that are asked for
_HALVINGS: Final = 48
_LEAST: Final = Fraction(1, 10**100)
_MOST: Final = Fraction(10**100)
_LARGEST: Final = 700.0  # e^700 is a float
_SURE: Final = 1 - 1e-12


@dataclass(frozen=True, slots=True)
class NoiseLine:
    """Noise on a line, by which thresholds are chosen: Gaussian of a `distance` in σ, else Laplace, in scales.

    Any choice gives a bound; that of the noise itself gives the best one.
    """

    distance: float
    is_gaussian: bool = True

    def loss(self, t: Array, moved: Array) -> Array:
        """At t, of noise moved by so many steps against noise that was not."""
        step = moved * self.distance
        return step * (t - step / 2) if self.is_gaussian else np.abs(t) - np.abs(t - step)

    def farthest(self, moved: float) -> float:
        """The losses at ±t are beyond what floats hold, or flat."""
        step = moved * self.distance
        return _LARGEST / self.distance + step if self.is_gaussian else step


def gaussian_noise(event: Event) -> Fraction | None:
    """The noise multiplier of an event that is Gaussian noise alone, of one release or of several."""
    counts = flattened(event, NeighborGroup(ADD_OR_REMOVE_ONE)).counts
    if not all(isinstance(inner, GaussianEvent) for inner, _ in counts):
        return None
    square = _squared_distance(counts)
    return 1 / sqrt_up(square) if square and _LEAST**2 <= square <= _MOST**2 else None


def _squared_distance(counts: tuple[tuple[Event, int], ...]) -> Fraction | None:
    """How far a unit moves all Gaussian noise together, in σ, squared; None where there is other noise."""
    total = Fraction(0)
    for event, count in counts:
        match event:
            case GaussianEvent():
                total += count / event.noise_multiplier**2
            case DiscreteGaussianEvent():
                total += count * longest_move(event.l2_sensitivity, event.l0_sensitivity)[0] / event.stddev**2
            case _:
                return None
    return total


def lines_for(event: Event, single: DominatingPair) -> list[NoiseLine]:
    """By which noise the thresholds of a sample may be chosen."""
    counts = flattened(event, NeighborGroup(ADD_OR_REMOVE_ONE)).counts
    if len(counts) == 1 and counts[0][1] == 1 and isinstance(counts[0][0], LaplaceEvent | DiscreteLaplaceEvent):
        return [NoiseLine(single.forward.highest_loss, is_gaussian=False)]
    if square := _squared_distance(counts):
        return [NoiseLine(float(sqrt_up(square)))] if _LEAST < square < _MOST else []
    finite = single.forward.highest_loss
    return [line_of(single)] + ([NoiseLine(finite, is_gaussian=False)] if 0 < finite < math.inf else [])


def line_of(pair: DominatingPair) -> NoiseLine:
    """Gaussian noise of about the same total variation."""
    total_variation = float(pair.forward.delta_up(np.zeros(1))[0])
    return NoiseLine(max(2 * NormalDist().inv_cdf((1 + min(total_variation, _SURE)) / 2), 1e-12))


def binomial(probability: Fraction, size: int) -> tuple[Fraction, ...]:
    """With which probability 0, 1, … of so many units are in a Poisson sample."""
    q = probability
    return tuple(math.comb(size, count) * q**count * (1 - q) ** (size - count) for count in range(size + 1))


def hypergeometric(source_size: int, sample_size: int, size: int) -> tuple[Fraction, ...]:
    """With which probability 0, 1, … of so many units are in a uniform subset of a source."""
    others, total = source_size - sample_size, math.perm(source_size, size)
    return tuple(
        Fraction(math.comb(size, count) * math.perm(sample_size, count) * math.perm(others, size - count), total)
        for count in range(size + 1)
    )


Drawn: TypeAlias = tuple[tuple[int, Fraction, DominatingPair], ...]
"""How many units of the group are in the sample, above 0; with which probability; and the pair of so many."""


@dataclass(frozen=True, slots=True)
class DrawnForward(Profile):
    """Σ wₖ Pₖ against P₀, where so many of a group are drawn: δ(ε) ≤ Σ wₖ δₖ(ln αₖ), Σ wₖ αₖ ≤ e^ε − w₀. Untested.

    **Guarantee**: at or above δ, if `drawn` bounds each Pₖ against P₀. With `is_exchange` also for Σ wₖ Pₖ against
    w₀ P₀ + Σ wₖ Qₖ, if it bounds Pₖ against Qₖ too.
    """

    drawn: Drawn
    line: NoiseLine
    is_exchange: bool = False

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ at each ε; 1 where the floats leave no choice."""
        asked, moved = np.minimum(epsilon, _LARGEST), _columns(self.drawn)
        weights, tops = _weights(self.drawn), _tops(self.drawn)
        allowed = (float_down(_present(self.drawn)) + np.expm1(asked)) * (1 - _SLACK)
        floor = asked if self.is_exchange else np.full_like(asked, -math.inf)

        def losses(t: Array) -> Array:
            return np.maximum(np.minimum(self.line.loss(t, moved), tops), floor)

        t, is_known = _last(
            lambda t: _total(weights, losses(t)) <= allowed, epsilon.size, self.line.farthest(self.drawn[-1][0])
        )
        chosen = losses(t)
        bound = sum(float_up(w) * hockey_up(pair, at) for (_, w, pair), at in zip(self.drawn, chosen, strict=True))
        last = sum(float_up(w) * _floor(pair.forward) for _, w, pair in self.drawn)
        found = np.where(is_known, bound * (1 + MARGIN * len(self.drawn)), 1.0)
        return share(np.where(epsilon >= self.highest_loss, last * (1 + MARGIN * len(self.drawn)), found))

    @property
    def highest_loss(self) -> float:
        """The logarithm of w₀ + Σ wₖ e^hₖ, with the largest losses hₖ."""
        tops = [pair.forward.highest_loss for _, _, pair in self.drawn]
        if max(tops) > _LARGEST:
            return math.inf
        if self.is_exchange:
            tops = [max(tops)] * len(tops)
        gain = sum(float_up(w) * math.expm1(top) for (_, w, _), top in zip(self.drawn, tops, strict=True))
        return math.log1p(gain) * (1 + 4 * _SLACK)


@dataclass(frozen=True, slots=True)
class DrawnBackward(Profile):
    """P₀ against Σ wₖ Pₖ: δ(ε) ≤ e^ε Σ wₖ βₖ H(1/βₖ), with w₀ + Σ wₖ βₖ ≥ e^−ε. Untested.

    **Guarantee**: at or above δ, if `drawn` bounds P₀ against each Pₖ, by its backward profiles.
    """

    drawn: Drawn
    line: NoiseLine

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ at each ε."""
        moved, weights, bottoms = _columns(self.drawn), _weights(self.drawn), _bottoms(self.drawn)
        present = float_up(_present(self.drawn))
        needed = (present + np.expm1(-epsilon)) * (1 + _SLACK) + 8 * ULP * present

        def losses(t: Array) -> Array:
            return np.minimum(np.maximum(self.line.loss(-t, moved), -bottoms), _LARGEST)

        t, is_known = _last(
            lambda t: _total(weights, losses(t)) >= needed, epsilon.size, self.line.farthest(self.drawn[-1][0])
        )
        chosen = losses(t)
        bound = sum(
            float_up(w) * np.exp(at) * hockey_up(pair.reversed(), -at)
            for (_, w, pair), at in zip(self.drawn, chosen, strict=True)
        )
        bound = bound * np.exp(np.minimum(epsilon, _LARGEST)) * (1 + MARGIN * (len(self.drawn) + 4) + _SLACK)
        return np.where(epsilon >= self.highest_loss, 0.0, share(np.where(is_known, bound, 1.0)))

    @property
    def highest_loss(self) -> float:
        """−ln(w₀ + Σ wₖ e^−hₖ), with the largest losses hₖ, if they are not certain ones."""
        bottoms = _bottoms(self.drawn)
        loss = sum(float_up(w) * math.expm1(-float(at[0])) for (_, w, _), at in zip(self.drawn, bottoms, strict=True))
        return -math.log1p(loss) * (1 + 4 * _SLACK) if loss > -1 else math.inf


@dataclass(frozen=True, slots=True)
class DrawnExchange(Profile):
    """w₀ P₀ + Σ wₖ Pₖ against w₀ P₀ + Σ wₖ Qₖ: units of a Poisson sample, and those that replace them. Untested.

    δ(ε) ≤ Σ wₖ (H(Pₖ‖P₀; aₖ) + bₖ H(P₀‖Qₖ; e^ε/bₖ)) with Σ wₖ (aₖ − bₖ) ≤ w₀ (e^ε − 1).

    **Guarantee**: at or above δ, if `drawn` bounds Pₖ against P₀, and P₀ against Qₖ.
    """

    drawn: Drawn
    line: NoiseLine

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ at each ε; 1 where the floats leave no choice."""
        asked, moved, weights = np.minimum(epsilon, _LARGEST), _columns(self.drawn), _weights(self.drawn)
        tops, bottoms = _tops(self.drawn), _bottoms(self.drawn)
        missed = float_down(1 - _present(self.drawn))
        allowed = missed * np.expm1(asked) * (1 - _SLACK)

        def losses(t: Array) -> tuple[Array, Array]:
            gained, kept = self.line.loss(t, moved), -self.line.loss(t, -moved)
            return np.minimum(gained, tops), np.clip(kept, 0.0, bottoms)

        def is_allowed(t: Array) -> Allowed:
            gained, kept = losses(t)
            left = _total(weights, asked - kept)
            return np.asarray(_total(weights, gained) * (1 + _SLACK) <= allowed + left * (1 - _SLACK))

        t, is_known = _last(is_allowed, epsilon.size, self.line.farthest(self.drawn[-1][0]))
        gained, kept = losses(t)
        bound = sum(
            float_up(w) * (hockey_up(pair, a) + np.exp(asked - b) * hockey_up(pair.reversed(), b))
            for (_, w, pair), a, b in zip(self.drawn, gained, kept, strict=True)
        )
        found = np.where(is_known, bound * (1 + MARGIN * (len(self.drawn) + 4) + _SLACK), 1.0)
        return np.where(epsilon >= self.highest_loss, 0.0, share(found))

    @property
    def highest_loss(self) -> float:
        """The logarithm of (w₀ + Σ wₖ e^hₖ)/(w₀ + Σ wₖ e^−hₖ), if none is certain."""
        if any(_floor(pair.forward) or _floor(pair.backward) for _, _, pair in self.drawn):
            return math.inf
        return DrawnForward(self.drawn, self.line).highest_loss + DrawnBackward(self.drawn, self.line).highest_loss


def hockey_up(pair: DominatingPair, losses: Array) -> Array:
    """At or above H(P‖Q; α) at ln α of either sign: below 0 it is 1 − α + α H(Q‖P; 1/α)."""
    result = pair.forward.delta_up(np.maximum(losses, 0.0))
    if not (is_below := losses < 0).any():
        return result
    alpha = np.exp(np.minimum(losses, 0.0))
    other = pair.backward.delta_up(np.maximum(-losses, 0.0))
    below = (alpha * other - np.expm1(np.minimum(losses, 0.0))) * (1 + 2 * MARGIN)
    return np.where(is_below, below, result)


Allowed: TypeAlias = NDArray[np.bool_]


def _last(is_allowed: Callable[[Array], Allowed], size: int, farthest: float) -> tuple[Array, Allowed]:
    """A t in [−farthest, farthest], about the largest, that is allowed; and whether −farthest is."""
    low, high = np.full(size, -farthest), np.full(size, farthest)
    is_known = is_allowed(low)
    low = np.where(is_allowed(high), high, low)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_enough = is_allowed(middle)
        low, high = np.where(is_enough, middle, low), np.where(is_enough, high, middle)
    return low, is_known


def _total(weights: Array, losses: Array) -> Array:
    return np.asarray((weights * np.exp(losses)).sum(axis=0))


def _present(drawn: Drawn) -> Fraction:
    """With which probability any unit of the group is drawn."""
    return sum((weight for _, weight, _ in drawn), start=Fraction(0))


def _columns(drawn: Drawn) -> Array:
    return np.array([[float(count)] for count, _, _ in drawn])


def _weights(drawn: Drawn) -> Array:
    return np.array([[float(weight)] for _, weight, _ in drawn])


def _tops(drawn: Drawn) -> Array:
    """Above which a loss buys nothing."""
    return np.array([[min(pair.forward.highest_loss, _LARGEST)] for _, _, pair in drawn])


def _bottoms(drawn: Drawn) -> Array:
    """The same of the other order; where something is certain, every loss buys something."""
    return np.array(
        [[_LARGEST if _floor(pair.backward) else min(pair.backward.highest_loss, _LARGEST)] for _, _, pair in drawn]
    )


def _floor(profile: Profile) -> float:
    """What is left of δ beyond all losses."""
    top = profile.highest_loss
    return float(profile.delta_up(np.array([top]))[0]) if top < math.inf else 0.0
