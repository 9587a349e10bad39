"""Every relation has the same rows in SQL as in plain Python, cell by cell; and so have joins and sources."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.relations_of import Growing, private
from tests.strategies import database, policy, stored

from sfumato.engines.duckdb import DuckDBEngine
from sfumato.engines.reference_relations import relation_rows
from sfumato.engines.sources import ArrowData
from sfumato.engines.sql.dialects.duckdb import sql
from sfumato.engines.sql.queries import select
from sfumato.engines.sql.relations import lower_relation
from sfumato.engines.sql.terms import column
from sfumato.engines.values import typed
from sfumato.errors import UnboundedSensitivityError
from sfumato.query.shape import Metric, shape_of

SALT = "00112233445566778899aabbccddeeff"


def in_sql(relation, data):
    """The rows of a relation, the unit first."""
    engine = DuckDBEngine(data)
    rows = lower_relation(relation, engine._prepared.catalogue(relation), salt=SALT)
    query = select([column(name) for name in rows.selected], rows.query)
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
@settings(suppress_health_check=list(HealthCheck))
def test_relations_have_the_rows_that_they_have_in_python(depth, random):
    own, relation = drawn_relation(random, depth)
    rows = database(random, own)
    data = {name: ArrowData(stored(cells, own.storage[name]), tuple(own.storage[name])) for name, cells in rows.items()}
    expected = in_python(relation, _arrow_rows(data))
    assert in_sql(relation, data) == expected


def _arrow_rows(data):
    return {name: source.table.to_pylist() for name, source in data.items()}
