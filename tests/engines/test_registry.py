"""Engines by name: loaded when they are opened, with their options and packages."""

import sys
from importlib.util import find_spec

import pyarrow as pa
import pytest
from tests.engines.postgres_server import server
from tests.engines.running import SALT, by_place, statement
from tests.session.desk import SURE, asked, desk, rows

from sfumato.engines.base import batches_of
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.engines.registry import (
    ENGINES,
    SeveralEngines,
    check_owners,
    engine_at,
    open_engine,
    whole_relation,
)
from sfumato.engines.sources.sources import open_source
from sfumato.errors import NotPrivateError, ParameterError, PolicyError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.relations import Join, JoinKind, Source
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath, integer, text
from sfumato.query.statistics.counts import CountRows


def test_an_engine_is_called_by_its_name():
    assert isinstance(open_engine("reference", {}, options={}), ReferenceEngine)
    with pytest.raises(ParameterError, match="duckdb, reference"):
        open_engine("oracle", {}, options={})


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_an_option_that_an_engine_does_not_have_is_refused_by_name(engine):
    with pytest.raises(ParameterError, match=f"nosuch.*not an option of {engine}"):
        open_engine(engine, {}, options={"nosuch": 1})


def test_an_engine_without_its_packages_says_how_to_get_them(monkeypatch):
    for loaded in [name for name in sys.modules if name.startswith(("sfumato.engines.spark", "pyspark"))]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ParameterError, match=r"run: pip install pyspark$"):
        open_engine("spark", {}, options={})


@pytest.mark.parametrize("record", ENGINES.values(), ids=str)
def test_the_home_of_every_engine_is_there(record):
    module, _, name = record.home.partition(":")
    assert find_spec(module) is not None
    assert name.endswith("Engine")


def test_an_address_names_its_engine():
    for record in ENGINES.values():
        assert {engine_at(f"{scheme}:x") for scheme in record.schemes} <= {record.name}
    assert engine_at("people.csv") is None
    assert engine_at(None) is None
    with pytest.raises(ParameterError, match=r"oracle:….*must be a file, or begin with one of: postgresql, postgres"):
        engine_at("oracle://ann:secret@host/people")


def test_all_rows_come_with_all_digits():
    name = server().load(pa.table({"n": ["123456789012345678901.5", "-1", None]}), types={"n": "numeric"})
    table = Table(name="t", columns={"n": text()})
    parts = list(whole_relation(server().url(table=name), table, {}))
    assert pa.concat_tables(parts)["n"].to_pylist() == ["123456789012345678901.5", "-1", None]
    server().execute(f"DROP TABLE {name}")


def test_frames_and_files_are_refused():
    table = Table(name="t", columns={"n": integer()})
    with pytest.raises(ParameterError, match="must be of a relation in a database"):
        next(whole_relation(pa.table({"n": [1]}), table, {}))


PEOPLE = Table(name="people", columns={"sex": text(values=["f", "m"])})
VISITS = Table(
    name="visits", columns={"who": text(), "ward": text(values=["A", "B"])}, unit=UnitColumn("who"),
    limits=Limits(max_rows_per_unit=3),
)  # fmt: skip
WARDS = Table(name="wards", columns={"code": text(values=["A", "B"])}, unit=PUBLIC, matches={("code",): 1})
DATA = {
    "people": rows(PEOPLE, {"sex": "f"}, {"sex": "m"}),
    "visits": rows(VISITS, {"who": "a", "ward": "A"}, {"who": "b", "ward": "A"}),
    "wards": rows(WARDS, {"code": "A"}),
}
PLACES = {"people": "duckdb", "visits": "reference", "wards": "duckdb"}


@pytest.fixture
def engine():
    sources = {name: open_source(data) for name, data in DATA.items()}
    engines = {
        "duckdb": DuckDBEngine({name: sources[name] for name in ("people", "wards")}),
        "reference": ReferenceEngine({"visits": sources["visits"]}),
    }
    several = SeveralEngines(engines, PLACES)
    yield several
    several.close()


def curator(engine):
    return desk(
        (PEOPLE, DATA["people"]), (VISITS, DATA["visits"]), (WARDS, DATA["wards"]), engine=engine, places=PLACES
    )


def test_each_table_is_asked_where_it_is(engine):
    for table, expected in ((PEOPLE, {(): [2]}), (VISITS, {(): [2]})):
        count = statement(f"SELECT COUNT(*) FROM {table.name}", table)
        assert by_place(engine.run(count, salt=SALT).open_for_noise()) == expected
        (batch,) = engine.batches(count, salt=SALT, size=10)
        assert by_place(batch.open_for_noise()) == expected
    assert 'FROM "people"' in engine.sql(statement("SELECT COUNT(*) FROM people", PEOPLE))
    assert engine.sql(statement("SELECT COUNT(*) FROM visits", VISITS)) == ""
    assert engine.name == "duckdb and reference"
    engine.prepare(PEOPLE)
    engine.prepare(VISITS)


def test_an_engine_that_cannot_be_closed_leaves_no_other_open():
    closed = []

    class Broken:
        def __init__(self, name):
            self.name = name

        def close(self):
            closed.append(self.name)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        SeveralEngines({name: Broken(name) for name in ("one", "two")}, {}).close()
    assert sorted(closed) == ["one", "two"]


def test_questions_about_tables_of_one_engine_are_answered(engine):
    for table in (PEOPLE, VISITS):
        (record,) = asked(curator(engine), table, statistics=(("n", CountRows()),)).release(epsilon=SURE).records()
        assert record["n"] == 2


def test_a_join_across_engines_is_refused_with_the_reason_before_anything_is_spent(engine):
    here = curator(engine)
    joined = Join(left=Source(VISITS), right=Source(WARDS), on=(("ward", "code"),), kind=JoinKind.INNER)
    question = asked(here, joined, statistics=(("n", CountRows()),))
    for ask in (question.cost, question.release):
        with pytest.raises(NotPrivateError, match=r"visits \(reference\) with wards \(duckdb\).*different engines"):
            ask(epsilon=1)
    assert str(here.ledger.spent(here.account)) == "ε 0"


def test_owners_in_another_engine_are_refused_when_a_policy_is_opened():
    one = Limits(max_rows_per_unit=1)
    keys = Table(name="keys", columns={"id": integer(), "who": text()}, unit=UnitColumn("who"), limits=one)
    notes = Table(name="notes", columns={"of": integer()}, unit=UnitPath("of", keys, "id"), limits=one)
    policy = desk((keys, rows(keys)), (notes, rows(notes))).policy
    check_owners(policy, {"keys": "duckdb", "notes": "duckdb"})
    with pytest.raises(PolicyError, match=r"notes\.unit.*keys, which is in postgres"):
        check_owners(policy, {"keys": "postgres", "notes": "duckdb"})


def test_what_an_engine_finds_is_cut_if_it_does_not_stream():
    class Whole:
        def run(self, statement, *, salt):
            return ReferenceEngine({"people": open_source(DATA["people"])}).run(statement, salt=salt)

    count = statement("SELECT COUNT(*) FROM people GROUP BY sex", PEOPLE)
    assert len(list(batches_of(Whole(), count, salt=SALT, size=1))) == 2
