"""Several noisy vectors of whole numbers that one fit releases, calibrated together for one cost.

Proof: proofs/learn/core/parts.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Final, TypeAlias, TypeVar

from sfumato.accounting.composition.joint_gaussian import joint_stddevs
from sfumato.errors import ParameterError
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.noise.uniform.integers import LARGEST_SCALE, SMALLEST_SCALE
from sfumato.privacy.events import ComposedEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP

Noise: TypeAlias = Laplace | GaussianNoise

Fit = TypeVar("Fit")
"""A fit that has such noise."""

_LARGER: Final = "must be larger: no such noise is drawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A vector of whole numbers that is released once or several times, each time from all rows.

    Attributes:
        l1_sensitivity: How far the rows that move change it in L1, at most; above 0.
        l2_sensitivity: The same in L2.
        l0_sensitivity: How many of its numbers they change, at most.
        share: Its share of the budget, for all times together; the shares of all parts add up to at most 1.
        times: How often it is released.
    """

    l1_sensitivity: int
    l2_sensitivity: Fraction
    l0_sensitivity: int
    share: Fraction
    times: int = 1


def noises_of(parts: Sequence[Part], charge: PureDP | ApproxDP) -> tuple[Noise, ...]:
    """The noise of each part: discrete Laplace noise for a pure charge, else discrete Gaussian noise.

    **Guarantee**: all parts together, each released as often as it states, cost at most `charge`.
    Proof: proofs/learn/core/parts.md.

    Args:
        parts: What is released.
        charge: What it may cost in all.

    Raises:
        ParameterError: ε is 0, or so small that no such noise is drawn.

    Example:
        >>> count = Part(l1_sensitivity=1, l2_sensitivity=Fraction(1), l0_sensitivity=1, share=Fraction(1, 2), times=5)
        >>> noises_of([count], PureDP(1))[0].scale
        Fraction(10, 1)
    """
    if charge.epsilon == 0:
        raise ParameterError("epsilon", 0, "must be above 0 for a model to be fitted")
    if isinstance(charge, PureDP) or charge.delta == 0:
        return tuple(_laplace(part, charge.epsilon) for part in parts)
    every = [part for part in parts for _ in range(part.times)]
    stddevs = joint_stddevs(
        l2_sensitivities=[part.l2_sensitivity for part in every],
        l0_sensitivities=[part.l0_sensitivity for part in every],
        weights=[part.share / part.times for part in every],
        epsilon=charge.epsilon,
        delta=charge.delta,
    )
    if max(stddevs) > LARGEST_SCALE:
        raise ParameterError("epsilon", str(charge.epsilon), _LARGER)
    places = accumulate((part.times for part in parts), initial=0)
    return tuple(
        GaussianNoise(l2_sensitivity=part.l2_sensitivity, stddev=stddevs[place], l0_sensitivity=part.l0_sensitivity)
        for part, place in zip(parts, places, strict=False)
    )


def event_of(parts: Sequence[Part], noises: Sequence[Noise]) -> ComposedEvent:
    """The event of all parts, each as often as it is released."""
    return ComposedEvent(
        tuple(noise.event for part, noise in zip(parts, noises, strict=True) for _ in range(part.times))
    )


def with_less_noise(
    fit: Callable[[PureDP | ApproxDP], Fit], total: PureDP | ApproxDP, *, noise_of: Callable[[Fit], Noise]
) -> Fit:
    """The fit with less noise: Laplace noise at ε alone, or Gaussian noise where there is a δ.

    Args:
        fit: Makes the fit for a charge.
        total: What it may cost.
        noise_of: The noise that is compared.

    Raises:
        ParameterError: ε is 0, or so small that no such noise is drawn.
    """
    pure = fit(PureDP(total.epsilon))
    if isinstance(total, PureDP) or total.delta == 0 or noise_of(pure).stddev < 1:
        return pure
    approximate = fit(total)
    return approximate if noise_of(approximate).stddev < noise_of(pure).stddev else pure


def _laplace(part: Part, epsilon: Fraction) -> Laplace:
    distance = part.l1_sensitivity
    each = epsilon * part.share / part.times
    if distance > LARGEST_SCALE * each:
        raise ParameterError("epsilon", str(epsilon), _LARGER)
    return Laplace(l1_sensitivity=distance, epsilon=min(each, distance / Fraction(SMALLEST_SCALE)))
