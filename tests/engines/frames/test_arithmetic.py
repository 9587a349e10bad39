"""Arithmetic in Polars is that of `arithmetic`: exact of whole numbers, in doubles of all others, and total."""

from fractions import Fraction

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.in_frames import ENGINES, values_of
from tests.expressions_of import DOUBLES, INTEGERS

from sfumato.engines.frames.arithmetic import ARITHMETIC, power, quotient, rounded
from sfumato.engines.frames.terms import of_column
from sfumato.engines.scalars import evaluate
from sfumato.query.expressions import Call, ColumnRef, Literal
from sfumato.query.functions import Function
from sfumato.query.kinds import Kind

TWO = (Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.DIVIDE)
ONE = (Function.NEGATE, Function.ABS, Function.SIGN, Function.FLOOR, Function.CEIL, Function.TRUNC, Function.SQRT)
PAIRS = [(x, y) for x in INTEGERS for y in INTEGERS]


def pairs(first, second):
    return {"x": pa.array([x for x, _ in first]), "y": pa.array([y for _, y in second])}


def expected(function, *rows):
    call = Call(function, tuple(map(ColumnRef, "xy"[: len(rows[0])])))
    return [evaluate(call, dict(zip("xy", row, strict=False))) for row in rows]


def lowered(function, *kinds):
    return ARITHMETIC[function]([of_column(name, kind) for name, kind in zip("xy", kinds, strict=False)])


@pytest.mark.parametrize("function", [*TWO, Function.MODULO])
def test_whole_numbers_are_exact_or_null(function):
    cells = pairs(PAIRS, PAIRS)
    assert values_of(lowered(function, Kind.INTEGER, Kind.INTEGER).settled, cells) == expected(function, *PAIRS)


@pytest.mark.parametrize("function", TWO)
@given(
    st.lists(st.tuples(st.sampled_from(DOUBLES) | st.floats(allow_nan=False), st.floats(allow_nan=False)), max_size=9)
)
@settings(max_examples=25, deadline=None)
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
    found = values_of(rounded(of_column("x", Kind.FLOAT), digits).settled, {"x": pa.array(cells)})
    assert found == [evaluate(call, {"x": cell}) for cell in cells]


def test_a_divisor_that_overflowed_makes_null_and_not_zero():
    doubled = ARITHMETIC[Function.MULTIPLY]([of_column("x", Kind.FLOAT)] * 2)
    quotient = ARITHMETIC[Function.DIVIDE]([of_column("y", Kind.FLOAT), doubled])
    assert values_of(quotient.settled, {"x": pa.array([1e200, 2.0]), "y": pa.array([1.0, 1.0])}) == [None, 0.25]


@pytest.mark.parametrize("function", [Function.EXP, Function.POWER, Function.SIGN])
def test_what_overflowed_is_null_before_a_function_makes_it_finite(function):
    doubled = ARITHMETIC[Function.MULTIPLY]([of_column("x", Kind.FLOAT), of_column("y", Kind.FLOAT)])
    made = power(doubled, -1) if function is Function.POWER else ARITHMETIC[function]([doubled])
    assert values_of(made.settled, {"x": pa.array([-1e200]), "y": pa.array([1e200])}) == [None]


@pytest.mark.parametrize("divisor", [0.01, 1 / 3, 10.0, 1e15, 7.0])
@pytest.mark.parametrize("engine", ENGINES)
def test_doubles_are_divided_and_not_multiplied_by_an_inverse(divisor, engine):
    cells = [place * 1e11 / 7 for place in range(-999, 1_000)]
    rows = pl.LazyFrame({"x": cells}).with_columns(pl.lit(divisor).alias("y"))
    for by in (pl.lit(divisor), pl.col("y")):
        found = rows.select(quotient(pl.col("x"), by).alias("z")).collect(engine=engine)["z"].to_list()
        assert found == [cell / divisor for cell in cells]


OF_ONE_ROW = {
    "divided": lambda x: quotient(x.value, pl.lit(0.01)),
    "rounded": lambda x: rounded(x, 3).value,
    **{f"power {exponent}": lambda x, e=exponent: power(x, e).value for exponent in (2, 3, 7, 0.5, -1, 1 / 3)},
    **{f.value: lambda x, f=f: ARITHMETIC[f]([x]).value for f in (Function.EXP, Function.LN, Function.LOG10)},
}


@pytest.mark.parametrize("name", OF_ONE_ROW)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_value_does_not_depend_on_how_many_rows_there_are(name, engine):
    """Or one unit would move what another one adds."""
    rows = pl.LazyFrame({"x": [place * 0.37 + 0.01 for place in range(400)]})
    made = rows.with_columns(OF_ONE_ROW[name](of_column("x", Kind.FLOAT)).alias("made"))
    whole = made.collect(engine=engine)["made"].to_list()
    alone = [rows.slice(place, 1).collect().lazy() for place in range(400)]
    made_alone = (one.select(OF_ONE_ROW[name](of_column("x", Kind.FLOAT)).alias("made")) for one in alone)
    assert [one.collect(engine=engine).item() for one in made_alone] == whole
