"""A hundred statements that an analyst wrote without having seen the code: each answered or refused, as it expects.

ε is so large that hardly any noise is left, so that an answer must be near to what plain SQL says of the same rows.
"""

import datetime as dt
import math
from collections import Counter
from decimal import Decimal
from functools import cache

import duckdb
import pytest
from tests.acceptance.made_up import DOCUMENT, schema
from tests.engines.postgres_tables import address, started
from tests.engines.spark_application import application
from tests.sizes import FULL_SIZE

import sfumato as sf
from sfumato.engines.sources.sources import open_source, readable
from sfumato.errors import NotPrivateError, ParameterError, SfumatoError, UnboundedSensitivityError

STATEMENTS = DOCUMENT["statement"]
SURE = 10**9
MOST_NOT_YET = 1

NOT_YET: dict[str, str] = {
    "TPC-H 11: important stock, of public tables alone": "HAVING compares released numbers with constants alone",
}
"""What is not yet as expected, with the reason."""

CLASSES = {
    "NotPrivateError": (NotPrivateError,),
    "ParameterError": (ParameterError,),
    "UnboundedSensitivityError": (UnboundedSensitivityError,),
    "UnsupportedError": (NotPrivateError, ParameterError),
}
"""What each class of refusal is called here: what is no part of the language is refused as malformed, or as telling."""

FEW_ROWS = 1e-3
"""How far an answer may be from plain SQL beside its stated error, as a share: sums have lattices."""


def marked(statements):
    """Statements as parameters; what is not yet as expected must fail."""
    return [
        pytest.param(
            one, id=one["name"],
            marks=[pytest.mark.xfail(reason=NOT_YET[one["name"]], strict=True)] if one["name"] in NOT_YET else [],
        )
        for one in statements
    ]  # fmt: skip


ANSWERS = [one for one in STATEMENTS if one["expect"] == "answer"]
REFUSALS = [one for one in STATEMENTS if one["expect"] == "refusal"]


def test_there_are_a_hundred_and_nearly_all_are_as_expected():
    names = [one["name"] for one in STATEMENTS]
    assert len(names) == len(set(names)) == len(ANSWERS) + len(REFUSALS) == 100
    assert set(NOT_YET) <= set(names)
    assert len(NOT_YET) <= MOST_NOT_YET


@cache
def on_duckdb(name):
    return sf.Session(schema(name).policy(schema(name).rows), budget=sf.NO_GUARANTEE)


@cache
def on_reference(name):
    return sf.Session(schema(name).policy(schema(name).rows), budget=sf.NO_GUARANTEE, engine="reference")


@cache
def on_postgres(name):
    tables = schema(name).tables
    sources = {
        table: address(tables[table], readable(open_source(rows), tables[table]))
        for table, rows in schema(name).rows.items()
    }
    return sf.Session(schema(name).policy(sources), budget=sf.NO_GUARANTEE, engine="postgres")


@cache
def on_spark(name):
    rows = schema(name).rows
    spark = application()
    before = spark.conf.get("spark.sql.timestampType")
    spark.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")  # else times are taken for those of Spark's own zone
    sources = {table: spark.createDataFrame(own) for table, own in rows.items()}
    spark.conf.set("spark.sql.timestampType", before)
    return sf.Session(schema(name).policy(sources), budget=sf.NO_GUARANTEE, engine="spark")


@cache
def plain(name):
    """DuckDB itself over the rows of a schema."""
    connection = duckdb.connect()
    connection.execute("SET default_null_order = 'nulls_last_on_asc_first_on_desc'")
    for table, rows in schema(name).rows.items():
        connection.register("rows_of_it", rows)
        connection.execute(f"CREATE TABLE {table} AS FROM rows_of_it")
    return connection


def exact_rows(statement):
    """What plain SQL says: names to values."""
    text = statement["sql"] if statement["exact"] == "sql" else statement["exact"]
    found = plain(statement["schema"]).execute(text)
    names = [column[0] for column in found.description]
    return [dict(zip(names, map(plain_value, row), strict=True)) for row in found.fetchall()]


def plain_value(value):
    match value:
        case bool():
            return value
        case int() | float() | Decimal():
            return float(value)
        case dt.datetime() if value.time() == dt.time():
            return value.date()
        case _:
            return value


def asked(session, statement):
    return session.sql(statement["sql"], epsilon=SURE, delta=statement.get("delta", 0))


def check_answer(session, statement):
    release = asked(session, statement)
    check_columns(release, statement["columns"])
    if "rows" in statement:
        assert len(release) == statement["rows"]
    if statement.get("bounded"):
        return
    keys = statement.get("keys", [])
    expected = {tuple(row[key] for key in keys): row for row in exact_rows(statement)}
    found = {}
    for group, estimates in zip(release.groups, release.estimates, strict=True):
        row = dict(zip(release.keys, map(plain_value, group), strict=True))
        row |= dict(zip(release.statistics, estimates, strict=True))
        own = tuple(plain_value(getattr(row[key], "value", row[key])) for key in keys)
        assert own not in found
        found[own] = row
    assert found
    is_whole = (
        "delta" not in statement and "LIMIT" not in statement["sql"].upper() and "FETCH" not in statement["sql"].upper()
    )
    shown = {key for key in expected if None not in key or "GROUPING" in statement["sql"].upper()}
    if is_whole:
        assert shown <= found.keys()
    for key in found.keys() & expected.keys():
        for column in set(statement["columns"]) - set(keys):
            check_value(statement, column, found[key][column], expected[key][column])


def check_columns(release, columns):
    """An answer has keys before statistics, each in the order of SELECT."""
    assert {*release.keys, *release.statistics} == set(columns)
    assert list(release.keys) == [column for column in columns if column in release.keys]
    assert list(release.statistics) == [column for column in columns if column in release.statistics]


def check_value(statement, column, found, expected):
    value = plain_value(getattr(found, "value", found))
    if column in statement.get("loose", ()):
        assert isinstance(value, type(expected))
        return
    if not isinstance(expected, float) or isinstance(expected, bool):
        assert value == expected
        return
    error = getattr(found, "half_width", 0)
    stated = 5 * error if math.isfinite(error) else 0
    assert value == pytest.approx(expected, abs=max(stated, 1e-6), rel=FEW_ROWS), column


@pytest.mark.essential
@pytest.mark.parametrize("statement", marked(ANSWERS))
def test_on_duckdb_it_is_answered_as_plain_sql_says(statement):
    check_answer(on_duckdb(statement["schema"]), statement)


@pytest.mark.parametrize("statement", marked(ANSWERS))
def test_on_the_reference_engine_it_is_answered_as_plain_sql_says(statement):
    check_answer(on_reference(statement["schema"]), statement)


@pytest.fixture(scope="module")
def server():
    with started():
        yield


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("statement", marked(ANSWERS))
def test_on_postgres_it_is_answered_as_plain_sql_says(statement):
    check_answer(on_postgres(statement["schema"]), statement)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@pytest.mark.parametrize("statement", marked(ANSWERS if FULL_SIZE else ANSWERS[::8]))  # which takes seconds a query
def test_on_spark_it_is_answered_as_plain_sql_says(statement):
    check_answer(on_spark(statement["schema"]), statement)


@pytest.mark.essential
@pytest.mark.parametrize("statement", marked(REFUSALS))
def test_it_is_refused_and_nothing_is_spent(statement):
    session = on_duckdb(statement["schema"])
    spent = session.spent
    with pytest.raises(SfumatoError) as caught:
        asked(session, statement)
    assert isinstance(caught.value, CLASSES[statement["error"]])
    assert session.spent == spent


def test_the_rows_are_as_the_file_says():
    rows = {name: schema(name).rows for name in DOCUMENT["schema"]}
    assert rows["tpch"]["customer"].num_rows == 4_000
    orders = Counter(rows["tpch"]["orders"]["o_custkey"].to_pylist())
    assert max(orders.values()) == 6
    assert rows["hospital"]["visits"]["discharged"].null_count > 0
    assert set(rows["company"]["salaries"]["year"].to_pylist()) == set(range(2020, 2026))
