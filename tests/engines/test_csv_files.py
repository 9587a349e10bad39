"""A CSV file, row by row: no cell makes a row vanish, ends it early, or raises."""

import csv

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.engines.csv_files import batches, header, rows
from sfumato.errors import ParameterError


def read(folder, content, names=None):
    path = folder / "t.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return [list(row) for row in rows(path, names=names or header(path), has_header=names is None)]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("a,b\n1, x \n", [["1", "x"]]),
        ("a,b\n\n1\n1,2,3\n", [["1", None], ["1", "2"]]),
        ('a,b\n"x, ""y""","z\nz"\n', [['x, "y"', "z\nz"]]),
        (b"\xef\xbb\xbfa,b\r\n1,\xff\r\n\xc3\xa9,2\r\n", [["1", "\ufffd"], ["é", "2"]]),
        ("a\n1\n\n2\n", [["1"], [None], ["2"]]),
        ("a\n" + "x" * 300_000 + "\n", [["x" * 300_000]]),
        ("a,b\n1,x\ry\rz\n2,x\n", [["1", "x y z"], ["2", "x"]]),
        ("a,b\r\n1,x\ry\r\n", [["1", "x y"]]),
        ("a,b\n1,x\x00y", [["1", "x\x00y"]]),
    ],
)
def test_rows_are_text_cut_or_filled_to_their_names(tmp_path, content, found):
    assert read(tmp_path, content) == found


def test_a_file_without_a_header_starts_with_its_first_row(tmp_path):
    assert read(tmp_path, b"\xef\xbb\xbf1,2\n", names=("a", "b")) == [["1", "2"]]


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=6)


@given(st.lists(st.tuples(CELLS, CELLS), max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_what_a_writer_wrote_has_as_many_rows_as_it_wrote(tmp_path_factory, written, line_end):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator=line_end).writerows([("first", "second"), *written])
    assert sum(1 for _ in rows(path, names=("first", "second"), has_header=True)) == len(written)


def test_batches_hold_the_wanted_columns_of_all_rows():
    records = [(str(i), None, "x") for i in range(45_000)]
    table = batches(records, names=("a", "b", "c"), wanted=["c", "a"]).read_all()
    assert table.column_names == ["c", "a"]
    assert (table.num_rows, table.column("a")[44_999].as_py()) == (45_000, "44999")


def test_a_batch_holds_more_text_than_offsets_of_32_bits_can_tell_apart():
    read = batches([("x", None)], names=("a", "b"), wanted=["a", "b"])
    assert set(read.schema.types) == {pa.large_string()}
    assert read.read_all().to_pylist() == [{"a": "x", "b": None}]


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="can be read"):
        header(tmp_path)
