"""What owners do every day goes on under one account: new rows, new columns and tables, an erasure, another place."""

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.postgres_server import READER, server

import sfumato as sf
from sfumato.ledger.core.entry import Committed, Protected, Reserved
from sfumato.privacy.neighbors import UnitColumn

PEOPLE = {"pid": ["a", "a", "b", "c"], "hours": [5, 7, 9, 2]}
COUNT = "SELECT COUNT(*) AS n FROM visits"
LONG = "SELECT COUNT(*) AS n FROM visits WHERE hours > 4"
COLUMNS = {"pid": sf.text(), "hours": sf.integer(0, 24)}


@pytest.fixture
def folder(tmp_path):
    """A folder with the visits of three people as a file."""
    written(tmp_path / "visits.parquet")
    return tmp_path


def written(path, rows=PEOPLE):
    pq.write_table(pa.table(rows), path)
    return path


def table(name="visits", **columns):
    return sf.Table(name=name, columns=COLUMNS | columns, unit=UnitColumn("pid"), limits=sf.Limits(max_rows_per_unit=3))


def hospital(folder, *tables, sources=None, **changes):
    """A session on files of a hospital, or on other sources."""
    named = {one.name: one for one in tables or (table(),)}
    places = {name: folder / f"{name}.parquet" for name in named} | (sources or {})
    facts = {
        "dataset": "hospital", "version": "1", "data_version": "1", "unit_name": "patient", "tables": named,
        "sources": {name: sf.SourceFacts(source=places[name]) for name in named},
    }  # fmt: skip
    return sf.Session(sf.Policy(**(facts | changes)), budget=sf.PureDP(9), ledger=folder / "ledger.db")


def ledger_of(session):
    return session._desk.ledger


def test_data_that_refresh_each_day_have_one_account_and_one_budget(folder):
    answers = []
    for day in range(5):
        written(folder / "visits.parquet", {"pid": [*PEOPLE["pid"], f"new {day}"], "hours": [*PEOPLE["hours"], day]})
        with hospital(folder, data_version=f"day {day}") as session:
            answers.append(session.sql(COUNT, epsilon="0.5").receipt.request)
            assert session.spent == sf.PureDP(0.5 * (day + 1))
            assert ledger_of(session).accounts() == ("hospital",)
            kept = [entry for entry in ledger_of(session).entries() if isinstance(entry, Protected)]
            assert {(entry.table, entry.unit) for entry in kept} == {("visits", "pid (text)")}
    assert len(set(answers)) == 5


def test_a_stored_answer_stays_while_the_version_of_the_data_does_and_comes_back_with_it(folder):
    with hospital(folder) as session:
        first = session.sql(COUNT, epsilon="0.5")
    written(folder / "visits.parquet", {"pid": ["z"], "hours": [1]})
    for version, spent in (("1", "0.5"), ("2", "1"), ("1", "1"), ("2", "1")):
        with hospital(folder, data_version=version) as session:
            again = session.sql(COUNT, epsilon="0.5")
            assert session.spent == sf.PureDP(spent)
            assert (again.receipt.request == first.receipt.request) == (version == "1")


@pytest.mark.parametrize(
    ("change", "stays"),
    [
        ({}, True),
        ({"version": "2"}, False),
        ({"views": {"some": "SELECT hours FROM visits"}}, True),
        ({"shares_answers": True}, True),
        ({"tables": (table(), table("staff"))}, True),
        ({"tables": (table(ward=sf.text()),)}, False),
    ],
    ids=["nothing", "the version", "a view", "sharing", "a new table", "a new column"],
)
def test_which_stored_answers_stay_when_the_policy_changes(folder, change, stays):
    with hospital(folder) as session:
        session.sql(COUNT, epsilon="0.5")
    written(folder / "visits.parquet", PEOPLE | {"ward": ["A", "B", "A", "A"]})
    written(folder / "staff.parquet")
    tables = change.get("tables", ())
    with hospital(folder, *tables, **{name: said for name, said in change.items() if name != "tables"}) as session:
        session.sql(COUNT, epsilon="0.5")
        assert session.spent == sf.PureDP("0.5" if stays else 1)


def test_new_columns_and_new_tables_are_asked_under_the_same_account(folder):
    hospital(folder).close()
    written(folder / "visits.parquet", PEOPLE | {"ward": ["A", "B", "A", "A"]})
    written(folder / "bills.parquet", {"pid": ["a", "c"], "hours": [1, 2]})
    pq.write_table(pa.table({"code": ["A", "B"]}), folder / "wards.parquet")
    wards = sf.Table(name="wards", columns={"code": sf.text()}, unit=sf.PUBLIC)
    tables = (table(ward=sf.text(values=["A", "B"])), table("bills"), wards)
    with hospital(folder, *tables, version="2", data_version="2") as session:
        session.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon="0.5")
        session.sql("SELECT COUNT(*) AS n FROM bills", epsilon="0.5")
        assert session.spent == sf.PureDP(1)
        assert set(ledger_of(session).units("hospital")) == {"visits", "bills", "wards"}


def test_who_is_erased_leaves_noisy_answers_and_what_was_spent_on_them(folder):
    with hospital(folder) as session:
        session.sql(COUNT, epsilon="0.5")
        before = list(ledger_of(session).entries())
    kept = [place for place, pid in enumerate(PEOPLE["pid"]) if pid != "c"]
    written(folder / "visits.parquet", {name: [cells[place] for place in kept] for name, cells in PEOPLE.items()})
    with hospital(folder, data_version="2") as session:
        session.sql(COUNT, epsilon="0.5")
        assert session.spent == sf.PureDP(1)
        entries = list(ledger_of(session).entries())
    assert entries[: len(before)] == before
    assert [type(entry) for entry in entries[len(before) :]] == [Protected, Reserved, Committed]
    texts = [path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name.startswith("ledger")]
    assert not any(b'"c"' in content for content in texts)


def moved(folder):
    (folder / "elsewhere").mkdir()
    return shutil.move(folder / "visits.parquet", folder / "elsewhere" / "april.parquet")


def as_csv(folder):
    (folder / "visits.csv").write_text("pid,hours\na,5\na,7\nb,9\nc,2\n")
    return folder / "visits.csv"


def as_frame(folder):
    return pq.read_table(folder / "visits.parquet")


@pytest.mark.parametrize(("change", "stays"), [(moved, True), (as_frame, True), (as_csv, False)])
def test_a_source_that_was_moved_keeps_account_and_answers_and_in_another_format_the_account(folder, change, stays):
    with hospital(folder) as session:
        session.sql(COUNT, epsilon="0.5")
    sources = {"visits": change(folder)}
    for _ in range(2):
        with hospital(folder, sources=sources) as session:
            session.sql(COUNT, epsilon="0.5")
            assert session.spent == sf.PureDP("0.5" if stays else 1)
            assert ledger_of(session).accounts() == ("hospital",)


def test_a_table_that_is_called_otherwise_in_the_policy_keeps_its_account(folder):
    with hospital(folder) as session:
        session.sql(COUNT, epsilon="0.5")
    with hospital(folder, table("stays"), sources={"stays": folder / "visits.parquet"}, version="2") as session:
        session.sql("SELECT COUNT(*) AS n FROM stays", epsilon="0.5")
        assert session.spent == sf.PureDP(1)
        assert ledger_of(session).accounts() == ("hospital",)


def test_a_table_that_is_renamed_or_rebuilt_in_its_database_keeps_account_unit_and_answers(tmp_path):
    made = server()
    name = made.load(pa.table(PEOPLE))
    try:
        with hospital(tmp_path, sources={"visits": made.url(table=name)}) as session:
            session.sql(COUNT, epsilon="0.5")
        made.execute(f"ALTER TABLE {name} RENAME TO {name}_old")
        with hospital(tmp_path, sources={"visits": made.url(table=f"{name}_old")}) as session:
            session.sql(COUNT, epsilon="0.5")
            assert session.spent == sf.PureDP("0.5")
        rows = sf.Table(name="stays", columns=COLUMNS, unit=sf.EACH_ROW)
        ids = sf.Table(name="stays", columns=COLUMNS, unit=UnitColumn("hours"), limits=sf.Limits(max_rows_per_unit=1))
        for stays in (rows, ids):
            with pytest.raises(sf.errors.UnitChangedError):
                hospital(tmp_path, stays, sources={"stays": made.url(table=f"{name}_old")}, version="2")
        made.execute(
            f"CREATE TABLE {name} AS SELECT * FROM {name}_old", f"GRANT SELECT ON {name} TO {READER}",
            f"DROP TABLE {name}_old",
        )  # fmt: skip
        with hospital(tmp_path, sources={"visits": made.url(table=name)}, data_version="2") as session:
            session.sql(COUNT, epsilon="0.5")
            assert session.spent == sf.PureDP(1)
            assert ledger_of(session).accounts() == ("hospital",)
    finally:
        made.execute(f"DROP TABLE IF EXISTS {name}, {name}_old CASCADE")
