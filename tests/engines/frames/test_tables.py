"""Typed frames are made once, of whatever their rows are stored in, and read in place where that can be."""

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.in_frames import rows_of

from sfumato.engines.frames.tables import TypedFrames
from sfumato.engines.sources import LazyData, open_source
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.schema import PUBLIC, Limits, Table, date, integer, text

DATA = pa.table({"u": ["a", "b", None], "v": [1, 2, 3]})
COLUMNS = {"u": text(), "v": integer()}
OWNED = Table(name="t", columns=COLUMNS, unit=UnitColumn("u"), limits=Limits(max_rows_per_unit=1))


def stored(kind, folder):
    path = folder / f"rows [1].{kind}"
    match kind:
        case "csv":
            path.write_text("u,v\na,1\nb,2\n,3\n")
        case "parquet":
            pq.write_table(DATA, path)
        case "lazy":
            return LazyData(pl.from_arrow(DATA).lazy(), ("u", "v"))
        case _:
            return open_source(DATA)
    return open_source(path)


@pytest.mark.parametrize("kind", ["csv", "parquet", "lazy", "arrow"])
def test_the_same_rows_are_read_from_anything_and_once(kind, tmp_path):
    frames = TypedFrames({"t": stored(kind, tmp_path)})
    assert rows_of(frames.named(OWNED)) == [("a", "a", 1), ("b", "b", 2)]
    assert frames.named(OWNED) is frames.named(OWNED)


def test_a_parquet_file_stays_where_it_is(tmp_path):
    frames = TypedFrames({"t": stored("parquet", tmp_path)})
    assert "Parquet SCAN" in frames.named(OWNED).explain()


def test_a_csv_file_is_read_once(tmp_path):
    source = stored("csv", tmp_path)
    frames = TypedFrames({"t": source})
    frames.named(OWNED)
    source.path.unlink()
    assert len(rows_of(frames.named(OWNED))) == 2


def test_a_file_that_polars_cannot_read_is_read_by_arrow(tmp_path):
    broken = pa.array([b"a", b"\xff"]).cast(pa.large_binary()).view(pa.large_string())
    pq.write_table(pa.table({"u": broken, "v": [1, 2]}), tmp_path / "t.parquet")
    frames = TypedFrames({"t": open_source(tmp_path / "t.parquet")})
    assert rows_of(frames.named(OWNED)) == [("a", "a", 1), ("\ufffd", "\ufffd", 2)]


def test_days_beyond_the_years_are_null_in_parquet(tmp_path):
    pq.write_table(pa.table({"d": pa.array([2**30, 0], pa.int32()).cast(pa.date32())}), tmp_path / "t.parquet")
    table = Table(name="t", columns={"d": date()}, unit=PUBLIC)
    found = TypedFrames({"t": open_source(tmp_path / "t.parquet")}).named(table).collect()["c0"].to_list()
    assert [day and day.isoformat() for day in found] == [None, "1970-01-01"]
