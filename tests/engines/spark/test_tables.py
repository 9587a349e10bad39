"""Tables of Spark are looked for when an engine is opened; names, columns and types that do not fit are said."""

import pyarrow as pa
import pytest
from tests.engines.spark_application import address, application, session

from sfumato.engines.sources.sources import ArrowData, open_in_place
from sfumato.engines.spark.dialect import sql
from sfumato.engines.spark.session import OwnSession
from sfumato.engines.spark.tables import SparkTables
from sfumato.errors import ParameterError
from sfumato.query.model.schema import Table, integer, text, timestamp


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
    with pytest.raises(ParameterError, match=r"columns = 'w': is no column") as caught:
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
