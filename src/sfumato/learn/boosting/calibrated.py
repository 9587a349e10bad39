"""What the sums of boosted models may cost, and how many there may be."""

from collections.abc import Sequence
from math import floor
from typing import Final

from sfumato.errors import ParameterError
from sfumato.learn.core.parts import Noise, Part, noises_of
from sfumato.learn.core.residuals import SHARE
from sfumato.numeric.rationals import Number, positive
from sfumato.privacy.guarantees import ApproxDP, PureDP

MOST_SUMS: Final = 20_000
"""How many noisy vectors of sums a fit releases at most."""


def calibrated(parts: Sequence[Part], charge: ApproxDP) -> tuple[Noise, ...]:
    """The noise on each kind of sums: that on all of them together has the cost of the charge.

    Args:
        parts: How far the rows that move change each kind, and how often it is released.
        charge: What all of it may cost, with δ above 0.

    Raises:
        ParameterError: There are too many sums, or ε is so small that no such noise is drawn.

    Example:
        >>> from fractions import Fraction
        >>> gradients = Part(
        ...     l1_sensitivity=4096, l2_sensitivity=Fraction(4096), l0_sensitivity=1, times=100, share=Fraction(1)
        ... )
        >>> round(float(calibrated([gradients], ApproxDP(1, "1e-6"))[0].stddev) / 4096, 1)
        42.2
    """
    if sum(part.times for part in parts) > MOST_SUMS:
        requirement = f"must be fewer: it makes more than {MOST_SUMS:,} noisy vectors, of all columns together"
        raise ParameterError("rounds", max(part.times for part in parts), requirement)
    return noises_of(parts, charge)


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

    Args:
        clip: The largest norm of the gradient of a row.

    Raises:
        ParameterError: It is below one step.
    """
    steps = floor(positive(clip, "clip") * SHARE)
    if steps < 1:
        raise ParameterError("clip", clip, f"must be at least 1/{SHARE}")
    return steps
