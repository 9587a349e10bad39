"""One event, once: its profile and its tests are the answer, without any grid."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.pld.composing import Pairs, orders
from sfumato.accounting.pld.refining import Bounds
from sfumato.accounting.profiles.profile import ULP, Array, Profile, float_down
from sfumato.numeric.rounding import float_up

_LARGEST: Final = 100  # octaves; a larger ε is no promise
_SMALLEST: Final = -120
_PARTS: Final = 64
_ROUNDS: Final = 8  # each narrows the bracket 64-fold; floats hold no more


def is_single(pairs: Pairs) -> bool:
    """Whether there is one event, composed once."""
    return len(pairs) == 1 and pairs[0][1] == 1


def single_delta_up(pairs: Pairs, epsilon: Fraction) -> float:
    """At or above δ at an ε, in either order."""
    asked = np.array([max(float_down(epsilon), 0.0)])
    return max(float(order[0][0].forward.delta_up(asked)[0]) for order in orders(pairs))


def single_epsilon_bounds(pairs: Pairs, delta: Fraction) -> Bounds:
    """The smallest ε at a δ above 0, in either order, between a lower and an upper bound."""
    profiles = [order[0][0].forward for order in orders(pairs)]
    upper = max(_epsilon_up(profile, float_down(delta)) for profile in profiles)
    return Bounds(min(max(_epsilon_down(profile, float_up(delta)) for profile in profiles), upper), upper)


def _epsilon_up(profile: Profile, delta: float) -> float:
    """An ε found at which δ is enough, just after one at which it is not."""
    return _bracket(lambda epsilon: profile.delta_up(epsilon) > delta, profile.highest_loss)[1]


def _epsilon_down(profile: Profile, delta: float) -> float:
    """An ε found at which a test shows that δ is not enough; 0 where none does."""

    def fails(epsilon: Array) -> NDArray[np.bool_]:
        first, second = profile.test_down(epsilon)
        logs = np.log(np.where(second > 0, second, 1.0))
        error = 8 * ULP * (epsilon - logs + 8)
        lost = np.where(second > 0, np.exp(np.minimum(epsilon + logs, 0.0)) * (1 + 2 * np.minimum(error, 0.5)), 0.0)
        return np.asarray(first * (1 - 4 * ULP) - lost * (1 + 4 * ULP) > delta)

    return _bracket(fails, profile.highest_loss)[0]


def _bracket(fails: Callable[[Array], NDArray[np.bool_]], highest: float) -> tuple[float, float]:
    """The last ε found that fails, or 0; and the next one tried, which does not, or infinity."""
    ends = [0.0, highest] if math.isfinite(highest) else [0.0]
    points = np.unique(np.concatenate([ends, 2.0 ** np.arange(_SMALLEST, _LARGEST + 1)]))
    low, high = 0.0, math.inf
    for _ in range(_ROUNDS):
        failing = np.flatnonzero(fails(points))
        if not failing.size:
            return low, float(points[0])
        last = int(failing[-1])
        if last + 1 == len(points):
            return max(low, float(points[last])), high
        low, high = float(points[last]), float(points[last + 1])
        points = np.linspace(low, high, _PARTS + 1)
    return low, high
