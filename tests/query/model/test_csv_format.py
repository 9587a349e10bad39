"""How a CSV file is written, as a policy says it."""

from dataclasses import FrozenInstanceError

import pytest

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.query.model.csv_format import ENCODINGS, CsvFormat, date_pattern


def test_what_is_not_stated_is_rfc_4180_in_utf_8():
    plain = CsvFormat()
    assert (plain.delimiter, plain.encoding, plain.dates, plain.null) == (",", "utf-8", (), ())
    assert plain.reads_numbers_as_they_are
    assert not CsvFormat(decimal=",").reads_numbers_as_they_are
    assert not CsvFormat(thousands=",").reads_numbers_as_they_are


def test_a_format_is_a_frozen_value_and_equal_ones_are_equal():
    one = CsvFormat(encoding="Latin_1", dates="%d.%m.%Y", null=["", "NA "])
    assert one == CsvFormat(encoding="ISO-8859-1", dates=["%d.%m.%Y"], null=("", "NA"))
    with pytest.raises(FrozenInstanceError):
        one.delimiter = ";"


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("delimiter", wrong) for wrong in ("", ";;", "a", "0", '"', "\n", "\r", " ", "\0", "§", None, 3, b";")),
        *(("encoding", wrong) for wrong in ("", "utf-7", "idna", "rot13", "euc_jp", "hex", "\0", None, 8)),
        *(("decimal", wrong) for wrong in ("", ";", "٫", None, [".", ","], [","])),
        *(("thousands", wrong) for wrong in ("", "x", "..", ";", 3, ["."])),
        *(("dates", wrong) for wrong in ("", "%d.%m", "%d.%m.%y", "%d.%m.%Y%", "%d %b %Y", "%Y-%m-%d %H", 3, [3])),
        *(("dates", wrong) for wrong in ("%Y%m%d%H%M%S%f", "%Y-%m-%d %d", "7 %Y-%m-%d", ["%d.%m.%Y", "iso"], b"%Y")),
        *(("null", wrong) for wrong in (3, [3], None, ["\ud800"], [None])),
        *(("skip_lines", wrong) for wrong in (-1, 10_001, 1.0, True, None, "1")),
    ],
)  # fmt: skip
def test_what_cannot_be_read_or_in_two_ways_is_refused(name, wrong):
    with pytest.raises(ParameterError) as caught:
        CsvFormat(**{name: wrong})
    assert caught.value.name == name


def test_a_point_is_not_both_between_thousands_and_before_fractions():
    for sign in ".,":
        with pytest.raises(ParameterError, match="not the decimal point"):
            CsvFormat(decimal=sign, thousands=sign)


def test_every_encoding_that_is_read_can_be_stated():
    assert {CsvFormat(encoding=name).encoding for name in ENCODINGS} == ENCODINGS
    assert CsvFormat(encoding="utf-8-sig").encoding == CsvFormat(encoding="UTF8").encoding == "utf-8"


def test_one_digit_is_enough_where_no_other_directive_is_next():
    assert date_pattern("%Y%m%d") == "(?P<Y>[0-9]{4})(?P<m>[0-9]{2})(?P<d>[0-9]{2})"
    assert date_pattern("%d/%m/%Y").startswith("(?P<d>[0-9]{1,2})/(?P<m>[0-9]{1,2})/")
    assert "[0-9]{2}" in date_pattern("%d.%m.%Y %H%M")


def test_a_source_says_in_short_how_its_file_is_written(tmp_path):
    facts = sf.csv(tmp_path / "t.csv", delimiter=";", decimal=",", names=["a", "b"])
    assert (facts.source, facts.names) == (tmp_path / "t.csv", ("a", "b"))
    assert facts.csv == sf.CsvFormat(delimiter=";", decimal=",")
    for wrong in (lambda: sf.csv(3), lambda: sf.csv("t.csv", names="ab"), lambda: sf.SourceFacts(source="t", csv=";")):
        with pytest.raises(ParameterError):
            wrong()
