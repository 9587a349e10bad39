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
from sfumato.query.model.facts import Facts, family, literal_facts, merged, of_column
from sfumato.query.model.intervals import Interval, point
from sfumato.query.model.kinds import NUMBERS, Kind
from sfumato.query.model.schema import boolean, integer, real, text


def between(lower, upper):
    return Interval(*(None if end is None else Fraction(end) for end in (lower, upper)))


PRICE = Facts(kind=Kind.FLOAT, interval=between(0, 100), resolution=Fraction(1, 100))


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


@pytest.mark.parametrize(
    ("value", "facts"),
    [
        (True, Facts(kind=Kind.BOOLEAN, values=(True,), nullable=False)),
        ("x", Facts(kind=Kind.TEXT, values=("x",), nullable=False, longest=1)),
        (Fraction(3), Facts(kind=Kind.INTEGER, interval=between(3, 3), values=(3,), nullable=False)),
        (Fraction(5, 2), replace(PRICE, interval=between("5/2", "5/2"), resolution=Fraction(1, 10), nullable=False)),
        (Fraction(2**63), Facts(kind=Kind.FLOAT, interval=point(Fraction(2**63)), nullable=False)),
        (date(2026, 1, 1), Facts(kind=Kind.DATE, values=(date(2026, 1, 1),), nullable=False)),
        (datetime(2026, 1, 1), Facts(kind=Kind.TIMESTAMP, values=(datetime(2026, 1, 1),), nullable=False)),  # noqa: DTZ001 # UTC
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
