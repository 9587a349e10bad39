"""What is claimed of an expression holds on every row: its kind, whether it is NULL, the interval, the values."""

from datetime import date, datetime
from fractions import Fraction
from math import isinf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.expressions_of import COLUMNS, expressions, rows
from tests.sizes import FULL_SIZE

from sfumato.errors import ParameterError
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.unmixed import unmixed
from sfumato.query.model.expressions import (
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
    Or,
    children,
)
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.intervals import ANYTHING, Interval
from sfumato.query.model.kinds import Kind
from sfumato.query.values.evaluation import evaluate

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
MANY = settings(max_examples=2_000 if FULL_SIZE else 100)


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
    (call(Function.ROUND, F, N), "must be a constant: a whole number from 0 to 15"),
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


def test_conditions_that_cannot_be_null_say_so():
    assert not facts_of(TRUE, {}).nullable
    assert not facts_of(FALSE, {}).nullable
    assert not facts_of(IsNull(T), KNOWN).nullable
    assert facts_of(Compare(Comparison.LESS, N, ColumnRef("integer 2")), KNOWN).nullable
