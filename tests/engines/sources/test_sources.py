import gzip
from datetime import date as day
from datetime import datetime
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.sources.sources import (
    ArrowData,
    CsvFile,
    LazyData,
    ParquetFile,
    PostgresData,
    SparkData,
    address_of,
    keeps_rows,
    open_in_place,
    open_source,
    readable,
    stored_rows,
    text_columns,
)  # fmt: skip
from sfumato.errors import EngineError, ParameterError
from sfumato.query.model.csv_format import CsvFormat
from sfumato.query.model.schema import Table, date, integer, real, text, timestamp


def csv_source(folder, content, **names):
    path = folder / "t.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return open_source(path, **names)


def test_a_source_is_known_by_its_ending_or_its_kind(tmp_path):
    pq.write_table(pa.table({"v": [1]}), tmp_path / "t.PARQUET")
    assert isinstance(csv_source(tmp_path, "a,b\n"), CsvFile)
    assert isinstance(open_source(str(tmp_path / "t.PARQUET")), ParquetFile)
    for frame in (pa.table({"v": [1]}), pd.DataFrame({"v": [1]}), pl.DataFrame({"v": [1]})):
        assert isinstance(open_source(frame), ArrowData)
        assert open_source(frame).names == ("v",)
    assert isinstance(open_source(pl.LazyFrame({"v": [1]})), LazyData)
    assert open_source(pl.LazyFrame({"v": [1]})).names == ("v",)


@pytest.mark.parametrize("source", [None, 3, [1], {"v": [1]}, object()])
def test_anything_else_is_refused(source):
    with pytest.raises(ParameterError, match="Arrow, pandas or Polars"):
        open_source(source)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere.csv"):
        with pytest.raises(ParameterError, match="existing file"):
            open_source(path)


@pytest.mark.parametrize("content", ["", "\n1,2\n", "a,,b\n", "a,a\n", "a,A\n", " a ,a\n"])
def test_a_header_names_every_column_and_each_once(tmp_path, content):
    with pytest.raises(ParameterError, match="names"):
        csv_source(tmp_path, content)


@pytest.mark.parametrize(
    "frame", [pa.table({"a": [1], "A": [2]}), pa.Table.from_arrays([pa.array([1])] * 2, names=["a", "a"])]
)
def test_names_that_differ_in_case_alone_are_refused(frame):
    with pytest.raises(ParameterError, match="case"):
        open_source(frame)


def test_a_row_in_place_of_a_header_is_not_shown_where_it_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Canary,canary,39\n")
    with pytest.raises(ParameterError, match="case") as caught:
        open_source(path)
    assert "anary" not in str(caught.value)


def test_a_file_that_is_no_parquet_is_an_error_without_its_text(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"canary")
    with pytest.raises(EngineError) as caught:
        open_source(tmp_path / "t.parquet")
    assert "canary" not in str(caught.value)


def test_a_source_does_not_show_its_rows():
    assert "canary" not in repr(open_source(pa.table({"v": ["canary"]})))


def declared(**columns):
    return Table(name="t", columns=columns)


def test_a_frame_is_cut_to_what_is_declared():
    source = readable(open_source(pa.table({"v": [1], "w": ["x"]})), declared(w=text()))
    assert (source.names, source.table.column_names) == (("w",), ["w"])


def test_a_missing_column_is_named_without_the_ones_that_exist(tmp_path):
    source = csv_source(tmp_path, "Alice,42,HIV\n")
    with pytest.raises(ParameterError, match=r"age.*names=") as caught:
        readable(source, declared(age=integer()))
    assert "Alice" not in str(caught.value)


def test_a_format_belongs_to_a_csv_file(tmp_path):
    pq.write_table(pa.table({"v": [1]}), tmp_path / "t.parquet")
    for source in (tmp_path / "t.parquet", pa.table({"v": [1]}), pl.LazyFrame({"v": [1]})):
        with pytest.raises(ParameterError, match="must be a CSV file"):
            open_source(source, csv=CsvFormat())
    for address in ("postgresql://root:canary@db/x?table=t", "spark:t"):
        with pytest.raises(ParameterError, match="must be a CSV file") as caught:
            open_in_place(address, declared(v=integer()), csv=CsvFormat())
        assert "canary" not in str(caught.value)


def test_a_csv_file_is_read_as_its_format_says(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress("Größe;day;no\n1.234,5;31.01.2026;x\n1,2;2026-01-31;y\n".encode("latin-1")))
    form = CsvFormat(delimiter=";", encoding="latin-1", decimal=",", thousands=".", dates="%d.%m.%Y")
    table = declared(Größe=real(), day=date())
    source = readable(open_source(path, csv=form), table)
    assert source.names == ("Größe", "day", "no")
    assert stored_rows(source, table).to_pylist() == [
        {"Größe": "1234.5", "day": "2026-01-31"}, {"Größe": "1.2", "day": None},
    ]  # fmt: skip


def test_only_a_csv_file_may_leave_lines_out(tmp_path):
    assert not keeps_rows(open_source(pl.LazyFrame({"v": [1]})))  # which may read such a file
    assert keeps_rows(open_source(pa.table({"v": [1]})))
    assert not keeps_rows(csv_source(tmp_path, "a,b\n"))


DAY = day(2026, 1, 31)
NOON = datetime.fromisoformat("2026-01-31T12:00")
TIMES = pa.table({"day": [DAY], "at": [NOON]})


def times(folder):
    """The same day and time in every kind of source."""
    pq.write_table(TIMES, folder / "t.parquet")
    (folder / "t.csv").write_text(f"day,at\n{DAY},{NOON}\n", "utf-8")
    return [TIMES, TIMES.to_pandas(), pl.from_arrow(TIMES), folder / "t.parquet", folder / "t.csv"]


def test_days_and_times_are_read_where_they_are_declared(tmp_path):
    for source in times(tmp_path):
        assert set(readable(open_source(source), declared(day=date(), at=timestamp())).names) == {"day", "at"}


def test_days_and_times_are_refused_where_they_are_declared_as_something_else():
    with pytest.raises(ParameterError, match=r"day.*stored as date32"):
        readable(open_source(TIMES), declared(day=integer()))


STORED = Table(name="t", columns={"v": integer(0, 9)})


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_an_address_of_postgres_is_kept_with_what_is_declared_of_its_table(scheme):
    source = open_in_place(f"{scheme}://db/hospital?table=t", STORED)
    assert isinstance(source, PostgresData)
    assert (source.address.name, source.table) == ("t", STORED)
    assert not keeps_rows(source)  # it may be a view


def test_an_address_without_a_table_is_refused():
    with pytest.raises(ParameterError, match=r"schema\.name"):
        open_in_place("postgresql://db/hospital", STORED)


def test_a_name_of_spark_is_kept_without_its_scheme_and_nothing_is_asked_of_it():
    source = open_in_place("spark:catalog.schema.t", STORED)
    assert source == SparkData("catalog.schema.t", STORED)
    assert not keeps_rows(source)


def test_other_sources_are_read_as_for_every_engine(tmp_path):
    assert isinstance(open_in_place(pa.table({"v": [1], "w": [2]}), STORED), ArrowData)
    (tmp_path / "t.csv").write_text("v\n1\n")
    assert open_in_place(tmp_path / "t.csv", STORED, names=None).names == ("v",)
    with pytest.raises(ParameterError):
        open_in_place(Path("spark:t"), STORED)


@pytest.mark.parametrize(
    ("table", "schema", "name"),
    [("visits", None, "visits"), ("public.visits", "public", "visits"),
     ("public.Visits%20of%202026", "public", "Visits of 2026"),
     ("%22my.schema%22.%22a%22%22b%22", "my.schema", 'a"b')],
)  # fmt: skip
def test_a_table_is_named_as_the_catalog_has_it_with_or_without_its_schema(table, schema, name):
    found = address_of(f"postgresql://curator@db.example.org/hospital?table={table}")
    assert (found.schema, found.name) == (schema, name)


def test_all_else_is_libpqs_own():
    found = address_of("postgresql://curator@[::1]:5433/hospital?sslmode=verify-full&table=visits&connect_timeout=5")
    assert found.database == "postgresql://curator@[::1]:5433/hospital?sslmode=verify-full&connect_timeout=5"


@pytest.mark.parametrize(
    "source",
    ["postgresql://curator:s3cret@db/hospital?table=visits", "postgresql://db/hospital?table=visits&password=s3cret",
     "postgres://db/hospital?password=s3cret&table=visits&user=curator"],
)  # fmt: skip
def test_a_password_does_not_show(source):
    found = address_of(source)
    assert "s3cret" in found.database
    assert "s3cret" not in repr(found)


@pytest.mark.parametrize(
    "source",
    ["postgresql://curator:s3cret@db/hospital", "postgresql://curator:s3cret@db/hospital?table=",
     "postgresql://curator:s3cret@db/hospital?table=a.b.c", "postgresql://curator:s3cret@db/hospital?table=a&table=b",
     "postgresql://curator:s3cret@[db/hospital?table=a", "postgresql://curator:s3cret@db/hospital?table"],
)  # fmt: skip
def test_an_address_without_a_table_is_refused_and_its_password_does_not_show(source):
    with pytest.raises(ParameterError, match=r"schema\.name") as caught:
        address_of(source)
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_options_of_the_server_are_handed_on_as_its_library_reads_them():
    found = address_of("postgresql://db/hospital?table=visits&options=-c%20search_path%3Dcare")
    assert found.database.endswith("?options=-c%20search_path%3Dcare")


def test_columns_of_text_are_known_by_their_types_alone(tmp_path):
    table = Table(name="t", columns={name: text() for name in ("words", "coded", "numbers", "nothing")})
    words = pa.array(["1", "2"])
    data = pa.table(
        {"words": words, "coded": words.dictionary_encode(), "numbers": [1, 2], "nothing": pa.array([None] * 2)}
    )
    pq.write_table(data, tmp_path / "t.parquet")
    data.to_pandas().to_csv(tmp_path / "t.csv", index=False)
    for source in (data, pl.from_arrow(data), pl.from_arrow(data).lazy(), tmp_path / "t.parquet"):
        assert set(text_columns(open_source(source), table)) == {"words", "coded"}
        assert set(text_columns(readable(open_source(source), table), table)) == {"words", "coded"}
    assert set(text_columns(open_source(tmp_path / "t.csv"), table)) == set(table.columns)
    objects = open_source(data.to_pandas().astype(object))
    assert set(text_columns(objects, table)) == set(table.columns)
