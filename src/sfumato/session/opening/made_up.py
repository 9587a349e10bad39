"""Rows made up from a policy alone, so that queries can be tried where there is no data.

Every cell is a function of the names of its table and column, of the number of its row and of what the policy declares:
the same in every process, and nothing of it is random. Cells lie within bounds and among public keys. Ids lead from
table to table as the policy says. No unit has more rows in a table than its limits count.
"""

from datetime import date, datetime, timedelta
from fractions import Fraction
from hashlib import sha256
from typing import Final, TypeAlias

from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.intervals import date_at
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.model.schema import Column, Key, Table, UnitPath
from sfumato.query.policy.policy import Place, Policy
from sfumato.query.values.cells import Cell, Row, typed

ROWS: Final = 200
"""How many rows a table has whose rows have no owners; other tables have about as many."""

UNITS: Final = 100
"""How many units own rows: the same ones in every table."""

MOST_ROWS: Final = 3
"""The most rows of one unit in one table; fewer where its limits say so."""

_WORDS: Final = 12
"""How many different texts there are where the policy lists none, so that there is something to group by."""

_NUMBERS: Final = 1_000
"""How many different numbers there are without bounds: more than rows, so that ids differ."""

_HASHED: Final = 1 << 32
_NULLS: Final = 16
"""One cell of people in so many is NULL, where a column may have NULLs and holds no ids."""

_FIRST_DAY: Final = date(2026, 1, 1)
_FIRST_HOUR: Final = datetime(2026, 1, 1)  # noqa: DTZ001 # times in tables have no zone

Owned: TypeAlias = tuple[int, int]
"""The number of the unit that owns a row, and which of its rows it is."""


class MadeUpTables:
    """The rows of every table of a policy.

    Example:
        >>> from sfumato.query.model.schema import integer, text
        >>> from sfumato.query.policy.policy import SourceFacts
        >>> people = Table(name="people", columns={"age": integer(17, 90), "sex": text(values=["f", "m"])})
        >>> policy = Policy(
        ...     dataset="people", version="1", data_version="1", unit_name="row", tables={"people": people},
        ...     sources={"people": SourceFacts(source="people.csv")},
        ... )
        >>> rows = MadeUpTables(policy).rows(people)
        >>> len(rows), all(row["age"] is None or 17 <= row["age"] <= 90 for row in rows)
        (200, True)
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._ids = _ids(policy)
        self._made: dict[str, list[Row]] = {}

    def rows(self, table: Table) -> list[Row]:
        """The rows of a table of the policy, with cells of their declared types."""
        if table.name not in self._made:
            self._made[table.name] = [
                {name: typed(self._cell(table, name, owned), column) for name, column in table.columns.items()}
                for owned in _owned_rows(table)
            ]
        return self._made[table.name]

    def _cell(self, table: Table, name: str, owned: Owned) -> Cell:
        """What stands in a column: of an id the cell that it leads to, so that it leads somewhere."""
        unit, number = owned
        match table.unit:
            case UnitColumn(column) if column == name:
                return self._value(table, name, unit)
            case UnitPath(column, other, key) if column == name:
                return self._cell(other, key, (unit, number % _row_count(other, unit)))
        place, row = Place(table.name, name), unit * MOST_ROWS + number
        if place in self._ids:
            return self._value(table, name, row)
        hashed = _hashed(table.name, name, row)
        is_null = table.columns[name].nullable and not table.is_public and hashed // _HASHED % _NULLS == 0
        return None if is_null else self._value(table, name, hashed % _HASHED)

    def _value(self, table: Table, name: str, number: int) -> Cell:
        """The value of a number in a column."""
        column, listed = table.columns[name], self._listed(Place(table.name, name))
        if listed is not None:
            return listed[number % len(listed)]
        if column.bounded_steps is not None:
            return _between(column, *column.bounded_steps, number)
        if column.kind is Kind.TEXT:
            return str(number % _NUMBERS) if column.is_id else f"{name} {number % _WORDS}"
        return _unbounded(column.kind, number)

    def _listed(self, place: Place) -> tuple[Key, ...] | None:
        """The public keys of a column, or those that another column took from it."""
        taken = [at for at, origin in self._policy.values_from.items() if origin == place]
        found = (self._policy.tables[at.table].columns[at.column].values for at in (place, *taken))
        return next((values for values in found if values is not None), None)


def _ids(policy: Policy) -> frozenset[Place]:
    """The columns that tell rows apart: what paths lead to, and what is declared to match few rows."""
    tables = policy.tables.values()
    keys = {Place(unit.table.name, unit.key) for unit in (table.unit for table in tables) if isinstance(unit, UnitPath)}
    matched = {Place(table.name, columns[0]) for table in tables for columns in table.matches if len(columns) == 1}
    return frozenset(keys | matched)


def _owned_rows(table: Table) -> list[Owned]:
    units = UNITS if table.has_owners else ROWS
    return [(unit, number) for unit in range(units) for number in range(_row_count(table, unit))]


def _row_count(table: Table, unit: int) -> int:
    """How many rows a unit has: at least one, at most what limits count."""
    limits = table.limits
    stated = (limits.max_rows_per_unit, limits.max_rows_per_group_per_unit)
    most = min([MOST_ROWS, *(limit for limit in stated if limit is not None)])
    return 1 + _hashed(table.name, "", unit) % most if table.has_owners else 1


def _hashed(table: str, column: str, row: int) -> int:
    """A whole number of 64 bits that looks random, and is the same everywhere."""
    return int.from_bytes(sha256(repr((table, column, row)).encode()).digest()[:8])


def _between(column: Column, lower: int, upper: int, number: int) -> Cell:
    """A lattice point between bounds."""
    step = lower + number % (upper - lower + 1)
    if column.kind in TIMES:
        return date_at(Fraction(step), column.kind)
    return step if column.kind is Kind.INTEGER else float(step * column.resolution)  # it is clamped when it is read


def _unbounded(kind: Kind, number: int) -> Cell:
    values: dict[Kind, Cell] = {
        Kind.INTEGER: number % _NUMBERS,
        Kind.FLOAT: number % _NUMBERS / 8,
        Kind.BOOLEAN: bool(number % 2),
        Kind.DATE: _FIRST_DAY + timedelta(days=number % _NUMBERS),
        Kind.TIMESTAMP: _FIRST_HOUR + timedelta(hours=number % _NUMBERS),
    }
    return values[kind]
