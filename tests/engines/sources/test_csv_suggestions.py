"""A format is suggested where it finds every declared column in the header; a row in its place is not told of."""

import gzip

import pytest

from sfumato.engines.sources.csv_suggestions import suggestion
from sfumato.engines.sources.sources import open_source, readable
from sfumato.errors import ParameterError
from sfumato.query.model.csv_format import DEFAULT_FORMAT, CsvFormat
from sfumato.query.model.schema import Table, integer, text

WANTED = ("Größe", "Ward")


def stored(folder, data, name="t.csv"):
    path = folder / name
    path.write_bytes(data)
    return path


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
