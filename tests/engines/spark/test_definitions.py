"""What Spark computes for a table is proved to fail on no row, from the plan that Spark made of it."""

import pyarrow as pa
import pytest
from tests.engines.spark_application import application

from sfumato.engines.spark.definitions import is_total

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
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
