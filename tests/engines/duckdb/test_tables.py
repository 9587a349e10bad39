"""Typed tables are made once, of whatever their rows are stored in, and read in place where that can be."""

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.duckdb.dialect import sql
from sfumato.engines.duckdb.tables import SCHEMA, TypedTables
from sfumato.engines.sources import lazy_frames
from sfumato.engines.sources.sources import open_source
from sfumato.engines.sql.expressions.terms import select
from sfumato.errors import EngineError
from sfumato.privacy.neighbors import EACH_ROW, UnitColumn
from sfumato.query.model.schema import PUBLIC, Limits, Table, date, integer, text

DATA = pa.table({"u": ["a", "b", None], "v": [1, 2, 3]})
COLUMNS = {"u": text(), "v": integer()}
OWNED = Table(name="t", columns=COLUMNS, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=1))


def tables(**sources):
    database = duckdb.connect(config={"python_enable_replacements": False})
    return database, TypedTables(database, {name: open_source(source) for name, source in sources.items()})


def rows(database, name):
    return sorted(database.execute(sql(select([], name))).fetchall(), key=repr)


def kinds(database):
    found = database.execute(
        f"SELECT table_type FROM information_schema.tables WHERE table_schema = '{SCHEMA}'"
    ).fetchall()
    return [kind for (kind,) in found]


def stored(kind, folder):
    path = folder / f"rows [1].{kind}"
    match kind:
        case "csv":
            path.write_text("u,v\na,1\nb,2\n,3\n")
        case "parquet":
            pq.write_table(DATA, path)
        case "lazy frame":
            return pl.from_arrow(DATA).lazy()
        case _:
            return DATA
    return path


@pytest.mark.parametrize(
    ("kind", "made"), [("csv", "BASE TABLE"), ("parquet", "VIEW"), ("arrow", "VIEW"), ("lazy frame", "VIEW")]
)
def test_rows_are_the_same_from_every_kind_of_source(kind, made, tmp_path):
    database, own = tables(t=stored(kind, tmp_path))
    assert rows(database, own.named(OWNED)) == [("a", "a", 1), ("b", "b", 2)]
    assert kinds(database) == [made]


def test_a_table_is_made_once_and_another_declaration_of_it_is_another_table():
    database, own = tables(t=DATA)
    plain = Table(name="t", columns={"v": text()}, unit=EACH_ROW)
    assert sql(own.named(OWNED)) == sql(own.named(OWNED)) != sql(own.named(plain))
    assert rows(database, own.named(plain)) == [("1",), ("2",), ("3",)]


def test_matches_are_looked_up_once():
    database, own = tables(t=pa.table({"u": ["a", "a", "b"], "v": [1, 2, 3]}))
    unique = Table(name="t", columns=COLUMNS, unit=PUBLIC, matches={("u",): 1})
    assert len(rows(database, own.named(unique))) == 2
    assert kinds(database) == ["BASE TABLE"]


def test_a_lazy_frame_is_read_once_in_batches_that_are_let_go(monkeypatch):
    runs = []

    def seen(frame):
        runs.append(len(frame))
        return frame

    monkeypatch.setattr(lazy_frames, "_BATCH", 100)
    query = pl.LazyFrame({"u": [f"{n % 5}" for n in range(1_050)], "v": range(1_050)}).map_batches(seen)
    database, own = tables(t=query)
    assert runs == []
    for _ in range(2):
        found = rows(database, own.named(OWNED))
        assert sorted(v for _, _, v in found) == list(range(1_050))
    assert runs == [1_050]
    stored_in = database.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'main'")
    assert stored_in.fetchall() == [("raw 0",)]


def test_the_matches_of_a_lazy_frame_are_looked_up_in_all_its_batches(monkeypatch):
    monkeypatch.setattr(lazy_frames, "_BATCH", 1)
    database, own = tables(t=pl.LazyFrame({"u": ["a", "b", "a"], "v": [1, 2, 3]}))
    unique = Table(name="t", columns=COLUMNS, unit=PUBLIC, matches={("u",): 1})
    assert [row[0] for row in rows(database, own.named(unique))] == ["a", "b"]


def test_a_lazy_frame_that_failed_leaves_no_rows_and_may_be_read_again(monkeypatch):
    monkeypatch.setattr(lazy_frames, "_BATCH", 1)
    fails = [True]

    def at_the_end(cell):
        if cell == 3 and fails:
            raise ValueError(fails.pop())
        return cell

    query = pl.LazyFrame({"u": ["a", "b", "c"], "v": [1, 2, 3]})
    database, own = tables(t=query.with_columns(pl.col("v").map_elements(at_the_end, pl.Int64)))
    with pytest.raises(EngineError):
        own.named(OWNED)
    assert database.execute("SHOW TABLES").fetchall() in ([], [("raw 0 batch",)])
    assert len(rows(database, own.named(OWNED))) == 3


def test_text_that_is_not_utf_8_is_repaired(tmp_path):
    path = tmp_path / "bad.parquet"
    pq.write_table(pa.table({"u": pa.array([b"\xff"]).cast(pa.binary()).view(pa.string()), "v": [1]}), path)
    database, own = tables(t=path)
    assert rows(database, own.named(OWNED)) == [("\ufffd", "\ufffd", 1)]


class Recording:
    """A database that keeps what it is asked."""

    def __init__(self, database):
        self._database, self.asked = database, []

    def execute(self, query):
        self.asked.append(query)
        return self._database.execute(query)

    def __getattr__(self, name):
        return getattr(self._database, name)


def test_a_file_without_text_is_not_read_before_it_is_asked_about(tmp_path):
    path = tmp_path / "numbers.parquet"
    pq.write_table(pa.table({"v": [1, 2]}), path)
    database = Recording(duckdb.connect())
    own = TypedTables(database, {"t": open_source(path)})
    own.named(Table(name="t", columns={"v": integer()}, unit=EACH_ROW))
    assert {query.split()[0] for query in database.asked} == {"CREATE", "DESCRIBE"}


def test_times_of_parquet_are_read_by_arrow(tmp_path):
    path = tmp_path / "times.parquet"
    pq.write_table(pa.table({"d": pa.array([2**62, 0], pa.timestamp("us"))}), path)
    database, own = tables(t=path)
    ((first,), (second,)) = rows(database, own.named(Table(name="t", columns={"d": date()}, unit=EACH_ROW)))
    assert {str(first), str(second)} == {"None", "1970-01-01"}


def test_a_source_that_is_gone_is_an_error(tmp_path):
    path = stored("csv", tmp_path)
    _, own = tables(t=path)
    path.unlink()
    with pytest.raises((OSError, duckdb.Error)):
        own.named(OWNED)
