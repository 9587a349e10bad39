"""What fields mean: field by field, total, and NULL where they do not look as the format says."""

from datetime import date as day
from datetime import datetime

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.engines.csv_oracle import moment, number

from sfumato.engines.sources.csv_files import TEXT, plain_text
from sfumato.query.model.csv_format import THOUSANDS, CsvFormat
from sfumato.query.model.schema import boolean, date, integer, real, text, timestamp
from sfumato.query.values.cells import typed

GERMAN = CsvFormat(delimiter=";", decimal=",", thousands=".", dates=["%d.%m.%Y", "%d.%m.%Y %H:%M"], null=["k.A.", " -"])

AT = datetime.fromisoformat


def plain(column, csv_format, *fields):
    return plain_text(pa.array(fields, TEXT), column, csv_format).to_pylist()


def read(column, csv_format, *fields):
    """As an engine types what it is given."""
    return [typed(cell, column) for cell in plain(column, csv_format, *fields)]


def test_numbers_have_the_comma_and_the_thousands_of_the_format():
    fields = ["1.234.567,5", "-12,25", " 7 ", "1234,5", ",5", "5,", "1e3", "+1.000e-3"]
    assert read(real(), GERMAN, *fields) == [1234567.5, -12.25, 7, 1234.5, 0.5, 5, 1000, 1]
    assert read(integer(), GERMAN, "1.234", "2,5", "true", "-1.000.000") == [1234, 3, 1, -1000000]


def test_what_is_no_number_of_the_format_is_null_and_never_guessed():
    wrong = [
        "1.5",
        "12.34,5",
        "1.2345",
        "1,234.5",
        "1,5,5",
        ".500",
        "1.234.56",
        "1..234",
        "1 234",
        "12,5 kg",
        "€ 3",
        "−3",
    ]
    assert read(real(), GERMAN, *wrong) == [None] * len(wrong)
    assert read(real(), CsvFormat(decimal=","), "1.5", "1,5") == [None, 1.5]
    assert read(real(), CsvFormat(thousands=","), "1,5", "1,500", "1.5") == [None, 1500, 1.5]


@pytest.mark.parametrize("sign", THOUSANDS)
def test_every_sign_between_thousands_is_read(sign):
    form = CsvFormat(decimal="," if sign == "." else ".", thousands=sign)
    assert read(integer(), form, f"1{sign}234{sign}567") == [1234567]


NUMBERS = st.text(st.sampled_from("0123.,-+eE' xé\n"), max_size=9) | st.from_regex(
    r"[+-]?[0-9]{1,3}([.',][0-9]{3}){0,2}[.,]?[0-9]{0,2}", fullmatch=True
)  # fmt: skip


@given(
    written=st.lists(NUMBERS, min_size=1, max_size=20), decimal=st.sampled_from([".", ","]),
    thousands=st.sampled_from([None, ".", ",", "'"]),
)  # fmt: skip
@example(written=["1.000e5", "1.0e5.000", "e", "NaN", "1.000\n"], decimal=",", thousands=".")
def test_numbers_are_as_slow_code_says(written, decimal, thousands):
    form = CsvFormat(delimiter=";", decimal=decimal, thousands=None if thousands == decimal else thousands)
    known = [field.strip(" ") or None for field in written]
    expected = [field and number(field, form) for field in known]
    found = [typed(cell, real()) for cell in plain(real(), form, *written)]
    assert found == [typed(cell, real()) for cell in expected]


def test_days_and_times_are_read_by_the_first_format_that_fits():
    fields = ["31.01.2026", "1.2.2026", "31.01.2026 14:30", "1.2.2026 4:05"]
    assert read(timestamp(), GERMAN, *fields) == [
        AT("2026-01-31"), AT("2026-02-01"), AT("2026-01-31 14:30"), AT("2026-02-01 04:05"),
    ]  # fmt: skip
    assert read(date(), GERMAN, "31.01.2026 23:59") == [day(2026, 1, 31)]


def test_what_is_no_day_of_the_format_is_null_and_never_guessed():
    wrong = ["2026-01-31", "31.02.2026", "31.13.2026", "1.2.26", "31/01/2026", "31.01.2026 25:00", "31.01.2026 ", "x"]
    assert read(date(), GERMAN, *wrong) == [None] * 6 + [day(2026, 1, 31), None]
    american = CsvFormat(dates="%m/%d/%Y")
    assert read(date(), american, "1/31/2026", "31/1/2026") == [day(2026, 1, 31), None]


@given(
    st.lists(st.datetimes(AT("1000-01-01")), min_size=1, max_size=9),
    st.sampled_from(["%d.%m.%Y", "%Y%m%d", "%m/%d/%Y %H:%M", "%d-%m-%YT%H:%M:%S.%f", "%Y%m%d%H%M%S"]),
    st.integers(0, 3),
)
def test_what_strptime_reads_is_read_alike(moments, written, cut):
    form = CsvFormat(dates=written)
    fields = [one.strftime(written) for one in moments]
    fields += [field[: len(field) - cut] for field in fields]
    for field, found in zip(fields, read(timestamp(), form, *fields), strict=True):
        assert found is None or found == moment(field, form), field
        assert found is not None or cut or moment(field, form) is None


def test_words_for_null_are_null_in_every_column():
    for column in (text(), integer(), real(), date(), boolean()):
        assert plain(column, GERMAN, "k.A.", " k.A. ", "", "  ") == [None] * 4
    assert plain(text(), GERMAN, "-", "k.a.", "--") == [None, "k.a.", "--"]


def test_other_columns_keep_their_text():
    for column in (text(), boolean()):
        assert plain(column, GERMAN, "1.234,5", " 31.01.2026 ", "x y") == ["1.234,5", "31.01.2026", "x y"]


def test_only_spaces_are_taken_off():
    assert plain(text(), CsvFormat(), " \t\u00a0x ", "\u2003", "\x00") == ["\t\u00a0x", "\u2003", "\x00"]


COLUMNS = st.sampled_from([text(), integer(), real(), date(), timestamp()])


@given(st.lists(st.text(max_size=9), min_size=1, max_size=9), COLUMNS)
def test_a_field_is_read_alike_whatever_stands_beside_it(fields, column):
    assert plain(column, GERMAN, *fields) == [plain(column, GERMAN, field)[0] for field in fields]
