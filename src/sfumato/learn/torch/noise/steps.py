"""The noise on the sums of a training's steps: what a trainer needs of it, and independent noise.

A trainer adds up whole numbers, such as clipped gradients in lattice steps, and adds a vector of noise to them in each
step. The noise never sees the data. Noise and batches together have one event, that of the whole training.

Proof: proofs/learn/torch/noise/steps.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Final, Protocol, TypeVar

from sfumato.accounting.calibration import smallest_noise
from sfumato.accounting.core.accountant import Accountant
from sfumato.accounting.goals import Goal
from sfumato.accounting.pld.accountant import PLDAccountant
from sfumato.errors import ParameterError
from sfumato.learn.torch.noise.sampling import Batches
from sfumato.noise.laws.discrete_gaussian import discrete_gaussian
from sfumato.noise.uniform.integers import LARGEST_SCALE, Integers
from sfumato.numeric.arguments import called, of_kind, whole
from sfumato.numeric.rationals import Number, positive, positive_integer, set_fields
from sfumato.numeric.rounding import dyadic_up
from sfumato.privacy.events import DiscreteGaussianEvent, Event
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation, as_relation

_DIGITS: Final = 24
SMALLEST_STDDEV: Final = 32
"""From here on the continuous bounds of discrete noise are used, which hold however shifts depend on the past."""
_TOLERANCE: Final = "1e-4"


class RunningStepNoise(Protocol):
    """The noise of a training that runs: one vector a step."""

    def draw(self) -> Integers:
        """The noise of the next step: `width` whole numbers, int64 unless one of them does not fit."""


class StepNoise(Protocol):
    """The noise of a training before it starts, for the sums of batches that `participation` draws."""

    @property
    def steps(self) -> int:
        """How many steps the training has."""

    @property
    def participation(self) -> Batches:
        """Who takes part in which step."""

    @property
    def neighboring_relation(self) -> NeighboringRelation:
        """Of the account."""

    @property
    def event(self) -> Event:
        """The event of the whole training, for an accountant with the neighboring relation of the noise."""

    @property
    def stddev_steps(self) -> Fraction:
        """The standard deviation of the noise on a number of a step, in lattice steps; the largest of all steps."""

    def start(self, width: int, *, step: int = 0) -> RunningStepNoise:
        """The noise of vectors of so many numbers, from a step on."""


Noise = TypeVar("Noise", bound=StepNoise)


@dataclass(frozen=True, slots=True, init=False)
class IndependentNoise:
    """Discrete Gaussian noise, drawn afresh for each number of each step: that of DP-SGD.

    **Guarantee**: with neighbors that differ in one unit, whose part moves the sum of a batch by at most
    `l2_sensitivity` in L2, everything released in all steps together is no more revealing than `event`. Later
    gradients may depend on earlier releases, and a training may resume. Proof: proofs/learn/torch/noise/steps.md.

    ===================  =======================================================
    Edge case            Behavior
    ===================  =======================================================
    an empty batch       its sum of 0 gets noise all the same
    a resumed training   draws batches and noise anew, from the step that follows
    ===================  =======================================================

    Args:
        noise_multiplier: Standard deviation over `l2_sensitivity`, above 0.
        l2_sensitivity: By how much adding or removing one unit moves the sum of a batch, in lattice steps.
        steps: How many steps the training has.
        participation: Who takes part in which step.
        neighboring_relation: Of the account.

    Raises:
        ParameterError: A parameter is out of range, or the noise narrower than 32 lattice steps.

    Example:
        >>> from sfumato.learn.torch.noise.sampling import Poisson
        >>> noise = IndependentNoise(1, l2_sensitivity=1 << 20, steps=300, participation=Poisson("0.05"))
        >>> round(float(PLDAccountant().compose(noise.event).epsilon("1e-5")), 2), len(noise.start(width=5).draw())
        (5.8, 5)

    References:
        [ACGMMTZ16], [CKS20].
    """

    noise_multiplier: Fraction
    l2_sensitivity: Fraction
    steps: int
    participation: Batches
    neighboring_relation: NeighboringRelation
    stddev_steps: Fraction
    """σ, the same for every number."""

    def __init__(
        self,
        noise_multiplier: Number,
        *,
        l2_sensitivity: Number,
        steps: int,
        participation: Batches,
        neighboring_relation: NeighboringRelation | str = ADD_OR_REMOVE_ONE,
    ) -> None:
        multiplier, distance = (
            positive(noise_multiplier, "noise_multiplier"),
            positive(l2_sensitivity, "l2_sensitivity"),
        )
        stddev = dyadic_up(multiplier * distance, bits=_DIGITS)
        if not SMALLEST_STDDEV <= stddev <= LARGEST_SCALE:
            requirement = f"times l2_sensitivity must lie between {SMALLEST_STDDEV} and 2^50 lattice steps"
            raise ParameterError("noise_multiplier", noise_multiplier, requirement)
        set_fields(
            self,
            noise_multiplier=multiplier,
            l2_sensitivity=distance,
            steps=positive_integer(steps, "steps"),
            participation=of_kind(
                participation, "participation", Batches, "who is in a batch, such as Poisson('0.01')"
            ),
            neighboring_relation=as_relation(neighboring_relation),
            stddev_steps=stddev,
        )

    @property
    def event(self) -> Event:
        """The event of the whole training."""
        distance = moved(self.l2_sensitivity, self.participation, self.neighboring_relation)
        return self.participation.event(DiscreteGaussianEvent(self.stddev_steps, distance), self.steps)

    @property
    def total_stddev_steps(self) -> float:
        """The standard deviation of the noise in the sum over all steps, in lattice steps."""
        return float(self.stddev_steps) * sqrt(self.steps)

    def start(self, width: int, *, step: int = 0) -> "RunningIndependentNoise":
        """The noise of vectors of so many numbers, from a step on.

        Raises:
            ParameterError: A number is out of range.
        """
        left = self.steps - whole(step, "step", least=0, most=self.steps)
        return RunningIndependentNoise(self.stddev_steps**2, positive_integer(width, "width"), left)


class RunningIndependentNoise:
    """`IndependentNoise` of a training that runs."""

    __slots__ = ("_left", "_variance", "_width")

    def __init__(self, variance: Fraction, width: int, left: int) -> None:
        """For `start`."""
        self._variance, self._width, self._left = variance, width, left

    def draw(self) -> Integers:
        """The noise of the next step.

        Raises:
            ParameterError: All steps had theirs.
        """
        if not self._left:
            raise ParameterError("step", "one more", "must be one of the steps that the event is for")
        self._left -= 1
        return discrete_gaussian(self._variance, self._width)


def moved(distance: Fraction, participation: Batches, neighboring_relation: NeighboringRelation) -> Fraction:
    """By how much a unit moves the sum of a batch that it is in, as the event of its part there has to state it.

    A unit that replaces another takes over its phase and coins, and moves a sum from one vector to another, twice as
    far. Within a sample an event is stated for adding or removing, whatever the relation.

    Example:
        >>> from sfumato.learn.torch.noise.sampling import Phases, Poisson
        >>> [int(moved(Fraction(5), each, REPLACE_ONE)) for each in (Poisson("0.5"), Phases(3))]
        [5, 10]
    """
    return 2 * distance if neighboring_relation is REPLACE_ONE and not participation.is_secret else distance


def calibrated(
    make_noise: Callable[[Fraction], Noise],
    *,
    target: ApproxDP | Goal,
    accountant: Accountant | None = None,
    tolerance: Number = _TOLERANCE,
) -> Noise:
    """The noise with the smallest noise multiplier for which a whole training meets a target.

    **Guarantee**: the accountant was given the event of the noise that is returned, and met the target.

    Args:
        make_noise: From a noise multiplier to the noise.
        target: The guarantee wanted for the whole training, or the limit of attacks.
        accountant: With what was released before; a `PLDAccountant` of the noise's own relation, if not given.
        tolerance: Relative, of the multiplier.

    Raises:
        ParameterError: No noise meets the target.

    Example:
        >>> from sfumato.learn.torch.noise.sampling import Poisson
        >>> def noise_of(multiplier):
        ...     return IndependentNoise(multiplier, l2_sensitivity=1 << 20, steps=300, participation=Poisson("0.05"))
        >>> found = calibrated(noise_of, target=ApproxDP(3, "1e-5"))
        >>> round(float(found.noise_multiplier), 2)
        1.46
    """
    called(make_noise, "make_noise", "a function from a noise multiplier to the noise of a training")
    if accountant is None:
        accountant = PLDAccountant(neighboring_relation=make_noise(Fraction(1)).neighboring_relation)
    found = smallest_noise(
        lambda multiplier: make_noise(multiplier).event,
        target=target,
        accountant=accountant,
        tolerance=tolerance,
    )
    return make_noise(found)
