"""What of a table does not count as it is stored: exact numbers for its owner, by column, by limit and by claim.

Any engine can count them, with the relations of ordinary queries over variants of the table: one that is nobody's and
claims nothing, one that claims less, and one in which every column is text. The rows are read anew, as the sources have
them now.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

from sfumato.engines.base import Engine
from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.columns import MAX_LENGTH, Column
from sfumato.query.model.expressions import (
    Call,
    Case,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    IsIn,
    IsNull,
    Literal,
    Not,
    Null,
    Value,
)
from sfumato.query.model.functions import Function
from sfumato.query.model.intervals import date_at
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.model.relations import Filter, Fold, Folded, Grouped, Relation, SemiJoin, Source, fresh
from sfumato.query.model.schema import PUBLIC, Key, Limits, Table, UnitPath
from sfumato.query.model.statement import (
    MOST_ROWS,
    LatticeValue,
    Measure,
    RowCount,
    Statement,
    StepSum,
    UnitCount,
    ValueCount,
)
from sfumato.query.policy.policy import AtMost, Claim, HasOwner, claims_of

_NO_SALT: Final = "0" * 32  # nothing is sampled
_AT_ONCE: Final = 50
"""Columns that are counted in one statement, because databases bound how many numbers one gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnLosses:
    """How many rows of a column do not count as they are stored; None where that cannot be.

    Attributes:
        column: Its name.
        missing: Rows in which nothing is stored: NULL, NaN, an infinity, an empty field of a CSV file.
        unparsed: Rows in which something is stored that is no value of the declared type, and so NULL; None where the
            engine does not tell the two apart.
        below: Rows below the bounds, which sums and means clamp.
        above: Rows above them.
        unlisted: Rows with a value that is not in `values`, and so in no group.
        cut: Rows with a text that is longer than `max_length`.
        present: Rows with a value.
    """

    column: str
    present: int = field(repr=False)
    missing: int = field(repr=False)
    unparsed: int | None = field(default=None, repr=False)
    below: int | None = field(default=None, repr=False)
    above: int | None = field(default=None, repr=False)
    unlisted: int | None = field(default=None, repr=False)
    cut: int | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingLimit:
    """How much of a table a contribution limit leaves out or scales down.

    Attributes:
        limit: The name of the limit.
        most: What it allows.
        what: What it bounds: rows, rows of a group, or groups.
        by: The column by which rows are grouped, for limits on groups; None for a limit on all rows of a unit.
        units: Units above the limit; of rows a group, the groups of units.
        beyond: Rows, or groups, beyond it.
    """

    limit: str
    most: int
    what: str
    by: str | None = None
    units: int = field(repr=False)
    beyond: int = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What its owner hears of one table; exact, so for nobody else.

    Attributes:
        rows: Rows that are stored.
        units: Different units that have a row; None where rows have no owners.
        columns: What of each column does not count as it is stored.
        limits: What the contribution limits leave out, each by itself.
    """

    rows: int = field(repr=False)
    units: int | None = field(repr=False)
    columns: tuple[ColumnLosses, ...]
    limits: tuple[BindingLimit, ...]


def examined(table: Table, engine: Engine) -> Examination:
    """What of a table's rows does not count as it is stored.

    Args:
        table: What is declared.
        engine: One that was opened for this, so that it reads the rows anew.

    Raises:
        EngineError: The engine failed.
    """
    plain = {name: replace(column, nullable=True) for name, column in table.columns.items()}
    declared = _nobodys(table, plain)
    (rows,) = _counted(Source(declared), [RowCount()], engine)
    units = _counted(Source(table), [UnitCount()], engine)[0] if table.has_owners else None
    names = tuple(table.columns)
    parts = [names[start : start + _AT_ONCE] for start in range(0, len(names), _AT_ONCE)]
    columns = tuple(losses for part in parts for losses in _columns(declared, part, rows, engine))
    return Examination(rows=rows, units=units, columns=columns, limits=tuple(_limits(table, engine)))


def _nobodys(table: Table, columns: Mapping[str, Column] | None = None) -> Table:
    """A table, or some columns of it, as if it were nobody's, and nothing claimed of it."""
    own = table.columns if columns is None else columns
    return replace(table, columns=own, unit=PUBLIC, limits=Limits(), matches={})


def _columns(declared: Table, names: Sequence[str], rows: int, engine: Engine) -> Iterator[ColumnLosses]:
    """What some columns lose: what is held as text and not as declared was not parsed."""
    wanted = [(name, kind, condition) for name in names for kind, condition in _losses(name, declared.columns[name])]
    counts, texts = _by_column(declared, wanted, engine), _stored_as_text(declared, names, engine)
    for name in names:
        present = counts[name].pop("present")
        held = texts.get(name, {}).pop("held", None)
        yield ColumnLosses(
            column=name, present=present, missing=rows - (present if held is None else max(held, present)),
            unparsed=None if held is None else max(held - present, 0), **counts[name], **texts.get(name, {}),
        )  # fmt: skip


def _by_column(table: Table, wanted: Sequence[tuple[str, str, Condition]], engine: Engine) -> dict[str, dict[str, int]]:
    """For each column, by what is counted of it, the rows of which a condition is true."""
    measures = [
        ValueCount((Case(((condition, Literal(Fraction(1))),), Null(Kind.INTEGER)),)) for *_, condition in wanted
    ]
    found = _counted(Source(table), measures, engine) if measures else []
    counts: dict[str, dict[str, int]] = {name: {} for name, *_ in wanted}
    for (name, what, _), count in zip(wanted, found, strict=True):
        counts[name][what] = count
    return counts


def _losses(name: str, column: Column) -> Iterator[tuple[str, Condition]]:
    """What is counted of a column as it is declared."""
    value = ColumnRef(name)
    yield "present", Not(IsNull(value))
    if column.lower is not None and column.upper is not None:
        ends = [Literal(date_at(e, column.kind) if column.kind in TIMES else e) for e in (column.lower, column.upper)]
        yield "below", Compare(Comparison.LESS, value, ends[0])
        yield "above", Compare(Comparison.GREATER, value, ends[1])
    if column.values is not None and column.kind is not Kind.BOOLEAN:
        yield "unlisted", Not(IsIn(value, tuple(map(_literal, column.values))))


def _stored_as_text(declared: Table, names: Sequence[str], engine: Engine) -> dict[str, dict[str, int]]:
    """Of columns that can be read as text: rows in which anything is held, and rows with a text that is cut."""
    try:
        return _texts(declared, names, engine)
    except ParameterError:  # Spark has days and times that are no text
        return _texts(declared, [name for name in names if declared.columns[name].kind not in TIMES], engine)


def _texts(declared: Table, names: Sequence[str], engine: Engine) -> dict[str, dict[str, int]]:
    wanted: list[tuple[str, str, Condition]] = [(name, "held", Not(IsNull(ColumnRef(name)))) for name in names]
    for name in names:
        column = declared.columns[name]
        if column.max_length is not None and not column.is_id:
            most, length = Literal(Fraction(column.max_length)), Call(Function.LENGTH, (ColumnRef(name),))
            wanted.append((name, "cut", Compare(Comparison.GREATER, length, most)))
    if not wanted:
        return {}
    texts = {name: Column(kind=Kind.TEXT, max_length=MAX_LENGTH) for name in names}
    return _by_column(_nobodys(declared, texts), wanted, engine)


def _limits(table: Table, engine: Engine) -> Iterator[BindingLimit]:
    """What each limit leaves out if it were the only one: of all rows, and grouped by each column with public keys."""
    limits = table.limits
    if not table.has_owners:
        return
    if limits.max_rows_per_unit is not None:
        units, beyond = _above(Source(table), (), limits.max_rows_per_unit, table, engine)
        yield BindingLimit(
            limit="max_rows_per_unit", most=limits.max_rows_per_unit, what="rows", units=units, beyond=beyond
        )
    for name, column in table.columns.items():
        if column.values is None:
            continue
        listed = Filter(Source(table), IsIn(ColumnRef(name), tuple(map(_literal, column.values))))
        most = limits.max_rows_per_group_per_unit
        if most is not None:
            units, beyond = _above(listed, (name,), most, table, engine)
            yield BindingLimit(
                limit="max_rows_per_group_per_unit", most=most, what="rows of a group", by=name, units=units,
                beyond=beyond,
            )  # fmt: skip
        most = limits.max_groups_per_unit
        if most is not None and most < len(column.values):
            units, beyond = _above(Grouped(listed, (name,), ()), (), most, table, engine)
            yield BindingLimit(
                limit="max_groups_per_unit", most=most, what="groups", by=name, units=units, beyond=beyond
            )  # fmt: skip


def _above(rows: Relation, keys: tuple[str, ...], most: int, table: Table, engine: Engine) -> tuple[int, int]:
    """How many groups of rows of one unit have more rows than a limit, and how many rows those have beyond it."""
    name = fresh("n", table.columns)
    grouped = Grouped(rows, keys, (Folded(name, Fold.COUNT_ROWS),))
    above = Filter(grouped, Compare(Comparison.GREATER, ColumnRef(name), Literal(Fraction(most))))
    steps = LatticeValue(
        value=ColumnRef(name), resolution=Fraction(1), lower=0, upper=MOST_ROWS, offset=0, nullable=False
    )  # fmt: skip
    units, held = _counted(above, [RowCount(), StepSum(steps)], engine)
    return units, held - most * units


def _literal(key: Key) -> Literal:
    value: Value = Fraction(key) if isinstance(key, int) and not isinstance(key, bool) else key
    return Literal(value)


def _counted(relation: Relation, measures: Iterable[Measure], engine: Engine) -> list[int]:
    """Measures of all rows, in the open: they go to their owner."""
    statement = Statement(rows=relation, keys=(), measures=tuple(measures))
    found = engine.run(statement, salt=_NO_SALT).open_for_noise()
    return [sum(map(int, amounts)) for amounts in found.amounts]


def violations(table: Table, engine: Engine) -> dict[Claim, int]:
    """How many rows break each claim about a table.

    Args:
        table: What is claimed.
        engine: As of `examined`.

    Raises:
        EngineError: The engine failed.
    """
    return {claim: _violations(table, claim, engine) for claim in claims_of(table)}


def _violations(table: Table, claim: Claim, engine: Engine) -> int:
    held: Relation
    kept: Relation
    match claim:
        case HasOwner():
            held, kept = Source(_nobodys(table)), _owned(table)
        case AtMost(columns, rows):
            held, kept = Source(replace(table, matches={})), Source(replace(table, matches={columns: rows}))
    (all_rows,), (kept_rows,) = (_counted(relation, [RowCount()], engine) for relation in (held, kept))
    return all_rows - kept_rows


def _owned(table: Table) -> Relation:
    """All rows that have an owner, whoever it is."""
    match table.unit:
        case UnitColumn(column):
            return Filter(Source(_nobodys(table)), Not(IsNull(ColumnRef(column))))
        case UnitPath(column, owner, key):
            return SemiJoin(child=Source(_nobodys(table)), other=_owned(owner), on=((column, key),))
        case _:
            return Source(_nobodys(table))
