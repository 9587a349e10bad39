"""What is known of columns, of constants, and of values that are one of several."""

from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction

import pytest

from sfumato.errors import ParameterError
from sfumato.query.analysis.inference import facts_of
from sfumato.query.model.columns import Column
from sfumato.query.model.expressions import (
    Null,
)
from sfumato.query.model.facts import Edition, Facts, family, literal_facts, merged, of_column
from sfumato.query.model.intervals import ANYTHING, Interval, place_of, point
from sfumato.query.model.kinds import NUMBERS, Kind
from sfumato.query.model.schema import boolean, integer, real, text, timestamp
from sfumato.query.model.schema import date as day


def between(lower, upper):
    return Interval(*(None if end is None else Fraction(end) for end in (lower, upper)))


PRICE = Facts(kind=Kind.FLOAT, interval=between(0, 100), resolution=Fraction(1, 100))
NEW_YEAR = datetime.fromisoformat("2026-01-01")


@pytest.mark.parametrize(
    ("interval", "resolution", "lattice"),
    [
        (between(0, 100), Fraction(1, 7), Fraction(1, 7)),
        (between(0, 1), None, Fraction(1, 10**7)),
        (between(0, 2**20), None, Fraction(1)),
        (between(3, 3), None, Fraction(1)),
        (between(0, None), None, Fraction(1, 100)),
    ],
)
def test_the_lattice_of_a_number_has_about_a_million_steps_where_nothing_says_more(interval, resolution, lattice):
    assert Facts(kind=Kind.FLOAT, interval=interval, resolution=resolution).lattice == lattice


def test_a_column_has_the_facts_that_are_declared():
    assert of_column(integer(0, 9, values=[1, 2], nullable=False)) == Facts(
        kind=Kind.INTEGER, interval=between(0, 9), values=(1, 2), nullable=False
    )
    assert of_column(real(0, 1, resolution="0.5")).resolution == Fraction(1, 2)
    assert of_column(boolean()).values == (False, True)
    assert of_column(Column(kind=Kind.BOOLEAN)).values == (False, True)
    assert of_column(text()).values is None


def test_public_keys_without_bounds_are_bounds_too_but_not_by_the_first_rules():
    days = (date(2026, 3, 1), date(2026, 1, 1))
    listed = {integer(values=[16, 1, 4]): between(1, 16), day(values=days): Interval(*map(place_of, reversed(days)))}
    for column, interval in listed.items():
        assert of_column(column).interval == interval
        assert of_column(column, Edition.FIRST).interval == ANYTHING
    assert of_column(integer(0, 9, values=[3])).interval == between(0, 9)
    assert of_column(text(values=["a"])).interval == of_column(boolean()).interval == ANYTHING


def test_days_and_times_between_bounds_have_an_interval():
    assert of_column(day("0001-01-02", "0001-01-05")).interval == between(2, 5)
    assert of_column(timestamp("0001-01-01 00:00", "0001-01-01 00:01")).interval == between(0, 60 * 10**6)


@pytest.mark.parametrize(
    ("value", "facts"),
    [
        (True, Facts(kind=Kind.BOOLEAN, values=(True,), nullable=False)),
        ("x", Facts(kind=Kind.TEXT, values=("x",), nullable=False, longest=1)),
        (Fraction(3), Facts(kind=Kind.INTEGER, interval=between(3, 3), values=(3,), nullable=False)),
        (Fraction(5, 2), replace(PRICE, interval=between("5/2", "5/2"), resolution=Fraction(1, 10), nullable=False)),
        (Fraction(2**63), Facts(kind=Kind.FLOAT, interval=point(Fraction(2**63)), nullable=False)),
        (
            date(2026, 1, 1),
            Facts(kind=Kind.DATE, interval=between(739617, 739617), values=(date(2026, 1, 1),), nullable=False),
        ),
        (
            NEW_YEAR,
            Facts(kind=Kind.TIMESTAMP, interval=point(place_of(NEW_YEAR)), values=(NEW_YEAR,), nullable=False),
        ),
    ],
)  # fmt: skip
def test_a_constant_has_one_value(value, facts):
    assert literal_facts(value) == facts


def test_values_of_several_are_those_of_each_in_order():
    values = merged([literal_facts("b"), literal_facts("a"), literal_facts("b")]).values
    assert values == ("b", "a")
    assert merged([literal_facts("b"), Facts(kind=Kind.TEXT)]).values is None
    assert merged([literal_facts("b"), facts_of(Null(Kind.TEXT), {})]).values == ("b",)


def test_numbers_are_one_family():
    assert {family(kind) for kind in NUMBERS} == {"number"}
    assert family(Kind.DATE) != family(Kind.TIMESTAMP)


@pytest.mark.parametrize(
    ("value", "requirement"),
    [
        (Fraction(2**500 - 2**446), r"less than 2\^500"),
        (Fraction(-(10**151)), r"less than 2\^500"),
        ("a\0b", "without NUL"),
    ],
)  # fmt: skip
def test_a_constant_that_not_every_engine_has_is_refused(value, requirement):
    with pytest.raises(ParameterError, match=requirement):
        literal_facts(value)


def test_the_largest_and_the_least_constants_are_doubles_of_every_engine():
    for value in (Fraction(2**500 - 2**446 - 1), Fraction(1, 10**400)):
        assert literal_facts(value).kind is Kind.FLOAT
