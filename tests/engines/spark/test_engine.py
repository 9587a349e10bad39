"""Spark keeps the contract of engines, and agrees with the reference engine on anything at all."""

import datetime as dt
import logging
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from random import Random

import pyarrow as pa
import pytest
from tests.engines import running, spark_application
from tests.engines.engine_contract import BUSY, BY_KEY, UNBOUND, EngineContract, visited, visits
from tests.engines.own_hash_contract import OwnHashContract
from tests.engines.reading_contract import EXPECTED, PEOPLE, QUESTION, RECORDS, ReadingContract
from tests.engines.running import SALT, ask, by_place, found, statement
from tests.engines.spark_application import address, application
from tests.query.brute_force import trial
from tests.sizes import FULL_SIZE
from tests.strategies import stored

from sfumato.engines.base import aligned, groups
from sfumato.engines.sources.sources import ArrowData, open_in_place
from sfumato.engines.spark.engine import SparkEngine
from sfumato.errors import EngineError, FailedOnRowsError, ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.expressions import ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.relations import Filter, PeoplePart, Select, Source
from sfumato.query.model.schema import Limits, Table, date, integer, text, timestamp
from sfumato.query.model.statement import KeyColumn, RowCount, Statement, UnitCount
from sfumato.query.policy.policy import Risk

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
FAILING = [Risk.FAILING_ROWS]
TABLE = visits(max_rows_per_unit=9, max_groups_per_unit=2)


@pytest.fixture
def engine(monkeypatch):
    monkeypatch.setitem(running.ENGINES, "spark", spark_application.engine)
    return "spark"


class TestSparkEngine(EngineContract):
    pass


class TestSparkOwnHash(OwnHashContract):
    pass


class TestReadingBySpark(ReadingContract):
    """What is read in a stored value is tested in one query each in `sql/dialects/test_spark.py`."""

    test_numbers_are_read_as_declared_or_are_null = None
    test_booleans_are_read_as_declared_or_are_null = None
    test_days_and_times_are_read_as_declared_or_are_null = None


def answered(source, table, asked, *, accepted_risks=(), **options):
    """What an engine finds in a source that Spark has."""
    options = {"sampling": "md5"} | options
    running = SparkEngine({table.name: open_in_place(source, table, accepted_risks=accepted_risks)}, **options)
    try:
        return by_place(running.run(asked, salt=SALT).open_for_noise())
    finally:
        running.close()


@pytest.mark.parametrize("seed", range(0, 40, 1 if FULL_SIZE else 4))
def test_spark_and_the_reference_engine_give_the_same_integers_whatever_the_plan(seed, engine):
    drawn = trial(Random(seed))  # noqa: S311 # a plan and its data
    data = {
        name: ArrowData(stored(rows, drawn.policy.storage[name]), tuple(drawn.policy.storage[name]))
        for name, rows in drawn.whole.items()
    }
    expected, answer = (found(name, drawn.statement, data, salt=drawn.salt) for name in ("reference", engine))
    assert by_place(answer) == by_place(expected)


def busy_view():
    """All rows of `BUSY` as a temporary view of the application's session."""
    application().createDataFrame(BUSY).createOrReplaceTempView("busy")
    return "spark:busy"


def test_tables_views_and_frames_are_read_where_they_are_and_files_beside_them(tmp_path):
    asked, expected = statement(BY_KEY, TABLE), by_place(found("reference", statement(BY_KEY, TABLE), BUSY))
    spark, name = application(), busy_view()
    spark.table("busy").write.parquet(str(tmp_path / "rows"))
    spark.sql("CREATE DATABASE IF NOT EXISTS own_one")
    spark.sql(f"CREATE TABLE own_one.busy USING parquet LOCATION '{tmp_path / 'rows'}'")
    try:
        for source in (name, "spark:spark_catalog.own_one.busy", f"spark:parquet.`{tmp_path / 'rows'}`"):
            assert answered(source, TABLE, asked, session=spark) == expected
        for frame in (spark.table("busy"), spark.sql("SELECT * FROM busy WHERE TRUE")):
            assert answered(frame, TABLE, asked) == answered(frame, TABLE, asked, session=spark) == expected
    finally:
        spark.sql("DROP DATABASE own_one CASCADE")
    assert [view.viewName for view in spark.sql("SHOW VIEWS").collect()] == ["busy"]


def test_what_the_user_sets_is_neither_heeded_nor_changed():
    busy_view()
    spark = application()
    ours = {
        "spark.sql.ansi.enabled": "false",
        "spark.sql.variable.substitute": "true",
        "spark.sql.caseSensitive": "true",
    }
    before = {setting: spark.conf.get(setting) for setting in ours}
    for setting, value in ours.items():
        spark.conf.set(setting, value)
    try:
        condition = Compare(Comparison.EQUAL, ColumnRef("k"), Literal("${spark.master}"))
        asked = Statement(rows=Filter(Source(UNBOUND), condition), keys=(), measures=(RowCount(),))
        frame = spark.sql("SELECT * FROM busy UNION ALL SELECT 'a', '$' || '{spark.master}', 1, 1")
        assert answered(frame, UNBOUND, asked, accepted_risks=FAILING) == {(): [1]}
        assert {setting: spark.conf.get(setting) for setting in ours} == ours
    finally:
        for setting, value in before.items():
            spark.conf.set(setting, value)


def test_over_spark_connect_the_answers_are_the_same():
    asked = statement(QUESTION, PEOPLE)
    running = SparkEngine({"people": open_in_place(pa.Table.from_pylist(RECORDS), PEOPLE)}, remote=address())
    assert aligned(asked, running.run(asked, salt=SALT).open_for_noise(), groups(asked)).tolist() == EXPECTED
    batches = [one.open_for_noise() for one in running.batches(asked, salt=SALT, size=1)]
    running.close()
    assert sorted(len(one.amounts[0]) for one in batches) == [1, 1]


def test_a_session_of_spark_connect_shares_its_views_and_frames():
    from pyspark.sql.connect.session import SparkSession

    remote = SparkSession.builder.remote(address()).create()
    remote.createDataFrame(BUSY).createOrReplaceTempView("busy")
    asked, expected = statement(BY_KEY, TABLE), by_place(found("reference", statement(BY_KEY, TABLE), BUSY))
    assert answered("spark:busy", TABLE, asked, session=remote, accepted_risks=FAILING) == expected
    assert answered(remote.sql("SELECT * FROM busy"), TABLE, asked, accepted_risks=FAILING) == expected
    with pytest.raises(ParameterError, match="may fail on some row"):
        answered("spark:busy", TABLE, asked, session=remote)
    with pytest.raises(ParameterError, match="not a table or view"):
        answered("spark:nothing", TABLE, asked, session=remote)
    remote.stop()


def test_a_task_that_fails_and_is_tried_again_changes_nothing(tmp_path):
    from pyspark.sql.functions import udf

    marker = tmp_path / "failed"

    @udf("string")
    def failing_once(value):
        if not marker.exists():
            marker.touch()
            raise ValueError
        return value

    busy_view()
    frame = application().table("busy").repartition(3, "rank", "v")
    frame = frame.withColumn("k", failing_once("k"))
    expected = by_place(found("reference", statement(BY_KEY, TABLE), BUSY))
    assert answered(frame, TABLE, statement(BY_KEY, TABLE), accepted_risks=FAILING) == expected
    assert marker.exists()


CANARY = "SELECT IF(v = 9, CAST(concat('canary ', u) AS INT), v) AS v, u, k, rank FROM busy"


def test_a_view_that_fails_on_a_row_is_an_error_without_its_text(caplog, capfd):
    busy_view()
    spark = application().newSession()
    spark.conf.set("spark.sql.ansi.enabled", "true")
    spark.createDataFrame(BUSY).createOrReplaceTempView("busy")
    asked = statement("SELECT SUM(v) FROM visits", UNBOUND)
    with pytest.raises(ParameterError, match="may fail on some row"):
        answered(spark.sql(CANARY), UNBOUND, asked)
    with caplog.at_level(logging.INFO), pytest.raises(FailedOnRowsError) as caught:
        answered(spark.sql(CANARY), UNBOUND, asked, accepted_risks=FAILING)
    out, err = capfd.readouterr()
    assert "canary" not in str(caught.value) + out + err + "".join(map(str, caplog.messages))
    assert caught.value.__cause__ is None


def test_a_cancelled_job_is_an_error_without_its_text():
    endless = application().range(10**13).selectExpr("'a' AS u", "'x' AS k", "id AS v", "id AS rank")
    asked = statement("SELECT SUM(v) FROM visits", UNBOUND)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(answered, endless, UNBOUND, asked)
        while wait([running], timeout=0.1).not_done:
            application().sparkContext.cancelAllJobs()
    with pytest.raises(EngineError):
        running.result()


def test_text_that_spark_cannot_be_sent_is_an_error_without_it(engine):
    condition = Compare(Comparison.EQUAL, ColumnRef("k"), Literal("\ud800"))
    asked = Statement(rows=Filter(Source(UNBOUND), condition), keys=(), measures=(RowCount(),))
    with pytest.raises(EngineError):
        found(engine, asked, BUSY)


def test_threads_share_an_engine():
    asked = statement(BY_KEY, TABLE)
    running = SparkEngine({"visits": open_in_place(BUSY, TABLE)}, session=application())
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: by_place(running.run(asked, salt=SALT).open_for_noise()), range(8)))
    running.close()
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize("name", ['"; DROP TABLE t; --', "`", "'", "u", "rank", "c0", "k0", "n", "entries", "é\u0301"])
def test_no_name_collides_with_the_engines_own(name, engine):
    declared = Table(
        name=name, columns={name: text(values=["x", "y"]), f"{name} 2": integer(0, 9)}, unit=UnitColumn(name),
        limits=Limits(max_rows_per_unit=1),
    )  # fmt: skip
    rows = Select(Source(declared), ((f"{name} 3", ColumnRef(f"{name} 2")), (name, ColumnRef(name))))
    asked = Statement(
        rows=rows, keys=(KeyColumn(name=name, values=("x", "y")),), measures=(RowCount(),),
        limits=Limits(max_rows_per_unit=2),
    )  # fmt: skip
    data = pa.table({name: ["x", "x", "x", "y", None], f"{name} 2": [1, 2, 3, 4, 5]})
    assert by_place(found(engine, asked, {name: data})) == {("x",): [2], ("y",): [1]}


def test_the_engines_own_hash_keeps_as_many_groups_and_prefers_none():
    units, keys = range(600), ("x", "y", "z")
    rows = visited(*((f"unit {unit}", key, 1) for unit in units for key in keys))
    asked = Statement(
        rows=Source(UNBOUND), keys=(KeyColumn(name="k", values=None),), measures=(UnitCount(),),
        limits=Limits(max_groups_per_unit=1),
    )  # fmt: skip
    counts = answered(rows, UNBOUND, asked, session=application(), sampling="native")
    assert sum(count for (count,) in counts.values()) == len(units)
    assert all(130 <= count <= 270 for (count,) in counts.values())  # 200 is expected of each, give or take 12


def test_old_days_and_days_of_no_calendar_are_read_as_every_engine_does(tmp_path):
    table = Table(name="t", columns={"d": date(), "at": timestamp()})
    frame = application().sql(
        "SELECT DATE '0001-01-01' AS d, TIMESTAMP_LTZ '1500-01-01 00:00:00Z' AS at UNION ALL "
        "SELECT DATE '+12000-01-01', TIMESTAMP_LTZ '2026-01-01 00:00:00+05:00' UNION ALL "
        "SELECT DATE '-0005-01-01', TIMESTAMP_LTZ '+20000-01-01 00:00:00Z'"
    )
    frame.write.parquet(str(tmp_path / "days"))
    asked = Statement(
        rows=Source(table), keys=tuple(KeyColumn(name=name, values=None) for name in ("d", "at")),
        measures=(RowCount(),),
    )  # fmt: skip
    days = replace(asked, keys=asked.keys[:1])
    moments = replace(asked, keys=asked.keys[1:])
    for source in (frame, f"spark:parquet.`{tmp_path / 'days'}`"):
        options = {} if source is frame else {"session": application()}
        assert answered(source, table, days, **options) == {(dt.date(1, 1, 1),): [1]}
        assert answered(source, table, moments, **options) == {
            (dt.datetime(1500, 1, 1),): [1], (dt.datetime(2025, 12, 31, 19),): [1]  # noqa: DTZ001 # have no zone
        }  # fmt: skip


@pytest.mark.parametrize("options", [{"sampling": "sha"}, {"master": "local[2]"}, {"remote": "sc://host"}], ids=str)
def test_settings_that_cannot_be_used_are_refused(options):
    with pytest.raises(ParameterError):
        SparkEngine({}, session=application(), **options)


def test_the_sql_that_people_read_says_no_salt_and_names_tables_as_the_policy_does():
    part = PeoplePart(child=Source(PEOPLE), by="sex", values=("f", "m"), value="f", max_parts_per_unit=1, salt=SALT)
    asked = replace(statement(QUESTION, PEOPLE), rows=part)
    running = SparkEngine({}, session=application())
    shown = running.sql(asked)
    running.close()
    assert "FROM `people`" in shown
    assert SALT not in shown


def test_a_question_is_answered_after_one_that_failed(engine):
    running = SparkEngine({"people": open_in_place(pa.Table.from_pylist(RECORDS), PEOPLE)}, session=application())
    asked = statement(QUESTION, PEOPLE)
    bad = replace(asked, rows=Filter(asked.rows, Compare(Comparison.EQUAL, ColumnRef("name"), Literal("\ud800"))))
    with pytest.raises(EngineError):
        running.run(bad, salt=SALT)
    assert aligned(asked, running.run(asked, salt=SALT).open_for_noise(), groups(asked)).tolist() == EXPECTED
    running.close()
    assert ask(engine, QUESTION, PEOPLE, pa.Table.from_pylist(RECORDS)) == EXPECTED
