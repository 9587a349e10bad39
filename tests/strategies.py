"""Random policies and the tables under them, with poison in them, drawn from a `Random`: hypothesis's, or a seed's.

A policy here has private tables of one kind of unit and public ones. Every table has the same seven columns behind a
prefix of its own, so that any two can be joined, united and compared: `u` (a unit), `k` (text), `j` (a whole number, a
key), `i` and `f` (bounded numbers), `b` (a truth), `d` (a day).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

import pyarrow as pa
from hypothesis import strategies as st

from sfumato.privacy.neighbors import EACH_ROW, EachRow, UnitColumn
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import PUBLIC, Limits, Table, TableUnit, UnitPath, boolean, integer, real, text
from sfumato.query.model.schema import date as day

POISON: Final = (
    "", " ", "word", "NaN", "inf", "-inf", "Infinity", "1e400", "-1e400", "1e-400", "1_000", " 39 ", "+7", ".5", "5.",
    "2.5", "-2.5", "0x10", "1e5", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "9" * 400,
    "true", "No ", "１２", "\u00a01", "1\n", "é", "'; DROP TABLE t; --", "\x00", "2026-02-30", "0000-01-01", "-0.0",
)  # fmt: skip
"""What people, programs and attackers leave in a field that should hold a number, a day or a word."""

_doubles = st.sampled_from([0.5, -0.5, 1.0, 2.5, -0.0, 1e308, -1e308, 5e-324, float(2**53), 1e19]) | st.floats()
_whole = st.integers(-100, 100) | st.sampled_from([2**63 - 1, -(2**63), 2**53 + 1])
_texts = st.sampled_from(POISON) | st.integers(-100, 100).map(str)
STORED: Final = {
    pa.string(): _texts,
    pa.int64(): _whole,
    pa.float64(): _doubles,
    pa.bool_(): st.booleans(),
}
"""What a column of each type of storage may hold."""

CELLS: Final[Mapping[str, Mapping[pa.DataType, Sequence[Any]]]] = {
    "u": {
        pa.string(): ("1", "2", "1", "2", "3", "04", "x", None),
        pa.int64(): (1, 2, 1, 2, 3, None),
        pa.float64(): (1.0, 2.0, 1.0, 3.0, 2.5, None),
    },
    "k": {pa.string(): ("x", "y", "x", "y", "x ", "é", "", None)},
    "j": {
        pa.int64(): (1, 2, 1, 2, 1, 39, None, 2**53 + 1, 2**53),
        pa.string(): ("1", "2", "1", "2", " 1", "39", "9" * 30, "word", None),
        pa.float64(): (1.0, 2.0, 1.0, 2.0, 0.5, float("nan"), float("inf"), None),
    },
    "i": {
        pa.int64(): (1, -3, 7, 2, 0, 2**63 - 1, -(2**63), None),
        pa.string(): ("1", "-2", "3.5", "0", "inf", "1e400", "", None),
        pa.bool_(): (True, False, None),
    },
    "f": {
        pa.float64(): (
            1.0, 0.26, -2.5, 3.0, 0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e308, None,
        ),
        pa.string(): ("1", ".25", "5.", "-0.0", "0", "NaN", "word", "-1e400", None),
        pa.int64(): (1, -1, 2, 2**53 + 1, 0, None),
    },
    "b": {pa.bool_(): (True, False, None), pa.string(): ("yes", "No ", "word", None), pa.int64(): (1, 0, None)},
    "d": {
        pa.date32(): (date(2026, 1, 31), date(1, 1, 1), date(9999, 12, 31), None),
        pa.string(): ("2026-01-31", "2026-02-30", "0000-01-01", "2026-01-31 12:00:00", None),
    },
}  # fmt: skip
"""What a column of each name may hold, by the type in which it is stored: few values, so that rows meet."""

Row = dict[str, Any]
Database = dict[str, list[Row]]


@dataclass(frozen=True)
class Policy:
    """Tables by name, and how each column is stored. The private ones are of one kind of unit."""

    private: tuple[Table, ...]
    public: tuple[Table, ...]
    storage: Mapping[str, Mapping[str, pa.DataType]]

    @property
    def tables(self) -> tuple[Table, ...]:
        return (*self.private, *self.public)

    @property
    def has_owners(self) -> bool:
        return self.private[0].has_owners


def pick(random, options):
    """One of some options; the first is the simplest."""
    return options[random.randrange(len(options))]


def chance(random, one_in):
    """True once in so many times; simplified, False."""
    return random.randrange(one_in) == one_in - 1


def limits(random):
    """Limits of which at least one is on rows."""
    rows, groups, rows_per_group = (pick(random, (None, 1, 2, 3)) for _ in range(3))
    if rows is None and rows_per_group is None:
        rows = pick(random, (1, 2, 3))
    return Limits(max_rows_per_unit=rows, max_groups_per_unit=groups, max_rows_per_group_per_unit=rows_per_group)


def _columns(random, prefix, unit_kind):
    low, span = random.randrange(-60, 50), random.randrange(1, 90)
    resolution = pick(random, ("0.01", "1/3", "0.5", "1", "7"))
    declared = {
        "u": integer() if unit_kind is Kind.INTEGER else text(),
        "k": text(values=["x", "y"]),
        "j": integer(values=[1, 2, 39]),
        "i": integer(low, low + span, nullable=not chance(random, 3)),
        "f": real(low, low + span, resolution=resolution, nullable=not chance(random, 3)),
        "b": boolean(),
        "d": pick(random, (day(), day("2026-01-30", "2026-02-02"))),
    }
    return {f"{prefix}{name}": facts for name, facts in declared.items()}


def _table(random, name, unit: TableUnit, unit_kind=Kind.TEXT):
    is_each_row, is_public = isinstance(unit, EachRow), unit == PUBLIC
    matches = {}
    if is_public or (not is_each_row and chance(random, 3)):
        keyed = pick(random, (("j",), ("k",), ("k", "j"), ("f",)))
        matches = {tuple(f"{name}{key}" for key in keyed): pick(random, (1, 2))}
    return Table(
        name=name, columns=_columns(random, name, unit_kind), unit=unit, matches=matches, keeps_rows=True,
        limits=Limits() if is_each_row or is_public else limits(random),
    )  # fmt: skip


def _private(random):
    """Tables of rows that are units; or two with a unit column, and a chain of two below them: t → l → m."""
    if chance(random, 2):
        return tuple(_table(random, name, EACH_ROW) for name in ("t", "s"))
    kind = pick(random, (Kind.TEXT, Kind.INTEGER))
    first, second = (_table(random, name, UnitColumn(f"{name}u"), kind) for name in ("t", "s"))
    lines = _table(random, "l", UnitPath("lj", first, "tj"))
    more = _table(random, "m", UnitPath("mk", lines, "lk"))
    return first, second, lines, more


def policy(random):
    """Private tables of one kind of unit, and two public ones."""
    private = _private(random)
    public = tuple(_table(random, name, PUBLIC) for name in ("p", "q"))
    storage = {
        table.name: {f"{table.name}{name}": pick(random, tuple(types)) for name, types in CELLS.items()}
        for table in (*private, *public)
    }
    return Policy(private, public, storage)


def database(random, drawn, *, max_rows=8, tables=None):
    """Rows for the tables of a policy, some of them in several copies."""
    return {table.name: _rows(random, drawn.storage[table.name], max_rows) for table in tables or drawn.tables}


def _rows(random, storage, max_rows):
    least = 0 if chance(random, 8) else max_rows // 2
    cells = {name: CELLS[name[-1]][kind] for name, kind in storage.items()}
    own = [
        {name: pick(random, values) for name, values in cells.items()}
        for _ in range(pick(random, range(least, max_rows + 1)))
    ]
    if own and chance(random, 4):
        own += [own[0]] * pick(random, (1, 3, 40))
    return own


def stored(rows, storage):
    """Rows as an Arrow table."""
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in storage.items()})
