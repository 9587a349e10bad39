"""Only units above a limit are put in order, and of them entries are allowed what `entries.allowances` says.

Limits that cannot bind are left away, and nothing else: entries are allowed the same rows.
"""

from collections import Counter
from dataclasses import replace
from itertools import product
from types import MappingProxyType

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.in_sql import database, run

from sfumato.engines.duckdb.dialect import DUCKDB, IDIOMS, _Writer
from sfumato.engines.reference.groups import Entry, allowances
from sfumato.engines.sampling import Sampling
from sfumato.engines.sql.bounding import ABOVE, ALLOWED, ENTRIES, Bounding, above, binding_limits, bounded, needs_order
from sfumato.engines.sql.dialect import writing
from sfumato.engines.sql.entries import grouped_rows
from sfumato.engines.sql.expressions.terms import cast, column, select, table, whole
from sfumato.engines.sql.lists import list_table
from sfumato.engines.sql.rows import SqlRelation
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Limits, Table, text
from sfumato.query.model.statement import KeyColumn, RowCount, Statement, Values

SALT = "00112233445566778899aabbccddeeff"
TABLE = Source(
    Table(
        name="t",
        columns={"u": text(), "k": text(), "l": text()},
        unit=UnitColumn("u"),
        limits=Limits(max_rows_per_unit=9),
    )
)
PUBLIC_KEYS = (KeyColumn(name="k", values=("y", "x", "z")), KeyColumn(name="l", values=None))
CELL = Values(value=ColumnRef("l"), values=("b", "a"))
SOME = st.none() | st.integers(1, 4)
LIMITS = st.builds(
    lambda groups, per_group, rows: Limits(
        max_groups_per_unit=groups, max_rows_per_group_per_unit=per_group, max_rows_per_unit=rows
    ),
    SOME, SOME, SOME,
)  # fmt: skip
PLACES = list(product("uv", "xyz", "ab", "ab"))
FOUND = st.lists(st.integers(0, 6), min_size=len(PLACES), max_size=len(PLACES)).map(
    lambda counts: {place: rows for place, rows in zip(PLACES, counts, strict=True) if rows}
)
"""How many rows each unit has of each of two keys and each cell."""

TEXTS = Source(
    Table(name="t", columns={"u": text(), "k": text()}, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=9))
)  # fmt: skip
ANY_CELL = Values(value=ColumnRef("k"), values=None)
SMALL = st.none() | st.integers(1, 7)


def bounding(limits, *, has_cells, sampling=Sampling.MD5, salt=SALT, dialect=DUCKDB):
    asked = Statement(
        rows=TABLE, keys=PUBLIC_KEYS, measures=(RowCount(),), limits=limits, cell=CELL if has_cells else None
    )  # fmt: skip
    rows = SqlRelation(query=select([], table("nothing")), shape=shape_of(TABLE))
    return Bounding(
        rows=grouped_rows(asked, rows), limits=binding_limits(asked), salt=salt, sampling=sampling,
        measures=asked.measures, dialect=dialect,
    )  # fmt: skip


def entries(found, *, has_cells):
    """Entries by unit, keys and cell; without cells those of one group as one."""
    counts = Counter()
    for (*group, cell), rows in found.items():
        counts[(*group, cell) if has_cells else tuple(group)] += rows
    return [Entry(unit=unit, place=tuple(place), rows=n, sums=(), counted=()) for (unit, *place), n in counts.items()]


def in_sql(own, found, query):
    places = {group.name: {value: i for i, value in enumerate(group.values or ())} for group in own.rows.group_columns}
    names = [group.name for group in own.rows.group_columns]
    columns = {"u": [one.unit for one in found], "n": pa.array([one.rows for one in found], pa.int64())}
    for index, name in enumerate(names):
        cells = [one.place[index] for one in found]
        listed = (
            pa.array([places[name][cell] for cell in cells], pa.int32())
            if places[name]
            else pa.array(cells, pa.string())
        )
        columns[name] = listed
    own_lists = [group for group in own.rows.group_columns if group.values is not None]
    for group in own_lists:
        database().register(group.table, list_table(group))
    try:
        rows = run(query, own.dialect, **{ENTRIES: pa.table(columns), ABOVE: _above(own, pa.table(columns))})
    finally:
        for group in own_lists:
            database().unregister(group.table)
    return rows


def _above(own, stored):
    return pa.table({"u": [unit for (unit,) in run(above(own), **{ENTRIES: stored})]})


def allowed_in_sql(own, found):
    """The rows that each entry of a unit above is allowed, by unit and values."""
    by = own.rows.group_columns
    query = select([column("u"), *(group.column for group in by), column(ALLOWED)], bounded(own))
    return {
        (unit, *(group.values[cell] if group.values else cell for group, cell in zip(by, cells, strict=True))): rows
        for unit, *cells, rows in in_sql(own, found, query)
    }


@pytest.mark.parametrize("has_cells", [False, True])
@given(FOUND, LIMITS)
def test_entries_are_allowed_the_rows_that_they_are_in_python(has_cells, found, limits):
    own = bounding(limits, has_cells=has_cells)
    if not needs_order(own):
        return
    found = entries(found, has_cells=has_cells)
    expected = {(one.unit, *one.place): rows for one, rows in allowances(found, limits, key_count=2, salt=SALT)}
    allowed = allowed_in_sql(own, found)
    others = {(one.unit, *one.place) for one in found} - set(allowed)
    units = {place[0] for place in allowed}
    assert {place: rows for place, rows in allowed.items() if rows} == {
        place: rows for place, rows in expected.items() if place[0] in units
    }
    assert all(place[0] not in units and place in expected for place in others)


@pytest.mark.parametrize("has_cells", [False, True])
@given(FOUND, LIMITS, st.integers(0, 9))
def test_the_engines_own_hash_keeps_the_same_limits(has_cells, found, limits, salt):
    own = bounding(limits, has_cells=has_cells, sampling=Sampling.NATIVE, salt=str(salt))
    if not needs_order(own):
        return
    found = entries(found, has_cells=has_cells)
    rows_of = {(one.unit, *one.place): one.rows for one in found}
    allowed = {place: rows for place, rows in allowed_in_sql(own, found).items() if rows}
    assert all(rows <= rows_of[place] for place, rows in allowed.items())
    groups = Counter(place[:3] for place in allowed for _ in range(allowed[place]))
    for unit in "uv":
        of_unit = {group: rows for group, rows in groups.items() if group[0] == unit}
        assert len(of_unit) <= (limits.max_groups_per_unit or 99)
        assert sum(of_unit.values()) <= (limits.max_rows_per_unit or 999)
        assert not has_cells or max(of_unit.values(), default=0) <= (limits.max_rows_per_group_per_unit or 99)


def test_units_within_all_limits_are_not_above():
    own = bounding(Limits(max_groups_per_unit=2, max_rows_per_unit=5, max_rows_per_group_per_unit=4), has_cells=False)
    stored = pa.table({"u": ["a", "a", "b", "b", "c", "c", "c", "d"], "n": [1, 4, 2, 4, 1, 1, 1, 99]})
    assert sorted(_above(own, stored)["u"].to_pylist()) == ["b", "c"]  # b has 6 rows, c 3 groups, d 4 rows of 99


def test_all_cells_of_a_group_stay_with_it():
    found = entries({("u", k, "a", cell): 1 for k in "xyz" for cell in "ab"}, has_cells=True)
    own = bounding(Limits(max_groups_per_unit=2), has_cells=True)
    kept = Counter(place[:3] for place, rows in allowed_in_sql(own, found).items() if rows)
    assert list(kept.values()) == [2, 2]


@pytest.mark.parametrize("sampling", Sampling)
def test_salts_choose_which_groups_stay(sampling):
    found = entries({("u", *keys, "a"): 1 for keys in product("xyz", "ab")}, has_cells=False)
    kept = set()
    for salt in range(20):
        own = bounding(Limits(max_groups_per_unit=1), has_cells=False, sampling=sampling, salt=f"{salt:032x}")
        kept |= {place for place, rows in allowed_in_sql(own, found).items() if rows}
    assert len(kept) > 3


class _Tying(_Writer):
    TRANSFORMS = MappingProxyType(
        {**_Writer.TRANSFORMS, **writing({**IDIOMS, "native_hash": lambda *_: cast(whole(7), "UBIGINT")})}
    )


TYING = replace(DUCKDB, writer=_Tying)
"""A dialect whose own hash is the same of everything."""


@pytest.mark.parametrize("has_cells", [False, True])
@given(st.permutations(list(product("u", "xyz", "ab", "ab"))))
def test_entries_of_one_hash_are_kept_in_the_order_of_their_keys(has_cells, places):
    found = entries(dict.fromkeys(places, 1), has_cells=has_cells)
    limits = Limits(max_groups_per_unit=2, max_rows_per_unit=3)
    own = bounding(limits, has_cells=has_cells, sampling=Sampling.NATIVE, dialect=TYING)
    allowed = {place: rows for place, rows in allowed_in_sql(own, found).items() if rows}
    by_cell = {("u", "x", "a", "a"): 1, ("u", "x", "a", "b"): 1, ("u", "x", "b", "a"): 1}
    assert allowed == (by_cell if has_cells else {("u", "x", "a"): 2, ("u", "x", "b"): 1})


def limits(groups, per_group, rows):
    return Limits(max_groups_per_unit=groups, max_rows_per_group_per_unit=per_group, max_rows_per_unit=rows)


def asked(own, groups, cell=None):
    """A statement with so many groups; None of private ones."""
    values = None if groups is None else tuple(map(str, range(groups)))
    keys = () if groups == 1 else (KeyColumn(name="k", values=values),)
    return Statement(rows=TEXTS, keys=keys, measures=(RowCount(),), limits=own, cell=cell)


@pytest.mark.parametrize(
    ("groups", "own", "cell", "bind"),
    [
        (5, (5, 2, None), None, (None, 2, None)), (5, (3, 2, None), None, (3, 2, None)),
        (None, (5, 2, None), None, (5, 2, None)), (5, (3, 2, 6), None, (3, 2, None)),
        (5, (3, 2, 5), None, (3, 2, 5)), (5, (None, 3, 4), None, (None, 3, 4)),
        (5, (None, 4, 3), None, (None, None, 3)),
        (1, (1, 4, 3), None, (None, 3, None)), (1, (1, 4, 3), ANY_CELL, (None, None, 3)),
        (5, (1, 4, 3), None, (1, 3, None)), (5, (1, 4, 3), ANY_CELL, (1, None, 3)),
        (5, (None, None, None), None, (None, None, None)),
    ],
)  # fmt: skip
def test_what_can_bind_is_told_from_what_is_declared(groups, own, cell, bind):
    assert binding_limits(asked(limits(*own), groups, cell)) == limits(*bind)


@given(SMALL, SMALL, SMALL, st.sampled_from([1, 2, 3, None]), st.booleans(), st.randoms(use_true_random=False))
def test_entries_are_allowed_the_same_rows(groups, per_group, rows, group_count, has_cells, random):
    statement = asked(limits(groups, per_group, rows), group_count, ANY_CELL if has_cells else None)
    keys = [()] if group_count == 1 else [(str(key),) for key in range(group_count or 4)]
    places = [(*key, *cell) for key in keys for cell in ([("a",), ("b",)] if has_cells else [()])]
    found = [
        Entry(unit=unit, place=place, rows=random.randrange(1, 9), sums=(), counted=())
        for unit in "xy" for place in places if random.randrange(4)
    ]  # fmt: skip
    count = len(statement.keys)
    expected = allowances(found, statement.limits, key_count=count, salt=SALT)
    assert allowances(found, binding_limits(statement), key_count=count, salt=SALT) == expected
