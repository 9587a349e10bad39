from datetime import date, datetime
from fractions import Fraction

import pytest
from pydantic import ValidationError

from sfumato.errors import PolicyError
from sfumato.query.model import schema
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import text
from sfumato.query.policy.document import ColumnEntry, TableEntry, column_of, origin_of
from sfumato.query.policy.policy import Place

NOON = datetime.fromisoformat("2026-01-31T12:00")


def test_values_keep_the_types_that_the_file_gives_them():
    written = [True, 1, "1", date(2026, 1, 31), datetime.fromisoformat("2026-01-31")]
    read = ColumnEntry(values=written).values
    assert read is not None
    assert [(type(value), value) for value in read] == [(type(value), value) for value in written]


def test_what_is_not_listed_is_refused_because_a_slip_must_not_pass_in_silence():
    with pytest.raises(ValidationError, match="bound"):
        ColumnEntry.model_validate({"bound": [0, 1]})


@pytest.mark.parametrize("unique", ["code", [1], [["a", 1]]])
def test_uniqueness_is_a_list_of_columns_and_lists_of_columns(unique):
    with pytest.raises(ValidationError, match="unique"):
        TableEntry.model_validate({"source": "t.csv", "unit": "public", "columns": {}, "unique": unique})


WARDS = TableEntry.model_validate(
    {"source": "wards.csv", "unit": "public", "columns": {"code": {"type": "text"}, "beds": {}}}
)


def column(**entry):
    return column_of("here", ColumnEntry.model_validate(entry), {"wards": WARDS})


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True, False], Kind.BOOLEAN),
        ([1, 2], Kind.INTEGER),
        (["a"], Kind.TEXT),
        ([date(2026, 1, 31)], Kind.DATE),
        ([datetime.fromisoformat("2026-01-31T12:00")], Kind.TIMESTAMP),
    ],
)
def test_listed_keys_say_their_kind(values, kind):
    made = column(values=values)
    assert (made.kind, made.values) == (kind, tuple(values))


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_can_be_stated(kind):
    assert column(type=kind.value).kind is kind


def test_only_a_float_has_a_finer_lattice_than_whole_numbers_when_none_is_stated():
    assert [column(type=kind).resolution for kind in ("float", "integer", "date")] == [Fraction(1, 100), 1, 1]


def test_dates_and_timestamps_have_bounds_with_quotes_or_without():
    for ends in ([date(2020, 1, 1), date(2026, 12, 31)], ["2020-01-01", "2026-12-31"]):
        assert column(type="date", bounds=ends) == schema.date("2020-01-01", "2026-12-31")
    for ends in ([NOON, NOON.replace(hour=13)], ["2026-01-31 12:00", "2026-01-31T13:00:00"]):
        assert column(type="timestamp", bounds=ends) == schema.timestamp(NOON, NOON.replace(hour=13))


def test_keys_from_a_public_table_have_its_kind():
    assert column(values_from="wards.code").kind is Kind.TEXT
    assert column(values_from="wards.code").values is None
    assert column(type="text", values_from="wards.code").kind is Kind.TEXT


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, "needs a type"),
        ({"values_from": "wards.beds"}, "needs a type"),
        ({"values_from": "wards.nosuch"}, "needs a type"),
        ({"values_from": "nosuch.code"}, "needs a type"),
        ({"values": [1, "a"]}, "of one type"),
        ({"values": [date(2026, 1, 31), datetime.fromisoformat("2026-01-31")]}, "of one type"),
        ({"values": ["a"], "values_from": "wards.code"}, "not both"),
        ({"type": "date", "values": ["2026-01-31"]}, "cannot be a key"),
        ({"type": "date", "bounds": [0, 1]}, "must be a date"),
        ({"type": "date", "bounds": [date(2026, 1, 1), NOON]}, "must be a date"),
        ({"type": "timestamp", "bounds": [date(2026, 1, 1), NOON]}, "must be a timestamp"),
        ({"type": "integer", "bounds": [date(2026, 1, 1), date(2026, 1, 2)]}, "must be a number"),
        ({"type": "text", "bounds": [0, 1]}, "belong to a number"),
        ({"type": "date", "bounds": ["2026-01-01", "2027-01-01"], "nullable": False}, "belongs to numbers"),
        ({"type": "float", "bounds": [1, 0]}, "below the upper"),
        ({"type": "integer", "max_length": 9}, "belongs to text"),
        ({"type": "text", "max_length": 0}, "from 1"),
        ({"values": ["abc"], "max_length": 2}, "declare a larger max_length"),
    ],
)
def test_a_column_that_makes_no_sense_is_refused_with_its_place(entry, message):
    with pytest.raises(PolicyError, match=f"at here: .*{message}"):
        column(**entry)


def test_an_origin_is_a_table_and_a_column():
    assert origin_of("wards.code") == Place("wards", "code")
    assert origin_of("wards") == Place("wards", "")


def test_the_length_of_text_is_declared():
    assert column(type="text", max_length=80) == text(max_length=80)
    assert column(type="text") == text(max_length=256)
