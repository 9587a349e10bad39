"""A tree without a horizon: one tree after the other, each twice as long as the one before."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt

import numpy as np

from sfumato.mechanisms.continual.base import ROUNDED, ContinualMechanism, RunningNoise, checked_step
from sfumato.mechanisms.continual.binary_tree import one_budget, tree_half_width, tree_noise
from sfumato.mechanisms.continual.contribution import COUNT, Contribution
from sfumato.mechanisms.continual.participation import ONCE, Participation
from sfumato.mechanisms.continual.sums import RUNNING_TOTAL, RunningTotal
from sfumato.mechanisms.continual.tree_noise import TreeNoise, Weights, online_bits, variance, weights
from sfumato.noise.uniform.integers import Integers
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.numeric.rationals import Number, flag, set_fields
from sfumato.privacy.events import Event, PureEvent, ZCDPEvent


@dataclass(frozen=True, slots=True, init=False)
class HybridTree(ContinualMechanism):
    """Releases running totals for as long as a stream lasts, from one binary tree after the other.

    The tree that starts at tick 2^i has 2^i ticks and i + 1 levels, with noise for just these. The total at t is that
    of the roots of all earlier trees, and of the nodes of the present one. So the error grows as (log t)^1.5, and is
    about that of a tree that knew the horizon.

    **Guarantee**: ε-differential privacy, or ρ-zero-concentrated differential privacy, of all releases together,
    however many there are, for the privacy unit of `participation`, whose events keep to `contribution`. One event is
    in one tree; where a unit has k, each costs ε/k, or ρ/k². Proof: proofs/mechanisms/continual/hybrid_tree.md.

    ==============================  ==================================================
    Edge case                       Behavior
    ==============================  ==================================================
    an empty tick                   releases all the same
    tick 2^30                       ParameterError when a bound for it is asked
    both of epsilon, rho, or none   ParameterError when constructed
    ==============================  ==================================================

    Args:
        epsilon: ε of all releases together, above 0; or
        rho: ρ of all releases together, above 0.
        contribution: What one event may add at its tick.
        participation: How often the privacy unit has an event, without end; the separation is not used.
        online: Whether nodes are estimated from those below as well.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> endless = HybridTree(rho="0.5", online=True)
        >>> round(endless.stddev(1000), 2), round(endless.stddev(10**6), 2)
        (7.71, 13.29)

    References:
        [CSS11] Section 3 for the idea.
    """

    epsilon: Fraction | None
    rho: Fraction | None
    contribution: Contribution
    participation: Participation
    online: bool
    event: Event = field(repr=False, compare=False)
    """The event of all releases together, for accountants."""

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        contribution: Contribution = COUNT,
        participation: Participation = ONCE,
        online: bool = False,
    ) -> None:
        pure, concentrated = one_budget(epsilon, rho)
        set_fields(
            self,
            epsilon=pure,
            rho=concentrated,
            contribution=of_kind(contribution, "contribution", Contribution, "a Contribution"),
            participation=of_kind(participation, "participation", Participation, "a Participation"),
            online=flag(online, "online"),
            event=PureEvent(pure) if pure is not None else ZCDPEvent(concentrated or Fraction(0)),
        )
        self.noise_of(0)

    @property
    def horizon(self) -> None:
        """None: it has no last tick."""
        return None

    @property
    def sums(self) -> RunningTotal:
        """Running totals."""
        return RUNNING_TOTAL

    @property
    def memory(self) -> int:
        """The numbers that a running counter keeps for each number that it releases: those of 2^30 ticks."""
        return 32

    @property
    def largest_stddev(self) -> float:
        """Infinite: the noise grows without end, as slowly as (log t)^1.5."""
        return float("inf")

    def stddev(self, step: int) -> float:
        """The standard deviation of the noise on each number that is released at a tick, in units of the data."""
        rounded = ROUNDED if self.online and online_bits(self.noise_of(0)) else 0.0
        return sqrt(sum(made.squared * variance(noise) for noise, made in self._parts(step)) + rounded)

    def half_width(self, step: int, confidence: Number = "0.95") -> float:
        """How far a number that is released at a tick may lie from the exact sum, with this confidence for each."""
        return tree_half_width(self._parts(step), confidence, is_rounded=self.online)

    def noise_of(self, tree: int) -> IntegerNoise:
        """The noise of each node of the tree that starts at tick 2^tree.

        Raises:
            ParameterError: It cannot be drawn with.
        """
        most = self.participation.most
        pure = None if self.epsilon is None else self.epsilon / most
        concentrated = None if self.rho is None else self.rho / most**2
        return tree_noise(1 << tree, pure, concentrated, self.contribution, ONCE)[0]

    def _parts(self, step: int) -> list[tuple[IntegerNoise, Weights]]:
        last = checked_step(step, None)
        tree = last.bit_length() - 1
        inside = last - (1 << tree) + 1
        roots = [(self.noise_of(before), weights(1 << before, 0, online=self.online)) for before in range(tree)]
        return [*roots, (self.noise_of(tree), weights(inside, 0, online=self.online))]

    def _noise(self, numbers: int) -> RunningNoise:
        bits = online_bits(self.noise_of(0)) if self.online else 0
        return HybridNoise(numbers, bits, self)


class HybridNoise(RunningNoise):
    """The noise of one tree after the other."""

    __slots__ = ("_mechanism", "_tree")

    def __init__(self, numbers: int, unit_bits: int, mechanism: HybridTree) -> None:
        super().__init__(numbers, unit_bits)
        self._mechanism = mechanism
        self._tree = self._of_step(1)

    def draw(self, ticks: int) -> Integers:
        """The noise of the next ticks."""
        parts, step, stop = [], self.step, self.step + ticks
        while step < stop:
            last = (1 << (step + 1).bit_length()) - 1  # of the tree of the next tick
            if step + 1 == last + 1 >> 1:
                self._tree = self._of_step(step + 1)
            part = self._tree.draw(min(stop, last) - step)
            self._tree.step += len(part)
            parts.append(part << self.unit_bits - self._tree.unit_bits)
            step += len(part)
        return np.concatenate(parts) if parts else np.zeros((0, self.numbers), dtype=np.int64)

    def state(self) -> dict[str, Integers]:
        """The open nodes of the present tree."""
        return self._tree.state() | {"inside": np.array([self._tree.step])}

    def restore(self, arrays: Mapping[str, Integers]) -> None:
        """Take a `state` over; the tree is that of the last tick, with the noise of its own nodes."""
        inside = int(arrays["inside"][0])
        self._tree = self._of_step(max(1, self.step))
        self._tree.restore(arrays)
        self._tree.step = inside

    def _of_step(self, step: int) -> TreeNoise:
        noise = self._mechanism.noise_of(step.bit_length() - 1)
        return TreeNoise(self.numbers, noise, online=self._mechanism.online)
