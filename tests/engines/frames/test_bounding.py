"""Only units above a limit are put in order, and of them entries are allowed what `entries.allowances` says."""

from collections import Counter
from itertools import product

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.in_frames import ENGINES
from tests.engines.sql.test_bounding import CELL, FOUND, LIMITS, PUBLIC_KEYS, SALT, TABLE, entries

from sfumato.engines.entries import allowances
from sfumato.engines.frames.bounding import ALLOWED, Bounding, above, bounded, needs_order
from sfumato.engines.frames.entries import marked
from sfumato.engines.frames.rows import Rows
from sfumato.engines.sampling import Sampling
from sfumato.engines.sql.limits import binding_limits
from sfumato.query.measures import RowCount
from sfumato.query.schema import Limits
from sfumato.query.shape import shape_of
from sfumato.query.statement import Statement


def bounding(limits, *, has_cells, sampling=Sampling.MD5, salt=SALT):
    asked = Statement(
        rows=TABLE, keys=PUBLIC_KEYS, measures=(RowCount(),), limits=limits, cell=CELL if has_cells else None
    )  # fmt: skip
    rows = Rows(frame=pl.LazyFrame(schema={"u": pl.String, "c0": pl.String, "c1": pl.String, "c2": pl.String}),
                shape=shape_of(TABLE))  # fmt: skip
    return Bounding(
        marked=marked(asked, rows), limits=binding_limits(asked), salt=salt, sampling=sampling, measures=asked.measures
    )  # fmt: skip


def stored(own, found):
    """Entries as a frame."""
    columns = {"u": [one.unit for one in found], "n": [one.rows for one in found]}
    columns |= {name: [one.place[index] for one in found] for index, name in enumerate(own.marks)}
    frame = pl.LazyFrame(columns, schema={"u": pl.String, "n": pl.Int64} | dict.fromkeys(own.marks, pl.String))
    return frame.with_columns(mark.of(pl.col(mark.name)).alias(mark.name) for mark in own.marked.marks)


def allowed(own, found):
    """The rows that each entry of a unit above is allowed, by unit and values; and those units."""
    frame = stored(own, found)
    units = above(own, frame)
    kept = bounded(own, frame, units).select("u", *own.marks, ALLOWED)
    first, second = ({tuple(place): n for *place, n in kept.collect(engine=engine).rows()} for engine in ENGINES)
    assert first == second
    return first, set(units.collect()["u"])


@pytest.mark.parametrize("has_cells", [False, True])
@given(FOUND, LIMITS)
@settings(max_examples=60, deadline=None)
def test_entries_are_allowed_the_rows_that_they_are_in_python(has_cells, found, limits):
    own = bounding(limits, has_cells=has_cells)
    if not needs_order(own):
        return
    found = entries(found, has_cells=has_cells)
    expected = {(one.unit, *one.place): rows for one, rows in allowances(found, limits, key_count=2, salt=SALT)}
    kept, units = allowed(own, found)
    assert kept == {place: rows for place, rows in expected.items() if place[0] in units}
    assert all((one.unit, *one.place) in expected for one in found if one.unit not in units)


@pytest.mark.parametrize("has_cells", [False, True])
@given(FOUND, LIMITS, st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_the_engines_own_hash_keeps_the_same_limits(has_cells, found, limits, salt):
    own = bounding(limits, has_cells=has_cells, sampling=Sampling.NATIVE, salt=f"{salt:032x}")
    if not needs_order(own):
        return
    found = entries(found, has_cells=has_cells)
    rows_of = {(one.unit, *one.place): one.rows for one in found}
    kept, _ = allowed(own, found)
    assert all(rows <= rows_of[place] for place, rows in kept.items())
    groups = Counter(place[:3] for place in kept for _ in range(kept[place]))
    for unit in "uv":
        of_unit = {group: rows for group, rows in groups.items() if group[0] == unit}
        assert len(of_unit) <= (limits.max_groups_per_unit or 99)
        assert sum(of_unit.values()) <= (limits.max_rows_per_unit or 999)
        assert not has_cells or max(of_unit.values(), default=0) <= (limits.max_rows_per_group_per_unit or 99)


def test_units_within_all_limits_are_not_above_and_others_start_where_the_last_one_ended():
    own = bounding(Limits(max_groups_per_unit=2, max_rows_per_unit=5, max_rows_per_group_per_unit=4), has_cells=False)
    sizes = pl.LazyFrame({"u": ["a", "a", "b", "b", "c", "c", "c", "d"], "n": [1, 4, 2, 4, 1, 1, 1, 99]})
    found = dict(above(own, sizes).collect().rows())
    assert found in ({"b": 0, "c": 2}, {"b": 3, "c": 0})  # b has 6 rows, c 3 groups, d 4 rows of 99


def test_all_cells_of_a_group_stay_with_it():
    found = entries({("u", k, "a", cell): 1 for k in "xyz" for cell in "ab"}, has_cells=True)
    kept, _ = allowed(bounding(Limits(max_groups_per_unit=2), has_cells=True), found)
    assert list(Counter(place[:3] for place in kept).values()) == [2, 2]


@pytest.mark.parametrize("sampling", Sampling)
def test_salts_choose_which_groups_stay(sampling):
    found = entries({("u", *keys, "a"): 1 for keys in product("xyz", "ab")}, has_cells=False)
    salts = [f"{salt:032x}" for salt in range(20)]
    owns = [bounding(Limits(max_groups_per_unit=1), has_cells=False, sampling=sampling, salt=salt) for salt in salts]
    assert len({place for own in owns for place in allowed(own, found)[0]}) > 3
