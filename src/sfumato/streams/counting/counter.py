"""`Counter`: events in, at every step of a public clock a noisy sum out, charged once, and safe over a restart."""

import json
from collections.abc import Iterable
from os import PathLike
from threading import RLock
from types import TracebackType
from typing import Any, Final, Self

import numpy as np

from sfumato.errors import ParameterError, StateError
from sfumato.mechanisms.continual.base import ContinualMechanism
from sfumato.mechanisms.continual.participation import Participation
from sfumato.mechanisms.continual.sums import Sums
from sfumato.noise.uniform.integers import Integers, narrow
from sfumato.numeric.arguments import path_of, whole
from sfumato.numeric.rationals import Number, flag
from sfumato.privacy.codec import Json
from sfumato.privacy.secret import Secret
from sfumato.session.releases.receipt import Receipt, receipt_from_dict
from sfumato.streams.counting.intake import EventIntake
from sfumato.streams.counting.measures import EventCount, Measure
from sfumato.streams.counting.plan import Maker, plan_counter
from sfumato.streams.counting.published import PublicClock, PublicFile, steps_of
from sfumato.streams.counting.records import History, packed, packed_row, unpacked, unpacked_row
from sfumato.streams.counting.releases import CounterReleases
from sfumato.streams.counting.selected import SelectedReleases
from sfumato.streams.counting.selection import CounterKeys
from sfumato.streams.keeping.account import StreamAccount, payer_of
from sfumato.streams.keeping.state import DurableState, PassingState, StreamState

_LONGEST_POSITION: Final = 1 << 26
_MOST_STEPS: Final = 1 << 20
"""So many steps are closed by one call at most."""


class Counter:
    """A private counter that never stops: it adds events up, and releases a noisy sum at every step of a public clock.

    A step is a tick of a clock that everybody knows, such as a day, and never an event or a batch of them: a step
    without an event is released too. The counter has no clock; `tick` closes steps. The noise of different steps is
    correlated, so that the error of a total grows much more slowly than the total.

    **Guarantee**: all releases of the horizon together cost what the ledger was charged, once, before the first event
    was read. Neighboring streams differ in one privacy unit: all of its events are changed to nothing while their steps
    stay; under REPLACE_ONE, to the events of another unit. What one event may add and how often one unit takes part is
    enforced here, whatever comes in. Proof: proofs/streams/counting/counter.md.

    **Durable**: with a `state`, noise, sums and what was released are on the disk, and the ledger knows of them, before
    a value leaves. A process may be killed anywhere: the counter goes on with its noise, draws none twice and is not
    charged again. An old copy of the state, and a second process with it, are refused.

    Edge cases: an event of a closed step, beyond the horizon, of an unknown key or without a unit is dropped, as is one
    that its unit may not have any more. Nobody is told. Events since the last `tick` or `commit` end with the process.

    Args:
        session: Who is charged: a `Session`, a child account of one, or a `StreamSession`.
        mechanism: The kind of noise, such as ``sf.mechanisms.BinaryTree``; or a mechanism that is ready, which then
            states horizon and budget itself.
        horizon: How many steps the counter will release at most; None for ``HybridTree``, which needs none.
        epsilon: The total ε of all steps together; there is no default.
        rho: The total ρ instead, for Gaussian noise.
        delta: The δ at which Gaussian noise is charged; needed where an account is kept in (ε, δ). That of
            `SelectedKeys` is added to it.
        measure: What is summed up: `EventCount`, `ClampedSum`, `BinCounts` or `VectorTotal`.
        participation: How often one unit may take part, and how far apart; needed unless each event is a unit.
        sums: What a release is: a `RunningTotal`, a `SlidingWindow` or a `DecayingSum`.
        state: The file of the counter: continued if it exists, else made. None: the counter ends with the process.
        must_exist: Whether a missing file is an error; otherwise a mistyped path makes, and charges, a new counter.

    Raises:
        ParameterError: A parameter is missing, or contradicts another.
        BudgetExceededError: Too little budget remains; nothing was spent.
        StateError: The state is of another counter, an old copy, or open in another process.

    Example:
        >>> import sfumato as sf
        >>> stream = sf.streams.StreamSession("visits", budget=sf.PureDP(1))
        >>> visits = sf.streams.Counter(
        ...     session=stream, mechanism=sf.mechanisms.BinaryTree, horizon=365, epsilon=1
        ... )
        >>> visits.add()
        >>> visits.add_many(count=120)
        >>> releases = visits.tick()
        >>> len(releases), visits.next_step, str(stream.remaining)
        (1, 2, 'ε 0')

    References:
        [DNPR10]; [CSS11].
    """

    def __init__(
        self,
        *,
        session: StreamAccount,
        mechanism: ContinualMechanism | Maker,
        horizon: int | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        measure: Measure | None = None,
        participation: Participation | None = None,
        sums: Sums | None = None,
        state: str | PathLike[str] | None = None,
        must_exist: bool = False,
    ) -> None:
        path = None if state is None else path_of(state, "state")
        flag(must_exist, "must_exist")
        self._plan = plan = plan_counter(
            payer_of(session), EventCount() if measure is None else measure, mechanism=mechanism, horizon=horizon,
            epsilon=epsilon, rho=rho, delta=delta, participation=participation, sums=sums,
        )  # fmt: skip
        self._lock = RLock()
        self._selection = None if plan.threshold is None else CounterKeys(plan.threshold)
        self._intake = EventIntake(plan.measure, participation, plan.horizon, self._selection)
        self._history = History()
        self._position: Json = None
        self._place = path
        self._public: PublicFile | None = None
        self._clock: PublicClock | None = None
        facts: dict[str, Any] = {"event": plan.event, "charge": plan.charge, "parameters": plan.parameters}
        self._state: StreamState
        if path is None:
            self._state = PassingState(plan.payer, **facts)
        else:
            self._state = DurableState(path, plan.payer, must_exist=must_exist, **facts)
        try:
            self._begin()
        except BaseException:
            self._state.close()
            raise

    @property
    def horizon(self) -> int | None:
        """How many steps there are in all; None if that is not known."""
        return self._plan.horizon

    @property
    def account(self) -> str:
        """The name of the account that is charged."""
        return self._plan.payer.account

    @property
    def measure(self) -> Measure:
        """What is summed up."""
        return self._plan.measure

    @property
    def participation(self) -> Participation | None:
        """How often one unit may take part; None where each event is a unit."""
        return self._plan.participation

    @property
    def next_step(self) -> int:
        """The step that is open; 1 at first, and beyond the horizon once all are released."""
        return self._running.step + 1

    @property
    def is_over(self) -> bool:
        """Whether all steps were released."""
        return self.horizon is not None and self.next_step > self.horizon

    @property
    def position(self) -> Json:
        """What was committed last as `position`: where a source is to go on after a restart; None at first."""
        return self._position

    @property
    def receipt(self) -> Receipt:
        """What was asked, and what it costs for all steps together."""
        return self._receipt

    @property
    def releases(self) -> CounterReleases:
        """What was released so far: all of it, or the last 4,000,000 numbers of it."""
        with self._lock:
            if self._selection is not None:
                return self._released(*self._selection.kept())
            return self._released(*self._history.all(self._plan.measure.numbers))

    def half_width(self, step: int, confidence: Number = "0.95") -> float:
        """How far a number released at a step may lie from the exact bounded sum; known before anything is spent.

        Raises:
            ParameterError: The step is none of the horizon, or the confidence no probability.
        """
        return float(self._plan.mechanism.half_width(step, confidence)) * float(self._plan.measure.resolution)

    def add(self, value: Any = None, *, key: Any = None, unit: Any = None, step: int | None = None) -> None:
        """Add one event.

        Args:
            value: Its number, bin or vector; None where the measure counts.
            key: Its key, where the measure has keys.
            unit: Whose event it is, where participation is bounded.
            step: Its step; None: the open one. Events of later steps wait for them.

        Raises:
            ParameterError: An argument is missing, not wanted, or of a type that cannot be read.
        """
        with self._lock:
            self._intake.add(self.next_step, value, key, unit, step)

    def add_many(
        self,
        values: Iterable[Any] | None = None,
        *,
        keys: Iterable[Any] | None = None,
        units: Iterable[Any] | None = None,
        steps: Iterable[int] | None = None,
        count: int | None = None,
    ) -> None:
        """Add many events, in order; columns of a frame, arrays or lists, with one entry for each.

        Args:
            values: Their numbers, bins or vectors; None where the measure counts.
            keys: Their keys, where the measure has keys.
            units: Whose they are, where participation is bounded.
            steps: Their steps; None: all are of the open one.
            count: How many there are, where no column says so.

        Raises:
            ParameterError: Columns differ in length, are missing, or are of types that cannot be read; then nothing
                was added.
        """
        with self._lock:
            self._intake.add_many(self.next_step, values=values, keys=keys, units=units, steps=steps, count=count)

    def tick(self, steps: int = 1, *, position: Json = None) -> CounterReleases:
        """Close the open step, or several, and release their sums, once they are kept.

        Args:
            steps: How many steps to close, with or without events.
            position: Where the source of the events is now, as any JSON value of at most 64 MB: it is kept in the same
                commit, so that a source which goes on from `position` after a restart adds nothing twice. None: as it
                was.

        Returns:
            The releases of these steps.

        Raises:
            ParameterError: There are not so many steps left; nothing happened.
            StateError: The state could not be kept, or another process went on with it; nothing was released. Or the
                public file could not be written; the steps are in `releases`.
            UnavailableError: The account is suspended; nothing was released.
        """
        whole(steps, "steps", least=1, most=_MOST_STEPS)
        with self._lock:
            first = self.next_step
            if self.horizon is not None and first + steps - 1 > self.horizon:
                raise ParameterError("steps", steps, f"must be at most {self.horizon - first + 1}: the horizon ends")
            self._require_live()
            kept = self._position_of(position)
            self._state.require_available()
            released = self._drawn(first, steps)
            self._keep(kept, first, released)
            if self.is_over:
                self._finish()
            shown = self._released(first, released)
            self._publish(shown)
            return shown

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
            self._keep(kept, self.next_step, None)

    def publish(self, path: str | PathLike[str], *, clock: PublicClock | None = None) -> None:
        """Write what was released, and whatever will be, to a file that anybody may read, a line of JSON a step.

        A line is written after its step was kept. Lines that are missing, as after a crash, are added first.

        Args:
            path: The file: made if there is none, else that of this counter.
            clock: The public clock, such as `Ticks`, by which lines say when a step ended.

        Raises:
            ParameterError: The file is of something else, or its name begins with that of the counter's state; or keys
                are selected, and its first line would have to name them.
            StateError: It cannot be written; what was released stays so.
        """
        target = path_of(path, "path")
        if self._place is not None and target.resolve().name.startswith(self._place.resolve().name):
            raise ParameterError("path", str(target), "must be another file than that of the counter's state")
        with self._lock:
            if self._selection is not None:
                raise ParameterError("path", str(path), "cannot be of selected keys: its first line names all keys")
            labels = self._plan.measure.labels
            header: dict[str, Json] = {
                "account": self._plan.payer.account, "horizon": self.horizon, "receipt": self._receipt.to_dict(),
                "labels": None if labels is None else [str(label) for label in labels],
                "clock": {} if clock is None else dict(clock.document),
            }  # fmt: skip
            self._public, self._clock = PublicFile(target, header), clock
            self._publish(self.releases)

    def suspend(self) -> None:
        """Suspend the data of the account, because its events could not be read; its owner has to acknowledge that.

        The counter releases nothing more, and stays charged.
        """
        with self._lock:
            self._is_broken = True
            self._state.suspend()

    def close(self) -> None:
        """Let go of the state, which another process may go on with; a counter without one ends, and stays charged."""
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
        of = "" if self.horizon is None else f" of {self.horizon:,}"
        account = self._plan.payer.account
        return f"<Counter: {self._running.step:,}{of} steps released, {self._plan.charge} charged to {account}>"

    def _begin(self) -> None:
        """Start, or go on from what was committed last."""
        self._is_broken = False
        content = self._state.content
        if not content:
            self._running = self._plan.mechanism.start(self._plan.measure.numbers)
            self._receipt = self._plan.receipt(self._state.reservation)
            return
        header, saved = unpacked(content)
        self._running = self._plan.mechanism.restored(saved)
        self._receipt = receipt_from_dict(header["receipt"])
        self._position = header["position"]
        self._intake.pending.restore(header["pending"])
        if self._selection is not None:
            self._selection.restore(header["selection"])
            self._intake.pending.numbers = self._selection.numbers
        for row in self._state.rows():
            first, sums, taken = unpacked_row(row)
            if sums is not None:
                self._remember(first, sums)
            if self._intake.memory is not None:
                self._intake.memory.recall(taken)
        if self.is_over and not self._state.is_finished:  # it stopped between its last release and its end
            self._finish()

    def _drawn(self, first: int, steps: int) -> Integers:
        """The noisy sums of the next steps; from here on the counter is of no use until they are kept."""
        self._is_broken = True
        added = self._intake.pending.taken(first, steps)
        if self._selection is not None:
            return self._selection.drawn(self._running, first, added)
        return self._running.release_block(Secret(added))

    def _keep(self, position: Json, first: int, released: Integers | None) -> None:
        """Make durable where the counter is; what was released may leave afterwards."""
        self._is_broken = True
        taken = [] if self._intake.memory is None else self._intake.memory.taken()
        if self._state.is_lasting:
            header: dict[str, Json] = {
                "position": position, "pending": self._intake.pending.saved(), "receipt": self._receipt.to_dict(),
            }  # fmt: skip
            if self._selection is not None:
                header["selection"] = self._selection.saved()
            self._state.commit(packed(header, self._running.saved()), packed_row(first, released, taken))
        self._position = position
        if released is not None:
            self._remember(first, released)
        self._is_broken = False

    def _remember(self, first: int, released: Integers) -> None:
        if self._selection is None:
            self._history.add(first, released)
        else:
            self._selection.keep(first, released)

    def _publish(self, shown: CounterReleases) -> None:
        if self._public is not None:
            follows = shown.first_step <= self._public.last_step + 1
            self._public.add(steps_of(shown if follows else self.releases, self._clock))

    def _finish(self) -> None:
        self._state.finish({"receipt": self._receipt.to_dict()})

    def _released(self, first: int, sums: Integers) -> CounterReleases:
        measure = self._plan.measure
        facts: dict[str, Any] = {
            "first_step": first, "resolution": measure.resolution, "mechanism": self._plan.mechanism,
            "receipt": self._receipt,
        }  # fmt: skip
        if self._selection is None:
            return CounterReleases(sums=sums, labels=measure.labels, **facts)
        keys = self._selection.labels_of(sums)
        steps = sums[:, 0].astype(np.int64)
        return SelectedReleases(
            last_step=self._running.step, sums=narrow(sums[:, 2]), row_steps=steps, row_keys=keys,
            labels=tuple(sorted(set(keys))), **facts,
        )  # fmt: skip

    def _require_live(self) -> None:
        if self._is_broken or self._state.is_finished:
            raise StateError("of the counter", "is closed, or a commit failed; open the counter again to go on")

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
