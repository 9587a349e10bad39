"""Arithmetic in SQL is that of `arithmetic`: exact of whole numbers, in doubles of all others, and total."""

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engines.in_sql import values_of
from tests.expressions_of import DOUBLES, INTEGERS

from sfumato.engines.sql.expressions.arithmetic import ARITHMETIC, power, rounded
from sfumato.engines.sql.expressions.kinds import Term
from sfumato.engines.sql.expressions.terms import column
from sfumato.query.model.expressions import Call, ColumnRef, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.values.evaluation import evaluate
from sfumato.query.values.numbers import LARGEST

TWO = (Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.DIVIDE)
ONE = (Function.NEGATE, Function.ABS, Function.SIGN, Function.FLOOR, Function.CEIL, Function.TRUNC, Function.SQRT)
PAIRS = [(x, y) for x in INTEGERS for y in INTEGERS]


def floating(name):
    return Term(sql=column(name), kind=Kind.FLOAT)


def pairs(first, second):
    return {"x": pa.array([x for x, _ in first]), "y": pa.array([y for _, y in second])}


def expected(function, *rows):
    call = Call(function, tuple(map(ColumnRef, "xy"[: len(rows[0])])))
    return [evaluate(call, dict(zip("xy", row, strict=False))) for row in rows]


def lowered(function, *kinds):
    return ARITHMETIC[function]([Term(sql=column(name), kind=kind) for name, kind in zip("xy", kinds, strict=False)])


@pytest.mark.parametrize("function", [*TWO, Function.MODULO])
def test_whole_numbers_are_exact_or_null(function):
    cells = pairs(PAIRS, PAIRS)
    assert values_of(lowered(function, Kind.INTEGER, Kind.INTEGER).settled, cells) == expected(function, *PAIRS)


@pytest.mark.parametrize("function", TWO)
@given(
    st.lists(
        st.tuples(st.sampled_from(DOUBLES) | st.floats(-LARGEST, LARGEST), st.floats(-LARGEST, LARGEST)), max_size=9
    )
)
def test_doubles_are_computed_with_as_python_does(function, rows):
    rows = [(x + 0.0, y + 0.0) for x, y in [*rows, (1.0, 0.0)]]
    assert values_of(lowered(function, Kind.FLOAT, Kind.FLOAT).settled, pairs(rows, rows)) == expected(function, *rows)


@pytest.mark.parametrize("function", ONE)
@pytest.mark.parametrize(("kind", "cells"), [(Kind.INTEGER, INTEGERS), (Kind.FLOAT, DOUBLES)])
def test_functions_of_one_number_have_the_values_of_python(function, kind, cells):
    found = values_of(lowered(function, kind).settled, {"x": pa.array(cells)})
    assert found == expected(function, *((cell,) for cell in cells))


@pytest.mark.parametrize("digits", [0, 1, 2, 15])
def test_doubles_are_rounded_half_up_to_digits(digits):
    call = Call(Function.ROUND, (ColumnRef("x"), Literal(Fraction(digits))))
    cells = [*DOUBLES, 0.125, 2.675, -0.125, 0.49999999999999994]
    found = values_of(rounded(floating("x"), digits).settled, {"x": pa.array(cells)})
    assert found == [evaluate(call, {"x": cell}) for cell in cells]


def test_a_divisor_that_overflowed_makes_null_and_not_zero():
    doubled = ARITHMETIC[Function.MULTIPLY]([floating("x")] * 2)
    quotient = ARITHMETIC[Function.DIVIDE]([floating("y"), doubled])
    assert values_of(quotient.settled, {"x": pa.array([1e100, 2.0]), "y": pa.array([1.0, 1.0])}) == [None, 0.25]


@pytest.mark.parametrize("function", [Function.EXP, Function.POWER, Function.SIGN])
def test_what_overflowed_is_null_before_a_function_makes_it_finite(function):
    doubled = ARITHMETIC[Function.MULTIPLY]([floating("x"), floating("y")])
    made = power(doubled, -1) if function is Function.POWER else ARITHMETIC[function]([doubled])
    assert values_of(made.settled, {"x": pa.array([-1e100]), "y": pa.array([1e100])}) == [None]
