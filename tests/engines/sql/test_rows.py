"""Relations in SQL know their columns by their places; of each group the rows of least hash are kept, as in Python."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.in_sql import run
from tests.engines.sql.test_bounding import TYING

from sfumato.engines.sampling import Sampling, encoded, least, rank_hash
from sfumato.engines.sql.expressions.terms import column, function, is_null, select, table
from sfumato.engines.sql.rows import ENCODING, NUMBER, OWNER, SqlRelation, least_ranked, names_of
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.expressions import Call, ColumnRef
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Limits, Table, integer, text

COLUMNS = {'a"b': text(), "u": integer(), "c0": integer(), "RANK": text()}
CELLS = pa.table({"u": ["x", "y"], "c0": ["p", None], "c1": [1, 2], "c2": [3, 4], "c3": ["r", "s"]})

SALT = "00112233445566778899aabbccddeeff"
UNITS_AND_NUMBERS = Table(
    name="t", columns={"u": text(), "v": integer()}, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=9)
)
RANKED = SqlRelation(query=select([], table("cells")), shape=shape_of(Source(UNITS_AND_NUMBERS)))
SOME_CELLS = st.lists(st.tuples(st.sampled_from("ab"), st.none() | st.integers(0, 5)), max_size=20)


def rows(unit, units=None):
    limits = Limits() if unit == EACH_ROW else Limits(max_rows_per_unit=1)
    shape = shape_of(Source(Table(name="t", columns=COLUMNS, unit=unit, limits=limits)))
    return SqlRelation(query=select([], table("cells")), shape=shape, units=units)


OWNED, NOBODYS = rows(UnitColumn('a"b')), rows(EACH_ROW)


def test_columns_are_called_by_their_places_whatever_their_names():
    assert names_of(COLUMNS) == {'a"b': "c0", "u": "c1", "c0": "c2", "RANK": "c3"}
    assert OWNED.selected == ["u", "c0", "c1", "c2", "c3"]
    assert NOBODYS.selected == ["c0", "c1", "c2", "c3"]
    assert (OWNED.kind("u"), OWNED.has_owners, NOBODYS.has_owners, NOBODYS.unit) == (Kind.INTEGER, True, False, [])


def test_expressions_read_the_columns_they_name():
    both = Call(Function.ADD, (ColumnRef("u"), ColumnRef("c0")))
    assert run(select([OWNED.value(both)], OWNED.query), cells=CELLS) == [(4,), (6,)]


@pytest.mark.parametrize(("own", "first"), [(OWNED, [encoded("x")]), (NOBODYS, [])])
def test_rows_are_encoded_value_by_value_behind_their_unit(own, first):
    pieces = [piece for value in (*own.unit_encoding, *own.encodings) for piece in value]
    ((text,), _) = run(select([function("CONCAT", *pieces)], own.query), cells=CELLS)
    assert text == "".join([*first, *map(encoded, ("p", 1, 3, "r"))])


def test_numbers_of_units_are_looked_up_where_they_are_hashed():
    numbered = rows(UnitColumn('a"b'), table("units"))
    people = pa.table({OWNER: ["x", "y"], NUMBER: [1, 0], ENCODING: [encoded("x"), encoded("y")]})
    data = CELLS.set_column(0, "u", [[1, 0]])
    query = numbered.with_units(select([function("CONCAT", *numbered.unit_encoding[0])], numbered.query))
    assert sorted(run(query, cells=data, units=people)) == [("V1:x",), ("V1:y",)]
    assert OWNED.with_units(query) is query


def kept(rows, most, **asked):
    cells = {"u": [u for u, _ in rows], "c0": [u for u, _ in rows], "c1": pa.array([v for _, v in rows], pa.int64())}
    query = least_ranked(RANKED, most, order=RANKED.order(SALT, Sampling.MD5), **asked)
    return sorted(run(query, cells=pa.table(cells)), key=repr)


@pytest.mark.parametrize("most", [1, 2, 5])
@given(SOME_CELLS)
def test_the_rows_of_least_hash_are_kept_of_each_unit(most, rows):
    ranked = least(rows, most, within=lambda row: row[0], rank=lambda row: rank_hash(SALT, (row[0], row[0], row[1])))
    assert kept(rows, most, within=RANKED.unit) == sorted([(u, u, v) for u, v in ranked], key=repr)


@given(SOME_CELLS)
def test_some_rows_are_kept_in_any_case(rows):
    v = column("c1")
    found = kept(rows, 1, within=[*RANKED.unit, v], kept=[is_null(v)])
    once = [row for row in dict.fromkeys(rows) if row[1] is not None]
    assert found == sorted([(u, u, v) for u, v in once + [row for row in rows if row[1] is None]], key=repr)


@given(st.permutations([("a", v) for v in (None, *range(6))]))
def test_rows_of_one_hash_are_kept_in_the_order_of_their_columns(rows):
    cells = {"u": [u for u, _ in rows], "c0": [u for u, _ in rows], "c1": pa.array([v for _, v in rows], pa.int64())}
    order = RANKED.order(SALT, Sampling.NATIVE)
    query = least_ranked(RANKED, 2, within=RANKED.unit, order=order)
    assert len(run(query, cells=pa.table(cells))) == 2
    assert sorted(run(query, TYING, cells=pa.table(cells))) == [("a", "a", 0), ("a", "a", 1)]  # NULL is the last
