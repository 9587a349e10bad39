"""The same data under a new name, a view or another path shares a fingerprint; other data does not."""

import shutil

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.postgres_server import READER, server
from tests.session.opened import CANARY, SHOP, shop_policy

from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.engines.registry import SeveralEngines
from sfumato.errors import ParameterError
from sfumato.ledger.keeping.key import LedgerKey
from sfumato.privacy.neighbors import EACH_ROW
from sfumato.query.model.schema import PUBLIC, Table, integer
from sfumato.query.policy.policy import Policy, SourceFacts
from sfumato.session.opening.lineage import identities, protected
from sfumato.session.opening.opening import open_sources, places_of

KEY, OTHER = LedgerKey(bytes(32)), LedgerKey(bytes(range(32)))
PEOPLE = pa.table({"name": [CANARY, "b", "c"], "v": [1, 2, 3]})


def policy_of(sources, *, public=(), dataset="people"):
    """A policy of tables in which a column `v` is declared."""
    tables = {
        name: Table(name=name, columns={"v": integer()}, unit=PUBLIC if name in public else EACH_ROW)
        for name in sources
    }
    facts = {name: SourceFacts(source=source) for name, source in sources.items()}
    return Policy(dataset=dataset, version="1", data_version="1", unit_name="row", tables=tables, sources=facts)


def of(*, key=KEY, engine="duckdb", running=None, public=(), **sources):
    """The fingerprints of tables by name."""
    return fingerprints(policy_of(sources, public=public), key=key, engine=engine, running=running)


def fingerprints(policy, *, key=KEY, engine="duckdb", running=None):
    opened = open_sources(policy, places_of(policy, engine=engine))
    found = identities(policy, opened, engine=running or ReferenceEngine({}))
    return {entry.table: frozenset(entry.fingerprints) for entry in protected(policy, found, key)}


@pytest.fixture
def files(tmp_path):
    """A file of people as Parquet and as CSV."""
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    pl.from_arrow(PEOPLE).write_csv(tmp_path / "people.csv")
    return tmp_path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_has_one_fingerprint_by_every_path_and_name(files, kind, monkeypatch):
    path = files / f"people.{kind}"
    (files / f"link.{kind}").symlink_to(path)
    copy = shutil.copy(path, files / f"copy.{kind}")
    monkeypatch.chdir(files)
    found = of(a=path, b=str(path), c=f"people.{kind}", d=files / f"link.{kind}", e=copy)
    assert len(set(found.values())) == 1
    assert len(found["a"]) == 1


def test_a_file_with_a_byte_more_has_another(files):
    (files / "more.csv").write_bytes((files / "people.csv").read_bytes() + b"\n")
    found = of(a=files / "people.csv", b=files / "more.csv")
    assert not found["a"] & found["b"]


def test_a_frame_has_one_fingerprint_whoever_holds_it_and_whatever_is_declared_of_it():
    frames = {
        "arrow": PEOPLE, "pandas": PEOPLE.to_pandas(), "polars": pl.from_arrow(PEOPLE),
        "lazy": pl.from_arrow(PEOPLE).lazy(), "moved": PEOPLE.select(["v", "name"]).take([2, 0, 1]),
        "chunks": pa.concat_tables([PEOPLE.slice(0, 1), PEOPLE.slice(1)]),
    }  # fmt: skip
    assert len(set(of(**frames).values())) == 1
    assert of(a=PEOPLE) != of(a=PEOPLE.drop_columns(["name"]))  # although only v is declared


def test_a_query_of_polars_has_those_of_what_it_reads_in_every_engine(files):
    query = pl.scan_parquet(files / "people.parquet").filter(pl.col("v") > 1).join(pl.from_arrow(PEOPLE).lazy(), on="v")
    direct = of(file=files / "people.parquet", frame=PEOPLE)
    for engine in ("reference", "duckdb"):
        assert of(query=query, engine=engine)["query"] == direct["file"] | direct["frame"]


def test_a_public_table_has_none_and_leaves_none_on_what_reads_it(files):
    codes = pa.table({"v": [1, 2], "code": ["x", "y"]})
    query = pl.scan_parquet(files / "people.parquet").join(pl.from_arrow(codes).lazy(), on="v")
    found = of(people=query, codes=codes, public={"codes"})
    assert found["codes"] == frozenset()
    assert found["people"] == of(a=files / "people.parquet")["a"]


def test_without_rows_there_is_none():
    assert of(a=PEOPLE.slice(0, 0)) == {"a": frozenset()}


def test_the_key_matters():
    assert not of(a=PEOPLE)["a"] & of(a=PEOPLE, key=OTHER)["a"]
    assert of(a=PEOPLE) == of(a=PEOPLE)


def test_every_table_of_a_policy_has_its_own():
    found = fingerprints(shop_policy())
    assert {name: len(seals) for name, seals in found.items()} == {
        "lines": 1,
        "orders": 1,
        "customers": 1,
        "nations": 0,
    }
    assert len(frozenset().union(*found.values())) == 3
    assert found["orders"] == of(v=SHOP["orders"].rename_columns(["v", "b", "c", "d"]))["v"]


def test_a_fingerprint_is_a_seal_and_says_nothing(files):
    for seals in of(a=PEOPLE, b=files / "people.csv").values():
        (seal,) = seals
        assert len(seal) == 64
        assert CANARY not in seal


def test_a_file_that_is_gone_meanwhile_is_told_without_a_row(files):
    policy = policy_of({"a": files / "people.csv"})
    opened = open_sources(policy, places_of(policy, engine="duckdb"))
    (files / "people.csv").unlink()
    with pytest.raises(ParameterError, match=r"people\.csv") as caught:
        identities(policy, opened, engine=ReferenceEngine({}))
    assert CANARY not in str(caught.value)


@pytest.fixture
def stored():
    """A table of PostgreSQL, and a view of it."""
    made = server()
    name = made.load(PEOPLE)
    made.execute(f"CREATE VIEW seen_{name} AS SELECT v FROM {name}", f"GRANT SELECT ON seen_{name} TO {READER}")
    yield made.url(table=name), made.url(table=f"seen_{name}"), made.url(table=f'public."seen_{name}"')
    made.execute(f"DROP TABLE {name} CASCADE")


def test_a_view_of_postgresql_has_those_of_its_table(stored):
    table, view, same_view = stored
    found = of(a=table, b=view, c=same_view)
    assert found["a"] == found["b"] == found["c"]
    assert len(found["a"]) == 2


class Spark(ReferenceEngine):
    """An engine that says which session it asks."""

    def __init__(self, spark):
        super().__init__({})
        self.spark = spark


class Session:
    """A session in which every name is one file."""

    def __init__(self, path):
        self.path = path

    def table(self, _):
        return self

    def inputFiles(self):  # noqa: N802 # as Spark calls it
        return [self.path.as_uri()]


def test_a_name_of_spark_is_looked_up_in_the_session_of_its_engine(files):
    in_spark = Spark(Session(files / "people.parquet"))
    direct = of(a=files / "people.parquet")["a"]
    assert of(a="spark:people", running=in_spark)["a"] == direct
    several = SeveralEngines({"spark": in_spark, "duckdb": ReferenceEngine({})}, {"a": "spark", "b": "duckdb"})
    assert of(a="spark:people", b=PEOPLE, running=several)["a"] == direct


def test_a_name_of_spark_is_not_known_to_an_engine_without_a_session():
    assert of(a="spark:people") == {"a": frozenset()}


def test_a_dataframe_of_spark_is_known_by_itself(files):
    from tests.engines.spark_application import session

    frame = session().read.parquet(str(files / "people.parquet")).where("v > 1")
    assert of(a=frame, engine="spark")["a"] == of(a=files / "people.parquet")["a"]
