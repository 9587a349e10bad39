"""A view or a DataFrame of Spark is known by the files that it reads; nothing of it is computed."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.spark_application import address, application, session

from sfumato.engines.sources.identities import file_identity
from sfumato.engines.spark.identities import _of_file, is_total, spark_identities
from sfumato.engines.spark.session import OwnSession
from sfumato.errors import EngineError

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


@pytest.fixture
def people(tmp_path):
    """A file of people, with a name that an address has to quote."""
    path = tmp_path / "the people.parquet"
    pq.write_table(pa.table({"v": [1, 2], "w": ["a", "b"]}), path)
    return path


def of(where):
    return spark_identities(where, spark=session())


def test_a_file_is_known_as_on_every_engine(people):
    assert of(f"parquet.`{people}`") == {file_identity(people)}
    assert of(session().read.parquet(str(people))) == {file_identity(people)}


def test_a_view_of_a_view_and_what_a_query_makes_of_it_is_the_file(people):
    session().read.parquet(str(people)).createOrReplaceTempView("people")
    session().sql("SELECT v + 1 AS v FROM people WHERE w = 'a'").createOrReplaceTempView("some_people")
    assert of("people") == of("some_people") == {file_identity(people)}
    assert of(session().table("some_people").groupBy("v").count()) == {file_identity(people)}


def test_a_query_of_several_is_all_of_them(people, tmp_path):
    (tmp_path / "others.csv").write_text("v\n1\n")
    others = session().read.csv(str(tmp_path / "others.csv"), header=True)
    joined = session().read.parquet(str(people)).join(others, "v")
    assert of(joined) == {file_identity(people), file_identity(tmp_path / "others.csv")}


def test_what_is_cached_is_known_by_what_it_was_read_from(people):
    frame = session().read.parquet(str(people)).cache()
    try:
        frame.count()
        assert of(frame) == of(frame.where("v = 1")) == {file_identity(people)}
    finally:
        frame.unpersist()


def test_a_table_is_known_by_its_folder_however_often_it_is_written(tmp_path):
    folder = tmp_path / "written"
    for _ in range(2):
        session().range(4).selectExpr("id", "id % 2 AS part").write.mode("overwrite").partitionBy("part").parquet(
            str(folder)
        )
        assert of(f"parquet.`{folder}`") == {("place", "file", "", str(folder))}
        assert of(session().read.parquet(str(folder)).where("part = 1")) == {("place", "file", "", str(folder))}


def test_a_server_knows_the_same(people):
    remote = OwnSession({}, session=None, master=None, remote=address())
    try:
        assert spark_identities(f"parquet.`{people}`", spark=remote.spark) == {file_identity(people)}
        assert spark_identities(remote.spark.read.parquet(str(people))) == {file_identity(people)}
        assert spark_identities(remote.spark.range(3)) == frozenset()
    finally:
        remote.close()


def test_rows_in_memory_are_not_known():
    session().range(3).createOrReplaceTempView("passing")
    assert of("passing") == of(session().range(3)) == frozenset()


class Catalog:
    """Of a Spark with tables that lie in no files that it knows."""

    def __init__(self, **facts):
        self.facts = {
            "name": "t",
            "catalog": "lake",
            "namespace": ["a", "b"],
            "tableType": "MANAGED",
            "isTemporary": False,
        }
        self.facts |= facts

    def getTable(self, _):  # noqa: N802 # as Spark calls it
        return type("Table", (), self.facts)


class Elsewhere:
    """A session of it."""

    def __init__(self, **facts):
        self.catalog, self.sparkSession = Catalog(**facts), self

    def table(self, _):
        return self

    def inputFiles(self):  # noqa: N802 # as Spark calls it
        return []


def test_a_table_that_reads_no_files_is_known_by_its_whole_name():
    assert spark_identities("t", spark=Elsewhere()) == {("table", "lake", "a", "b", "t")}


@pytest.mark.parametrize("facts", [{"isTemporary": True}, {"tableType": "VIEW"}])
def test_a_view_that_reads_no_files_is_not_known(facts):
    assert spark_identities("t", spark=Elsewhere(**facts)) == frozenset()


@pytest.mark.parametrize(
    ("file", "identity"),
    [
        ("s3a://bucket/people/part-00000-1a2b.snappy.parquet", ("place", "s3a", "bucket", "/people")),
        ("s3a://bucket/people/day=1/w=a%20b/part-00007.parquet", ("place", "s3a", "bucket", "/people")),
        ("hdfs://name:8020/data/people.csv", ("place", "hdfs", "name:8020", "/data/people.csv")),
        ("file:///nowhere/the%20people.csv", ("place", "file", "", "/nowhere/the people.csv")),
        ("file:/nowhere/part-1.csv", ("place", "file", "", "/nowhere/part-1.csv")),
    ],
)
def test_files_that_spark_wrote_are_their_table_and_others_are_themselves(file, identity):
    assert _of_file(file) == identity


def test_a_table_that_is_not_there_is_told_without_its_text():
    with pytest.raises(EngineError, match="looked up where a table is stored"):
        of("no.such.canary")


ROWS = pa.table({"a": [1, 2, None], "b": ["x", "y", "z"], "h": [0.0, 1.0, 2.0]})


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """With a temporary view, a stored table, and files."""
    session, folder = application().newSession(), tmp_path_factory.mktemp("definitions")
    session.conf.set("spark.sql.ansi.enabled", "true")
    session.createDataFrame(ROWS).createOrReplaceTempView("t")
    session.table("t").write.parquet(str(folder / "parquet"))
    session.table("t").write.csv(str(folder / "csv"))
    session.sql("CREATE DATABASE definitions")
    session.sql(f"CREATE TABLE definitions.q USING parquet LOCATION '{folder / 'parquet'}'")
    session.sql("CREATE VIEW definitions.v AS SELECT a AS x, b, h FROM definitions.q WHERE a > 1")
    session.sql("CREATE VIEW definitions.w AS SELECT a / h AS x FROM definitions.q")
    session.sql(f"CREATE TEMP VIEW text USING csv OPTIONS (path '{folder / 'csv'}')")
    yield session
    session.sql("DROP DATABASE definitions CASCADE")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM t", "SELECT a AS x FROM t WHERE b = 'x'", "SELECT * FROM definitions.q",
        "SELECT * FROM definitions.v", "SELECT COALESCE(a, 0), CASE WHEN a > 1 THEN 'x' ELSE b END FROM t",
        "SELECT * FROM t UNION ALL SELECT * FROM definitions.q", "SELECT * FROM t WHERE a IN (1, 2) AND NOT b <=> 'x'",
        "SELECT CAST(a AS STRING) FROM t",
    ],
)  # fmt: skip
def test_what_fails_on_no_row_is_proved(spark, query):
    assert is_total(spark, "", spark.sql(query))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM definitions.w", "SELECT * FROM text", "SELECT CAST(b AS INT) FROM t", "SELECT a + 1 FROM t",
        "SELECT * FROM t WHERE b > 5", "SELECT explode(array(a)) FROM t",
        "SELECT * FROM t WHERE h IN (SELECT 1 / h FROM t)",
        "SELECT * FROM t WHERE (SELECT max(1 / h) FROM t) > 1", "SELECT CAST(h AS FLOAT) FROM t",
        "SELECT count(*) FROM t",
    ],
)  # fmt: skip
def test_what_may_fail_on_a_row_is_not(spark, query):
    assert not is_total(spark, "", spark.sql(query))
