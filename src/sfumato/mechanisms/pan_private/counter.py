"""A counter whose running state is private: noise lies in it from the start, and between any two looks at it."""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import Exact, integers, opened
from sfumato.mechanisms.pan_private.state import PanPrivateState, numbers_of, read_copy
from sfumato.noise.laws.discrete_laplace import discrete_laplace
from sfumato.noise.uniform.integers import drawable
from sfumato.numeric.arguments import of_kind, whole
from sfumato.numeric.distributions import discrete_laplace_variance, failure_probability
from sfumato.numeric.many_noises import half_width_of_equals
from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.numeric.rationals import Number, positive, positive_integer, set_fields
from sfumato.privacy.events import PureEvent
from sfumato.privacy.secret import Secret

_LONGEST = 1 << 40


@dataclass(frozen=True, slots=True, init=False)
class PanPrivateCounter:
    """Counts events up to each tick of a public clock, in a state that is as private as the counts.

    A binary tree of partial counts over the ticks, with L = ⌊log₂ horizon⌋ + 1 levels. The state has one open partial
    count a level, which begins as noise and not as 0. When its ticks are over it gets a second noise and is kept for
    the released counts. All noises are discrete Laplace, of scale events_per_unit·L/ε. With a horizon of 1 it is one
    count, released once at the end of the stream.

    **Guarantee**: ε-differential privacy, together, of all released counts, all saved copies, and one look at the
    memory of the state at a moment that nobody announces. Neighboring streams differ in the events of one unit, at
    most `events_per_unit` of them: with 1, in one event. Saved copies cost no ε but noise: each is followed, and
    preceded, by fresh noise in every open count. So there may be one more look at the memory after each copy; two
    without a copy between them are not private. Proof: proofs/mechanisms/pan_private/counter.md.

    ==================================  ======================================================
    Edge case                           Behavior
    ==================================  ======================================================
    a tick without events               releases a count like any other tick
    a unit with more events             costs more: with twice `events_per_unit`, 2ε
    a copy restored twice, or beside    costs more: events after it may count in both, 2ε
    the state that it was saved from
    events fed again after a restore    the same: they are in two states
    after `horizon` ticks               nothing is counted any more: ParameterError
    ==================================  ======================================================

    Args:
        horizon: The most ticks, from 1 to 2^40.
        epsilon: Above 0.
        saved_copies: How many copies of the state may be saved, from 0.
        events_per_unit: The most events of one unit in the whole stream. It is a claim: the counter knows no units.
        threshold: A count, in events; the state's `crossed_at` is the tick whose released count first reached it.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> visits = PanPrivateCounter(horizon=1, epsilon=1, threshold=1_000).start()
        >>> visits.add(1_000_000)
        >>> count = visits.tick()
        >>> round(count, -4), visits.crossed_at
        (1000000, 1)

    References:
        [DNPRY10] for pan-privacy; [DNPR10] Section 4 for the counter, and [CSS11].
    """

    horizon: int
    epsilon: Fraction
    saved_copies: int
    events_per_unit: int
    threshold: Fraction | None

    def __init__(
        self,
        *,
        horizon: int,
        epsilon: Number,
        saved_copies: int = 0,
        events_per_unit: int = 1,
        threshold: Number | None = None,
    ) -> None:
        set_fields(
            self,
            horizon=positive_integer(horizon, "horizon", most=_LONGEST),
            epsilon=positive(epsilon, "epsilon"),
            saved_copies=whole(saved_copies, "saved_copies"),
            events_per_unit=positive_integer(events_per_unit, "events_per_unit"),
            threshold=None if threshold is None else positive(threshold, "threshold"),
        )
        drawable(self.scale, "scale")

    @property
    def levels(self) -> int:
        """L, how many partial counts an event is in."""
        return self.horizon.bit_length()

    @property
    def scale(self) -> Fraction:
        """The scale of every noise, in events."""
        return self.events_per_unit * self.levels / self.epsilon

    @property
    def event(self) -> PureEvent:
        """The event of the whole stream, for accountants."""
        return PureEvent(self.epsilon)

    def start(self) -> "PanPrivateCounterState":
        """The counter at its first tick."""
        return PanPrivateCounterState(self, None)

    def restored(self, saved: str) -> "PanPrivateCounterState":
        """The counter as it was when a copy was saved; restore each copy once.

        Raises:
            ParameterError: It is no text of `saved`, or of a mechanism with other parameters.
        """
        return PanPrivateCounterState(self, of_kind(saved, "saved", str, "a text that saved() gave"))

    def noises(self, tick: int) -> int:
        """The most noises that the count of a tick is made of: 2 for each bit of its number, and 2 for each copy.

        Raises:
            ParameterError: The tick is not from 1 to `horizon`.
        """
        return 2 * (whole(tick, "tick", least=1, most=self.horizon).bit_count() + self.saved_copies)

    def stddev(self, tick: int) -> float:
        """The standard deviation of the count of a tick, in events, if all copies are saved by then.

        Raises:
            ParameterError: The tick is not from 1 to `horizon`.
        """
        return sqrt(self.noises(tick) * discrete_laplace_variance(self.scale))

    def half_width(self, tick: int, confidence: Number = "0.95") -> float:
        """How far the count of a tick lies from the true one at most, with this confidence, in events.

        Raises:
            ParameterError: The tick is not from 1 to `horizon`, or the confidence not between 0 and 1.
        """
        return self._half_width(self.noises(tick), failure_probability(confidence))

    def crossing_accuracy(self, confidence: Number = "0.95") -> float:
        """The α such that, with this confidence, no count of any tick errs by more.

        Then `crossed_at` is a tick whose true count is at least threshold − α, and not after the first one whose true
        count reaches threshold + α.

        Raises:
            ParameterError: The confidence is not between 0 and 1.
        """
        most = max(self.horizon.bit_count(), self.levels - 1)  # bits of a tick up to the horizon
        return self._half_width(2 * (most + self.saved_copies), failure_probability(confidence) / self.horizon)

    def _half_width(self, noises: int, failure: Fraction) -> float:
        return half_width_of_equals(IntegerNoise("laplace", self.scale), noises, failure)


class PanPrivateCounterState(PanPrivateState):
    """A counter between two ticks, made by `PanPrivateCounter.start`, which says what its state reveals.

    Example:
        >>> running = PanPrivateCounter(horizon=7, epsilon=1, saved_copies=1).start()
        >>> running.add(3)
        >>> isinstance(running.tick(), int), running.ticks, running.remaining_copies
        (True, 1, 1)
    """

    __slots__ = ("_closed", "_counter", "_crossed_at", "_open", "_ticks")

    def __init__(self, counter: PanPrivateCounter, saved: str | None) -> None:
        """For `PanPrivateCounter`: from the beginning, or from a copy."""
        self._counter = counter
        levels = counter.levels
        if saved is None:
            super().__init__(counter.saved_copies)
            self._ticks, self._closed, self._crossed_at = 0, [0] * levels, None
            self._open: list[int] = discrete_laplace(counter.scale, levels).tolist()
            return
        content = read_copy(saved, self._parameters(), most_copies=counter.saved_copies)
        super().__init__(content["remaining_copies"])
        self._ticks = whole(content.get("ticks"), "saved", most=counter.horizon)
        crossed_at = content.get("crossed_at")
        self._crossed_at = None if crossed_at is None else whole(crossed_at, "saved", least=1, most=self._ticks)
        self._open, self._closed = (numbers_of(content, name, levels) for name in ("open", "closed"))
        self._stir()

    def __repr__(self) -> str:
        return f"PanPrivateCounterState(ticks={self._ticks}, remaining_copies={self._copies})"

    @property
    def ticks(self) -> int:
        """How many ticks are over."""
        return self._ticks

    @property
    def crossed_at(self) -> int | None:
        """The first tick whose released count reached the threshold, from 1; None before, or without a threshold."""
        return self._crossed_at

    def add(self, events: Exact | Secret[Exact] = 1) -> None:
        """Count events of the tick that is running.

        Args:
            events: How many; or a vector of numbers, which are added up.

        Raises:
            ParameterError: It is no whole number, or the horizon is reached, whatever it is.
        """
        with self._alone():
            self._refuse_late()
            number = opened(events)
            numbers = integers(number if getattr(number, "ndim", 0) or isinstance(number, list | tuple) else [number])
            added = sum(numbers.tolist())
            self._open = [partial + added for partial in self._open]

    def tick(self) -> int:
        """The tick is over: the noisy count of all events so far.

        Raises:
            ParameterError: The horizon is reached.
        """
        with self._alone():
            self._refuse_late()
            self._ticks += 1
            ended = (self._ticks & -self._ticks).bit_length()  # levels whose partial counts end with this tick
            noise = self._noise(2 * ended)
            self._closed[:ended] = [self._open[level] + noise[level] for level in range(ended)]
            self._open[:ended] = noise[ended:]
            count = sum(partial for level, partial in enumerate(self._closed) if self._ticks >> level & 1)
            threshold = self._counter.threshold
            if self._crossed_at is None and threshold is not None and count >= threshold:
                self._crossed_at = self._ticks
            return count

    def _parameters(self) -> dict[str, Any]:
        counter = self._counter
        return {
            "kind": "pan-private counter",
            "horizon": counter.horizon,
            "epsilon": str(counter.epsilon),
            "saved_copies": counter.saved_copies,
            "events_per_unit": counter.events_per_unit,
            "threshold": None if counter.threshold is None else str(counter.threshold),
        }

    def _copied(self) -> dict[str, Any]:
        self._stir()  # between a look at the memory before it and the copy
        copied = {"ticks": self._ticks, "crossed_at": self._crossed_at, "open": self._open, "closed": self._closed}
        self._stir()  # between the copy and a look at the memory after it
        return copied

    def _stir(self) -> None:
        """Fresh noise into every open partial count."""
        levels = self._counter.levels
        self._open = [partial + noise for partial, noise in zip(self._open, self._noise(levels), strict=True)]

    def _noise(self, count: int) -> list[int]:
        noise: list[int] = discrete_laplace(self._counter.scale, count).tolist()
        return noise

    def _refuse_late(self) -> None:
        if self._ticks == self._counter.horizon:
            requirement = "is reached; start another counter, at its own cost"
            raise ParameterError("horizon", self._counter.horizon, requirement)
