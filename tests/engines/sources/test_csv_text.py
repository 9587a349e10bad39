"""The text of CSV files: unpacked and decoded whatever they hold, in blocks that end where lines end."""

import gzip
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.engines.sources import csv_text
from sfumato.engines.sources.csv_text import blocks, check_is_csv, start, suggestion
from sfumato.engines.sources.sources import open_source, readable
from sfumato.errors import ParameterError
from sfumato.query.model.csv_format import DEFAULT_FORMAT, ENCODINGS, CsvFormat
from sfumato.query.model.schema import Table, integer, text

TEXT = "name;city\nAda;Zürich\r\nBea;Łódź €\n" * 40 + "Cleo;Rom"
PACKED = {"csv": bytes, "csv.gz": gzip.compress, "csv.zst": lambda data: pa.compress(data, "zstd", asbytes=True)}


def stored(folder, data, name="t.csv"):
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-8-sig"])
def test_a_file_is_unpacked_and_decoded_to_blocks_of_whole_lines(tmp_path, monkeypatch, ending, encoding):
    monkeypatch.setattr(csv_text, "BLOCK", 37)
    path = stored(tmp_path, PACKED[ending](TEXT.encode(encoding)), f"t.{ending}")
    found = list(blocks(path, encoding.removesuffix("-sig")))
    assert "".join(found) == TEXT
    assert len(found) > 10
    assert all(block.endswith("\n") for block in found[:-1])


def test_members_of_an_archive_that_was_appended_to_are_all_read(tmp_path):
    for ending, packed in PACKED.items():
        path = stored(tmp_path, packed(b"a\n1\n") + packed(b"2\n"), f"t.{ending}")
        assert "".join(blocks(path, "utf-8")) == "a\n1\n2\n"


@pytest.mark.parametrize("ending", ["csv.gz", "csv.zst"])
@pytest.mark.parametrize("harm", [lambda data: data[:-9], lambda data: data + b"more", lambda _: b"a,b\n1,2\n"])
def test_a_damaged_archive_is_an_error_and_no_shorter_file(tmp_path, ending, harm):
    path = stored(tmp_path, harm(PACKED[ending](TEXT.encode() * 50)), f"t.{ending}")
    with pytest.raises(OSError, match=r"."):
        list(blocks(path, "utf-8"))


def test_a_packed_file_is_told_by_its_name_alone(tmp_path):
    path = stored(tmp_path, gzip.compress(b"a\n1\n"), "t.csv")
    assert "".join(blocks(path, "latin-1")).encode("latin-1") == path.read_bytes()


BYTES = st.lists(st.sampled_from([10, 13, 34, 44, 59, 9]) | st.integers(0, 255), max_size=40).map(bytes)


@example(data=b"\n\n", encoding="utf-16", size=1)
@given(data=BYTES, encoding=st.sampled_from(sorted(ENCODINGS)), size=st.integers(1, 9))
def test_no_bytes_make_a_read_fail_and_blocks_change_no_text(tmp_path_factory, data, encoding, size):
    path = stored(tmp_path_factory.mktemp("csv"), data)
    with pytest.MonkeyPatch.context() as changes:
        changes.setattr(csv_text, "BLOCK", size)
        found = list(blocks(path, encoding))
    assert "".join(found) == data.decode(encoding, "replace").removeprefix("\ufeff")
    assert all(block.endswith("\n") for block in found[:-1])
    assert "" not in found
    "".join(found).encode()  # no half of a surrogate pair


@given(data=BYTES, encoding=st.sampled_from([one for one in sorted(ENCODINGS) if "16" not in one or one[0] != "u"]))
def test_bytes_that_are_no_text_hide_no_line_no_quotation_mark_and_no_delimiter_after_them(data, encoding):
    text = data.decode(encoding, "replace")
    assert [text.count(chr(sign)) for sign in b'\n\r",;\t'] == [data.count(sign) for sign in b'\n\r",;\t']


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("t.zip", "Unpack it"), ("t.XLSX", "Save its sheet as CSV"), ("t.ods", "read_excel"), ("t.tar", "Unpack it"),
        ("t.csv.bz2", r"\.csv\.gz"),
    ],
)  # fmt: skip
def test_what_is_no_csv_file_by_its_name_is_refused_with_the_way_out(tmp_path, name, way_out):
    with pytest.raises(ParameterError, match=way_out):
        check_is_csv(stored(tmp_path, b"a,b\n", name), "utf-8", has_header=False)


@pytest.mark.parametrize(
    ("first", "way_out"),
    [
        (b"PK\x03\x04rest", "archive or a workbook"), (b"\xd0\xcf\x11\xe0", "workbook"), (b"PAR1", r"\.parquet"),
        (b"\x1f\x8b\x08\x00", r"\.gz"), (b"\x28\xb5\x2f\xfd", r"\.zst"),
    ],
)  # fmt: skip
def test_other_files_are_known_by_their_beginning_where_a_header_should_be(tmp_path, first, way_out):
    path = stored(tmp_path, first)
    with pytest.raises(ParameterError, match=way_out):
        check_is_csv(path, "utf-8", has_header=True)
    check_is_csv(path, "utf-8", has_header=False)  # it may be the first cell of somebody


def test_utf_16_says_the_order_of_its_bytes(tmp_path):
    path = stored(tmp_path, "a;b\n".encode("utf-16-be"))
    for has_header in (False, True):
        with pytest.raises(ParameterError, match="utf-16-le or utf-16-be"):
            check_is_csv(path, "utf-16", has_header=has_header)
    check_is_csv(path, "utf-16-be", has_header=True)
    check_is_csv(stored(tmp_path, gzip.compress("a;b\n".encode("utf-16")), "t.gz"), "utf-16", has_header=True)


def test_a_file_that_cannot_be_read_is_refused_by_its_name():
    for ask in (lambda path: start(path, 9), lambda path: check_is_csv(path, "utf-8", has_header=True)):
        with pytest.raises(ParameterError, match="can be read"):
            ask(Path("nowhere.csv"))


WANTED = ("Größe", "Ward")


@pytest.mark.parametrize(
    ("header", "encoding", "suggested"),
    [
        ("Ward;Größe\n", "utf-8", 'with delimiter=";":'),
        ("Ward\tGröße\r\n", "utf-8", r'with delimiter="\t":'),
        ("Ward,Größe\n", "latin-1", 'with encoding="latin-1":'),
        ('"Ward"|"Größe"\n', "cp850", 'with delimiter="|", encoding="cp850":'),
        ("Ward;Größe\n", "utf-16", 'with delimiter=";", encoding="utf-16":'),
        ("Ward;Größe\n", "utf-16-le", 'with delimiter=";", encoding="utf-16-le":'),
        ("sep=;\nWard;Größe\n", "utf-8", 'with delimiter=";", skip_lines=1:'),
        ("Report of May\n\nWard,Größe\n", "latin-1", 'with encoding="latin-1", skip_lines=2:'),
    ],
)
def test_what_finds_all_columns_is_suggested(tmp_path, header, encoding, suggested):
    path = stored(tmp_path, f"{header}A{header[4]}180\n".encode(encoding))
    assert suggested in suggestion(path, DEFAULT_FORMAT, WANTED)


def test_what_was_stated_stays_and_only_the_rest_is_suggested(tmp_path):
    path = stored(tmp_path, "Größe;Ward\n".encode("latin-1"))
    stated = CsvFormat(delimiter=";", decimal=",", null=["NA"])
    assert '(path, delimiter=";", encoding="latin-1", decimal=",", null=(\'NA\',))' in suggestion(path, stated, WANTED)


def test_a_header_that_is_packed_is_looked_at_too(tmp_path):
    path = stored(tmp_path, gzip.compress("Größe;Ward\n".encode()), "t.csv.gz")
    assert 'delimiter=";"' in suggestion(path, DEFAULT_FORMAT, WANTED)


def test_semicolons_remind_of_the_comma_in_numbers(tmp_path):
    path = stored(tmp_path, "Größe;Ward\n".encode())
    assert 'decimal=","' in suggestion(path, DEFAULT_FORMAT, WANTED)
    assert "too" not in suggestion(path, CsvFormat(decimal=","), WANTED)


def test_a_row_in_place_of_the_header_suggests_nothing(tmp_path):
    for row in (b"Canary;180\n", b"Canary;Ward\n", b"", b"\0\0\0", b'"'):
        assert suggestion(stored(tmp_path, row), DEFAULT_FORMAT, WANTED) is None


def test_of_one_column_no_line_after_the_first_is_looked_at(tmp_path):
    path = stored(tmp_path, b"illness\nflu\ngout\n")
    assert suggestion(path, DEFAULT_FORMAT, ["gout"]) is None


def test_the_error_of_a_session_suggests_and_the_format_is_never_used_by_itself(tmp_path):
    path, table = stored(tmp_path, b"age;ward\n7;A\n"), Table(name="t", columns={"age": integer(0, 9), "ward": text()})
    with pytest.raises(ParameterError, match=r'spelling.*found with delimiter=";": sf\.csv\(path, delimiter=";"\)'):
        readable(open_source(path), table)
    assert readable(open_source(path, csv=CsvFormat(delimiter=";")), table).names == ("age", "ward")


def test_where_the_owner_says_that_there_is_no_header_nothing_is_looked_for(tmp_path):
    path, table = stored(tmp_path, b"age;ward\n"), Table(name="t", columns={"age": integer(0, 9)})
    with pytest.raises(ParameterError) as caught:
        readable(open_source(path, names=("a", "b")), table)
    assert "delimiter" not in str(caught.value)
