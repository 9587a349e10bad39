"""PostgreSQL keeps the contract of engines, and agrees with the reference engine on anything at all."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engines.engine_contract import EngineContract
from tests.engines.reading_contract import ReadingContract
from tests.engines.running import SALT, by_place, found
from tests.statements_of import statement as random_statement
from tests.strategies import database, policy, stored

from sfumato.engines.sources import ArrowData
from sfumato.query.relations import tables_of


@pytest.fixture
def engine():
    return "postgres"


class TestPostgresEngine(EngineContract):
    pass


class TestReadingByPostgres(ReadingContract):
    pass


@given(st.randoms(use_true_random=False), st.sampled_from([SALT, "ff" * 16, "00" * 16]))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_both_engines_give_the_same_integers_whatever_the_rows_and_their_order(random, salt):
    drawn = policy(random)
    asked = random_statement(random, drawn, depth=3)
    names = {table.name for table in tables_of(asked.rows)}
    rows = database(random, drawn, tables=[table for table in drawn.tables if table.name in names])
    data, turned = ({name: _arrow(own[::step], drawn.storage[name]) for name, own in rows.items()} for step in (1, -1))
    expected = by_place(found("reference", asked, data, salt=salt))
    assert by_place(found("postgres", asked, data, salt=salt)) == expected
    assert by_place(found("postgres", asked, turned, salt=salt)) == expected


def _arrow(rows, storage):
    return ArrowData(stored(rows, storage), tuple(storage))
