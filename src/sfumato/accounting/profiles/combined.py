"""Profiles made of profiles: the worse of several, mixtures, groups, and two sides that come from different places."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from sfumato.accounting.profiles.finite import NOTHING
from sfumato.accounting.profiles.profile import MARGIN, ULP, Array, Profile, exp_up, share


@dataclass(frozen=True, slots=True)
class BracketedProfile(Profile):
    """The upper bound of one profile, and the tests of another whose distributions the event allows too."""

    upper: Profile
    tested: Profile = NOTHING

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ at each ε."""
        return self.upper.delta_up(epsilon)

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Sets of the other profile."""
        return self.tested.test_down(epsilon)

    @property
    def highest_loss(self) -> float:
        """That of the upper bound."""
        return self.upper.highest_loss


@dataclass(frozen=True, slots=True)
class WorstProfile(Profile):
    """The largest δ of several profiles at each ε; tested by the first of them."""

    profiles: tuple[Profile, ...]

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on each δ."""
        return reduce(np.maximum, (profile.delta_up(epsilon) for profile in self.profiles))

    def test_down(self, epsilon: Array) -> tuple[Array, Array]:
        """Sets of the first profile."""
        return self.profiles[0].test_down(epsilon)

    @property
    def highest_loss(self) -> float:
        """The largest of them."""
        return max(profile.highest_loss for profile in self.profiles)


@dataclass(frozen=True, slots=True)
class MixedProfile(Profile):
    """Σ weight · δ: of a distribution that says by which of several pairs it was drawn. Untested.

    Args:
        parts: Weights, at or above the true ones, and profiles.
    """

    parts: tuple[tuple[float, Profile], ...]

    def delta_up(self, epsilon: Array) -> Array:
        """An upper bound on δ at each ε."""
        total = np.zeros_like(epsilon)
        for weight, profile in self.parts:
            total += weight * profile.delta_up(epsilon)
        return share(total * (1 + MARGIN))

    @property
    def highest_loss(self) -> float:
        """The largest of those with any weight."""
        return max((profile.highest_loss for weight, profile in self.parts if weight), default=0.0)


@dataclass(frozen=True, slots=True)
class GroupProfile(Profile):
    """What a profile for one step says of `count` steps in a row: δ_c(ε) ≤ δ(ε/c) Σ_{i<c} e^(iε/c). Untested.

    A bound at one ε holds at every larger one; the points asked for together help each other in that.

    References:
        [Vad17] Lemma 2.2.
    """

    single: Profile
    count: int

    def delta_up(self, epsilon: Array) -> Array:
        """At or above δ, and not increasing along the points asked for."""
        order = np.argsort(epsilon, kind="stable")
        growing = epsilon[order]
        single = self.single.delta_up(growing / self.count * (1 - 2 * ULP))
        known = ~(single <= 0)
        logs = np.log(np.where(known, single, 1.0)) + self._log_factor(growing)
        bound = np.where(known, exp_up(np.minimum(logs, 0.0), error=8 * ULP * (growing + np.abs(logs) + 1)), 0.0)
        result = np.empty_like(epsilon)
        result[order] = np.minimum.accumulate(share(np.where(known & (logs >= 0), 1.0, bound)))
        return result

    @property
    def highest_loss(self) -> float:
        """That of one step, `count` times."""
        return self.single.highest_loss * self.count * (1 + 8 * ULP)

    def _log_factor(self, epsilon: Array) -> Array:
        """The logarithm of the geometric sum, Σ_{i<c} e^(iε/c) = e^((c−1)ε/c) Σ_{i<c} e^(−iε/c)."""
        step = epsilon / self.count
        small = step < ULP
        safe = np.where(small, 1.0, step)
        series = np.where(small, float(self.count), np.expm1(-safe * self.count) / np.expm1(-safe))
        return step * (self.count - 1) + np.log(series) * (1 + 4 * ULP)


@dataclass(frozen=True, slots=True)
class LeastProfile(Profile):
    """The smallest of several upper bounds of one δ at each ε. Untested."""

    bounds: tuple[Profile, ...]

    def delta_up(self, epsilon: Array) -> Array:
        """At or above δ, and not increasing along the points asked for."""
        order = np.argsort(epsilon, kind="stable")
        growing, result = epsilon[order], np.empty_like(epsilon)
        least = reduce(np.minimum, (bound.delta_up(growing) for bound in self.bounds))
        result[order] = np.minimum.accumulate(least)
        return result

    @property
    def highest_loss(self) -> float:
        """The least from which on some bound is 0, else the largest of them."""
        highest = sorted(bound.highest_loss for bound in self.bounds)
        return next((loss for loss in highest if loss < np.inf and not self._at(loss)), highest[-1])

    def _at(self, loss: float) -> float:
        return float(self.delta_up(np.array([loss]))[0])


def worst_of(profiles: Iterable[Profile]) -> Profile:
    """The worst of them, and itself if all are the same."""
    distinct = tuple(dict.fromkeys(profiles))
    return distinct[0] if len(distinct) == 1 else WorstProfile(distinct)
