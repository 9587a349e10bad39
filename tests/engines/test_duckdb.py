"""DuckDB keeps the contract of engines, and agrees with the reference engine on anything at all."""

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engines.engine_contract import PEOPLE, QUESTION, RECORDS, EngineContract
from tests.engines.running import SALT, exact, question
from tests.strategies import questions, rows, storages, stored, tables

from sfumato.engines.duckdb import DuckDBEngine
from sfumato.engines.sources import open_source
from sfumato.query.bounding import enforce_limits
from sfumato.query.compile import exact_half


class TestDuckDBEngine(EngineContract):
    @pytest.fixture
    def engine(self):
        return "duckdb"


@st.composite
def trials(draw):
    table, storage = draw(tables()), draw(storages())
    data = draw(st.lists(rows(storage), max_size=25))
    salt = draw(st.sampled_from([SALT, "ff" * 16, "00" * 16]))
    return draw(questions(table)), stored(data, storage), salt, draw(st.permutations(range(len(data))))


@given(trials())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_both_engines_give_the_same_integers_whatever_the_rows_and_their_order(trial):
    asked, data, salt, order = trial
    expected = exact("reference", asked, data, salt=salt)
    assert exact("duckdb", asked, data, salt=salt) == expected
    assert exact("duckdb", asked, data.take(pa.array(order, pa.int64())), salt=salt) == expected


def test_threads_share_an_engine():
    engine = DuckDBEngine({"people": open_source(pa.Table.from_pylist(RECORDS))})
    statement, _, _ = exact_half(enforce_limits(question(QUESTION, PEOPLE)))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: engine.run(statement, salt=SALT).open_for_noise().tolist(), range(32)))
    engine.close()
    assert all(answer == answers[0] for answer in answers)


def test_extensions_are_not_loaded_behind_the_back_of_the_owner():
    engine = DuckDBEngine({})
    settings_of = dict(
        engine._database.execute(
            "SELECT name, value FROM duckdb_settings() WHERE name LIKE 'auto%extensions'"
        ).fetchall()
    )
    assert set(settings_of.values()) == {"false"}
