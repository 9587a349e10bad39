"""Groups are kept up to a rank: those of the least rank, as many as a unit may keep, whatever the hash."""

from collections import defaultdict
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.in_sql import run
from tests.engines.sql.test_bounding import TYING

from sfumato.engines.duckdb.dialect import DUCKDB
from sfumato.engines.postgres.dialect import POSTGRES
from sfumato.engines.sampling import Sampling
from sfumato.engines.spark.dialect import SPARK
from sfumato.engines.sql.bounding import (
    ABOVE,
    ENTRIES,
    LAST,
    Bounding,
    above,
    binding_limits,
    has_thresholds,
    kept_entries,
    last_kept,
    ranked,
)
from sfumato.engines.sql.entries import grouped_rows
from sfumato.engines.sql.expressions.terms import select, table
from sfumato.engines.sql.rows import SqlRelation
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Limits, Table, integer, text
from sfumato.query.model.statement import KeyColumn, RowCount, Statement, Values

COLUMNS = {"u": text(), "k": text(), "l": integer()}
TABLE = Source(Table(name="t", columns=COLUMNS, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=9)))
KEYS = (KeyColumn(name="k", values=("a", "b", "c")), KeyColumn(name="l", values=(-1, 0, 1, 2)))
PLACES = list(product("uvw", range(3), range(-1, 3)))
"""Units, the places of texts in their list, and numbers that need none."""


def bounding(most=2, *, dialect=DUCKDB, sampling=Sampling.NATIVE, keys=KEYS, cell=None, salt="00", **limits):
    own = Limits(max_groups_per_unit=most, **limits)
    asked = Statement(rows=TABLE, keys=keys, measures=(RowCount(),), limits=own, cell=cell)
    rows = SqlRelation(query=select([], table("nothing")), shape=shape_of(TABLE))
    return Bounding(
        rows=grouped_rows(asked, rows), limits=binding_limits(asked), salt=salt, sampling=sampling,
        measures=asked.measures, dialect=dialect,
    )  # fmt: skip


def kept(own, places):
    """The groups that each unit keeps."""
    units, firsts, seconds = zip(*places, strict=True) if places else ((), (), ())
    columns = {
        "u": pa.array(units, pa.string()),
        "k0": pa.array(firsts, pa.int32()),
        "k1": pa.array(seconds, pa.int64()),
    }
    stored = pa.table(columns | {"n": pa.array([1] * len(places), pa.int64())})
    query = kept_entries(own).with_(ENTRIES, as_=ranked(own, select([], table("stored"))), copy=False)
    query = query.with_(ABOVE, as_=above(own), copy=False).with_(LAST, as_=last_kept(own), copy=False)
    found = defaultdict(list)
    for unit, *group, _ in run(query, own.dialect, stored=stored):
        found[unit].append(tuple(group))
    return {unit: sorted(groups) for unit, groups in found.items()}


@given(st.lists(st.sampled_from(PLACES), unique=True), st.integers(1, 8))
def test_a_unit_keeps_as_many_groups_as_it_may(places, most):
    found = kept(bounding(most), places)
    for unit in "uvw":
        groups = sorted(tuple(group) for owner, *group in places if owner == unit)
        assert set(found.get(unit, [])) <= set(groups)
        assert len(found.get(unit, [])) == min(most, len(groups))
    assert kept(bounding(most), places[::-1]) == found


@given(st.permutations(PLACES), st.integers(1, 8))
def test_groups_of_one_hash_are_kept_in_the_order_of_their_keys(places, most):
    found = kept(bounding(most, dialect=TYING), places)
    assert found == dict.fromkeys("uvw", [tuple(group) for unit, *group in PLACES if unit == "u"][:most])


def test_a_group_that_goes_makes_room_for_the_next_one_alone():
    """The order of a unit's groups is one order, whichever of them there are."""
    groups = list(product("u", range(3), range(-1, 3)))
    first, left = [], groups
    while left:
        ((only,),) = kept(bounding(1), left).values()
        first.append(only)
        left = [place for place in left if place[1:] != only]
    for most in range(1, 9):
        assert kept(bounding(most), groups) == {"u": sorted(first[:most])}


def test_salts_choose_which_groups_stay():
    assert len({str(kept(bounding(1, salt=str(salt)), PLACES)) for salt in range(20)}) > 15


MANY = (KeyColumn(name="l", values=tuple(range(0, 3 * 2**20, 3))),)
PRIVATE = (KeyColumn(name="k", values=None),)


@pytest.mark.parametrize(
    ("own", "has"),
    [
        (bounding(), True), (bounding(max_rows_per_group_per_unit=2), True), (bounding(8), True), (bounding(9), False),
        (bounding(None), False), (bounding(max_rows_per_unit=1), False), (bounding(dialect=SPARK), False),
        (bounding(dialect=POSTGRES), False), (bounding(sampling=Sampling.MD5), False), (bounding(keys=PRIVATE), False),
        (bounding(cell=Values(value=ColumnRef("u"), values=None)), False), (bounding(keys=MANY), True),
        (bounding(keys=(*MANY, *KEYS[:1])), False),
    ],
)  # fmt: skip
def test_where_ranks_are_told_is_a_matter_of_what_is_declared(own, has):
    assert has_thresholds(own) == has
