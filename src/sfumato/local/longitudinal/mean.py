"""Means of numbers that are reported again: each is rounded to one of a few places, and a bit for it is remembered."""

from dataclasses import dataclass
from fractions import Fraction
from math import isnan
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.local.core.domain import UNKNOWN
from sfumato.local.core.odds import event_of, odds
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.packing import integers_of, packed_integers
from sfumato.local.longitudinal.memory import MemoryClient, Remembering, epsilon_of_change, flip_share
from sfumato.local.means.mean import DuchiMean
from sfumato.local.means.numbers import NumberProtocol, Places, number_of
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.rationals import Number, positive_integer, set_fields
from sfumato.privacy.events import FiniteEvent


@dataclass(frozen=True, slots=True, init=False)
class LongitudinalMean(Remembering, DuchiMean):
    """Rounds a number to one of m + 1 ends by an α that the device drew once, and keeps one bit for each end.

    The bounds are cut into m segments of w = T/m steps. A device draws α from 0 to w − 1 once, and rounds the place s
    to the end ⌊(s + α)/w⌋: to the upper end of its segment with probability (s mod w)/w over α, so that the mean stays.
    The permanent response to an end is that of `DuchiMean`, and each report flips it with probability γ by a fresh
    coin. α-point rounding, 1BitMean and output perturbation of [DKY17]. A number that stays
    between two places where its end changes reveals nothing new.

    **Guarantee**: as `Remembering`, with e^ε∞ = R. A device has at most m + 1 responses, so a lifetime costs at most
    (m + 1)·ε∞, compared with histories whose ends change at the same times. One report has ε∞ if γ = 0, else less. A
    history whose response changes one report earlier differs by `change_epsilon`. Proof:
    proofs/local/longitudinal/memory.md.

    ==============================  =========================================================
    Edge case                       Behavior
    ==============================  =========================================================
    None, NaN, a text               a uniform place that the device draws once and remembers
    m = T                           α is 0: each place is an end
    ==============================  =========================================================

    Args:
        low: The lower bound.
        high: The upper bound, above it.
        epsilon: The most that all reports of one number may reveal.
        steps: T, a multiple of the segments, up to 2^16.
        segments: m, from 1.
        flipped: γ, from 0 to below 1/2.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> minutes = LongitudinalMean(0, 1440, epsilon=1)
        >>> device = minutes.client()
        >>> sent = [device.report(number) for number in range(200)]
        >>> device.responses <= minutes.most_remembered == 2
        True

    References:
        [DKY17].
    """

    kind: ClassVar[str] = "longitudinal_mean"

    segments: int
    flipped: Fraction

    def __init__(
        self,
        low: Number,
        high: Number,
        *,
        epsilon: Number,
        steps: int | None = None,
        segments: int = 1,
        flipped: Number = 0,
    ) -> None:
        NumberProtocol.__init__(self, low, high, epsilon=epsilon, steps=steps)
        if self.steps % positive_integer(segments, "segments"):
            raise ParameterError("segments", segments, f"must divide steps, {self.steps}")
        set_fields(self, segments=segments, flipped=flip_share(flipped))

    @property
    def permanent_flip(self) -> Fraction:
        """How often a response is the wrong bound: 1/(R + 1)."""
        return 1 / (odds(self.epsilon) + 1)

    @property
    def flip_probability(self) -> Fraction:
        """The same of a report: s + (1 − 2s)·γ."""
        return self.permanent_flip + (1 - 2 * self.permanent_flip) * self.flipped

    @property
    def permanent_event(self) -> FiniteEvent:
        """A response to either bound."""
        wrong = self.permanent_flip
        return event_of(((wrong, 1 - wrong), (1 - wrong, wrong)))

    @property
    def most_remembered(self) -> int:
        """One for each end."""
        return self.segments + 1

    @property
    def change_epsilon(self) -> Fraction | None:
        """By how much one report more or less before a change differs, rounded up; None if γ = 0: it is not bounded."""
        return epsilon_of_change(self.flipped, 1)

    def client(self, *, memory: Any = None) -> MemoryClient:
        """A device with a memory."""
        return MemoryClient(self, memory=memory)

    def known(self, value: Any) -> int:
        """Its lattice place."""
        return UNKNOWN if isnan(number_of(value)) else int(self.inputs([value])[0])

    def devices(self, count: int) -> NDArray[Any]:
        """α."""
        return uniform_below(self.steps // self.segments, count)[:, None]

    def remembered(self, indexes: Places, devices: NDArray[Any]) -> Places:
        """The end that a place is rounded to."""
        ends: Places = (indexes + devices[:, 0]) // (self.steps // self.segments)
        return ends

    def permanent(self, remembered: Places) -> NDArray[Any]:
        """A bound at random, the upper one as often as the end is high, then perhaps the other one."""
        bounds = uniform_below(self.segments, len(remembered)) < remembered
        return (bounds ^ bernoulli(self.permanent_flip, len(remembered))).astype(np.int64)

    def instantaneous(self, permanent: NDArray[Any], devices: NDArray[Any]) -> Payloads:
        """The response, or the other bound."""
        del devices
        outputs = permanent.astype(np.int64)
        if self.flipped:
            outputs ^= bernoulli(self.flipped, len(outputs))
        return packed_integers(outputs, self.payload_bytes)

    def draw(self, places: Places) -> Places:
        """First reports of devices of their own."""
        return integers_of(self.randomize(places))
