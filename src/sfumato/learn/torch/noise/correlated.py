"""Noise of steps that is correlated, so that what a training adds up has less of it: that of a continual mechanism.

A running counter is noise that never sees the data, and a reading of what was released. Here the sums of batches are
what it counts: the noise u of a step is what it releases if nothing happens, and a trainer releases x + u.

Proof: proofs/learn/torch/noise/correlated.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.learn.torch.noise.sampling import Batches
from sfumato.learn.torch.noise.steps import SMALLEST_STDDEV
from sfumato.mechanisms.continual.banded import BandedToeplitz, best_power, decoded_squares
from sfumato.mechanisms.continual.base import RunningCounter
from sfumato.mechanisms.continual.buffered import BufferedToeplitz, parameters
from sfumato.mechanisms.continual.contribution import Contribution
from sfumato.mechanisms.continual.participation import Participation
from sfumato.mechanisms.continual.sums import RUNNING_TOTAL, SlidingWindow
from sfumato.noise.uniform.integers import Integers
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, positive, positive_integer, set_fields
from sfumato.privacy.events import DiscreteGaussianEvent, Event
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, as_relation

_EACH_STEP: Final = SlidingWindow(1)


@dataclass(frozen=True, slots=True, init=False)
class CorrelatedNoise:
    """Noise u = C⁻¹·z of all steps, for discrete Gaussian z and a Toeplitz strategy C: that of DP-FTRL.

    With `bands`, at most as many as the period of the batches, each part of a unit in a batch moves numbers of its own
    in C·x. So a `CyclicPoisson` sample amplifies, and in `Phases` k parts cost as k answers. With `buffers` all parts
    of a unit overlap, which costs more where they are many, but noise is correlated over the whole training.

    **Guarantee**: with neighbors that differ in one unit, whose part moves the sum of a batch by at most
    `l2_sensitivity` in L2, everything released in all steps together is no more revealing than `event`. Later
    gradients may depend on earlier releases, and a training may resume. Proof: proofs/learn/torch/noise/correlated.md.

    ===================  =====================================================================
    Edge case            Behavior
    ===================  =====================================================================
    an empty batch       its sum of 0 gets noise all the same
    a resumed training   starts with fresh noise, where a period begins; it costs no more
    ===================  =====================================================================

    Args:
        noise_multiplier: The standard deviation of z over what one part of a unit moves in C·x, above 0; with buffers,
            over what all its parts move together.
        l2_sensitivity: By how much adding or removing one unit moves the sum of a batch, in lattice steps.
        steps: How many steps the training has.
        participation: Who takes part in which step.
        bands: From 1, which is independent noise, to the period of `participation`; that, if nothing is said.
        buffers: Instead of bands, from 1 to 6; only where no coins are tossed.
        neighboring_relation: Of the account.

    Raises:
        ParameterError: A parameter is out of range, or does not go with `participation`.

    Example:
        >>> from sfumato.accounting import PLDAccountant
        >>> from sfumato.learn.torch.noise.sampling import Phases
        >>> noise = CorrelatedNoise(4, l2_sensitivity=1 << 20, steps=256, participation=Phases(16))
        >>> round(float(PLDAccountant().compose(noise.event).epsilon("1e-5")), 2), len(noise.start(width=5).draw())
        (4.38, 5)

    References:
        [KMSTTX21], [DMRST22]; [CGMMRTX23] for bands; [DMPRT24] for buffers.
    """

    noise_multiplier: Fraction
    l2_sensitivity: Fraction
    steps: int
    participation: Batches
    neighboring_relation: NeighboringRelation
    mechanism: BandedToeplitz | BufferedToeplitz = field(repr=False)
    """The counter whose noise it is."""

    def __init__(
        self,
        noise_multiplier: Number,
        *,
        l2_sensitivity: Number,
        steps: int,
        participation: Batches,
        bands: int | None = None,
        buffers: int | None = None,
        neighboring_relation: NeighboringRelation | str = ADD_OR_REMOVE_ONE,
    ) -> None:
        set_fields(
            self,
            noise_multiplier=positive(noise_multiplier, "noise_multiplier"),
            l2_sensitivity=positive(l2_sensitivity, "l2_sensitivity"),
            steps=positive_integer(steps, "steps"),
            participation=of_kind(participation, "participation", Batches, "who is in a batch, such as Phases(100)"),
            neighboring_relation=as_relation(neighboring_relation),
        )
        if bands is not None and buffers is not None:
            raise ParameterError("buffers", buffers, "must not be given with bands: there is one strategy")
        set_fields(self, mechanism=self._banded(bands) if buffers is None else self._buffered(buffers))
        if self.mechanism.stddev_steps < SMALLEST_STDDEV:
            raise ParameterError("noise_multiplier", noise_multiplier, "must be larger: the noise is narrow")

    @property
    def event(self) -> Event:
        """The event of the whole training."""
        if isinstance(self.mechanism, BandedToeplitz):
            return self.participation.event(self.mechanism.once, self.steps)
        return DiscreteGaussianEvent(self.mechanism.stddev_steps, self.mechanism.stddev_steps / self.noise_multiplier)

    @property
    def stddev_steps(self) -> Fraction:
        """The standard deviation of the noise on a number of a step, in lattice steps: that of the last step."""
        return Fraction(self.mechanism.stddev(self.steps))

    @property
    def total_stddev_steps(self) -> float:
        """The standard deviation of the noise in the sum over all steps, in lattice steps."""
        made = self.mechanism
        if isinstance(made, BandedToeplitz):
            squared = float(decoded_squares(self.steps, made.bands, RUNNING_TOTAL, made.power)[-1])
        else:
            squared = parameters(self.steps, made.buffers, Fraction(1)).decoded_squared(self.steps, self.steps)
        return float(made.stddev_steps) / 2.0**made.lattice_bits * sqrt(squared)

    def start(self, width: int, *, step: int = 0) -> "RunningCorrelatedNoise":
        """The noise of vectors of so many numbers, from a step on; it is uncorrelated with that of steps before.

        Raises:
            ParameterError: A number is out of range, or no period begins at the step.
        """
        first = self.participation.checked_start(step)
        last = self.participation.times(self.steps) * self.participation.period  # the last period may be cut short
        if first > last:
            raise ParameterError("step", step, f"must be at most {last}")
        return RunningCorrelatedNoise(
            self.mechanism.start(positive_integer(width, "width")), max(0, self.steps - first)
        )

    def _banded(self, bands: int | None) -> BandedToeplitz:
        """For ρ of all parts together, if nothing were amplified."""
        wide = self.participation.period if bands is None else positive_integer(bands, "bands")
        if wide > self.participation.period:
            requirement = f"must be at most the period {self.participation.period}, after which a unit comes again"
            raise ParameterError("bands", bands, requirement)
        times, within = self._within
        return BandedToeplitz(
            horizon=self.steps,
            rho=times / (2 * self.noise_multiplier**2),
            bands=wide,
            contribution=self._contribution,
            participation=within,
            sums=_EACH_STEP,
            power=best_power(self.steps, min(wide, self.steps), RUNNING_TOTAL),
        )

    def _buffered(self, buffers: int) -> BufferedToeplitz:
        if self.participation.is_secret:
            requirement = "must not be given where units are sampled: later steps depend on all parts of a unit"
            raise ParameterError("buffers", buffers, requirement)
        return BufferedToeplitz(
            horizon=self.steps,
            rho=1 / (2 * self.noise_multiplier**2),
            buffers=buffers,
            contribution=self._contribution,
            participation=self._within[1],
            sums=_EACH_STEP,
        )

    @property
    def _within(self) -> tuple[int, Participation]:
        times = self.participation.times(self.steps)
        return times, Participation(most=times, separation=self.participation.period)

    @property
    def _contribution(self) -> Contribution:
        """Within a sample an event is stated for adding or removing, whatever the relation."""
        relation = ADD_OR_REMOVE_ONE if self.participation.is_secret else self.neighboring_relation
        return Contribution.vector(l2=self.l2_sensitivity, neighboring_relation=relation)


class RunningCorrelatedNoise:
    """`CorrelatedNoise` of a training that runs."""

    __slots__ = ("_counter", "_left", "_nothing")

    def __init__(self, counter: RunningCounter, left: int) -> None:
        """For `start`."""
        self._counter, self._left = counter, left
        self._nothing = np.zeros(counter.numbers, dtype=np.int64)

    def draw(self) -> Integers:
        """The noise of the next step.

        Raises:
            ParameterError: All steps had theirs.
        """
        if not self._left:
            raise ParameterError("step", "one more", "must be one of the steps that the event is for")
        self._left -= 1
        return self._counter.release(self._nothing)
