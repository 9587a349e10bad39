"""DuckDB keeps the contract of engines, and agrees with the reference engine on anything at all."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engines.engine_contract import BUSY, EngineContract, visited, visits
from tests.engines.own_hash_contract import OwnHashContract
from tests.engines.reading_contract import PEOPLE, QUESTION, RECORDS, ReadingContract
from tests.engines.running import SALT, by_place, found, started, statement
from tests.sizes import COSTLY
from tests.statements_of import statement as random_statement
from tests.strategies import database, policy, stored

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.sources.sources import ArrowData, open_source
from sfumato.errors import EngineError, ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.expressions import ColumnRef, Compare, Comparison, IsIn, Literal
from sfumato.query.model.relations import Filter, PeoplePart, Select, Source, tables_of
from sfumato.query.model.schema import Limits, Table, integer, text
from sfumato.query.model.statement import KeyColumn, RowCount, Statement, UnitCount


@pytest.fixture
def engine():
    return "duckdb"


class TestDuckDBEngine(EngineContract):
    pass


class TestDuckDBsOwnHash(OwnHashContract):
    pass


class TestReadingByDuckDB(ReadingContract):
    pass


@pytest.mark.essential
@given(st.randoms(use_true_random=False), st.sampled_from([SALT, "ff" * 16, "00" * 16]))
@settings(max_examples=COSTLY, suppress_health_check=list(HealthCheck))
def test_both_engines_give_the_same_integers_whatever_the_rows_and_their_order(random, salt):
    drawn = policy(random)
    asked = random_statement(random, drawn, depth=3)
    names = {table.name for table in tables_of(asked.rows)}
    rows = database(random, drawn, tables=[table for table in drawn.tables if table.name in names])
    data, turned = ({name: _arrow(own[::step], drawn.storage[name]) for name, own in rows.items()} for step in (1, -1))
    expected = by_place(found("reference", asked, data, salt=salt))
    assert by_place(found("duckdb", asked, data, salt=salt)) == expected
    assert by_place(found("duckdb", asked, turned, salt=salt)) == expected


def _arrow(rows, storage):
    return ArrowData(stored(rows, storage), tuple(storage))


@given(st.randoms(use_true_random=False))
@settings(max_examples=COSTLY, suppress_health_check=list(HealthCheck))
def test_lazy_frames_give_the_same_integers_as_tables(random):
    drawn = policy(random)
    asked = random_statement(random, drawn, depth=2)
    rows = database(random, drawn)
    data = {name: _arrow(own, drawn.storage[name]) for name, own in rows.items()}
    lazy = {name: open_source(pl.from_arrow(source.table).lazy()) for name, source in data.items()}
    expected = by_place(found("reference", asked, data))
    for engine in ("duckdb", "reference"):
        assert by_place(found(engine, asked, lazy)) == expected


def test_threads_share_an_engine():
    asked = statement(QUESTION, PEOPLE)
    engine = started("duckdb", asked, pa.Table.from_pylist(RECORDS))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: by_place(engine.run(asked, salt=SALT).open_for_noise()), range(32)))
    engine.close()
    assert all(answer == answers[0] for answer in answers)


@given(st.randoms(use_true_random=False), st.integers(2, 5))
@settings(max_examples=COSTLY, suppress_health_check=list(HealthCheck))
def test_units_in_buckets_add_up_to_the_same(random, buckets):
    drawn = policy(random)
    asked = random_statement(random, drawn, depth=2)
    rows = database(random, drawn)
    data = {name: _arrow(own, drawn.storage[name]) for name, own in rows.items()}
    engine = DuckDBEngine(data, buckets=buckets, threads=1, sampling="md5")
    for _ in range(2):
        assert by_place(engine.run(asked, salt=SALT).open_for_noise()) == by_place(found("reference", asked, data))
    engine.close()


@given(st.randoms(use_true_random=False))
@settings(max_examples=COSTLY, suppress_health_check=list(HealthCheck))
def test_the_engines_own_hash_keeps_as_many_groups(random):
    """Which of them differs; how many units have a group does not, where only groups are limited."""
    rows = [(random.choice("abc"), random.choice("xyz"), 1) for _ in range(random.randrange(30))]
    table = visits(max_rows_per_unit=99)
    asked = Statement(
        rows=Source(table), keys=(KeyColumn(name="k", values=("x", "y", "z")),), measures=(UnitCount(),),
        limits=Limits(max_groups_per_unit=random.randrange(1, 4)),
    )  # fmt: skip
    engine = DuckDBEngine({"visits": open_source(visited(*rows))}, sampling="native")
    counts = by_place(engine.run(asked, salt=SALT).open_for_noise())
    expected = by_place(found("reference", asked, visited(*rows)))
    assert sum(map(sum, counts.values())) == sum(map(sum, expected.values()))
    engine.close()


def test_the_engines_own_hash_prefers_no_group():
    units, keys = range(2_000), ("x", "y", "z", "v", "w")
    rows = [(f"unit {unit}", key, 1) for unit in units for key in keys]
    asked = Statement(
        rows=Source(visits(max_rows_per_unit=99)), keys=(KeyColumn(name="k", values=None),), measures=(UnitCount(),),
        limits=Limits(max_groups_per_unit=1),
    )  # fmt: skip
    engine = DuckDBEngine({"visits": open_source(visited(*rows))}, sampling="native")
    counts = by_place(engine.run(asked, salt=SALT).open_for_noise())
    assert all(320 <= count <= 480 for (count,) in counts.values())  # 400 is expected of each, give or take 18
    engine.close()


HOSTILE = (
    '"; DROP TABLE t; --',
    "'",
    "u",
    "unit",
    "rank",
    "c0",
    "k0",
    "n",
    "entries",
    "above",
    "select",
    "c:x",
    "é\u0301",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_collides_with_the_engines_own(name):
    declared = Table(
        name=name, columns={name: text(values=["x", "y"]), f"{name} 2": integer(0, 9)}, unit=UnitColumn(name),
        limits=Limits(max_rows_per_unit=1),
    )  # fmt: skip
    rows = Select(
        Source(declared),
        ((f"{name} 3", ColumnRef(f"{name} 2")), (name, ColumnRef(name)), (name.upper() + " ", ColumnRef(name))),
    )
    asked = Statement(
        rows=rows, keys=(KeyColumn(name=name, values=("x", "y")), KeyColumn(name=name.upper() + " ", values=None)),
        measures=(RowCount(),), limits=Limits(max_rows_per_unit=2),
    )  # fmt: skip
    data = pa.table({name: ["x", "x", "x", "y", None], f"{name} 2": [1, 2, 3, 4, 5]})
    assert by_place(found("duckdb", asked, {name: data})) == {("x", "x"): [2], ("y", "y"): [1]}


def test_a_memory_limit_that_is_too_small_is_an_error_without_its_text_and_the_next_question_is_answered():
    rows = 400_000
    data = pa.table(
        {"u": [f"canary {row}" for row in range(rows)], "k": ["x"] * rows, "v": [1] * rows, "rank": [1] * rows}
    )
    many = Statement(
        rows=Source(visits(max_rows_per_unit=99)), keys=(KeyColumn(name="u", values=None),), measures=(RowCount(),),
        limits=Limits(max_groups_per_unit=1, max_rows_per_unit=1),
    )  # fmt: skip
    engine = DuckDBEngine({"visits": open_source(data)}, memory_limit="20MB", threads=1)
    with pytest.raises(EngineError) as caught:
        engine.run(many, salt=SALT)
    assert "canary" not in str(caught.value)
    few = replace(
        many,
        keys=(KeyColumn(name="k", values=("x",)),),
        rows=Filter(many.rows, IsIn(ColumnRef("u"), (Literal("canary 1"),))),
    )
    assert by_place(engine.run(few, salt=SALT).open_for_noise()) == {("x",): [1]}
    engine.close()


@pytest.mark.parametrize(
    "settings_of", [{"sampling": "sha"}, {"memory_limit": "much"}, {"threads": 0}, {"threads": 10**9}, {"buckets": 0},
     {"buckets": 10**30}], ids=str
)  # fmt: skip
def test_settings_that_cannot_be_used_are_refused(settings_of):
    with pytest.raises(ParameterError):
        DuckDBEngine({}, **settings_of)


def test_text_that_no_database_can_read_is_an_error_without_it():
    condition = Compare(Comparison.EQUAL, ColumnRef("k"), Literal("\ud800"))
    asked = Statement(rows=Filter(Source(visits(max_rows_per_unit=9)), condition), keys=(), measures=(RowCount(),))
    with pytest.raises(EngineError):
        found("duckdb", asked, BUSY)


def test_the_sql_that_people_read_says_no_salt_and_names_tables_as_the_policy_does():
    part = PeoplePart(child=Source(PEOPLE), by="sex", values=("f", "m"), value="f", max_parts_per_unit=1, salt=SALT)
    asked = replace(statement(QUESTION, PEOPLE), rows=part)
    engine = started("duckdb", asked, pa.Table.from_pylist(RECORDS))
    shown = engine.sql(asked)
    engine.close()
    assert 'FROM "people"' in shown
    assert SALT not in shown


@pytest.mark.parametrize("buckets", [1, 3])
def test_batches_that_are_not_read_to_their_end_are_let_go_without_an_error(buckets):
    table = Table(name="people", columns={"k": integer()})
    running = DuckDBEngine({"people": open_source(pa.table({"k": range(100)}))}, buckets=buckets)
    asked = statement("SELECT COUNT(*) FROM people GROUP BY k", table)
    batches = running.batches(asked, salt=SALT, size=1)
    next(batches)
    batches.close()
    assert len(by_place(running.run(asked, salt=SALT).open_for_noise())) == 100
    running.close()
