"""What is claimed of an expression holds on every row: its kind, whether it is NULL, the interval, the values."""

from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from math import isinf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.expressions_of import CALLS, COLUMNS, INEXACT, expressions, rows

from sfumato.engines.mixing import unmixed
from sfumato.engines.scalars import evaluate
from sfumato.errors import ParameterError
from sfumato.query.columns import Column
from sfumato.query.expressions import (
    FALSE,
    TRUE,
    And,
    Call,
    Case,
    ColumnRef,
    Compare,
    Comparison,
    IsIn,
    IsNull,
    Literal,
    Not,
    Null,
    Or,
    children,
)
from sfumato.query.facts import _SIGNATURES, Facts, facts_of, family, literal_facts, merged, of_column
from sfumato.query.functions import Function
from sfumato.query.intervals import ANYTHING, Interval, point
from sfumato.query.kinds import NUMBERS, Kind
from sfumato.query.schema import boolean, integer, real, text

TYPES = {
    Kind.INTEGER: int, Kind.FLOAT: float, Kind.TEXT: str, Kind.BOOLEAN: bool, Kind.DATE: date, Kind.TIMESTAMP: datetime,
}  # fmt: skip
KNOWN = {
    "integer 1": Facts(kind=Kind.INTEGER, interval=Interval(Fraction(-3), Fraction(7)), nullable=False),
    "integer 2": Facts(kind=Kind.INTEGER, interval=Interval(Fraction(2), Fraction(5)), values=(2, 3, 5)),
    "float 1": Facts(
        kind=Kind.FLOAT, interval=Interval(Fraction(-5, 2), Fraction(3)), resolution=Fraction(1, 100), nullable=False
    ),
    "float 2": Facts(kind=Kind.FLOAT, interval=Interval(Fraction(1, 8), None), resolution=None),
    "text 1": Facts(kind=Kind.TEXT, nullable=False),
    "text 2": Facts(kind=Kind.TEXT, values=("a", "A", "é")),
    **{f"{kind.value} {n}": Facts(kind=kind, nullable=n == 2) for kind in tuple(Kind)[3:] for n in (1, 2)},
}


SOMETHING = {Kind.INTEGER: 1, Kind.FLOAT: 2.5, Kind.TEXT: "a", Kind.BOOLEAN: True, Kind.DATE: date(2026, 1, 31),
             Kind.TIMESTAMP: datetime(2026, 1, 31)}  # fmt: skip  # noqa: DTZ001 # UTC


@st.composite
def known_rows(draw):
    """Rows of any cells whatever is presumed of them, but NULL only where it may be."""
    row = draw(rows())
    return {
        name: SOMETHING[COLUMNS[name]] if cell is None and not KNOWN[name].nullable else cell
        for name, cell in row.items()
    }


ROWS = known_rows()
ANY_EXPRESSION = st.sampled_from(Kind).flatmap(lambda kind: expressions(kind, inexact=True))
MANY = settings(max_examples=500)


def value_of(expression, row):
    return evaluate(unmixed(expression, KNOWN), row)


@given(ANY_EXPRESSION, ROWS)
@MANY
def test_every_value_is_of_the_kind_and_null_only_where_it_may_be(expression, row):
    facts, value = facts_of(expression, KNOWN), value_of(expression, row)
    if value is None:
        assert facts.nullable
    else:
        assert type(value) is TYPES[facts.kind]


def presumed(name, cell):
    """The cell, or one that lies where the facts presume it."""
    facts = KNOWN[name]
    if cell is None or (facts.values is None and facts.interval == ANYTHING):
        return cell
    if facts.values is not None:
        return facts.values[hash(cell) % len(facts.values)]
    lower, upper = facts.interval.lower, facts.interval.upper
    inside = max(cell, TYPES[facts.kind](lower))
    return inside if upper is None else min(inside, TYPES[facts.kind](upper))


def parts(expression):
    """An expression and all it is made of."""
    yield expression
    for child in children(expression):
        yield from parts(child)


def rounding(expression, facts, row):
    """How far doubles may lead a value out of its interval: a lattice step, and the last bits of all that was added."""
    kinds = {facts_of(part, KNOWN).kind for part in parts(expression)}
    if Kind.FLOAT not in kinds:
        return 0
    numbers = [value_of(part, row) for part in parts(expression)]
    sizes = [abs(Fraction(number)) for number in numbers if isinstance(number, int | float) and not isinf(number)]
    return facts.lattice + max(sizes, default=0) / 10**9


@given(st.sampled_from([Kind.INTEGER, Kind.FLOAT]).flatmap(lambda kind: expressions(kind, inexact=True)), ROWS)
@MANY
def test_a_number_lies_in_its_interval_if_all_that_it_is_made_of_does(expression, row):
    row = {name: presumed(name, cell) for name, cell in row.items()}
    facts, value = facts_of(expression, KNOWN), value_of(expression, row)
    if value is None or isinf(value):
        return
    slack, exact = rounding(expression, facts, row), Fraction(value)
    assert facts.interval.lower is None or facts.interval.lower - slack <= exact
    assert facts.interval.upper is None or exact <= facts.interval.upper + slack


@given(ANY_EXPRESSION, ROWS)
@MANY
def test_a_value_is_one_of_those_listed_if_all_that_it_is_made_of_is(expression, row):
    row = {name: presumed(name, cell) for name, cell in row.items()}
    facts, value = facts_of(expression, KNOWN), value_of(expression, row)
    assert value is None or facts.values is None or value in facts.values


def test_every_function_has_a_signature_and_is_drawn():
    drawn = {call[0] for calls in (*CALLS.values(), INEXACT) for call in calls}
    assert set(_SIGNATURES) == set(Function)
    assert drawn | {Function.NULL_IF} == set(Function)


def call(function, *arguments):
    return Call(function, tuple(Literal(a) if isinstance(a, Fraction | str | bool) else a for a in arguments))


N, F, T, B, D, S = (ColumnRef(f"{kind.value} 1") for kind in Kind)
ONE = Literal(Fraction(1))
WRONG = [
    (call(Function.ADD, N, T), "add"),
    (call(Function.MODULO, N, F), "modulo"),
    (call(Function.SQRT, T), "sqrt"),
    (call(Function.LOWER, N), "lower"),
    (call(Function.LENGTH, B), "length"),
    (call(Function.YEAR, T), "year"),
    (call(Function.HOUR, D), "hour"),
    (call(Function.ADD_DAYS, D, F), "add_days"),
    (call(Function.ADD_SECONDS, D, N), "add_seconds"),
    (call(Function.DAYS_BETWEEN, D, S), "days_between"),
    (call(Function.TO_TEXT, F), "to_text"),
    (call(Function.TO_TEXT, S), "to_text"),
    (call(Function.TO_DATE, N), "to_date"),
    (call(Function.TO_BOOLEAN, F), "to_boolean"),
    (call(Function.COALESCE, N, T), "one kind"),
    (call(Function.LEAST, D, S), "one kind"),
    (call(Function.NULL_IF, N, B), "one kind"),
    (call(Function.ROUND, F, N), "whole number from 0 to 15, written out"),
    (Case(((N, ONE),), ONE), "true or false"),
    (Case(((B, ONE),), T), "one kind"),
    (Compare(Comparison.LESS, N, T), "one kind"),
    (Compare(Comparison.EQUAL, D, S), "one kind"),
    (IsIn(N, (Literal("x"),)), "kind of the value"),
    (And((B, N)), "true or false"),
    (Or((T,)), "true or false"),
    (Not(F), "true or false"),
    (ColumnRef("nowhere"), "one of"),
]


@pytest.mark.parametrize(("expression", "reason"), WRONG)
def test_an_expression_that_mixes_kinds_is_refused(expression, reason):
    with pytest.raises(ParameterError, match=reason):
        facts_of(expression, KNOWN)


def between(lower, upper):
    return Interval(*(None if end is None else Fraction(end) for end in (lower, upper)))


PRICE = Facts(kind=Kind.FLOAT, interval=between(0, 100), resolution=Fraction(1, 100))
COUNT = Facts(kind=Kind.INTEGER, interval=between(1, 10), nullable=False)
SHOP = {"price": PRICE, "count": COUNT, "any": Facts(kind=Kind.INTEGER), "paid": Facts(kind=Kind.BOOLEAN)}
P, C, ANY, PAID = map(ColumnRef, SHOP)


@pytest.mark.parametrize(
    ("expression", "interval", "resolution"),
    [
        (call(Function.MULTIPLY, P, C), between(0, 1000), Fraction(1, 100)),
        (call(Function.ADD, P, Fraction(1, 2)), between("1/2", "201/2"), Fraction(1, 100)),
        (call(Function.SUBTRACT, Fraction(1), P), between(-99, 1), Fraction(1, 100)),
        (call(Function.DIVIDE, P, C), between(0, 100), None),
        (call(Function.DIVIDE, C, Fraction(3)), between(0, 4), Fraction(1)),
        (call(Function.DIVIDE, P, ANY), ANYTHING, None),
        (call(Function.MODULO, ANY, Fraction(7)), between(-6, 6), Fraction(1)),
        (call(Function.MODULO, C, Fraction(7)), between(0, 6), Fraction(1)),
        (call(Function.MODULO, C, ANY), ANYTHING, Fraction(1)),
        (call(Function.NEGATE, P), between(-100, 0), Fraction(1, 100)),
        (call(Function.ABS, call(Function.SUBTRACT, C, Fraction(4))), between(0, 6), Fraction(1)),
        (call(Function.SIGN, P), between(-1, 1), Fraction(1)),
        (call(Function.FLOOR, call(Function.DIVIDE, P, Fraction(8))), between(0, 13), Fraction(1)),
        (call(Function.ROUND, P, Fraction(1)), between(0, 100), Fraction(1, 10)),
        (call(Function.ROUND, C, Fraction(1)), between(1, 10), Fraction(1)),
        (call(Function.SQRT, P), between(0, None), None),
        (call(Function.LN, P), ANYTHING, None),
        (call(Function.LEAST, ANY, Fraction(5)), between(None, 5), Fraction(1)),
        (call(Function.GREATEST, call(Function.LEAST, ANY, Fraction(5)), Fraction(0)), between(0, 5), Fraction(1)),
        (call(Function.LEAST, P, Fraction(5)), between(0, 5), Fraction(1, 100)),
        (call(Function.LEAST, P, ANY), between(None, None), Fraction(1, 100)),
        (call(Function.COALESCE, P, Fraction(-1)), between(-1, 100), Fraction(1, 100)),
        (call(Function.TO_INTEGER, call(Function.DIVIDE, P, Fraction(8))), between(0, 13), Fraction(1)),
        (call(Function.TO_FLOAT, C), between(1, 10), Fraction(1)),
        (call(Function.TO_INTEGER, PAID), between(0, 1), Fraction(1)),
        (call(Function.NULL_IF, P, Fraction(0)), between(0, 100), Fraction(1, 100)),
        (Case(((PAID, P),), Null(Kind.FLOAT)), between(0, 100), Fraction(1, 100)),
        (Case(((PAID, P),), Literal(Fraction(0))), between(0, 100), Fraction(1, 100)),
        (Case(((PAID, C),), Null(Kind.INTEGER)), between(1, 10), Fraction(1)),
    ],
)
def test_sums_of_computed_numbers_need_no_bounds_of_their_own(expression, interval, resolution):
    facts = facts_of(expression, SHOP)
    assert (facts.interval, facts.resolution) == (interval, resolution)


def test_a_lattice_is_no_finer_than_sums_have_room_for():
    fine = {"x": replace(PRICE, resolution=Fraction(1, 10**7))}
    assert facts_of(call(Function.MULTIPLY, ColumnRef("x"), ColumnRef("x")), fine).resolution is None


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
        ("x", Facts(kind=Kind.TEXT, values=("x",), nullable=False)),
        (Fraction(3), Facts(kind=Kind.INTEGER, interval=between(3, 3), values=(3,), nullable=False)),
        (Fraction(5, 2), replace(PRICE, interval=between("5/2", "5/2"), resolution=Fraction(1, 10), nullable=False)),
        (Fraction(2**63), Facts(kind=Kind.FLOAT, interval=point(Fraction(2**63)), nullable=False)),
        (Fraction(10**400), Facts(kind=Kind.FLOAT, nullable=False)),
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


def test_conditions_that_cannot_be_null_say_so():
    assert not facts_of(TRUE, {}).nullable
    assert not facts_of(FALSE, {}).nullable
    assert not facts_of(IsNull(T), KNOWN).nullable
    assert facts_of(Compare(Comparison.LESS, N, ColumnRef("integer 2")), KNOWN).nullable


def test_numbers_are_one_family():
    assert {family(kind) for kind in NUMBERS} == {"number"}
    assert family(Kind.DATE) != family(Kind.TIMESTAMP)
