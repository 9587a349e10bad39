"""Who takes part in which step of a training: each unit by draws of its own, so that no unit changes another's batch.

Four ways, each with the event of a whole training. A unit's draws never look at data. A batch has a random size, and
may be empty.

Proof: proofs/learn/torch/noise/sampling.md.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.noise.entropy import random_words
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.arguments import whole
from sfumato.numeric.rationals import Number, positive_integer, set_fields
from sfumato.numeric.rationals import probability as as_probability
from sfumato.privacy.events import Event, PoissonSampledEvent, SelfComposedEvent, TruncatedPoissonSampledEvent

Places: TypeAlias = NDArray[np.intp]


class Batches(ABC):
    """Who is in each batch of a training, before it starts. Steps are numbered from 0."""

    __slots__ = ()

    @property
    @abstractmethod
    def period(self) -> int:
        """From one batch of a unit to its next it is so many steps, or a multiple of that."""

    @property
    @abstractmethod
    def share(self) -> Fraction:
        """The part of all units that is in a batch, on average."""

    @property
    @abstractmethod
    def sampling_probability(self) -> Fraction:
        """With which a unit is in a batch that it may be in, by a coin of its own; 1 where there is no coin."""

    @property
    def is_secret(self) -> bool:
        """Whether it is secret, even from one who knows a unit's phase, in which batches the unit is."""
        return self.sampling_probability < 1

    def times(self, steps: int) -> int:
        """In how many of so many steps one unit may be, at most.

        Example:
            >>> Phases(4).times(10)
            3
        """
        return -(-positive_integer(steps, "steps") // self.period)

    def event(self, once: Event, steps: int) -> Event:
        """The event of a whole training.

        Args:
            once: Of all that depends on a unit's part in one batch; with coins, stated for adding or removing a unit.
            steps: How many there are.

        Example:
            >>> from sfumato.privacy.events import GaussianEvent
            >>> noise = GaussianEvent(Fraction(1))
            >>> Phases(4).event(noise, steps=10)
            SelfComposedEvent(event=GaussianEvent(noise_multiplier=Fraction(1, 1)), count=3)
        """
        if self.is_secret:
            once = PoissonSampledEvent(self.sampling_probability, once)
        return SelfComposedEvent(once, self.times(steps))

    def start(self, units: int, *, step: int = 0) -> "RunningBatches":
        """The batches of so many units from a step on. All coins and phases are drawn anew.

        Args:
            units: How many there are, 0 or more; it is as secret as the data.
            step: The first step: 0, or where a training resumes, a multiple of the period.

        Raises:
            ParameterError: At that step a unit may have been drawn already in the period that is not over.
        """
        return RunningBatches(self, whole(units, "units", least=0), self.checked_start(step))

    def kept(self, drawn: Places) -> Places:
        """Those of a batch that stay in it: all, unless there is a largest batch."""
        return drawn

    def checked_start(self, step: int) -> int:
        """The step itself, if a training may begin or resume there.

        Raises:
            ParameterError: No period begins there.
        """
        if whole(step, "step", least=0) % self.period:
            raise ParameterError("step", step, f"must be a multiple of {self.period}, when all units are drawn anew")
        return step


class RunningBatches:
    """The batches of a training that runs. Each is drawn once; what it holds is secret.

    Example:
        >>> Poisson(1).start(3).draw(0).tolist()
        [0, 1, 2]
    """

    __slots__ = ("_batches", "_phases", "_step", "_units")

    def __init__(self, batches: Batches, units: int, step: int) -> None:
        """For `start`."""
        self._batches, self._units, self._step = batches, units, step
        self._phases = uniform_below(batches.period, units) if batches.period > 1 else np.zeros(units, dtype=np.int64)

    def __repr__(self) -> str:
        return f"RunningBatches({self._batches}, step={self._step})"

    def draw(self, step: int) -> Places:
        """The places of the units of the next batch, rising.

        Raises:
            ParameterError: It is not the next step: a batch is never drawn twice.
        """
        if step != self._step:
            raise ParameterError("step", step, f"must be {self._step}: each batch is drawn once, one after the other")
        self._step += 1
        members = np.flatnonzero(self._phases == step % self._batches.period)
        if not self._batches.is_secret:
            return members
        coins = bernoulli(self._batches.sampling_probability, len(members))
        return self._batches.kept(members[coins])


@dataclass(frozen=True, slots=True, init=False)
class Poisson(Batches):
    """In each step each unit takes part with a probability, by a fresh coin.

    **Guarantee**: `PoissonSampledEvent`, once for each step, under both neighboring relations, where what is done with
    one batch has its event for adding or removing one unit. Proof: proofs/learn/torch/noise/sampling.md.

    Args:
        probability: Above 0, at most 1.

    Raises:
        ParameterError: It is out of range.

    Example:
        >>> Poisson("0.01").share, Poisson("0.01").times(300)
        (Fraction(1, 100), 300)

    References:
        [ACGMMTZ16].
    """

    probability: Fraction

    def __init__(self, probability: Number) -> None:
        set_fields(self, probability=_coin(probability))

    @property
    def period(self) -> int:
        """Every step may be a unit's."""
        return 1

    @property
    def share(self) -> Fraction:
        """The probability."""
        return self.probability

    @property
    def sampling_probability(self) -> Fraction:
        """The probability."""
        return self.probability


@dataclass(frozen=True, slots=True, init=False)
class TruncatedPoisson(Poisson):
    """As `Poisson`, but of a batch larger than `largest` only so many stay, all choices being equally likely.

    Whether a unit stays depends on how many others were drawn, and so the event depends on how many units there are.
    That number is no secret only where units are replaced.

    **Guarantee**: `TruncatedPoissonSampledEvent`, once for each step, where what is done with one batch has its event
    for adding or removing one unit. Proof: proofs/learn/torch/noise/sampling.md.

    Args:
        probability: With which a unit is drawn; above 0 and below 1.
        units: How many there are, exactly.
        largest: How many a batch has at most; below `units`.

    Raises:
        ParameterError: One of them is out of range.

    Example:
        >>> batches = TruncatedPoisson("0.5", units=40, largest=20).start(40)
        >>> max(len(batches.draw(step)) for step in range(100))
        20

    References:
        [CGKKMSZ24].
    """

    units: int
    largest: int

    def __init__(self, probability: Number, *, units: int, largest: int) -> None:
        coin, many = _coin(probability), positive_integer(units, "units")
        if coin == 1:
            raise ParameterError("probability", probability, "must be below 1: who is drawn has to be a secret")
        most = positive_integer(largest, "largest")
        if most >= many:
            raise ParameterError("largest", largest, f"must be below the number of units, {many:,}, to cut anything")
        set_fields(self, probability=coin, units=many, largest=most)

    def event(self, once: Event, steps: int) -> Event:
        """The event of a whole training, from that of one batch for adding or removing a unit."""
        sampled = TruncatedPoissonSampledEvent(self.probability, self.units, self.largest, once)
        return SelfComposedEvent(sampled, self.times(steps))

    def start(self, units: int, *, step: int = 0) -> RunningBatches:
        """The batches of all units from a step on.

        Raises:
            ParameterError: There are more units or fewer than the event is for.
        """
        if units != self.units:
            raise ParameterError("units", units, f"must be the {self.units:,} for which the event was computed")
        return Batches.start(self, units, step=step)

    def kept(self, drawn: Places) -> Places:
        """So many of them at most: those with the smallest of keys drawn at random, which are all different."""
        if len(drawn) <= self.largest:
            return drawn
        keys = random_words(len(drawn))
        while len(np.unique(keys)) < len(keys):  # hardly ever; different keys have each order with the same chance
            keys = random_words(len(drawn))
        return np.sort(drawn[np.argsort(keys)[: self.largest]])


@dataclass(frozen=True, slots=True, init=False)
class Phases(Batches):
    """Each unit draws a phase, uniform from 0 to period − 1, and takes part at phase, phase + period, and so on.

    A unit is in ⌈steps/period⌉ batches at most, any two of them at least a period apart: passes over all data in an
    order that stays. Nothing is amplified, so it may be known who is in which batch.

    **Guarantee**: as many events as a unit has batches, under both neighboring relations. A unit's batches depend on
    its own draw alone, not on its place nor on who else is there. Proof: proofs/learn/torch/noise/sampling.md.

    Args:
        period: The steps of a pass, at least 1.

    Raises:
        ParameterError: It is no positive integer.

    Example:
        >>> Phases(20).share, Phases(20).times(100)
        (Fraction(1, 20), 5)

    References:
        [CMRT23] for participations that are far apart.
    """

    period: int

    def __init__(self, period: int) -> None:
        set_fields(self, period=positive_integer(period, "period"))

    @property
    def share(self) -> Fraction:
        """One of the period's steps."""
        return Fraction(1, self.period)

    @property
    def sampling_probability(self) -> Fraction:
        """There is no coin."""
        return Fraction(1)


@dataclass(frozen=True, slots=True, init=False)
class CyclicPoisson(Batches):
    """Each unit draws a phase as in `Phases`, and takes part in each of its steps with a probability, by a fresh coin.

    Sampling still amplifies, and steps of one unit are a period apart, so that noise may be correlated within a period:
    a strategy with at most as many bands costs no more than independent noise for ⌈steps/period⌉ samples.

    **Guarantee**: `PoissonSampledEvent`, ⌈steps/period⌉ times, under both neighboring relations, where what depends on
    one batch is over before the unit's next one and has its event for adding or removing one unit. It is no event of a
    group of units, as each has a phase of its own.
    Proof: proofs/learn/torch/noise/sampling.md.

    Args:
        period: How many groups of units take turns.
        probability: With which a unit of the group is in its batch; above 0, at most 1.

    Raises:
        ParameterError: One of them is out of range.

    Example:
        >>> CyclicPoisson(period=8, probability="0.2").share
        Fraction(1, 40)

    References:
        [CGMMRTX23].
    """

    period: int
    probability: Fraction

    def __init__(self, *, period: int, probability: Number) -> None:
        set_fields(self, period=positive_integer(period, "period"), probability=_coin(probability))

    @property
    def share(self) -> Fraction:
        """Of a batch among all units, not among those of its group."""
        return self.probability / self.period

    @property
    def sampling_probability(self) -> Fraction:
        """The probability within a group."""
        return self.probability


def _coin(value: Number) -> Fraction:
    found = as_probability(value, "probability")
    if found == 0:
        raise ParameterError("probability", value, "must be above 0, or nobody would ever take part")
    return found
