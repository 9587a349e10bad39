"""Neighboring databases worth trying: every unit left out, and every unit that a careless mechanism forgets.

A database is a tuple of rows, a row either a value or a mapping from columns to values. What is tried does not depend
on chance, so an audit that failed once fails again.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, nan
from types import NoneType
from typing import Any, Final, TypeAlias, assert_never

import numpy as np

from sfumato.audit.core.outputs import label, plain
from sfumato.audit.core.roles import NeighborPair
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind, whole
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation

Row: TypeAlias = Any
Database: TypeAlias = tuple[Row, ...]

NEW_KEY: Final = "a key of nobody else"
MOST_ROWS: Final = 10**7
"""Of a heavy user; they are held in memory all at once."""
MOST_SMALL: Final = 10_000
"""Rows of a database that still counts as small."""
_EXTREMES: Final = {
    "an extreme value": 1e300,
    "a negative extreme value": -1e300,
    "an integer beyond 64 bits": 1 << 80,
    "infinity": inf,
    "NaN": nan,
    "None": None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbors:
    """All neighbors of one database that are tried.

    Under `ADD_OR_REMOVE_ONE`: without each unit, first and last among them; with one more unit, whose row is a copy, or
    has an extreme value, NaN, None, a new key, or a value of others in any column; and with a heavy user of many rows.
    Under `REPLACE_ONE`: with each of those in place of each unit's own rows, so that labels flip too.

    Edge cases: the empty database has neighbors under `ADD_OR_REMOVE_ONE` if `newcomer` is given, and none otherwise.

    Args:
        database: The rows.
        relation: The neighboring relation.
        unit: The column that identifies units, where rows are mappings; None if each row is a unit.
        newcomer: A row like those of a new unit; None takes the last row of the database.
        heavy_rows: The number of rows of a heavy user, at most `MOST_ROWS`.

    Raises:
        ParameterError: There is a unit column but a row that is no mapping with it, or that has a list there; or a
            parameter is something else.

    Example:
        >>> pairs = list(Neighbors(database=(3, 5), relation=ADD_OR_REMOVE_ONE))
        >>> [(pair.neighbor, pair.description) for pair in pairs[:2]]
        [((5,), 'the first unit is removed'), ((3,), 'the last unit is removed')]
    """

    database: Database
    relation: NeighboringRelation = ADD_OR_REMOVE_ONE
    unit: str | None = None
    newcomer: Row = None
    heavy_rows: int = 1000

    def __post_init__(self) -> None:
        rows: Any = self.database
        if isinstance(rows, str | bytes) or not isinstance(rows, Sequence | np.ndarray):
            raise ParameterError("database", type(rows).__name__, "must be a list or tuple of rows")
        of_kind(self.relation, "relation", NeighboringRelation, "a NeighboringRelation")
        of_kind(self.unit, "unit", (str, NoneType), "the name of a column, as text, or None")
        whole(self.heavy_rows, "heavy_rows", least=1, most=MOST_ROWS)
        if self.unit is not None and not isinstance(self.newcomer, Mapping | None):
            raise ParameterError("newcomer", type(self.newcomer).__name__, "must be a mapping, like the other rows")
        if self.unit is not None and not all(isinstance(row, Mapping) and self.unit in row for row in self.database):
            raise ParameterError("database", "rows without the unit column", f"must all be mappings with {self.unit!r}")
        if self.unit is not None and not all(_tells_apart(row[self.unit]) for row in self.database):
            raise ParameterError("database", "units without a hash", f"must have text or a number in {self.unit!r}")

    def __iter__(self) -> Iterator[NeighborPair]:
        """The pairs, each with this database first."""
        match self.relation:
            case NeighboringRelation.ADD_OR_REMOVE_ONE:
                changes = (*self._without_one(), *self._with_one_more())
            case NeighboringRelation.REPLACE_ONE:
                changes = tuple(self._with_one_replaced())
            case _:
                assert_never(self.relation)
        for neighbor, description in changes:
            yield NeighborPair(self.database, neighbor, description)

    def _without_one(self) -> Iterator[tuple[Database, str]]:
        units = self._units()
        for i, unit in enumerate(units):
            rest = tuple(row for at, row in enumerate(self.database) if self._unit_of(at, row) != unit)
            yield rest, f"the {_ordinal(i, len(units))} unit is removed"

    def _with_one_more(self) -> Iterator[tuple[Database, str]]:
        if self.newcomer is None and len(self.database) == 0:
            return
        template = self.newcomer if self.newcomer is not None else self.database[-1]
        joined = template if self.unit is None else {**template, self.unit: NEW_KEY}
        for row, what in self._variants(joined):
            yield (*self.database, row), f"a unit is added, {what}"
        for rows, what in self._heavy(joined):
            yield (*self.database, *rows), f"a unit is added, {what}"

    def _with_one_replaced(self) -> Iterator[tuple[Database, str]]:
        units = self._units()
        for i, unit in enumerate(units):
            places = [at for at, row in enumerate(self.database) if self._unit_of(at, row) == unit]
            own = tuple(self.database[at] for at in places)
            before = self.database[: places[0]]
            after = tuple(row for at, row in enumerate(self.database) if at > places[0] and at not in places)
            template = self.newcomer if self.newcomer is not None else own[0]
            joined = template if self.unit is None else {**template, self.unit: unit}
            variants = (((row,), what) for row, what in self._variants(joined))
            for rows, what in (*variants, *self._heavy(joined)):
                if _text(rows) != _text(own):
                    yield (*before, *rows, *after), f"the {_ordinal(i, len(units))} unit is replaced, {what}"

    def _heavy(self, row: Row) -> Iterator[tuple[Database, str]]:
        """Many rows of one unit, alike and with a value of their own in each column; none where a row is a unit."""
        if self.unit is None:
            return
        yield (row,) * self.heavy_rows, f"a heavy user with {self.heavy_rows} rows"
        for column in self._columns(row):
            rows = tuple({**row, column: f"{NEW_KEY} {i}"} for i in range(self.heavy_rows))
            yield rows, f"a heavy user with {self.heavy_rows} values of {column}"

    def _variants(self, row: Row) -> Iterator[tuple[Row, str]]:
        """A row itself, and with every value worth trying in each place that is not the unit's."""
        yield row, "with an ordinary row"
        if not isinstance(row, Mapping):
            yield from ((value, f"with the value {text} of another") for text, value in self._others(row, None))
            yield from ((value, f"with {what}") for what, value in _EXTREMES.items())
            return
        for column in self._columns(row):
            for text, value in self._others(row[column], column):
                yield {**row, column: value}, f"with {column} as {text}"
            for what, value in {"a new key": NEW_KEY, **_EXTREMES}.items():
                yield {**row, column: value}, f"with {what} in {column}"

    def _columns(self, row: Mapping[str, Any]) -> list[str]:
        return [column for column in row if column != self.unit]

    def _others(self, value: Any, column: str | None) -> list[tuple[str, Any]]:
        """The values of other rows by their text, which tells 1 from True and needs no hash."""
        if column is None:
            values = {_text(row): row for row in self.database}
        else:
            found = (row.get(column) for row in self.database if isinstance(row, Mapping))
            values = {_text(other): other for other in found}
        return sorted((text, other) for text, other in values.items() if text != _text(value))

    def _units(self) -> list[Hashable]:
        return list(dict.fromkeys(self._unit_of(at, row) for at, row in enumerate(self.database)))

    def _unit_of(self, at: int, row: Row) -> Hashable:
        """Who a row belongs to: its place, where each row is a unit, so that equal rows stay apart."""
        return at if self.unit is None else row[self.unit]


def small_databases(rows: tuple[Row, ...], *, largest: int) -> Iterator[Database]:
    """Every database of up to `largest` rows taken from these, in every order, the empty one first.

    Args:
        rows: The different rows there may be.
        largest: From 0 to `MOST_SMALL`; with several rows far fewer are already more than can be gone through.

    Raises:
        ParameterError: The rows are no list, or the number is out of range.

    Example:
        >>> list(small_databases(("a", "b"), largest=1))
        [(), ('a',), ('b',)]
    """
    found, sizes = listed(rows, "rows", of="rows"), range(whole(largest, "largest", least=0, most=MOST_SMALL) + 1)
    return (database for size in sizes for database in product(found, repeat=size))


def small_pairs(rows: tuple[Row, ...], *, largest: int, relation: NeighboringRelation) -> Iterator[NeighborPair]:
    """Every pair of neighbors among the small databases, each row a unit: an exhaustive audit of tiny inputs.

    Args:
        rows: The different rows there may be.
        largest: The most rows of a database, from 0 to `MOST_SMALL`.
        relation: The neighboring relation.

    Raises:
        ParameterError: As `small_databases`, or there is no such relation.

    Example:
        >>> [(p.database, p.neighbor) for p in small_pairs(("a",), largest=1, relation=ADD_OR_REMOVE_ONE)]
        [(('a',), ())]
    """
    of_kind(relation, "relation", NeighboringRelation, "a NeighboringRelation")
    found = listed(rows, "rows", of="rows")
    return _pairs_among(found, small_databases(found, largest=largest), relation)


def _pairs_among(
    rows: tuple[Row, ...], databases: Iterator[Database], relation: NeighboringRelation
) -> Iterator[NeighborPair]:
    later = {id(row): rows[place + 1 :] for place, row in enumerate(rows)}
    for database in databases:
        for i, row in enumerate(database):
            rest, place = (database[:i], database[i + 1 :]), _ordinal(i, len(database))
            if relation is ADD_OR_REMOVE_ONE:
                yield NeighborPair(database, (*rest[0], *rest[1]), f"the {place} unit is removed")
                continue
            for other in later[id(row)]:
                yield NeighborPair(database, (*rest[0], other, *rest[1]), f"the {place} unit is replaced by {other!r}")


def _tells_apart(unit: Any) -> bool:
    """Whether it has a hash and is equal to others or not, which a missing value of pandas leaves open."""
    return isinstance(unit, Hashable) and isinstance(plain(unit == 0), bool)


def _text(value: Any) -> str:
    return label(plain(value))


def _ordinal(i: int, count: int) -> str:
    if i in (0, count - 1):
        return "first" if i == 0 else "last"
    place = i + 1
    teen = 10 < place % 100 < 20  # noqa: PLR2004 # 11th, 12th, 13th
    return f"{place}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(place % 10, 'th')}"
