"""One policy, whose tables are in a file, in PostgreSQL and on Spark: one account, and no row leaves its engine."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.postgres_server import server
from tests.engines.spark_application import application

import sfumato as sf
from sfumato.errors import NotPrivateError
from sfumato.query.planning import batch

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
ROWS = {"at_home": 30, "in_town": 50, "abroad": 70}
TABLE = """
[tables.{name}]
source = '{source}'
unit = "who"
max_rows_per_unit = 1
columns = {{ who = {{ type = "integer" }}, ward = {{ type = "text", values = ["a", "b"] }} }}
"""


@pytest.fixture
def policy(tmp_path):
    data = {
        name: pa.table({"who": range(count), "ward": ["a", "b"] * (count // 2)}) for name, count in ROWS.items()
    }  # fmt: skip
    pq.write_table(data["at_home"], tmp_path / "at_home.parquet")
    application().createDataFrame(data["abroad"].to_pandas()).createOrReplaceTempView("abroad")
    sources = {
        "at_home": "at_home.parquet", "in_town": server().url(table=server().load(data["in_town"])),
        "abroad": "spark:abroad",
    }  # fmt: skip
    tables = "".join(TABLE.format(name=name, source=source.replace("'", "%27")) for name, source in sources.items())
    (tmp_path / "policy.toml").write_text(f'version = "1"\n[unit]\nname = "person"\n{tables}')
    yield tmp_path / "policy.toml"
    application().catalog.dropTempView("abroad")


def opened(policy, **options):
    options = {"spark": {"session": application()}} | options
    return sf.Session(policy, budget=sf.PureDP(10_000), engine_options=options)


def test_each_table_is_asked_where_it_is_and_one_account_pays(policy, tmp_path):
    with opened(policy, threads=1, postgres={"statement_timeout": 60}) as session:
        for place, (name, count) in enumerate(ROWS.items()):
            release = session.sql(f"SELECT ward, COUNT(*) AS n FROM {name} GROUP BY ward", epsilon=1_000)
            assert [round(one.value) for one in release["n"]] == [count // 2] * 2
            saved = session.query(f"SELECT COUNT(*) AS n FROM {name}").release(
                epsilon=1_000, to=tmp_path / "answer.parquet"
            )
            assert [round(n) for n in pq.read_table(saved.path)["n"].to_pylist()] == [count]
            assert session.spent == sf.PureDP(2_000 * (place + 1))


@pytest.mark.parametrize("pair", [("at_home", "in_town"), ("in_town", "abroad"), ("abroad", "at_home")], ids=str)
def test_no_join_crosses_engines(policy, pair):
    first, second = pair
    with opened(policy) as session:
        with pytest.raises(NotPrivateError, match="different engines"):
            session.sql(f"SELECT COUNT(*) AS n FROM {first} JOIN {second} USING (who)", epsilon=1)
        assert session.spent == sf.PureDP(0)


@pytest.mark.parametrize("name", ROWS)
def test_a_batch_means_the_same_on_each_engine(policy, name, monkeypatch):
    """As a workload, over a histogram that every engine makes, with rows that no key lists."""
    monkeypatch.setattr(batch.Priced, "is_worth", lambda *_: True)
    with opened(policy) as session:
        by_ward, by_place, total = session.batch(
            [
                f"SELECT ward, COUNT(*) AS n FROM {name} GROUP BY ward",
                f"SELECT who % 7 AS place, COUNT(*) AS n FROM {name} WHERE who < 7 AND who >= 0 GROUP BY who % 7",
                f"SELECT COUNT(*) AS n FROM {name}",
            ],
            epsilon=9_000,
        )
        assert [round(one.value) for one in by_ward["n"]] == [ROWS[name] // 2] * 2
        assert [round(one.value) for one in by_place["n"]] == [1] * 7
        assert round(total["n"][0].value) == ROWS[name]
        assert session.spent == sf.PureDP(9_000)


def test_a_batch_does_not_cross_engines(policy):
    with opened(policy) as session:
        with pytest.raises(NotPrivateError, match="different engines"):
            session.batch([f"SELECT COUNT(*) AS n FROM {name}" for name in ROWS], epsilon=1)
        assert session.spent == sf.PureDP(0)
