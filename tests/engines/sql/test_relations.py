"""Every relation has the same rows in SQL as in plain Python, cell by cell; and so have joins and sources."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engines.in_sql import run
from tests.relations_of import Growing, private
from tests.sizes import COSTLY
from tests.strategies import database, policy, stored

from sfumato.engines.duckdb.dialect import sql
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.reference.relations import relation_rows
from sfumato.engines.sampling import Sampling
from sfumato.engines.sources.sources import ArrowData
from sfumato.engines.sql.expressions.terms import select, table
from sfumato.engines.sql.relations import lower_join, lower_relation, lower_semi_join, lower_window
from sfumato.engines.sql.rows import SqlRelation
from sfumato.errors import UnboundedSensitivityError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import Join, JoinKind, RowFunction, RowWindow, SemiJoin, Source
from sfumato.query.model.schema import PUBLIC, Limits, Table, integer, real, text
from sfumato.query.values.cells import typed

SALT = "00112233445566778899aabbccddeeff"


def in_sql(relation, data):
    """The rows of a relation, the unit first."""
    engine = DuckDBEngine(data)
    rows = lower_relation(relation, engine._prepared.catalogue(relation), salt=SALT, sampling=Sampling.MD5)
    read = [rows.value(ColumnRef(name)) for name in rows.shape.columns]  # where a double stands for NULL, it says so
    query = select([*rows.unit, *read], rows.query)
    found = engine._database.execute(sql(query)).fetchall()
    engine.close()
    return Counter(found)


def in_python(relation, rows):
    def read(table):
        return [{name: typed(row[name], facts) for name, facts in table.columns.items()} for row in rows[table.name]]

    owned = shape_of(relation).metric is Metric.UNITS
    found = relation_rows(relation, read, salt=SALT)
    return Counter((unit, *row.values()) if owned else tuple(row.values()) for unit, row in found)


def drawn_relation(random, depth):
    while True:
        own = policy(random)
        try:
            return own, private(Growing(random, own), depth)
        except UnboundedSensitivityError:  # a join with a table of which only the rows in one group are limited
            continue


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@given(st.randoms(use_true_random=False))
@settings(max_examples=COSTLY, suppress_health_check=list(HealthCheck))
def test_relations_have_the_rows_that_they_have_in_python(depth, random):
    own, relation = drawn_relation(random, depth)
    rows = database(random, own)
    data = {name: ArrowData(stored(cells, own.storage[name]), tuple(own.storage[name])) for name, cells in rows.items()}
    expected = in_python(relation, _arrow_rows(data))
    assert in_sql(relation, data) == expected


def _arrow_rows(data):
    return {name: source.table.to_pylist() for name, source in data.items()}


def source(name, prefix, unit):
    columns = {f"{prefix}u": text(), f"{prefix}i": integer(), f"{prefix}f": real()}
    limits = Limits() if unit == PUBLIC else Limits(max_rows_per_unit=9)
    return Source(Table(name=name, columns=columns, unit=unit, limits=limits))


VISITS, STAYS = source("visits", "v", UnitColumn("vu")), source("stays", "s", UnitColumn("su"))
CODES = source("codes", "c", PUBLIC)
LEFT = [("a", 1, 1.0), ("a", 2, None), ("b", 2**53 + 1, 0.5), ("b", None, 2.0)]
RIGHT = [("a", 1, 1.0), ("b", 1, 2.0), ("a", 2, float(2**53)), ("b", None, None)]


def rows(of):
    return SqlRelation(query=select([], table(of.table.name)), shape=shape_of(of))


def keyed_rows(cells, *, owned):
    names = {"c0": pa.string(), "c1": pa.int64(), "c2": pa.float64()}
    columns = {name: pa.array([row[place] for row in cells], kind) for place, (name, kind) in enumerate(names.items())}
    return pa.table(({"u": columns["c0"]} if owned else {}) | columns)


def found(lower, relation, first, second):
    others = {"stays": keyed_rows(RIGHT, owned=True), "codes": keyed_rows(RIGHT, owned=False)}
    query = lower(relation, rows(first), rows(second))
    return sorted(run(query, visits=keyed_rows(LEFT, owned=True), **others), key=repr)


def joined(on, right, kind=JoinKind.INNER):
    return found(lower_join, Join(left=VISITS, right=right, on=on, kind=kind), VISITS, right)


@pytest.mark.parametrize("within", [(), ("vi",)])
@pytest.mark.parametrize("function", RowFunction)
def test_windows_are_over_the_rows_of_one_unit(function, within):
    value = "vi" if function in {RowFunction.LAG, RowFunction.LEAD, RowFunction.FIRST_VALUE} else None
    order = (("vf", True), ("vi", False))
    window = RowWindow(child=VISITS, name="w", function=function, value=value, within=within, order=order)
    cells = [
        ("a", 1, 1.0),
        ("a", 1, 2.0),
        ("a", 2, None),
        ("b", 1, 1.0),
        ("b", 1, 0.5),
        ("b", None, 1.0),
        ("b", 1, 1.0),
    ]
    query = lower_window(window, rows(VISITS))
    shown = Counter(run(query, visits=keyed_rows(cells, owned=True)))
    records = [dict(zip(("vu", "vi", "vf"), row, strict=True)) for row in cells]
    expected = relation_rows(window, lambda _: records, salt=SALT)
    assert shown == Counter((unit, *row.values()) for unit, row in expected)


def test_rows_of_one_unit_meet_where_their_keys_are_equal():
    assert joined((("vi", "si"),), STAYS) == [("a", *LEFT[0], *RIGHT[0]), ("a", *LEFT[1], *RIGHT[2])]


def test_without_keys_all_rows_of_a_unit_meet():
    pairs = [(*left[:1], *left, *right) for left in LEFT for right in RIGHT if left[0] == right[0]]
    assert joined((), STAYS) == sorted(pairs, key=repr)


def test_rows_of_any_unit_meet_public_rows():
    assert [row[4:] for row in joined((("vi", "ci"),), CODES)] == [RIGHT[0], RIGHT[1], RIGHT[2]]
    assert len(joined((), CODES)) == len(LEFT) * len(RIGHT)


def test_whole_numbers_meet_floats_as_doubles():
    assert [(row[2], row[6]) for row in joined((("vi", "cf"),), CODES)] == [
        (1, 1.0),
        (2, 2.0),
        (2**53 + 1, float(2**53)),
    ]


def test_a_left_join_keeps_rows_without_a_partner():
    kept = joined((("vi", "si"), ("vf", "sf")), STAYS, JoinKind.LEFT)
    assert sorted((row[1:4] for row in kept if row[4] is None), key=repr) == sorted(LEFT[1:], key=repr)
    assert ("a", *LEFT[0], *RIGHT[0]) in kept


PARTNERED = [
    (STAYS, (("vi", "si"),), 2),
    (STAYS, (("vi", "sf"),), 1),  # what a's 2 equals is b's
    (CODES, (("vf", "cf"),), 2),
    (STAYS, (), 4),
]


@pytest.mark.parametrize(("other", "on", "partnered"), PARTNERED)
def test_a_row_has_a_partner_or_has_none(other, on, partnered):
    having, lacking = (
        found(lower_semi_join, SemiJoin(child=VISITS, other=other, on=on, negated=negated), VISITS, other)
        for negated in (False, True)
    )
    assert (len(having), len(lacking)) == (partnered, len(LEFT) - partnered)
    assert sorted([*having, *lacking], key=repr) == sorted([(row[0], *row) for row in LEFT], key=repr)
