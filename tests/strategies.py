"""Random policies, tables with poison in them, and questions, for hypothesis."""

from fractions import Fraction
from typing import Final

import pyarrow as pa
from hypothesis import strategies as st

from sfumato.privacy.neighbors import EACH_ROW, EachRow, UnitColumn
from sfumato.query.expressions import And, ColumnRef, Compare, Comparison, IsIn, IsNull, IsTrue, Literal, Not, Or
from sfumato.query.relations import Aggregate, CountRows, CountValues, Filter, GroupBy, Mean, Part, Source, Sum
from sfumato.query.schema import Limits, Table, boolean, integer, real, text

POISON: Final = (
    "", " ", "word", "NaN", "inf", "-inf", "Infinity", "1e400", "-1e400", "1e-400", "1_000", " 39 ", "+7", ".5", "5.",
    "2.5", "-2.5", "0x10", "1e5", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "9" * 400,
    "true", "No ", "１２", "\u00a01", "1\n", "é", "'; DROP TABLE t; --", "\x00",
)  # fmt: skip
"""What people, programs and attackers leave in a field that should hold a number or a word."""

NUMBERS: Final = (0, 1, -1, 2, 3, Fraction(5, 2), Fraction(-1, 3), 39, 2**53 + 1, 2**63, Fraction(10**400), 10**9)
UNITS: Final = ("a", "b", "c", "d", None)
KEYS: Final = ("x", "y", "z", "X", "x ", "", None)

_doubles = st.sampled_from([0.5, -0.5, 1.0, 2.5, -0.0, 1e308, -1e308, 5e-324, float(2**53), 1e19]) | st.floats()
_whole = st.integers(-100, 100) | st.sampled_from([2**63 - 1, -(2**63), 2**53 + 1])
_texts = st.sampled_from(POISON) | st.integers(-100, 100).map(str)
STORED: Final = {
    pa.string(): _texts,
    pa.int64(): _whole,
    pa.float64(): _doubles,
    pa.bool_(): st.booleans(),
}


@st.composite
def limits(draw):
    """Limits of which at least one is on rows."""
    most = st.none() | st.integers(1, 4)
    rows, groups, rows_per_group = draw(most), draw(most), draw(most)
    if rows is None and rows_per_group is None:
        rows = draw(st.integers(1, 4))
    return Limits(max_rows_per_unit=rows, max_groups_per_unit=groups, max_rows_per_group_per_unit=rows_per_group)


@st.composite
def tables(draw):
    """A declared table: a unit, two or three kinds of keys, and bounded columns to sum."""
    unit = draw(st.sampled_from([EACH_ROW, UnitColumn("u")]))
    low, span, nullable = draw(st.integers(-60, 50)), draw(st.integers(1, 90)), draw(st.booleans())
    resolution = draw(st.sampled_from(["0.01", "1/3", "0.5", "1", "7"]))
    columns = {
        "u": text(),
        "k": text(values=["x", "y"]),
        "j": integer(values=[1, 2, 39]),
        "b": boolean(),
        "i": integer(low, low + span, nullable=nullable),
        "f": real(low, low + span, resolution=resolution, nullable=draw(st.booleans())),
    }
    bounds = Limits() if isinstance(unit, EachRow) else draw(limits())
    return Table(name="t", columns=columns, unit=unit, limits=bounds, keeps_rows=True)


@st.composite
def storages(draw):
    """The type in which each column is stored, whatever it is declared as."""
    return {"u": pa.string(), "k": pa.string()} | {
        name: draw(st.sampled_from(list(STORED)), label=f"storage of {name}") for name in ("j", "b", "i", "f")
    }


def rows(storage):
    """One row as it is stored; every cell may be NULL."""
    cells = {name: st.none() | STORED[kind] for name, kind in storage.items()}
    return st.fixed_dictionaries(cells | {"u": st.sampled_from(UNITS), "k": st.sampled_from(KEYS)})


def stored(rows_of_table, storage):
    """Rows as an Arrow table."""
    columns = {name: pa.array([row[name] for row in rows_of_table], kind) for name, kind in storage.items()}
    return pa.table(columns)


def conditions():
    """Conditions with every connective, over every kind of column."""
    return st.recursive(_leaves(), _nested, max_leaves=6)


def _nested(inner):
    several = st.lists(inner, max_size=3).map(tuple)
    return several.map(And) | several.map(Or) | inner.map(Not)


def _leaves():
    comparisons, numeric = st.sampled_from(list(Comparison)), st.sampled_from(["i", "f", "j"]).map(ColumnRef)
    numbers = st.sampled_from(NUMBERS).map(Fraction).map(Literal)
    words = st.sampled_from(["x", "y", "é", ""]).map(Literal)
    truths, textual = st.booleans().map(Literal), st.just(ColumnRef("k"))
    return st.one_of(
        st.builds(Compare, comparisons, numeric, numbers | numeric),
        st.builds(Compare, comparisons, numbers, numeric | numbers),
        st.builds(Compare, comparisons, textual, words),
        st.builds(Compare, comparisons, st.just(ColumnRef("b")), truths),
        st.builds(IsIn, numeric, st.lists(numbers, min_size=1, max_size=4).map(tuple)),
        st.builds(IsIn, textual, st.lists(words, min_size=1, max_size=3).map(tuple)),
        st.sampled_from(["u", "k", "j", "b", "i", "f"]).map(ColumnRef).map(IsNull),
        st.just(IsTrue(ColumnRef("b"))),
    )


@st.composite
def questions(draw, table):
    """A question to a table: perhaps of one part, perhaps filtered, by some keys, with one to three statistics."""
    source = draw(st.just(Source(table)) | _parts(table))
    where = draw(st.none() | conditions())
    keys = draw(st.lists(st.sampled_from(["k", "j", "b"]), unique=True, max_size=2).map(tuple))
    statistics = draw(st.lists(_statistics(), min_size=1, max_size=3))
    named = tuple((f"s{index}", statistic) for index, statistic in enumerate(statistics))
    return Aggregate(GroupBy(source if where is None else Filter(source, where), keys), named)


def _statistics():
    summed = st.sampled_from(["i", "f"])
    counted = st.sampled_from(["u", "k", "j", "b", "i", "f"])
    return st.just(CountRows()) | counted.map(CountValues) | summed.map(Sum) | summed.map(Mean)


def _parts(table):
    most = st.just(1) if isinstance(table.unit, EachRow) else st.integers(1, 2)
    return st.builds(
        Part, child=st.just(Source(table)), by=st.just("k"), values=st.just(("x", "y", "z")),
        value=st.sampled_from(["x", "y", "z"]), max_parts_per_unit=most, salt=st.sampled_from(["00", "ff"]),
    )  # fmt: skip
