"""`Monitor`: events in, an alarm when something passes a threshold, charged once, and safe over a restart."""

import json
from collections.abc import Iterable
from fractions import Fraction
from hashlib import sha256
from os import PathLike
from threading import RLock
from types import TracebackType
from typing import Any, Final, Self

from sfumato.errors import ParameterError, StateError
from sfumato.mechanisms.continual.participation import ONCE, Participation
from sfumato.mechanisms.monitors.statistics import Statistic
from sfumato.mechanisms.monitors.threshold_alarm import EACH_TICK, Alarm, Direction, ThresholdAlarm
from sfumato.numeric.arguments import of_kind, path_of, whole
from sfumato.numeric.rationals import Number, flag, positive
from sfumato.privacy.codec import Json
from sfumato.privacy.secret import Secret
from sfumato.session.releases.receipt import Receipt, receipt_from_dict
from sfumato.streams.counting.intake import EventIntake
from sfumato.streams.counting.measures import EventCount, Measure
from sfumato.streams.keeping.account import Payer, StreamAccount, payer_of
from sfumato.streams.keeping.state import DurableState, PassingState, StreamState
from sfumato.version import __version__

_LONGEST_POSITION: Final = 1 << 16
_MOST_STEPS: Final = 1 << 20


class Monitor:
    """Says at which steps of a public clock a statistic of a stream passes a threshold, until it has done so often.

    Steps without an alarm cost nothing more, however many there are, so a monitor needs no horizon. `ThresholdAlarm`
    says what is compared and with which noise; an `Alarm` has its excess, which is free.

    **Guarantee**: all that a monitor ever says costs what the ledger was charged, once, before the first event was
    read. Neighboring streams differ in one privacy unit: all of its events are changed to nothing while their steps
    stay; under REPLACE_ONE, to the events of another unit. What one event may add and how often one unit takes part
    is enforced here. What is not private is the monitor itself, in memory and in its file: it has exact totals.
    Proof: proofs/streams/monitoring/monitor.md.

    **Durable**: with a `state`, the noise of the threshold, the alarms that remain and the exact totals are on the
    disk, and the ledger knows of them, before an alarm leaves. A monitor that is restored goes on with its noise and
    is not charged again. An old copy of the state, and a second process with it, are refused.

    Edge cases: a step without an event is compared like any other. Events of a closed step, without a unit, or beyond
    what their unit may have are dropped. After the last alarm `tick` is refused. Events since the last `tick` or
    `commit` end with the process.

    Args:
        session: Who is charged: a `Session`, a child account of one, or a `StreamSession`.
        threshold: In the unit of the statistic.
        epsilon: Of all alarms together, above 0; there is no default.
        statistic: What is compared: `SlidingWindow(1)`, the total of each step, or a longer window, a `RunningTotal`,
            a `Change`, or a `CumulativeSum`.
        alarms: After how many alarms it halts.
        direction: ``"above"`` or ``"below"`` the threshold.
        pause: For how many steps after an alarm nothing is compared.
        measure: What an event adds: `EventCount()`, or a `ClampedSum` of whole numbers, without keys.
        participation: How often one unit may take part; needed unless each event is a unit.
        is_refreshed: Whether each alarm has noise of its own for the threshold, and ε/alarms.
        state: The file of the monitor: continued if it exists, else made. None: the monitor ends with the process.
        must_exist: Whether a missing file is an error; otherwise a mistyped path makes, and charges, a new monitor.

    Raises:
        ParameterError: A parameter is missing, or contradicts another.
        BudgetExceededError: Too little budget remains; nothing was spent.
        StateError: The state is of another monitor, an old copy, or open in another process.

    Example:
        >>> import sfumato as sf
        >>> stream = sf.streams.StreamSession("visits", budget=sf.PureDP(1))
        >>> busy = sf.streams.Monitor(session=stream, threshold=1_000, epsilon=1)
        >>> busy.tick()
        ()
        >>> busy.add_many(count=50_000)
        >>> [alarm.tick for alarm in busy.tick()], busy.is_over
        ([2], True)

    References:
        [DR14] Section 3.6; [LSL17]; [DWZK19].
    """

    def __init__(
        self,
        *,
        session: StreamAccount,
        threshold: Number,
        epsilon: Number,
        statistic: Statistic = EACH_TICK,
        alarms: int = 1,
        direction: Direction = "above",
        pause: int = 0,
        measure: Measure | None = None,
        participation: Participation | None = None,
        is_refreshed: bool = False,
        state: str | PathLike[str] | None = None,
        must_exist: bool = False,
    ) -> None:
        path = None if state is None else path_of(state, "state")
        flag(must_exist, "must_exist")
        self._payer = payer = payer_of(session)
        summed = _one_whole_number(EventCount() if measure is None else measure)
        _require_participation(payer, participation)
        bound = summed.contribution
        self._alarm = ThresholdAlarm(
            threshold, epsilon=positive(epsilon, "epsilon"), statistic=statistic, alarms=alarms, direction=direction,
            pause=pause, bounds=(bound.lower, bound.upper), participation=participation or ONCE,
            neighboring_relation=payer.neighboring_relation, is_refreshed=is_refreshed,
        )  # fmt: skip
        self._lock = RLock()
        self._intake = EventIntake(summed, participation, None)
        self._raised: list[Alarm] = []
        self._position: Json = None
        self._charge = payer.charge_of(self._alarm.event, delta=None)
        facts: dict[str, Any] = {"event": self._alarm.event, "charge": self._charge, "parameters": self._parameters}
        self._state: StreamState
        if path is None:
            self._state = PassingState(payer, **facts)
        else:
            self._state = DurableState(path, payer, must_exist=must_exist, **facts)
        try:
            self._begin()
        except BaseException:
            self._state.close()
            raise

    @property
    def next_step(self) -> int:
        """The step that is open, from 1."""
        return self._running.ticks + 1

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """All alarms so far."""
        return tuple(self._raised)

    @property
    def remaining_alarms(self) -> int:
        """How many more alarms there may be."""
        return self._running.remaining

    @property
    def is_over(self) -> bool:
        """Whether the last alarm was raised."""
        return self._running.is_over

    @property
    def position(self) -> Json:
        """What was committed last as `position`: where a source is to go on after a restart; None at first."""
        return self._position

    @property
    def receipt(self) -> Receipt:
        """What was asked, and what it costs for all alarms together."""
        return self._receipt

    def accuracy(self, confidence: Number = "0.95", *, steps: int) -> float:
        """The α such that, with this confidence, no reply of so many steps is wrong by more than α.

        Raises:
            ParameterError: The confidence is not between 0 and 1, or the steps are no number of at least 1.
        """
        return self._alarm.accuracy(confidence, ticks=whole(steps, "steps", least=1))

    def add(self, value: Any = None, *, unit: Any = None, step: int | None = None) -> None:
        """Add one event.

        Args:
            value: Its number; None where the measure counts.
            unit: Whose event it is, where participation is bounded.
            step: Its step; None: the open one. Events of later steps wait for them.

        Raises:
            ParameterError: An argument is missing, not wanted, or of a type that cannot be read.
        """
        with self._lock:
            self._intake.add(self.next_step, value, None, unit, step)

    def add_many(
        self,
        values: Iterable[Any] | None = None,
        *,
        units: Iterable[Any] | None = None,
        steps: Iterable[int] | None = None,
        count: int | None = None,
    ) -> None:
        """Add many events, in order; columns of a frame, arrays or lists, with one entry for each.

        Args:
            values: Their numbers; None where the measure counts.
            units: Whose they are, where participation is bounded.
            steps: Their steps; None: all are of the open one.
            count: How many there are, where no column says so.

        Raises:
            ParameterError: Columns differ in length, are missing, or are of types that cannot be read; then nothing
                was added.
        """
        with self._lock:
            self._intake.add_many(self.next_step, values=values, keys=None, units=units, steps=steps, count=count)

    def tick(self, steps: int = 1, *, position: Json = None) -> tuple[Alarm, ...]:
        """Close the open step, or several, and give their alarms, once they are kept; it stops at the last alarm.

        Args:
            steps: How many steps to close, with or without events.
            position: Where the source of the events is now, as any JSON value of at most 64 kB, kept in the same
                commit. None: as it was.

        Raises:
            ParameterError: The last alarm was raised before.
            StateError: The state could not be kept, or another process went on with it; nothing was released.
            UnavailableError: The account is suspended; nothing was released.
        """
        whole(steps, "steps", least=1, most=_MOST_STEPS)
        with self._lock:
            if not self.remaining_alarms:
                raise ParameterError("alarms", self._alarm.alarms, "are all raised; make another monitor")
            self._require_live()
            kept = self._position_of(position)
            self._state.require_available()
            self._is_broken = True  # of no use from here on until everything is kept
            totals = self._intake.pending.taken(self.next_step, steps)[:, 0].tolist()
            found: list[Alarm] = []
            for total in totals:
                if alarm := self._running.tick(Secret(total)):
                    found.append(alarm)
                if not self.remaining_alarms:
                    break
            self._keep(kept, found)
            if not self.remaining_alarms:
                self._finish()
            return tuple(found)

    def commit(self, *, position: Json = None) -> None:
        """Keep what was added since, and where the source of events is; no step is closed.

        Args:
            position: As of `tick`.

        Raises:
            StateError: The state could not be kept, or another process went on with it.
            UnavailableError: The account is suspended; nothing was kept.
        """
        with self._lock:
            self._require_live()
            kept = self._position_of(position)
            self._state.require_available()
            self._keep(kept, [])

    def suspend(self) -> None:
        """Suspend the data of the account, because its events could not be read; its owner has to acknowledge that.

        The monitor says nothing more, and stays charged.
        """
        with self._lock:
            self._is_broken = True
            self._state.suspend()

    def close(self) -> None:
        """Let go of the state, which another process may go on with; a monitor without one ends, and stays charged."""
        with self._lock:
            self._is_broken = True
            self._state.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        raised = f"{len(self._raised)} of {self._alarm.alarms} alarms"
        return f"<Monitor: {raised} in {self._running.ticks:,} steps, {self._charge} charged to {self._payer.account}>"

    @property
    def _parameters(self) -> dict[str, Json]:
        """The monitor in full, as JSON: another one may not continue its state."""
        payer = self._payer
        return {
            "kind": "monitor", "alarm": repr(self._alarm), "account": payer.account, "unit": payer.privacy_unit,
            "has_units": self._intake.memory is not None, "charge": repr(self._charge),
        }  # fmt: skip

    def _begin(self) -> None:
        """Start, or go on from what was committed last."""
        self._is_broken = False
        if not self._state.content:
            self._running = self._alarm.start()
            self._receipt = self._made_receipt()
            if self._state.is_lasting:
                self._keep(None, [])  # the noise of the threshold is drawn once, and kept before anything is compared
            return
        content = json.loads(self._state.content)
        self._running = self._alarm.restored(content["alarm"])
        self._receipt, self._position = receipt_from_dict(content["receipt"]), content["position"]
        self._intake.pending.restore(content["pending"])
        for text in self._state.rows():
            row = json.loads(text)
            self._raised += [_read_alarm(alarm) for alarm in row["alarms"]]
            if self._intake.memory is not None:
                self._intake.memory.recall((unit, step) for unit, step in row["taken"])
        if self.is_over and not self._state.is_finished:  # it stopped between its last alarm and its end
            self._finish()

    def _made_receipt(self) -> Receipt:
        payer, reservation = self._payer, self._state.reservation
        hashed = sha256(json.dumps(self._parameters, sort_keys=True).encode()).hexdigest()
        return Receipt(
            question=f"Monitor of {self._alarm}", plan_hash=hashed, event=self._alarm.event, guarantee=self._charge,
            spent=reservation.spent, remaining=reservation.left,
            neighboring_relation=payer.neighboring_relation.value, privacy_unit=payer.privacy_unit,
            library=__version__, policy_version=payer.policy_version, data_version=payer.data_version,
            request=reservation.request,
        )  # fmt: skip

    def _keep(self, position: Json, found: list[Alarm]) -> None:
        """Make durable where the monitor is; alarms may leave afterwards."""
        self._is_broken = True
        taken = [] if self._intake.memory is None else self._intake.memory.taken()
        if self._state.is_lasting:
            content: dict[str, Json] = {
                "position": position, "pending": self._intake.pending.saved(), "receipt": self._receipt.to_dict(),
                "alarm": self._running.saved(),
            }  # fmt: skip
            written = [[alarm.tick, str(alarm.excess), str(alarm.estimate), alarm.stddev] for alarm in found]
            row = {"alarms": written, "taken": [list(one) for one in taken]}
            is_empty = not found and not taken
            self._state.commit(json.dumps(content).encode(), b"" if is_empty else json.dumps(row).encode())
        self._position = position
        self._raised += found
        self._is_broken = False

    def _finish(self) -> None:
        self._state.finish({"receipt": self._receipt.to_dict()})

    def _require_live(self) -> None:
        if self._is_broken or self._state.is_finished:
            raise StateError("of the monitor", "is closed, or a commit failed; open the monitor again to go on")

    def _position_of(self, position: Json) -> Json:
        if position is None:
            return self._position
        try:
            text = json.dumps(position, allow_nan=False)
        except (TypeError, ValueError):
            raise ParameterError("position", position, "must be JSON: texts, numbers, lists and mappings") from None
        if len(text) > _LONGEST_POSITION:
            raise ParameterError("position", f"{len(text):,} characters", f"must have at most {_LONGEST_POSITION:,}")
        kept: Json = json.loads(text)
        return kept


def _one_whole_number(measure: Measure) -> Measure:
    of_kind(measure, "measure", Measure, "EventCount(), or a ClampedSum of whole numbers")
    if measure.labels is not None or measure.resolution != 1 or measure.contribution.kind != "clamped":
        requirement = "must sum up one whole number: an EventCount or a ClampedSum without keys and resolution"
        raise ParameterError("measure", measure, requirement)
    return measure


def _require_participation(payer: Payer, participation: Participation | None) -> None:
    """A guarantee for units whose events are not told apart would be one for single events, and no more."""
    if participation is not None:
        of_kind(participation, "participation", Participation, "a Participation(most=…, separation=…)")
    elif not payer.is_each_row:
        requirement = (
            f"is missing: the account protects each {payer.privacy_unit}; say how often one may take part, such as"
            " Participation(most=5), and give the unit of each event"
        )
        raise ParameterError("participation", None, requirement)


def _read_alarm(written: list[Any]) -> Alarm:
    tick, excess, estimate, stddev = written
    return Alarm(tick=tick, excess=Fraction(excess), estimate=Fraction(estimate), stddev=stddev)
