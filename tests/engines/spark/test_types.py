"""Columns are of types that can be read whatever they hold, and their values are those that every engine has."""

import pytest
from pyspark.sql.types import StructType
from tests.engines.spark_application import application, session

from sfumato.engines.spark.dialect import sql
from sfumato.engines.spark.types import check_types, read_columns, storage_of
from sfumato.engines.sql.queries import select, table
from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import Limits, Table, date, integer, real, text, timestamp

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
