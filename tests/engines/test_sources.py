import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.sources import ArrowData, CsvFile, ParquetFile, csv_rows, open_source
from sfumato.errors import EngineError, ParameterError


def csv_source(folder, content, **names):
    path = folder / "t.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return open_source(path, **names)


def test_a_source_is_known_by_its_ending_or_its_kind(tmp_path):
    pq.write_table(pa.table({"v": [1]}), tmp_path / "t.PARQUET")
    assert isinstance(csv_source(tmp_path, "a,b\n"), CsvFile)
    assert isinstance(open_source(str(tmp_path / "t.PARQUET")), ParquetFile)
    for frame in (pa.table({"v": [1]}), pd.DataFrame({"v": [1]}), pl.DataFrame({"v": [1]}), pl.LazyFrame({"v": [1]})):
        assert isinstance(open_source(frame), ArrowData)
        assert open_source(frame).names == ("v",)


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


def test_a_file_that_is_no_parquet_is_an_error_without_its_text(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"canary")
    with pytest.raises(EngineError) as caught:
        open_source(tmp_path / "t.parquet")
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("a,b\n1, x \n", [["1", "x"]]),
        ("a,b\n\n1\n1,2,3\n", [["1", None], ["1", "2"]]),
        ('a,b\n"x, ""y""","z\nz"\n', [['x, "y"', "z\nz"]]),
        (b"\xef\xbb\xbfa,b\r\n1,\xff\r\n\xc3\xa9,2\r\n", [["é", "2"]]),
        ("a\n1\n\n2\n", [["1"], [None], ["2"]]),
        ("a\n" + "x" * 300_000 + "\n", [["x" * 300_000]]),
    ],
)
def test_csv_rows_are_text_cut_or_filled_to_their_names(tmp_path, content, rows):
    assert list(csv_rows(csv_source(tmp_path, content))) == rows


def test_a_file_without_a_header_starts_with_its_first_row(tmp_path):
    source = csv_source(tmp_path, b"\xef\xbb\xbf1,2\n", names=("a", "b"))
    assert list(csv_rows(source)) == [["1", "2"]]


def test_objects_of_a_pandas_column_become_text_one_by_one():
    column = pd.Series([1, 2.5, True, "x", None, float("nan"), pd.NA, pd.NaT, {"a": 1}, "\ud800"], dtype=object)
    table = open_source(pd.DataFrame({"v": column})).table
    assert table.column("v").to_pylist() == ["1", "2.5", "True", "x", None, None, None, None, "{'a': 1}", "?"]


def test_a_source_does_not_show_its_rows():
    assert "canary" not in repr(open_source(pa.table({"v": ["canary"]})))


@pytest.mark.parametrize("kind", [pa.float16(), pa.decimal256(50, 2)])
def test_a_type_that_engines_cannot_read_is_refused_when_the_source_is_opened(kind):
    with pytest.raises(ParameterError, match="cast it to a double"):
        open_source(pa.table({"v": pa.array([None], kind)}))
