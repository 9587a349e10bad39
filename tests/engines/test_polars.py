"""Polars keeps the contract of engines, and agrees with the reference engine on anything at all."""

from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engines.engine_contract import BUSY, EngineContract, visited, visits
from tests.engines.reading_contract import PEOPLE, QUESTION, RECORDS, ReadingContract
from tests.engines.running import SALT, by_place, found, started, statement
from tests.statements_of import statement as random_statement
from tests.strategies import database, policy, stored

from sfumato.engines.polars import PolarsEngine
from sfumato.engines.sources import ArrowData, LazyData, open_source
from sfumato.errors import EngineError, ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.expressions import ColumnRef, Compare, Comparison, Literal
from sfumato.query.measures import RowCount, UnitCount
from sfumato.query.relations import Filter, Select, Source, tables_of
from sfumato.query.schema import Limits, Table, integer, text
from sfumato.query.statement import KeyColumn, Statement, Values


@pytest.fixture
def engine():
    return "polars"


class TestPolarsEngine(EngineContract):
    pass


class TestReadingByPolars(ReadingContract):
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
    assert by_place(found("polars", asked, data, salt=salt)) == expected
    assert by_place(found("polars", asked, turned, salt=salt)) == expected


def _arrow(rows, storage):
    return ArrowData(stored(rows, storage), tuple(storage))


@pytest.mark.parametrize("limits", [Limits(max_groups_per_unit=3), Limits(max_rows_per_unit=5)])
@pytest.mark.parametrize("cell", [None, Values(value=ColumnRef("v"), values=tuple(range(5)))])
def test_tables_of_many_pieces_are_put_in_order_as_in_a_database(limits, cell):
    rows = 150_000  # Polars hands them on in pieces
    numbers = range(rows)
    data = pa.table(
        {"u": [f"{n * 7_919 % 9_973}" for n in numbers], "k": ["xyz"[n % 11 % 3] for n in numbers],
         "v": [n % 7 for n in numbers], "rank": [0] * rows}
    )  # fmt: skip
    asked = Statement(
        rows=Source(visits(max_rows_per_unit=999)), measures=(RowCount(), UnitCount()), limits=limits, cell=cell,
        keys=(KeyColumn(name="k", values=None), KeyColumn(name="v", values=None)),
    )  # fmt: skip
    assert by_place(found("polars", asked, data)) == by_place(found("duckdb", asked, data))


def test_threads_share_an_engine():
    asked = statement(QUESTION, PEOPLE)
    engine = started("polars", asked, pa.Table.from_pylist(RECORDS))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: by_place(engine.run(asked, salt=SALT).open_for_noise()), range(32)))
    engine.close()
    assert all(answer == answers[0] for answer in answers)


def _running(rows, **options):
    return PolarsEngine({"visits": open_source(visited(*rows))}, **options)


@given(st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_engines_own_hash_keeps_as_many_groups(random):
    """Which of them differs; how many units have a group does not, where only groups are limited."""
    rows = [(random.choice("abc"), random.choice("xyz"), 1) for _ in range(random.randrange(30))]
    asked = Statement(
        rows=Source(visits(max_rows_per_unit=99)), keys=(KeyColumn(name="k", values=("x", "y", "z")),),
        measures=(UnitCount(),), limits=Limits(max_groups_per_unit=random.randrange(1, 4)),
    )  # fmt: skip
    counts = by_place(_running(rows, sampling="native").run(asked, salt=SALT).open_for_noise())
    expected = by_place(found("reference", asked, visited(*rows)))
    assert sum(map(sum, counts.values())) == sum(map(sum, expected.values()))


@pytest.mark.parametrize("listed", [None, ("v", "w", "x", "y", "z")])
def test_the_engines_own_hash_prefers_no_group(listed):
    rows = [(f"unit {unit}", key, 1) for unit in range(2_000) for key in ("x", "y", "z", "v", "w")]
    asked = Statement(
        rows=Source(visits(max_rows_per_unit=99)), keys=(KeyColumn(name="k", values=listed),), measures=(UnitCount(),),
        limits=Limits(max_groups_per_unit=1),
    )  # fmt: skip
    counts = by_place(_running(rows, sampling="native").run(asked, salt=SALT).open_for_noise())
    assert len(counts) == 5
    assert all(320 <= count <= 480 for (count,) in counts.values())  # 400 is expected of each, give or take 18


def test_the_salt_chooses_also_by_the_engines_own_hash():
    rows = [("a", key, 1) for key in "xyz"]
    asked = Statement(
        rows=Source(visits(max_rows_per_unit=99)), keys=(KeyColumn(name="k", values=None),), measures=(UnitCount(),),
        limits=Limits(max_groups_per_unit=1),
    )  # fmt: skip
    engine = _running(rows, sampling="native")
    salts = [f"{salt:032x}" for salt in range(20)] + [f"{salt:016x}" + "0" * 16 for salt in range(20)]
    assert {key for salt in salts for (key,) in by_place(engine.run(asked, salt=salt).open_for_noise())} == set("xyz")


@pytest.mark.parametrize("name", ["'", "u", "rank", "c0", "k0", "n", "start", "prefix", "a", "e0", "x0", "^c.*$", "*"])
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
    assert by_place(found("polars", asked, {name: data})) == {("x", "x"): [2], ("y", "y"): [1]}


def test_a_query_is_run_where_it_is_and_again_for_each_question():
    runs = []

    def seen(frame):
        runs.append(len(frame))
        return frame

    query = pl.from_arrow(BUSY).lazy().map_batches(seen)
    asked = Statement(rows=Source(visits(max_rows_per_unit=9)), keys=(), measures=(RowCount(),))
    engine = PolarsEngine({"visits": LazyData(query, ("u", "k", "v", "rank"))})
    assert not runs
    for _ in range(2):
        assert by_place(engine.run(asked, salt=SALT).open_for_noise()) == {(): [122]}
    assert len(runs) == 2


def test_a_query_that_fails_is_an_error_without_its_text():
    broken = pl.LazyFrame({"u": ["canary"], "k": ["x"], "v": [1], "rank": [1]}).with_columns(pl.col("u").cast(pl.Int64))
    asked = Statement(rows=Source(visits(max_rows_per_unit=9)), keys=(), measures=(RowCount(),))
    engine = PolarsEngine({"visits": LazyData(broken, ("u", "k", "v", "rank"))})
    with pytest.raises(EngineError) as caught:
        engine.run(asked, salt=SALT)
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_function_of_a_query_that_raises_whatever_it_likes_is_an_error_without_its_text():
    class Unheard(Exception):  # noqa: N818 # of nobody's
        pass

    def broken(_):
        raise Unheard("canary")

    query = pl.LazyFrame({"u": ["a"], "k": ["x"], "v": [1], "rank": [1]})
    asked = Statement(rows=Source(visits(max_rows_per_unit=9)), keys=(), measures=(RowCount(),))
    for one in (query.map_batches(broken), query.with_columns(pl.col("u").map_elements(broken, pl.String))):
        engine = PolarsEngine({"visits": LazyData(one, ("u", "k", "v", "rank"))})
        with pytest.raises(EngineError) as caught:
            engine.run(asked, salt=SALT)
        assert "canary" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_a_panic_is_an_error_without_its_text(monkeypatch):
    panic = pl.exceptions.PanicException

    def panicking(*_, **__):
        raise panic("canary")

    engine = _running([("a", "x", 1)])
    asked = Statement(rows=Source(visits(max_rows_per_unit=9)), keys=(), measures=(RowCount(),))
    monkeypatch.setattr(pl.LazyFrame, "collect", panicking)
    with pytest.raises(EngineError) as caught:
        engine.run(asked, salt=SALT)
    assert "canary" not in str(caught.value)


def test_text_that_is_not_unicode_is_an_error_without_it():
    condition = Compare(Comparison.EQUAL, ColumnRef("k"), Literal("\ud800"))
    asked = Statement(rows=Filter(Source(visits(max_rows_per_unit=9)), condition), keys=(), measures=(RowCount(),))
    with pytest.raises(EngineError):
        found("polars", asked, BUSY)


def test_a_sampling_that_is_not_known_is_refused():
    with pytest.raises(ParameterError, match="md5, native"):
        PolarsEngine({}, sampling="sha")


def test_it_runs_no_sql():
    assert _running([]).sql(statement(QUESTION, PEOPLE)) == ""
