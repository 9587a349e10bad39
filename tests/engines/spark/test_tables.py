"""Tables of Spark are looked for when an engine is opened; names, columns and types that do not fit are said."""

import pyarrow as pa
import pytest
from pyspark.sql.types import StructType
from tests.engines.spark_application import address, application, session

from sfumato.engines.sources.sources import ArrowData, open_in_place
from sfumato.engines.spark.dialect import sql
from sfumato.engines.spark.session import OwnSession
from sfumato.engines.spark.tables import SparkTables, check_types, read_columns, storage_of
from sfumato.engines.sql.expressions.terms import select, table
from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import Limits, Table, date, integer, real, text, timestamp


def opened(source, **columns):
    table = Table(name="t", columns=columns)
    return SparkTables(session(), {"t": open_in_place(source, table)}), table


@pytest.fixture(autouse=True)
def _view():
    session().sql("SELECT 1 AS v, 'x' AS W").createOrReplaceTempView("some")
    session().sql("SELECT 1 AS `a.b c`").createOrReplaceTempView("odd")


@pytest.mark.parametrize("name", ["nothing", "no.such.table", "some; DROP VIEW some", "some WHERE 1 = 1", "", "`"])
def test_a_table_that_is_not_there_is_named(name):
    with pytest.raises(ParameterError, match=r"spark:catalog\.schema\.table"):
        opened(f"spark:{name}", v=integer())
    assert session().catalog.tableExists("some")


def test_a_column_that_is_not_there_is_named_and_those_that_are_there_are_not():
    with pytest.raises(ParameterError, match=r"columns = 'w': is not a column") as caught:
        opened("spark:some", w=integer())
    assert "W" not in str(caught.value)


def test_columns_that_differ_in_case_alone_are_refused():
    spark = application()
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        session().createDataFrame(pa.table({"v": [1], "V": [2]})).createOrReplaceTempView("both")
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    with pytest.raises(ParameterError, match="differ in more than case"):
        opened("spark:both", v=integer())


def test_a_column_of_another_type_is_refused_before_anything_is_read():
    session().sql("SELECT ARRAY(1) AS v").createOrReplaceTempView("listed")
    with pytest.raises(ParameterError, match="array<int>"):
        opened("spark:listed", v=text())


def test_names_are_quoted_whatever_they_hold():
    tables, table = opened("spark:`odd`", **{"a.b c": integer()})
    assert session().sql(sql(tables.named(table))).collect()[0][0] == 1


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_a_frame_without_rows_is_sent_to_a_server_too():
    own = OwnSession({}, session=None, master=None, remote=address())
    table = Table(name="t", columns={"v": integer(), "at": timestamp()})
    empty = pa.table({"v": pa.array([], pa.int64()), "at": pa.array([], pa.timestamp("us"))})
    tables = SparkTables(own.spark, {"t": ArrowData(empty, ("v", "at"))})
    assert own.spark.sql(sql(tables.named(table))).collect() == []
    own.close()


def test_views_of_the_users_are_not_replaced():
    session().sql("SELECT 7 AS v").createOrReplaceTempView("sfumato_0")
    tables, table = opened("spark:sfumato_0", v=integer())
    SparkTables(session(), {"t": ArrowData(pa.table({"v": [1]}), ("v",))}).named(table)
    assert session().sql(sql(tables.named(table))).collect()[0][0] == 7


UNUSUAL = {
    "unsigned": pa.array([2**64 - 1], pa.uint64()),
    "small": pa.array([255], pa.uint8()),
    "nothing": pa.nulls(1),
    "view": pa.array(["é"], pa.string_view()),
    "large": pa.array(["é"], pa.large_string()),
}


@pytest.mark.parametrize(
    ("name", "expected"), [("unsigned", None), ("small", 255), ("nothing", None), ("view", None), ("large", None)]
)
def test_frames_of_unusual_types_are_sent(name, expected):
    table = Table(name="t", columns={"v": integer()})
    tables = SparkTables(session(), {"t": ArrowData(pa.table({"v": UNUSUAL[name]}), ("v",))})
    assert session().sql(sql(tables.named(table))).collect()[0][0] == expected


def test_a_frame_stays_one_and_does_not_print():
    frame = application().sql("SELECT 1 AS v")
    source = open_in_place(frame, Table(name="t", columns={"v": integer()}))
    assert source.where is frame
    assert "DataFrame" not in repr(source)


READABLE = {
    "TINYINT": "TINYINT", "SMALLINT": "SMALLINT", "INT": "INTEGER", "BIGINT": "BIGINT", "DECIMAL(12, 2)": "DECIMAL",
    "FLOAT": "FLOAT", "DOUBLE": "DOUBLE", "STRING": "VARCHAR", "STRING COLLATE UNICODE_CI": "VARCHAR",
    "CHAR(3)": "VARCHAR", "VARCHAR(3)": "VARCHAR", "BOOLEAN": "BOOLEAN", "DATE": "DATE", "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMP_NTZ": "TIMESTAMP",
}  # fmt: skip


def schema(kind):
    return application().sql(f"SELECT CAST(NULL AS {kind}) AS v").schema


def declared(column, **more):
    return Table(name="t", columns={"v": column}, **more)


@pytest.mark.parametrize("kind", READABLE)
def test_types_have_the_names_of_the_lowering(kind):
    column = timestamp() if READABLE[kind] in {"DATE", "TIMESTAMP"} else text()
    check_types(schema(kind), declared(column))
    assert storage_of(schema(kind), declared(column)) == {"v": READABLE[kind]}


@pytest.mark.parametrize(
    "kind", ["BINARY", "ARRAY<INT>", "MAP<STRING, INT>", "STRUCT<a: INT>", "INTERVAL DAY", "VARIANT", "VOID"]
)
def test_other_types_are_refused_by_name(kind):
    with pytest.raises(ParameterError, match=r"is stored as .*cast it to text"):
        check_types(schema(kind), declared(text()))


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIMESTAMP_NTZ"])
@pytest.mark.parametrize("column", [text(), integer(), real()])
def test_days_and_times_are_declared_as_such(kind, column):
    with pytest.raises(ParameterError, match="declare it as a date or a timestamp"):
        check_types(schema(kind), declared(column))
    check_types(schema(kind), declared(date()))


def test_whole_numbers_beyond_64_bits_are_refused_by_the_type_alone():
    for kind in ("DECIMAL(20, 0)", "DECIMAL(38, 18)", "DECIMAL(19, 0)"):
        with pytest.raises(ParameterError, match="beyond 64 bits; declare ids as text"):
            check_types(schema(kind), declared(integer()))
        check_types(schema(kind), declared(real()))
        check_types(schema(kind), declared(text()))
    check_types(schema("DECIMAL(20, 2)"), declared(integer()))


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT", "DECIMAL(12, 2)"])
def test_ids_are_text_or_whole_numbers(kind):
    owned = declared(text(), unit=UnitColumn("v"), limits=Limits(max_rows_per_unit=1))
    with pytest.raises(ParameterError, match="unit"):
        check_types(schema(kind), owned)


def read(query, column):
    """What is read of a query with a column v."""
    application().sql(query)
    session().sql(query).createOrReplaceTempView("stored")
    found = session().table("stored").schema
    columns = read_columns(StructType.fromJson(found.jsonValue()), declared(column))
    return [row[0] for row in session().sql(sql(select(columns, table("stored")))).collect()]


def test_bytes_that_are_not_utf_8_are_replaced():
    assert read("SELECT CAST(X'61ff62' AS STRING) AS v", text()) == ["a\ufffdb"]


@pytest.mark.parametrize("cells", ["\U0001f600" * 9, "a\ufffd" * 9, "\u00e9" * 9, "ab"])
def test_of_a_long_text_all_is_there_that_is_used(cells):
    stored = cells.encode().replace("\ufffd".encode(), b"\xe2\x82").hex()
    (found,) = read(f"SELECT CAST(X'{stored}' AS STRING) AS v", text(max_length=5))
    assert found[:5] == cells[:5]
    assert len(found) <= 20


def test_ids_are_read_whole():
    owned = declared(text(), unit=UnitColumn("v"), limits=Limits(max_rows_per_unit=1))
    session().sql("SELECT REPEAT('a', 5000) AS v").createOrReplaceTempView("ids")
    columns = read_columns(session().table("ids").schema, owned)
    assert len(session().sql(sql(select(columns, table("ids")))).collect()[0][0]) == 5000


def test_collations_are_left_behind():
    found = read("SELECT 'a' COLLATE UNICODE_CI AS v UNION ALL SELECT 'A' COLLATE UNICODE_CI", text())
    assert sorted(found) == ["A", "a"]
    session().sql("SELECT 'a' COLLATE UNICODE_CI AS v").createOrReplaceTempView("stored")
    columns = read_columns(session().table("stored").schema, declared(text()))
    query = select(columns, table("stored"))
    assert session().sql(f"SELECT v = 'A' FROM ({sql(query)})").collect()[0][0] is False


def test_char_is_read_without_the_spaces_that_fill_it_and_varchar_as_it_is():
    spark = application()
    spark.sql("CREATE TABLE IF NOT EXISTS padded (c CHAR(4), v VARCHAR(4)) USING parquet")
    try:
        spark.sql("INSERT INTO padded VALUES ('a', 'b ')")
        both = Table(name="t", columns={"c": text(), "v": text()})
        query = select(read_columns(spark.table("padded").schema, both), table("padded"))
        assert [tuple(row) for row in session().sql(sql(query)).collect()] == [("a", "b ")]
    finally:
        spark.sql("DROP TABLE padded")
