"""Events of a table, as its engine reads them: under the policy, with values clamped, in an order of their own."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any, Final

import numpy as np

from sfumato.engines.base import Engine
from sfumato.errors import FailedOnRowsError, NotPrivateError, ParameterError, SfumatoError, UnavailableError
from sfumato.noise.entropy import random_bytes
from sfumato.numeric.arguments import is_one_of
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.expressions import And, ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.kinds import NUMBERS, TIMES, Kind
from sfumato.query.model.relations import Filter, Relation, Source
from sfumato.query.model.schema import Table
from sfumato.query.model.statement import KeyColumn, LatticeValue, Measure, RowCount, Statement, StepSum, ValueCount
from sfumato.session.session import Session
from sfumato.streams.counting.counter import Counter
from sfumato.streams.counting.measures import ClampedSum, EventCount
from sfumato.streams.counting.selection import SelectedKeys
from sfumato.streams.sources.feed import SAME, Feed
from sfumato.streams.sources.ticks import Moments, moments_of

_LOG: Final = logging.getLogger("sfumato.owner")
"""What only the owner may read."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventColumns:
    """Which columns of a table say what of an event.

    Attributes:
        time: When it happened.
        key: Which of the counter's keys it is of; None if the counter has none.
        value: The number that it adds; None where the counter counts events.
        id: What tells it from others; None if each row is an event.
    """

    time: str
    key: str | None = None
    value: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """Events in columns of one length, in the order of their times, keys and values."""

    moments: Moments = field(repr=False)
    values: Sequence[Any] | None = field(repr=False)
    keys: Sequence[Any] | None = field(repr=False)
    units: Sequence[Any] | None = field(repr=False)
    ids: Sequence[Any] | None = field(repr=False)

    def give(self, feed: Feed, *, position: object = SAME) -> None:
        """Add them to a feed, with how far the source is read with them."""
        times = self.moments.view("datetime64[us]")
        feed.add_many(times, self.values, keys=self.keys, units=self.units, ids=self.ids, position=position)


class EventReader:
    """Reads the events of a table for a counter: all, or those of some time.

    A row without a time, a listed key, a value, an id or an owner is no event, as far as these are wanted. Values are
    rounded to the counter's lattice and clamped, to its bounds and to those of the policy, before anything is added up.
    Rows that agree in time, key, owner and id share their sum as evenly as whole steps allow; with ids, they are one.

    Args:
        table: The table as the policy declares it.
        columns: Which of its columns say what.
        feed: Where the events go: whether ids are unique, and which keys and units its counter has.

    Raises:
        ParameterError: There is no such column, or it is of another kind.
        NotPrivateError: The counter does not protect the units of the table, or the table is public; or ids of a table
            of which each row is a unit.
    """

    def __init__(self, table: Table, columns: EventColumns, *, feed: Feed) -> None:
        self._table, self._columns, self._zone, counter = table, columns, feed.ticks.calendar, feed.counter
        names = {"time": columns.time, "key": columns.key, "value": columns.value, "id": columns.id}
        for name, column in names.items():
            if (column is not None or name == "time") and not is_one_of(column, table.columns):
                raise ParameterError(name, column, f"must be one of the columns of {table.name}")
        if table.columns[columns.time].kind not in TIMES:
            raise ParameterError("time", columns.time, "must be a column of dates or of timestamps")
        measure = counter.measure
        if not isinstance(measure, EventCount | ClampedSum):
            raise ParameterError("measure", type(measure).__name__, "must be an EventCount or a ClampedSum for a table")
        if isinstance(measure.keys, SelectedKeys):
            raise ParameterError("measure", "SelectedKeys", "must have public keys, or none, for a table")
        for name, column, is_wanted in (
            ("key", columns.key, measure.keys is not None), ("value", columns.value, isinstance(measure, ClampedSum)),
        ):  # fmt: skip
            if (column is not None) is not is_wanted:
                requirement = "must name a column" if is_wanted else "must be left out"
                raise ParameterError(name, column, f"{requirement}, as the counter's measure is {measure}")
        if (columns.id is not None) is not feed.unique:
            raise ParameterError("id", columns.id, "must name a column exactly if the feed has unique=True")
        self._unit = _unit_of(table, counter)
        if columns.id is not None and self._unit is None:
            reason = "each row is a unit, so two rows with one id are two units and cannot count as one"
            raise NotPrivateError(table.name, reason, "Leave out id= and unique=, or declare whose a row is.")
        self._keys = measure.keys
        self._steps: LatticeValue | None = None
        if isinstance(measure, ClampedSum) and columns.value is not None:
            self._steps = _steps_of(table, columns.value, measure)

    def read(self, engine: Engine, *, first: int | None = None, beyond: int | None = None) -> Events:
        """The events from one moment until before another one; all of them if none are stated.

        Raises:
            EngineError: The engine failed; `FailedOnRowsError` if that may be about a row.
        """
        found = engine.run(self._statement(first, beyond), salt=random_bytes(16).hex()).open_for_noise()
        columns = dict(zip(self._names, found.keys, strict=True))
        counts = np.asarray(found.amounts[0], dtype=np.int64)
        moments = moments_of(list(columns[self._columns.time]), self._zone)
        sums = None if self._steps is None else found.amounts[1]
        times = counts if self._columns.id is None else np.minimum(counts, 1)
        rows = np.repeat(np.arange(len(counts)), times)
        shares = None if sums is None else _shares(np.asarray(sums), counts, times)
        named = (self._columns.key, self._unit, self._columns.id)
        key, unit, ids = (None if name is None else columns[name] for name in named)
        places = None if key is None or self._keys is None else _places(key, self._keys)
        order = _ordered(moments[rows], None if places is None else places[rows], shares)
        rows = rows[order]
        return Events(
            moments=moments[rows],
            values=None if shares is None or self._steps is None else _numbers(shares[order], self._steps),
            keys=_taken(key, rows), units=_taken(unit, rows), ids=_taken(ids, rows),
        )  # fmt: skip

    @property
    def _names(self) -> tuple[str, ...]:
        """The columns by which rows are grouped, each once."""
        named = (self._columns.time, self._columns.key, self._unit, self._columns.id)
        return tuple(dict.fromkeys(name for name in named if name is not None))

    def _statement(self, first: int | None, beyond: int | None) -> Statement:
        rows: Relation = Source(self._table)
        if first is not None and beyond is not None:
            time = ColumnRef(self._columns.time)
            since, until = Literal(self._edge(first)), Literal(self._edge(beyond))
            rows = Filter(
                rows, And((Compare(Comparison.GREATER_EQUAL, time, since), Compare(Comparison.LESS, time, until)))
            )  # fmt: skip
        keys = tuple(
            KeyColumn(name=name, values=self._keys if name == self._columns.key else None) for name in self._names
        )
        counted: tuple[Measure, ...] = (RowCount(),)
        if self._steps is not None:
            counted = (ValueCount(StepSum(self._steps).present), StepSum(self._steps))
        return Statement(rows=rows, keys=keys, measures=counted)

    def _edge(self, moment: int) -> date | datetime:
        """A moment as the column of times can be compared with it: without a zone, or the first day from it on."""
        at = _EPOCH + timedelta(microseconds=moment)
        if self._table.columns[self._columns.time].kind is Kind.TIMESTAMP:
            return at.replace(tzinfo=None)
        day = at.astimezone(self._zone).date()
        midnight = datetime(day.year, day.month, day.day, tzinfo=self._zone)
        return day if midnight >= at else day + timedelta(days=1)


@contextmanager
def suspending(counter: Counter) -> Iterator[None]:
    """Inside, rows are read; a failure that may be about one of them suspends the account, as of every query.

    Raises:
        UnavailableError: There was one.
    """
    try:
        yield
    except SfumatoError as error:
        if not isinstance(error, FailedOnRowsError):
            raise
        cause = error.cause
    else:
        return
    counter.suspend()
    _LOG.error("account %s is suspended: a stream failed while it read rows (%s)", counter.account, cause)
    raise UnavailableError


def _unit_of(table: Table, counter: Counter) -> str | None:
    """The column of owners, if the counter bounds what they contribute."""
    if table.is_public:
        raise NotPrivateError(table.name, "a public table needs no noise", "Count its rows without a counter.")
    if table.has_owners is not (counter.participation is not None):
        what = "rows have owners" if table.has_owners else "each row is a unit"
        fix = "State participation=" if table.has_owners else "Leave out participation="
        raise NotPrivateError(table.name, f"its {what}, and the counter protects others", f"{fix} of the counter.")
    if not table.has_owners:
        return None
    if not isinstance(table.unit, UnitColumn):
        raise NotPrivateError(
            table.name, "its owners stand in another table", "Store the column of the unit with each event."
        )  # fmt: skip
    return table.unit.column


def _steps_of(table: Table, name: str, measure: ClampedSum) -> LatticeValue:
    """The values of a column on the counter's lattice, within its bounds and those of the policy."""
    column, step = table.columns[name], measure.resolution
    if column.kind not in NUMBERS:
        raise ParameterError("value", name, "must be a column of numbers")
    lower = measure.lower if column.lower is None else max(measure.lower, Fraction(column.lower))
    upper = measure.upper if column.upper is None else min(measure.upper, Fraction(column.upper))
    first, last = -(-lower // step), upper // step
    if first > last:
        raise ParameterError("measure", str(measure), f"must have a multiple of {step} within the bounds of {name}")
    return LatticeValue(
        value=ColumnRef(name), resolution=step, lower=first, upper=last, offset=0, nullable=column.nullable
    )  # fmt: skip


def _places(keys: Sequence[Any], listed: tuple[Any, ...]) -> Moments:
    """The place of each key among those of the counter."""
    known = {key: place for place, key in enumerate(listed)}
    return np.array([known[key] for key in keys], dtype=np.int64)


def _shares(sums: Any, counts: Moments, times: Moments) -> Any:
    """Each sum of so many values dealt out to as many rows, in whole steps that differ by at most 1.

    So no row leaves the bounds that all values are in, and all rows together have the sum. Of one row for several
    values, it is their mean, rounded down.
    """
    rows = np.repeat(np.arange(len(counts)), times)
    values = np.maximum(counts, 1)
    least, rest = sums // values, sums % values
    if (times < counts).any():
        return least[rows]
    starts = np.cumsum(times) - times
    return least[rows] + (np.arange(len(rows)) - starts[rows] < rest[rows])


def _ordered(moments: Moments, places: Moments | None, shares: Any) -> Any:
    """By time, key and value: an order in which the rows of one unit do not depend on those of others."""
    given = [column for column in (shares, places, moments) if column is not None]
    return np.lexsort(tuple(np.asarray(column, dtype=np.int64) for column in given))


def _numbers(steps: Any, lattice: LatticeValue) -> list[Any]:
    """Values of lattice steps, exactly: whole numbers, or fractions."""
    if lattice.resolution == 1:
        return [int(step) for step in steps.tolist()]
    return [step * lattice.resolution for step in steps.tolist()]


def _taken(column: Sequence[Any] | None, rows: Moments) -> list[Any] | None:
    return None if column is None else [column[row] for row in rows.tolist()]


def require_account(feed: Feed, session: Session, table: str) -> None:
    """Refuse a counter that is charged to another account than that of a session, or in another ledger.

    The session's ledger has to know the charge itself: accounts of two ledgers may have one name.

    Raises:
        NotPrivateError: It is.
    """
    counter, dataset = feed.counter, session.policy.dataset
    if counter.account != dataset:
        reason = f"its counter is charged to {counter.account}, and not to {dataset}"
        raise NotPrivateError(table, reason, "Give session= to the counter.")
    charged = session.planning.ledger.flight_of(counter.receipt.request)
    if not counter.is_over and (charged is None or charged.account != dataset):
        reason = f"its counter is not charged to {dataset} in the ledger of the session"
        raise NotPrivateError(table, reason, "Give session= to the counter.")
