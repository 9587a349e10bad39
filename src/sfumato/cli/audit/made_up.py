"""Small databases made up from the declarations of a table, and their most revealing neighbors.

No real row is read: values are the bounds, the keys, and values beyond them. One unit has as many rows as its
contribution bounds allow, at the bound farthest from 0, so that removing it changes sums by the full sensitivity.
"""

import csv
import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa

from sfumato.audit.core.outputs import label
from sfumato.audit.core.roles import NeighborPair
from sfumato.audit.neighbors import NEW_KEY, Neighbors
from sfumato.audit.reports.documents import read_json
from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import REPLACE_ONE, NeighboringRelation, UnitColumn
from sfumato.query.model.intervals import date_at
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Column, Table

Row: TypeAlias = Mapping[str, Any]
Database: TypeAlias = tuple[Row, ...]

_LARGEST: Final = (1 << 63) - 1
_MOST_ROWS: Final = 200  # of one unit that goes beyond its limits
_FARTHEST: Final = "the first unit is replaced, by as many rows like the next one's"
_ODD: Final = ("None", "NaN", "extreme", "key", str(_LARGEST))
_NEW_UNIT: Final = 1_000_000  # the number of a unit that is added, where units have numbers
_DAYS: Final = (dt.date(2000, 1, 1), dt.date(1999, 12, 31), dt.date(9999, 12, 31))
_MIDNIGHT: Final = dt.time()
_TYPES: Final = {
    Kind.INTEGER: pa.int64(), Kind.FLOAT: pa.float64(), Kind.TEXT: pa.string(), Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(), Kind.TIMESTAMP: pa.timestamp("us"),
}  # fmt: skip


def pairs_of(
    table: Table, *, relation: NeighboringRelation, without: str | None, rows: Database | None = None
) -> list[NeighborPair]:
    """Databases of a table with their neighbors, the most revealing first.

    Args:
        table: The declared table.
        relation: The neighboring relation.
        without: A column that rows do not have, because it numbers copies of the database.
        rows: A database that the caller made up; None makes one here.
    """
    columns = {name: column for name, column in table.columns.items() if name != without}
    unit = table.unit.column if isinstance(table.unit, UnitColumn) else None
    database = made_up(table, columns, unit) if rows is None else rows
    newcomer = database[0] if database else dict.fromkeys(columns)
    heavy = min(_MOST_ROWS, 3 * _limit(table))
    here = Neighbors(database=database, relation=relation, unit=unit, newcomer=newcomer, heavy_rows=heavy)
    empty = Neighbors(database=(), relation=relation, unit=unit, newcomer=newcomer, heavy_rows=heavy)
    every = [
        *_moved_far(database, relation, unit),
        *here,
        *_of_all_keys(database, columns, unit, newcomer, heavy, relation),
        *(replace(pair, description=f"in an empty database {pair.description}") for pair in empty),
    ]
    return _different(_fitting(pair, columns, unit) for pair in sorted(every, key=_rank) if _fits(pair, columns, unit))


def made_up(table: Table, columns: Mapping[str, Column], unit: str | None) -> Database:
    """Three units: one at its contribution bounds and far from 0, one at the other bound, one beyond all bounds."""
    rows: list[Row] = []
    for number, times in enumerate((_limit(table), 1, 1)):
        row = {name: _values(column)[number] for name, column in columns.items()}
        if unit is not None:
            row[unit] = number + 1 if columns[unit].kind is Kind.INTEGER else f"unit {number + 1}"
        rows += [row] * (times if unit is not None else 1)
    return tuple(rows)


def read_rows(path: str, table: Table, *, without: str | None) -> Database:
    """Rows that the caller made up, from a JSON or CSV file.

    Raises:
        ParameterError: The file cannot be read, is not a list of rows, or has a row with other columns or types.
    """
    columns = {name: column for name, column in table.columns.items() if name != without}
    if Path(path).suffix.lower() == ".csv":
        return tuple(_row(row, columns, path, is_text=True) for row in _csv(path))
    document = read_json(path, name="--rows")
    if not isinstance(document, list):
        raise ParameterError("--rows", path, 'must be a list of rows, such as [{"age": 30}]')
    return tuple(_row(row, columns, path, is_text=False) for row in document)


def as_arrow(rows: Sequence[Row], columns: Mapping[str, Column]) -> pa.Table:
    """Rows as a table of the declared types.

    Raises:
        ParameterError: A value does not fit its type, e.g. a unit's number that copies would enlarge beyond it.
    """
    return pa.table({name: _array([row[name] for row in rows], name, column.kind) for name, column in columns.items()})


def _array(values: list[Any], name: str, kind: Kind) -> pa.Array:
    try:
        return pa.array(values, type=_TYPES[kind], from_pandas=False)
    except (OverflowError, pa.ArrowInvalid):
        requirement = f"must fit into {_TYPES[kind]}; with --copies, numbers of units must be within ±2^31"
        raise ParameterError("--rows", name, requirement) from None


def _limit(table: Table) -> int:
    """The most rows per unit, or fewer if that is very many."""
    limits = table.limits
    in_groups = (limits.max_rows_per_group_per_unit or 1) * (limits.max_groups_per_unit or 1)
    return min(limits.max_rows_per_unit or in_groups, _MOST_ROWS // 3)


def _values(column: Column) -> tuple[Any, Any, Any]:
    """Three values of a column: far from 0 or a key, at the other bound or another key, and beyond all bounds."""
    if column.values:
        return column.values[0], column.values[-1], column.values[0]
    match column.kind:
        case Kind.INTEGER | Kind.FLOAT:
            far, near = _bounds(column)
            return far, near, _LARGEST if column.kind is Kind.INTEGER else near
        case Kind.BOOLEAN:
            return True, False, True
        case Kind.DATE | Kind.TIMESTAMP if column.lower is not None and column.upper is not None:
            early, late = (date_at(end, column.kind) for end in (column.lower, column.upper))
            return late, early, late
        case Kind.DATE:
            return _DAYS
        case Kind.TIMESTAMP:
            first, second, last = (dt.datetime.combine(day, _MIDNIGHT) for day in _DAYS)
            return first, second, last
        case Kind.TEXT:
            return "a", "b", ""


def _bounds(column: Column) -> tuple[int | float, int | float]:
    """The bounds of a number, the one farther from 0 first."""
    if column.lower is None or column.upper is None:
        return 1, 0
    is_above = abs(column.upper) >= abs(column.lower)
    far, near = (column.upper, column.lower) if is_above else (column.lower, column.upper)
    return (int(far), int(near)) if column.kind is Kind.INTEGER else (float(far), float(near))


def _moved_far(database: Database, relation: NeighboringRelation, unit: str | None) -> Iterator[NeighborPair]:
    """The first unit, at its contribution bounds, replaced by as many rows like the next one's."""
    if relation is not REPLACE_ONE or not database:
        return
    own = 1 if unit is None else sum(row[unit] == database[0][unit] for row in database)
    if own < len(database) and all(unit is None or row[unit] == database[0][unit] for row in database[:own]):
        moved = [{**database[own], **({} if unit is None else {unit: database[0][unit]})}] * own
        yield NeighborPair(database, (*moved, *database[own:]), _FARTHEST)


def _of_all_keys(
    database: Database,
    columns: Mapping[str, Column],
    unit: str | None,
    newcomer: Row,
    heavy: int,
    relation: NeighboringRelation,
) -> Iterator[NeighborPair]:
    """A heavy user with rows in every group of the public keys, added or in place of the first unit."""
    keyed = {name: column.values for name, column in columns.items() if column.values and len(column.values) > 1}
    replaces = relation is REPLACE_ONE
    if unit is None or not keyed or (replaces and not database):
        return
    own = {**newcomer, unit: database[0][unit] if replaces else NEW_KEY}
    rows = [
        {**own, **{name: values[at % len(values)] for name, values in keyed.items()}}
        for at in range(max(heavy, *map(len, keyed.values())))
    ]
    rest = [row for row in database if not replaces or row[unit] != own[unit]]
    change = "the first unit is replaced" if replaces else "a unit is added"
    yield NeighborPair(database, (*rest, *rows), f"{change}, a heavy user with {len(rows)} rows in all keys")


def _rank(pair: NeighborPair) -> tuple[int, int]:
    """The most revealing first: the unit at its bounds leaves, heavy users, the only unit, then odd values."""
    change, is_first = len(pair.neighbor) - len(pair.database), "first" in pair.description
    if (change < 0 and is_first) or pair.description == _FARTHEST:
        return 0, 0
    if change > 1:
        return 1, len(pair.database) == 0
    return 2, len(pair.database) > 0 and not any(odd in pair.description for odd in _ODD)


def _fits(pair: NeighborPair, columns: Mapping[str, Column], unit: str | None) -> bool:
    rows = (*pair.database, *pair.neighbor)
    return all(name == unit or _is_of(row[name], columns[name].kind) for row in rows for name in columns)


def _fitting(pair: NeighborPair, columns: Mapping[str, Column], unit: str | None) -> NeighborPair:
    """The pair with a new unit of the declared type."""
    if unit is None or columns[unit].kind is not Kind.INTEGER:
        return pair
    first, second = (
        tuple({**row, unit: _NEW_UNIT} if row[unit] == NEW_KEY else row for row in rows)
        for rows in (pair.database, pair.neighbor)
    )
    return NeighborPair(first, second, pair.description)


def _is_of(value: Any, kind: Kind) -> bool:
    """Whether a column of this kind can hold the value."""
    match kind:
        case _ if value is None:
            return True
        case Kind.INTEGER:
            return type(value) is int and abs(value) <= _LARGEST
        case Kind.FLOAT:
            return type(value) is float or (type(value) is int and abs(value) <= _LARGEST)
        case Kind.TEXT:
            return isinstance(value, str)
        case Kind.BOOLEAN:
            return isinstance(value, bool)
        case Kind.DATE:
            return type(value) is dt.date
        case Kind.TIMESTAMP:
            return isinstance(value, dt.datetime)


def _different(pairs: Iterator[NeighborPair]) -> list[NeighborPair]:
    """The pairs without repetitions."""
    found: dict[tuple[str, str], NeighborPair] = {}
    for pair in pairs:
        found.setdefault((label(pair.database), label(pair.neighbor)), pair)
    return list(found.values())


def _csv(path: str) -> list[dict[str, Any]]:
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise ParameterError("--rows", path, f"cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ParameterError("--rows", path, f"must be CSV with a header: {error}") from None


def _row(row: Any, columns: Mapping[str, Column], path: str, *, is_text: bool) -> Row:
    if not isinstance(row, dict) or not columns.keys() <= row.keys():
        raise ParameterError("--rows", path, f"must have the declared columns in every row: {', '.join(columns)}")
    return {
        name: _typed(row[name], column.kind, f"{path}, {name}", is_text=is_text) for name, column in columns.items()
    }


def _typed(value: Any, kind: Kind, name: str, *, is_text: bool) -> Any:
    """A value of a file in the type of its column; an empty CSV field is NULL."""
    if is_text and value == "":
        return None
    try:
        match kind:
            case Kind.INTEGER if isinstance(value, str):
                value = int(value)
            case Kind.FLOAT if isinstance(value, str | int) and not isinstance(value, bool):
                value = float(value)
            case Kind.BOOLEAN if isinstance(value, str):
                value = {"true": True, "false": False}[value.lower()]
            case Kind.DATE if isinstance(value, str):
                value = dt.date.fromisoformat(value)
            case Kind.TIMESTAMP if isinstance(value, str):
                value = dt.datetime.fromisoformat(value)
    except (ValueError, KeyError, OverflowError):
        raise ParameterError(
            "--rows", name, f"must have values of the declared type, {kind}; one has another type"
        ) from None
    if not _is_of(value, kind):
        raise ParameterError("--rows", name, f"must have values of the declared type, {kind}; one has another type")
    return value
