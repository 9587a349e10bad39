"""A norm to which gradients are clipped that follows a quantile of their norms, privately and at a stated price.

Proof: proofs/learn/torch/training/clipping.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Final

from sfumato.learn.torch.noise.sampling import Batches
from sfumato.learn.torch.noise.steps import IndependentNoise, RunningIndependentNoise, moved
from sfumato.noise.laws.discrete_gaussian import discrete_gaussian_one
from sfumato.noise.uniform.integers import drawable
from sfumato.numeric.rationals import Number, open_probability, positive, set_fields
from sfumato.privacy.events import ComposedEvent, DiscreteGaussianEvent, Event
from sfumato.privacy.neighbors import NeighboringRelation

FURTHEST: Final = 2.0**10
"""The clip stays within this factor of the one that a training begins with."""


@dataclass(frozen=True, slots=True, init=False)
class AdaptiveClip:
    """The clip of each step follows a quantile of the norms of gradients.

    With each update, the number of units whose norm lies within the clip is released too, with discrete Gaussian noise
    of `stddev`. With b̃ of it over the batch size, the next clip is C·exp(−rate·(b̃ − quantile)). Noise is in units of
    the clip, so a lower clip has less of it. The clip stays within a factor of 2^10 of the first one.

    **Guarantee**: the number is part of the event of each step, and of what the training costs.
    Proof: proofs/learn/torch/training/clipping.md.

    Args:
        quantile: Which share of gradients is not shortened.
        rate: How fast the clip follows, above 0.
        stddev: Of the noise on the number of units; a twentieth of the batch size costs little.

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> rule = AdaptiveClip(stddev=10)
        >>> round(rule.following(1.0, below=150, batch_size=200, first=1.0), 4)  # three quarters are short
        0.9512

    References:
        [ATMR21] Algorithm 1.
    """

    quantile: Fraction
    rate: Fraction
    stddev: Fraction

    def __init__(self, *, stddev: Number, quantile: Number = "0.5", rate: Number = "0.2") -> None:
        set_fields(
            self, quantile=open_probability(quantile, "quantile"), rate=positive(rate, "rate"),
            stddev=drawable(positive(stddev, "stddev"), "stddev"),
        )  # fmt: skip

    @property
    def event(self) -> DiscreteGaussianEvent:
        """Of the number of one step, for one unit that enters or leaves."""
        return DiscreteGaussianEvent(self.stddev, Fraction(1), 1)

    def noisy(self, below: int) -> int:
        """The number of units within the clip, with its noise."""
        return below + discrete_gaussian_one(self.stddev**2)

    def following(self, clip: float, *, below: int, batch_size: int, first: float) -> float:
        """The next clip, from the noisy number of units and public numbers alone."""
        excess = min(max(below / batch_size, 0.0), 2.0) - float(self.quantile)
        return min(max(clip * exp(-float(self.rate) * excess), first / FURTHEST), first * FURTHEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedNoise:
    """Independent noise on the sums of a training, beside which the number of units within the clip is released.

    Attributes:
        sums: The noise on the sums.
        rule: The noise on the numbers.
    """

    sums: IndependentNoise
    rule: AdaptiveClip

    @property
    def steps(self) -> int:
        """How many steps the training has."""
        return self.sums.steps

    @property
    def participation(self) -> Batches:
        """Who takes part in which step."""
        return self.sums.participation

    @property
    def neighboring_relation(self) -> NeighboringRelation:
        """Of the account."""
        return self.sums.neighboring_relation

    @property
    def stddev_steps(self) -> Fraction:
        """The standard deviation of the noise on a number of a sum, in lattice steps."""
        return self.sums.stddev_steps

    @property
    def total_stddev_steps(self) -> float:
        """The standard deviation of the noise in the sum over all steps, in lattice steps."""
        return self.sums.total_stddev_steps

    @property
    def event(self) -> Event:
        """The event of the whole training: in each step a sum and a number, of one batch."""
        distance = moved(self.sums.l2_sensitivity, self.participation, self.neighboring_relation)
        once = ComposedEvent((DiscreteGaussianEvent(self.stddev_steps, distance), self.rule.event))
        return self.participation.event(once, self.steps)

    def start(self, width: int, *, step: int = 0) -> RunningIndependentNoise:
        """The noise of sums of so many numbers, from a step on."""
        return self.sums.start(width, step=step)
