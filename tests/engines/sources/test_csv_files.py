"""A CSV file, row by row: no cell makes a row vanish, ends it early, or raises."""

import csv
from contextlib import contextmanager

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.engines.csv_oracle import rows

from sfumato.engines.sources import csv_files, csv_text
from sfumato.engines.sources.csv_files import batches, header
from sfumato.errors import ParameterError
from sfumato.query.model.csv_format import DEFAULT_FORMAT, CsvFormat
from sfumato.query.model.schema import text


def stored(folder, content):
    path = folder / "t.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def table(path, *, names=None, wanted=None, csv_format=DEFAULT_FORMAT):
    """The columns of a file as engines see them, all of them declared as text."""
    known = names or header(path, csv_format)
    declared = {name: text() for name in wanted or known}
    return batches(
        path, names=known, has_header=names is None, columns=declared, csv_format=csv_format
    ).read_all()  # fmt: skip


def read(folder, content, names=None, csv_format=DEFAULT_FORMAT):
    found = table(stored(folder, content), names=names, csv_format=csv_format)
    return [list(row.values()) for row in found.to_pylist()]


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
        ("a,b\n1,x\ry,z\n2,x\n", [["1", "x y"], ["2", "x"]]),  # two lines of two fields to who ends lines in CR
        ("a\n1\r2\n3\n", [["1 2"], ["3"]]),
        ("a,b\n1,x\x00y", [["1", "x\x00y"]]),
        ("a,b\n\ufeff1,x\n", [["\ufeff1", "x"]]),
        ("a,b\n", []),
    ],
)
def test_rows_are_text_cut_or_filled_to_their_names(tmp_path, content, found):
    assert read(tmp_path, content) == found


def test_a_file_without_a_header_starts_with_its_first_row(tmp_path):
    assert read(tmp_path, b"\xef\xbb\xbf1,2\n", names=("a", "b")) == [["1", "2"]]


def test_lines_before_the_header_are_left_out(tmp_path):
    form = CsvFormat(delimiter=";", skip_lines=2)
    assert read(tmp_path, 'sep=;\n"title\na;b\n1;2\n', csv_format=form) == [["1", "2"]]
    assert read(tmp_path, "sep=;\n\n1;2\n", names=("a", "b"), csv_format=form) == [["1", "2"]]
    assert read(tmp_path, "one line", names=("a", "b"), csv_format=form) == []


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=6)


@given(st.lists(st.tuples(CELLS, CELLS), max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_what_a_writer_wrote_has_as_many_rows_as_it_wrote(tmp_path_factory, written, line_end):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator=line_end).writerows([("first", "second"), *written])
    assert table(path, wanted=["first"]).num_rows == len(written)


PIECES = st.sampled_from([
    "\n", "\n", "\r\n", ";", ";", ";;", "1;2", "é;ß\n", '"', '""', '"x\n;"', "\r", " ", "\ufeff", "\x00", "\udcff",
    "abcdefg;h\n", "\u2028", "\x1c\x85",
])  # fmt: skip
"""What files are made of; half a surrogate pair stands for a byte that is no text."""


@contextmanager
def small_blocks():
    with pytest.MonkeyPatch.context() as changes:
        changes.setattr(csv_text, "BLOCK", 7)
        changes.setattr(csv_files, "_LEAST", 3)
        changes.setattr(csv_files, "_BATCH", 20)
        yield


@pytest.mark.parametrize("names", [("a",), ("a", "b"), ("a", "b", "c")])
@given(pieces=st.lists(PIECES, max_size=30), has_header=st.booleans(), skipped=st.integers(0, 2))
@example(pieces=["1;2\n", "\ufeff1;2\n"] * 3, has_header=True, skipped=0)
@example(pieces=["1;2\n", '3;"4\n', '5;6"\n', "7;8\n"] * 4, has_header=False, skipped=0)
def test_blocks_for_arrow_and_blocks_for_python_are_read_as_one_file(
    tmp_path_factory, names, pieces, has_header, skipped
):
    path, form = tmp_path_factory.mktemp("csv") / "t.csv", CsvFormat(delimiter=";", skip_lines=skipped)
    path.write_bytes("".join(pieces).encode(errors="surrogateescape"))
    declared = dict.fromkeys(names, text())
    with small_blocks():
        found = batches(path, names=names, has_header=has_header, columns=declared, csv_format=form).read_all()
    expected = list(rows(path, names=names, has_header=has_header, csv_format=form))
    assert [list(row.values()) for row in found.to_pylist()] == expected


def by_python(monkeypatch):
    """The blocks that the reader of Python is given from now on."""
    seen, reader = [], csv_files._irregular

    def recorded(block, *others):
        seen.append(block)
        return reader(block, *others)

    monkeypatch.setattr(csv_files, "_irregular", recorded)
    return seen


LINES = [f"{i},ward {i % 7},{i / 7:.3f}\n" for i in range(30_000)]


def test_regular_files_are_read_by_arrow_alone(tmp_path, monkeypatch):
    slow = by_python(monkeypatch)
    assert table(stored(tmp_path, "".join(["a,b,c\n", *LINES]))).num_rows == 30_000
    assert slow == []


@pytest.mark.parametrize("cell", ['"17,5"', "x\ry", "x,y", '"x\ny"', '"' + "z,\n" * 40_000 + '"'])
def test_one_cell_gives_python_a_few_thousand_characters_to_read_and_the_rest_to_arrow(tmp_path, monkeypatch, cell):
    slow = by_python(monkeypatch)
    lines = [*LINES[:15_000], f"15000,ward,{cell}\n", *LINES[15_001:]]
    found = table(stored(tmp_path, "".join(["a,b,c\n", *lines])))
    assert (found.num_rows, found["a"].to_pylist()) == (30_000, [str(i) for i in range(30_000)])
    assert 1 <= len(slow) <= 2
    assert all(len(block) <= csv_files._LEAST + 100 for block in slow)


def test_batches_hold_the_wanted_columns_of_all_rows(tmp_path):
    path = stored(tmp_path, "a,b,c\n" + "".join(f"{i},,x\n" for i in range(45_000)))
    found = table(path, wanted=["c", "a"])
    assert found.column_names == ["c", "a"]
    assert (found.num_rows, found.column("a")[44_999].as_py()) == (45_000, "44999")


def test_a_batch_holds_more_text_than_offsets_of_32_bits_can_tell_apart(tmp_path):
    found = table(stored(tmp_path, "a,b\nx,\n"))
    assert set(found.schema.types) == {pa.large_string()}
    assert found.to_pylist() == [{"a": "x", "b": None}]


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="can be read"):
        header(tmp_path)
