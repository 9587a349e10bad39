"""The noise of boosted models: a few kinds of sums, each released many times, calibrated all together."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Final

from sfumato.accounting.composition.joint_gaussian import joint_stddevs
from sfumato.errors import ParameterError
from sfumato.learn.core.residuals import SHARE
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.noise.uniform.integers import LARGEST_SCALE
from sfumato.numeric.rationals import Number, positive
from sfumato.privacy.guarantees import ApproxDP, PureDP

MOST_SUMS: Final = 20_000
"""How many noisy vectors of sums a fit releases at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Vectors of whole numbers of one kind.

    Attributes:
        distance: The most by which neighbors differ in one of them, in L2.
        moved: The most numbers of one of them in which neighbors differ.
        times: How many there are.
        share: The share of the budget for all of them.
    """

    distance: Fraction
    moved: int
    times: int
    share: Fraction


def calibrated(kinds: Sequence[Sums], charge: ApproxDP) -> list[GaussianNoise]:
    """The noise on each kind of sums: that on all of them together has the cost of the charge.

    Raises:
        ParameterError: There are too many sums, or ε is so small that no such noise is drawn.

    Example:
        >>> kind = Sums(distance=Fraction(4096), moved=1, times=100, share=Fraction(1))
        >>> round(float(calibrated([kind], ApproxDP(1, "1e-6"))[0].stddev) / 4096, 1)
        42.2
    """
    if sum(kind.times for kind in kinds) > MOST_SUMS:
        requirement = f"must be fewer: it makes more than {MOST_SUMS:,} noisy vectors, of all columns together"
        raise ParameterError("rounds", max(kind.times for kind in kinds), requirement)
    every = [kind for kind in kinds for _ in range(kind.times)]
    stddevs = joint_stddevs(
        l2_sensitivities=[kind.distance for kind in every], l0_sensitivities=[kind.moved for kind in every],
        weights=[kind.share / kind.times for kind in every], epsilon=charge.epsilon, delta=charge.delta,
    )  # fmt: skip
    if max(stddevs) > LARGEST_SCALE:
        raise ParameterError("epsilon", str(charge.epsilon), "must be larger: no such noise is drawn")
    found, place = [], 0
    for kind in kinds:
        found.append(GaussianNoise(l2_sensitivity=kind.distance, stddev=stddevs[place], l0_sensitivity=kind.moved))
        place += kind.times
    return found


def charge_of(total: PureDP | ApproxDP) -> ApproxDP:
    """The cost of a fit with Gaussian noise.

    Raises:
        ParameterError: ε or δ is 0.
    """
    if total.epsilon == 0:
        raise ParameterError("epsilon", 0, "must be above 0 for a model to be fitted")
    if total.delta == 0:
        raise ParameterError("delta", 0, "must be above 0: the noise is Gaussian; such as delta=1e-6")
    return ApproxDP(total.epsilon, total.delta)


def clip_of(clip: Number) -> int:
    """A clip in lattice steps of a residual.

    Raises:
        ParameterError: It is below one step.
    """
    steps = floor(positive(clip, "clip") * SHARE)
    if steps < 1:
        raise ParameterError("clip", clip, f"must be at least 1/{SHARE}")
    return steps
