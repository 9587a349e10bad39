from datetime import UTC, datetime
from datetime import date as day
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.query.model.columns import Column, boolean, date, integer, real, text, timestamp, unicode_text
from sfumato.query.model.kinds import Kind

DAY = day(2026, 1, 31)
NOON = datetime.fromisoformat("2026-01-31T12:00")

WRONG_COLUMNS = [
    (lambda: integer(9, 1), "below the upper"),
    (lambda: integer(0.5, 9), "whole numbers"),
    (lambda: text(values="ab"), "list of keys"),
    (lambda: integer(1, 1), "below the upper"),
    (lambda: integer(1), "both a lower and an upper"),
    (lambda: integer(upper=1), "both a lower and an upper"),
    (lambda: integer("a", 1), "finite"),
    (lambda: integer(0, float("inf")), "finite"),
    (lambda: integer(True, 2), "number"),
    (lambda: integer(0, 2**54), "2\\^53"),
    (lambda: real(0, 1, resolution="1e-17"), "2\\^53"),
    (lambda: real(0, 1, resolution=0), "above 0"),
    (lambda: real(0, 1, resolution=-1), "above 0"),
    (lambda: real(0, "1e-390", resolution="1e-400"), "1e-100"),
    (lambda: real(0, "1e399", resolution="1e399"), "1e100"),
    (lambda: real(nullable=False), "bounds"),
    (lambda: integer(values=[1, True]), "cannot be a key"),
    (lambda: integer(values=[1.0]), "cannot be a key"),
    (lambda: text(values=[1]), "cannot be a key"),
    (lambda: text(values=["\ud800"]), "Unicode"),
    (lambda: text(values=[]), "at least one"),
    (lambda: text(values=["a", "a"]), "once"),
    (lambda: Column(kind=Kind.FLOAT, values=(1,)), "cannot be a key"),
    (lambda: Column(kind=Kind.TEXT, lower=Fraction(0), upper=Fraction(1)), "belong to a number"),
    (lambda: Column(kind=Kind.INTEGER, resolution=Fraction(1, 2)), "unless the column is a float"),
    (lambda: date(values=[NOON]), "cannot be a key"),
    (lambda: text(max_length=0), "from 1"),
    (lambda: text(max_length=2**20 + 1), "from 1"),
    (lambda: text(max_length=True), "from 1"),
    (lambda: text(values=["ab", "abc"], max_length=2), "declare a larger max_length"),
    (lambda: text(values=["a" * 257]), "declare a larger max_length"),
    (lambda: Column(kind=Kind.TEXT, values=("a" * 257,), max_length=300, is_id=True), "at most 256 characters"),
    (lambda: Column(kind=Kind.INTEGER, max_length=9), "belongs to text"),
    (lambda: Column(kind=Kind.DATE, is_id=True), "belongs to text"),
    (lambda: date(values=["2026-01-31"]), "cannot be a key"),
    (lambda: timestamp(values=[DAY]), "cannot be a key"),
    (lambda: timestamp(values=[NOON.replace(tzinfo=UTC)]), "without a time zone"),
    (lambda: integer(values=[DAY]), "cannot be a key"),
    (lambda: Column(kind=Kind.DATE, lower=Fraction(0), upper=Fraction(1)), "years 1 to 9999"),
    (lambda: Column(kind=Kind.BOOLEAN, lower=Fraction(0), upper=Fraction(1)), "belong to a number, a date"),
    (lambda: date("2026-01-31", "2026-01-31"), "2026-01-31.*below the upper"),
    (lambda: date("2026-01-31"), "both a lower and an upper"),
    (lambda: date("2026-02-30", "2026-03-01"), "e.g. 2026-01-31"),
    (lambda: date(1, 2), "e.g. 2026-01-31"),
    (lambda: date(NOON, "2026-12-31"), "must be a date"),
    (lambda: date("2026-01-31 12:00", "2026-12-31"), "must be a date"),
    (lambda: timestamp(DAY, NOON), "must be a timestamp"),
    (lambda: timestamp("2026-01-01", "2026-12-31"), "must be a timestamp"),
    (lambda: timestamp(NOON, NOON.replace(year=2027, tzinfo=UTC)), "without a time zone"),
    (lambda: timestamp(NOON, "2027-01-01T00:00:00+01:00"), "without a time zone"),
    (lambda: integer(DAY, DAY), "must be a number"),
    (lambda: Column(kind=Kind.DATE, lower=Fraction(1), upper=Fraction(9), nullable=False), "belongs to numbers"),
]


@pytest.mark.parametrize(("declared", "message"), WRONG_COLUMNS)
def test_a_declaration_that_makes_no_sense_is_refused(declared, message):
    with pytest.raises(ParameterError, match=message):
        declared()


def test_bounds_of_days_and_times_are_places_in_intervals_however_they_are_written():
    for lower, upper in ((DAY, DAY.replace(year=2027)), (DAY.isoformat(), f"{DAY.replace(year=2027)}")):
        column = date(lower, upper)
        assert (column.lower, column.upper) == (DAY.toordinal(), DAY.toordinal() + 365)
    second = datetime.fromisoformat("2026-01-31T12:00:01")
    for ends in ((NOON, second), ("2026-01-31 12:00", "2026-01-31T12:00:01")):
        column = timestamp(*ends)
        assert column.upper - column.lower == 10**6
    assert date(day.min, day.max).nullable


@pytest.mark.parametrize(
    ("column", "kind", "values"),
    [
        (date(), Kind.DATE, None),
        (date(values=iter([DAY, day.max, day.min])), Kind.DATE, (DAY, day.max, day.min)),
        (timestamp(), Kind.TIMESTAMP, None),
        (timestamp(values=[NOON]), Kind.TIMESTAMP, (NOON,)),
        (boolean(), Kind.BOOLEAN, (False, True)),
        (text(values=list("ba")), Kind.TEXT, ("b", "a")),
    ],
)
def test_a_column_has_the_kind_and_the_keys_that_were_declared_in_their_order(column, kind, values):
    assert (column.kind, column.values, column.bounded_steps) == (kind, values, None)


@given(st.fractions(-(10**6), 10**6), st.sampled_from(["0.01", "1/3", "7"]))
def test_the_lattice_point_of_a_value_is_the_nearest_one_half_up(value, resolution):
    column = real(resolution=resolution)
    distance = column.steps(value) * column.resolution - value
    assert -column.resolution / 2 < distance <= column.resolution / 2


def test_text_that_cannot_be_stored_is_refused_without_being_shown_raw():
    assert unicode_text("é ✓", "name") == "é ✓"
    with pytest.raises(ParameterError, match=r"\\udfff"):
        unicode_text("\udfff", "name")


@pytest.mark.parametrize("key", [2**63, -(2**63), -(2**70)])
def test_keys_that_no_column_can_hold_are_refused_because_engines_would_round_them(key):
    with pytest.raises(ParameterError, match="64 bits"):
        integer(values=[key])


@pytest.mark.parametrize(
    ("column", "longest"),
    [(text(), 256), (text(max_length=7), 7), (text(values=["a"], max_length=7), 8), (integer(), None),
     (Column(kind=Kind.TEXT, is_id=True, max_length=7), 320)],
)  # fmt: skip
def test_the_longest_text_that_is_read_is_public(column, longest):
    assert column.longest == longest
