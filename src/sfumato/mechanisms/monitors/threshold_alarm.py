"""Alarms over a stream of totals: a sparse vector that is asked at each tick of a public clock."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, Final, Literal, TypeAlias, get_args

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import Exact, integers, opened
from sfumato.mechanisms.continual.participation import ONCE, Participation
from sfumato.mechanisms.continual.sums import RunningTotal, SlidingWindow
from sfumato.mechanisms.monitors.statistics import (
    Change,
    CumulativeSum,
    RunningStatistic,
    Statistic,
    StatisticSensitivity,
    sensitivity_of,
)
from sfumato.mechanisms.selection.sparse_vector import SparseVector
from sfumato.numeric.arguments import listed, of_kind, one_of, whole
from sfumato.numeric.rationals import Number, exact, flag, positive, positive_integer, set_fields
from sfumato.privacy.events import PureEvent, SelfComposedEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, as_relation
from sfumato.privacy.secret import Secret

Direction: TypeAlias = Literal["above", "below"]
EACH_TICK: Final = SlidingWindow(1)
"""The total of each tick by itself."""
_LARGEST_BOUND: Final = 1 << 40


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm: what a monitor says of a tick.

    Attributes:
        tick: The tick, from 1.
        excess: How far the noisy statistic lies beyond the noisy threshold, 0 or more; it is free.
        estimate: An estimate of the statistic: the threshold and the excess.
        stddev: The standard deviation of the noise of the estimate, before it is known that there was an alarm.
    """

    tick: int
    excess: Fraction
    estimate: Fraction
    stddev: float


@dataclass(frozen=True, slots=True, init=False)
class ThresholdAlarm:
    """Says at which ticks a statistic of a stream lies at or beyond a threshold, until it has said so `alarms` times.

    It is a `SparseVector` over the ticks: however many pass without an alarm, they cost nothing more. The noise of the
    threshold is drawn once and kept for all alarms, unless `is_refreshed`: then each alarm has a threshold with noise
    of its own, and ε/alarms.

    The statistic is that of one tick (`SlidingWindow(1)`), of a sliding window, a running total, the `Change` between
    two windows, or a `CumulativeSum`. Each alarm comes with its excess, which is free.

    **Guarantee**: ε-differential privacy of all replies and excesses together, however many ticks there are, for the
    neighboring relation. A unit has events in at most `participation.most` ticks, `participation.separation` ticks
    apart; in each they add a number within the bounds. With the default, a unit is one event. For the statistic of one
    tick by itself `most` does not matter: a unit with an event in every tick has the same ε. The state is not private.
    Proof: proofs/mechanisms/monitors/threshold_alarm.md.

    ================================  ======================================================
    Edge case                         Behavior
    ================================  ======================================================
    epsilon = 0                       no alarm, ever
    ticks too few for the statistic   no alarm, and nothing is compared
    a tick of the pause               no alarm, and nothing is compared
    after the last alarm              nothing is read any more: ParameterError
    a tick without events             a total of 0, compared like any other
    a total beyond the bounds         counts as it is: whoever adds events up clamps them
    ================================  ======================================================

    Args:
        threshold: In the unit of the statistic.
        epsilon: 0 or more, for the whole stream.
        statistic: What is compared.
        alarms: After how many alarms it halts, at least 1.
        direction: ``"above"``: an alarm at or above the threshold; ``"below"``: at or below.
        pause: For how many ticks after an alarm nothing is compared.
        bounds: What a unit's events add in one tick: whole numbers from the first to the second.
        participation: In how many ticks one unit has events. It is a claim: the alarm sees totals.
        neighboring_relation: Whether a unit's events are changed to nothing, or to any others it may have.
        is_refreshed: Whether each alarm has noise of its own for the threshold.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> busy = ThresholdAlarm(1_000_000, epsilon=1, alarms=2).start()
        >>> [bool(busy.tick(visits)) for visits in (3_000, 4_000_000, 0, 2_000_000)], busy.is_over
        ([False, True, False, True], True)

    References:
        [DR14] Section 3.6; [LSL17]; [DWZK19] for the excess; [Pag54] for cumulative sums.
    """

    threshold: Fraction
    epsilon: Fraction
    statistic: Statistic
    alarms: int
    direction: Direction
    pause: int
    bounds: tuple[int, int]
    participation: Participation
    neighboring_relation: NeighboringRelation
    is_refreshed: bool

    def __init__(
        self,
        threshold: Number,
        *,
        epsilon: Number,
        statistic: Statistic = EACH_TICK,
        alarms: int = 1,
        direction: Direction = "above",
        pause: int = 0,
        bounds: tuple[int, int] = (0, 1),
        participation: Participation = ONCE,
        neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
        is_refreshed: bool = False,
    ) -> None:
        kinds = (SlidingWindow, RunningTotal, Change, CumulativeSum)
        of_kind(statistic, "statistic", kinds, "a SlidingWindow, RunningTotal, Change or CumulativeSum")
        ends = listed(bounds, "bounds", of="bounds")
        if len(ends) != 2:  # noqa: PLR2004 # a lower and an upper one
            raise ParameterError("bounds", bounds, "must be a lower and an upper bound, such as (0, 10)")
        low, high = (whole(end, "bounds", least=-_LARGEST_BOUND, most=_LARGEST_BOUND) for end in ends)
        one_of(direction, "direction", get_args(Direction))
        if direction == "below" and isinstance(statistic, CumulativeSum):
            raise ParameterError("direction", direction, 'must be "above" for a CumulativeSum; give it falling=True')
        set_fields(
            self,
            threshold=exact(threshold, "threshold"),
            epsilon=exact(epsilon, "epsilon"),
            statistic=statistic,
            alarms=positive_integer(alarms, "alarms"),
            direction=direction,
            pause=whole(pause, "pause"),
            bounds=(low, high),
            participation=of_kind(participation, "participation", Participation, "a Participation"),
            neighboring_relation=as_relation(neighboring_relation),
            is_refreshed=flag(is_refreshed, "is_refreshed"),
        )
        if isinstance(statistic, CumulativeSum):
            positive(threshold, "threshold")
        self.sparse_vector  # noqa: B018 # refuses an ε for which there is no noise

    @property
    def sensitivity(self) -> StatisticSensitivity:
        """How far one unit moves the statistic."""
        low, high = self.bounds
        return sensitivity_of(
            self.statistic, lower=low, upper=high, participation=self.participation, relation=self.neighboring_relation
        )

    @property
    def sparse_vector(self) -> SparseVector:
        """What compares; if the threshold is refreshed, up to one alarm."""
        return SparseVector(
            epsilon=self.epsilon / self.alarms if self.is_refreshed else self.epsilon,
            cutoff=1 if self.is_refreshed else self.alarms,
            linf_sensitivity=self.sensitivity.furthest,
            monotonic=self.sensitivity.is_monotonic,
            resolution=None if self.resolution == 1 else self.resolution,
        )

    @property
    def resolution(self) -> Fraction:
        """The spacing of the values that the statistic can have; the threshold counts as the next of them beyond it."""
        return Fraction(1, self.statistic.drift.denominator if isinstance(self.statistic, CumulativeSum) else 1)

    @property
    def event(self) -> PureEvent | SelfComposedEvent:
        """The event of the whole stream, for accountants."""
        if self.is_refreshed and self.alarms > 1:
            return SelfComposedEvent(PureEvent(self.epsilon / self.alarms), self.alarms)
        return PureEvent(self.epsilon)

    @property
    def stddev(self) -> float:
        """The standard deviation of the noise of a comparison, and of `Alarm.estimate`; infinite at ε = 0."""
        return self.sparse_vector.gap_stddev

    def accuracy(self, confidence: Number = "0.95", *, ticks: int) -> float:
        """The α such that, with this confidence, no reply of so many ticks is wrong by more than α.

        That is, there are alarms only where the statistic lies beyond threshold − α, and none are missed where it lies
        beyond threshold + α; in the other direction with the signs exchanged. Infinite at ε = 0.

        Raises:
            ParameterError: The confidence is not between 0 and 1, or the ticks are no number of at least 1.
        """
        if not self.is_refreshed:
            return float(self.sparse_vector.accuracy(confidence, queries=positive_integer(ticks, "ticks")))
        each = 1 - (1 - exact(confidence, "confidence")) / self.alarms
        return float(self.sparse_vector.accuracy(each, queries=positive_integer(ticks, "ticks")))

    def start(self) -> "AlarmState":
        """The alarm before the first tick."""
        return AlarmState(self, None)

    def restored(self, saved: dict[str, Any]) -> "AlarmState":
        """The alarm whose `saved` gave this, with the noise that its threshold had; let one alone go on from it.

        Raises:
            ParameterError: It is nothing that an alarm of this mechanism saved.
        """
        wanted = "what the state of an alarm saved"
        try:
            return AlarmState(self, of_kind(saved, "saved", dict, wanted))
        except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError("saved", "a damaged state", f"must be {wanted}") from None


class AlarmState:
    """An alarm between two ticks, made by `ThresholdAlarm.start`, which says what its replies reveal.

    The state itself is secret: it has exact totals and the noise of the threshold. Threads do not share it.

    Example:
        >>> state = ThresholdAlarm(100, epsilon=1).start()
        >>> state.tick(-(10**6)) is None, state.ticks, state.remaining
        (True, 1, 1)
    """

    __slots__ = ("_alarm", "_compared", "_pause", "_remaining", "_running", "_ticks")

    def __init__(self, alarm: ThresholdAlarm, saved: dict[str, Any] | None) -> None:
        """For `ThresholdAlarm`: from the beginning, or from a saved state."""
        self._alarm, self._running = alarm, RunningStatistic(alarm.statistic)
        self._ticks, self._pause, self._remaining = 0, 0, alarm.alarms
        if saved is None:
            self._compared = alarm.sparse_vector.start(self._threshold)
            return
        self._ticks, self._pause = whole(saved["ticks"], "saved"), whole(saved["pause"], "saved", most=alarm.pause)
        self._remaining = whole(saved["remaining"], "saved", most=alarm.alarms)
        self._running.restore(saved["statistic"])
        self._compared = alarm.sparse_vector.restored(saved["compared"])

    def __repr__(self) -> str:
        return f"AlarmState(ticks={self._ticks}, remaining={self._remaining})"

    @property
    def ticks(self) -> int:
        """How many ticks are over."""
        return self._ticks

    @property
    def remaining(self) -> int:
        """How many more alarms there may be."""
        return self._remaining

    @property
    def is_over(self) -> bool:
        """Whether the last alarm was raised."""
        return self._remaining == 0

    def tick(self, total: Exact | Secret[Exact]) -> Alarm | None:
        """A tick is over: an alarm, or None.

        Args:
            total: What all events of the tick add up to, a whole number.

        Raises:
            ParameterError: The last alarm was raised, whatever the total; or it is no whole number.
        """
        if self.is_over:
            requirement = "are all raised, so nothing is read any more; start another one, at its own cost"
            raise ParameterError("alarms", self._alarm.alarms, requirement)
        statistic = self._running.next(int(integers([opened(total)])[0]))
        self._ticks += 1
        if self._pause:
            self._pause -= 1
            return None
        is_early = isinstance(self._alarm.statistic, SlidingWindow) and self._ticks < self._alarm.statistic.width
        if statistic is None or (is_early and self._alarm.direction == "below"):
            return None
        gap = self._compared.gap(statistic * self._sign)
        if gap is None:
            return None
        self._raised()
        first = ceil(self._threshold / self._alarm.resolution) * self._alarm.resolution
        estimate = self._sign * (first + gap)
        return Alarm(tick=self._ticks, excess=Fraction(gap), estimate=estimate, stddev=self._alarm.stddev)

    def saved(self) -> dict[str, Any]:
        """What `ThresholdAlarm.restored` goes on from, as JSON has it. It is secret."""
        return {
            "ticks": self._ticks,
            "pause": self._pause,
            "remaining": self._remaining,
            "statistic": self._running.saved(),
            "compared": self._compared.saved(),
        }

    @property
    def _sign(self) -> int:
        return 1 if self._alarm.direction == "above" else -1

    @property
    def _threshold(self) -> Fraction:
        return self._alarm.threshold * self._sign

    def _raised(self) -> None:
        """After an alarm: what is public of it decides what is compared next."""
        self._remaining -= 1
        self._pause = self._alarm.pause
        self._running.alarmed()
        if self._alarm.is_refreshed and self._remaining:
            self._compared = self._alarm.sparse_vector.start(self._threshold)
