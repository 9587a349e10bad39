"""Ids that 64 bits do not hold: declared as integers and held as text, each is a person, and nobody vanishes."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.postgres_server import server
from tests.engines.spark_application import application

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.query.model.kinds import Kind
from sfumato.session.asking.answer_key import declared_text

FIRST, PEOPLE = 2**63 - 1_000, 2_000
IDS = [FIRST + place for place in range(PEOPLE)]
"""Half of these ids lie beyond 64 bits."""

SURE = 3_000
LIMITS = sf.Limits(max_rows_per_unit=1)
COUNT = "SELECT COUNT(DISTINCT id) AS people, COUNT(*) AS n, SUM(v) AS v FROM t"


def quoted(folder):
    path = folder / "t.csv"
    path.write_text("id,v\n" + "".join(f'"{one}","1"\n' for one in IDS), "utf-8")
    return path


def regular(folder):
    path = folder / "t.csv"
    path.write_text("id,v\n" + "".join(f"{one},1\n" for one in IDS), "utf-8")
    return path


def german(folder):
    path = folder / "t.csv"
    written = [f"{one:,}".replace(",", ".") for one in IDS]
    path.write_text("id;v\n" + "".join(f"{one};1,0\n" for one in written), "latin-1")
    return sf.csv(path, delimiter=";", decimal=",", thousands=".", encoding="latin-1")


def parquet(folder):
    pq.write_table(pa.table({"id": list(map(str, IDS)), "v": [1] * PEOPLE}), folder / "t.parquet")
    return folder / "t.parquet"


TEXTS = {"id": list(map(str, IDS)), "v": [1] * PEOPLE}
HOLDERS = {
    "CSV read by Arrow": regular,
    "CSV read by Python": quoted,
    "CSV with commas": german,
    "Parquet": parquet,
    "Arrow": lambda _: pa.table(TEXTS),
    "pandas objects": lambda _: pd.DataFrame({"id": pd.Series(IDS, dtype=object), "v": 1}),
    "pandas text": lambda _: pd.DataFrame(TEXTS),
    "pandas categories": lambda _: pd.DataFrame(TEXTS).astype({"id": "category"}),
    "Polars": lambda _: pl.DataFrame(TEXTS),
    "Polars lazy": lambda _: pl.LazyFrame(TEXTS),
}


def opened(source, *, declared=None, limits=LIMITS, **options):
    columns = {"id": sf.integer() if declared is None else declared, "v": sf.integer(0, 9)}
    return sf.open(source, name="t", columns=columns, unit="id", limits=limits, budget=sf.NO_GUARANTEE, **options)


def counts(session, sql=COUNT):
    (record,) = session.sql(sql, epsilon=SURE).records()
    return [round(record[name]) for name in record if not name.endswith(("_low", "_high"))]


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
@pytest.mark.parametrize("holder", HOLDERS)
def test_nobody_vanishes_whatever_holds_the_ids(holder, engine, tmp_path):
    with opened(HOLDERS[holder](tmp_path), engine=engine) as session:
        assert counts(session) == [PEOPLE] * 3
        (losses, _) = session.check().examinations["t"].columns
        assert (losses.present, losses.missing, losses.unparsed) == (PEOPLE, 0, 0)


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_a_person_is_one_person_however_the_id_is_written_and_bounded_as_one(engine):
    long = str(2**70)
    ids = ["7", "07", "+7", " 7", "7.0", long, f"+{long}", f"00{long}", str(2**70 + 1), "-0", "0", None, "word"]
    with opened(pa.table({"id": ids, "v": [1] * len(ids)}), engine=engine) as session:
        assert counts(session) == [4] * 3
    with opened(
        pa.table({"id": ids, "v": [1] * len(ids)}), engine=engine, limits=sf.Limits(max_rows_per_unit=5)
    ) as two:
        assert counts(two) == [4, 11, 11]


def test_a_row_more_of_somebody_counts_up_to_the_limit_and_changes_no_other_row():
    ids, most = [2**64, 2**64, 2**64 + 1, 5], sf.Limits(max_rows_per_unit=2)
    for more, rows in (([], 4), ([2**64], 4), ([2**64 + 1], 5), ([2**64 + 2], 5), (["word"], 4)):
        frame = pd.DataFrame({"id": pd.Series([*ids, *more], dtype=object), "v": 1})
        with opened(frame, limits=most) as session:
            assert counts(session)[1] == rows


VISITS = sf.Table(
    name="visits", columns={"who": sf.integer(), "visit": sf.integer(), "v": sf.integer(0, 9)},
    unit=sf.UnitColumn("who"), limits=sf.Limits(max_rows_per_unit=2), matches={("visit",): 1},
)  # fmt: skip
PEOPLE_TABLE = sf.Table(
    name="people", columns={"id": sf.integer(), "age": sf.integer(0, 99)}, unit=sf.UnitColumn("id"), limits=LIMITS,
    matches={("id",): 1},
)  # fmt: skip
DRUGS = sf.Table(
    name="drugs", columns={"at": sf.integer(), "n": sf.integer(0, 9)}, unit=sf.UnitPath("at", VISITS, "visit"),
    limits=sf.Limits(max_rows_per_unit=2),
)  # fmt: skip
SMALL = range(2**63 - 20, 2**63 + 20)
PRIVATE_JOIN = "SELECT COUNT(*) AS n, SUM(age) AS a FROM visits JOIN people ON visits.who = people.id WHERE v = 1"
PATHS = "SELECT COUNT(*) AS n, COUNT(DISTINCT visits.who) AS p FROM drugs JOIN visits ON drugs.at = visits.visit"


def clinic(folder, *, people, engine):
    visits = {"who": list(map(str, SMALL)), "visit": [f"0{one}" for one in SMALL], "v": 1}
    pd.DataFrame(visits).to_csv(folder / "visits.csv", index=False)
    pd.DataFrame({"at": [f"+{one}" for one in SMALL], "n": 3}).to_csv(folder / "drugs.csv", index=False)
    sources = {"visits": folder / "visits.csv", "drugs": folder / "drugs.csv", "people": people}
    policy = sf.Policy(
        dataset="clinic", version="1", data_version="1", unit_name="patient",
        tables={table.name: table for table in (DRUGS, VISITS, PEOPLE_TABLE)},
        sources={name: sf.SourceFacts(source=source) for name, source in sources.items()},
    )  # fmt: skip
    return sf.Session(policy, budget=sf.NO_GUARANTEE, engine=engine)


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_long_ids_meet_in_joins_and_along_paths(engine, tmp_path):
    people = pd.DataFrame({"id": pd.Series(list(SMALL), dtype=object), "age": 30})
    with clinic(tmp_path, people=people, engine=engine) as session:
        assert counts(session, PRIVATE_JOIN) == [40, 1200]
        assert counts(session, PATHS) == [40, 40]
        assert counts(session, "SELECT SUM(n) AS n FROM drugs") == [120]
        assert counts(session, "SELECT COUNT(*) AS n FROM visits WHERE who IN (SELECT id FROM people)") == [40]
        session.prepare()
        assert counts(session, f"{PRIVATE_JOIN} AND age > 1") == [40, 1200]


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
def test_ids_in_text_meet_those_that_are_stored_as_numbers(engine, tmp_path):
    stored = [one for one in SMALL if one < 2**63]
    with clinic(tmp_path, people=pa.table({"id": stored, "age": [30] * 20}), engine=engine) as session:
        assert counts(session, PRIVATE_JOIN) == [20, 600]
        assert counts(session, "SELECT COUNT(*) AS n FROM people") == [20]
        assert counts(session, "SELECT COUNT(*) AS n FROM visits") == [40]


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_postgres_and_spark_with_ids_as_text_lose_nobody():
    data = pa.table({"id": list(map(str, SMALL)), "v": [1] * 40})
    with opened(server().url(table=server().load(data))) as session:
        assert counts(session) == [40] * 3
    application().createDataFrame(data.to_pandas()).createOrReplaceTempView("long_ids")
    with opened("spark:long_ids", engine_options={"spark": {"session": application()}}) as session:
        assert counts(session) == [40] * 3
    application().catalog.dropTempView("long_ids")


def test_ids_that_are_stored_as_integers_stay_integers():
    with opened(pa.table({"id": [1, 2, 3], "v": [1] * 3})) as session:
        assert session.policy.tables["t"].columns["id"].kind is Kind.INTEGER
        assert counts(session, "SELECT COUNT(*) AS n FROM t WHERE id > 1") == [2]


@pytest.mark.parametrize("declared", [sf.integer(0, 10**9), sf.integer(values=[1, 2])])
def test_ids_that_are_said_to_be_small_stay_numbers(declared):
    with opened(pa.table({"id": ["1", "2", "2"], "v": [1] * 3}), declared=declared) as session:
        assert counts(session, "SELECT COUNT(*) AS n FROM t WHERE id > 1") == [1]


def test_a_question_cannot_take_an_id_in_text_for_a_number():
    with opened(pa.table({"id": ["1", "2"], "v": [1] * 2})) as session:
        for condition in ("id > 1", "id + 1 = 2", "id IN (1, 2)"):
            with pytest.raises(ParameterError, match=r"text|constants of the kind of the value"):
                session.query(f"SELECT COUNT(*) AS n FROM t WHERE {condition}")
        assert counts(session, "SELECT COUNT(*) AS n FROM t WHERE id = '2'") == [1]


def test_a_ledger_and_stored_answers_know_a_table_by_what_was_declared_of_it(tmp_path):
    data = pa.table({"id": list(map(str, SMALL)), "v": [1] * 40})
    ledger = tmp_path / "ledger.db"
    columns = {"id": sf.integer(), "v": sf.integer(0, 9)}
    declared = sf.Table(name="t", columns=columns, unit=sf.UnitColumn("id"), limits=LIMITS, keeps_rows=True)
    with sf.open(data, name="t", columns=columns, unit="id", limits=LIMITS, budget=sf.PureDP(9), ledger=ledger) as one:
        table = one.policy.tables["t"]
        assert table.columns["id"].kind is Kind.TEXT
        assert table.owner_text == declared.owner_text == "id (integer)"
        assert declared_text(table) == declared_text(declared)


def test_amounts_beyond_64_bits_are_their_bound_in_files_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"id,v\n1,{2**63}\n2,-{10**25}\n3,4\n4,\n5,{10**40}\n", "utf-8")
    with opened(path) as session:
        assert counts(session, "SELECT COUNT(v) AS c, SUM(v) AS v FROM t") == [4, 22]
        assert counts(session, "SELECT COUNT(*) AS n FROM t WHERE v > 9") == [2]
        (_, losses) = session.check().examinations["t"].columns
        assert (losses.above, losses.below, losses.unparsed, losses.missing) == (2, 1, 0, 1)
