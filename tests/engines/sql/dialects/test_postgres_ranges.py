import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from sfumato.engines.sql.dialects.postgres_ranges import Range, magnitude, range_of
from sfumato.engines.sql.terms import case, clamped, column, double, figure, function, operation, present, whole

V = column("v")
CLAMPED = clamped(V, double(-2.0), double(3.0))


@pytest.mark.parametrize(
    ("term", "known"),
    [
        (V, None), (double(2.5), (2.5, 2.5)), (figure(-7), (-7, -7)), (whole(2**40), (2**40, 2**40)),
        (double(math.nan), None), (CLAMPED, (-2, 3)), (case([(present(V), CLAMPED)]), (-2, 3)),
        (case([(present(V), CLAMPED)], double(9.0)), (-2, 9)), (case([(present(V), CLAMPED)], V), None),
        (operation(exp.Sub, CLAMPED, whole(5)), (-7, -2)), (operation(exp.Add, CLAMPED, V), None),
        (function("double_quotient", CLAMPED, double(0.5)), (-4, 6)), (function("double_quotient", CLAMPED, V), None),
        (function("double_quotient", CLAMPED, double(-0.5)), None),
        (function("double_sum", CLAMPED, double(0.5)), (-1.5, 3.5)),
        (function("whole_floor", CLAMPED), (-3, 3)), (function("FLOOR", V), None),
        (function("COALESCE", CLAMPED, whole(7)), (-2, 7)),
        (function("COALESCE", V, whole(7)), None), (function("LEAST", V, double(3.0)), (-math.inf, 3)),
        (function("GREATEST", V, double(3.0)), (3, math.inf)), (function("SQRT", CLAMPED), None),
        (exp.Neg(this=exp.Paren(this=CLAMPED)), (-3, 2)),
        (exp.Cast(this=CLAMPED, to=exp.DataType.build("BIGINT")), (-2, 3)),
    ],
    ids=str,
)  # fmt: skip
def test_a_range_is_told_from_constants_alone(term, known):
    assert range_of(term) == known
    assert magnitude(term) == (math.inf if known is None else Range(*known).size)


def test_of_several_that_may_be_null_only_a_constant_is_an_end():
    nullable = case([(present(V), clamped(V, double(0.0), double(1.0)))])
    assert range_of(function("LEAST", nullable, clamped(V, double(5.0), double(9.0)))) == (0, 9)
    assert range_of(function("GREATEST", nullable, clamped(V, double(-9.0), double(-5.0)))) == (-9, 1)


@given(st.floats(-100, 100), st.floats(-50, 50), st.floats(0, 50), st.floats(0.01, 10))
def test_what_is_computed_lies_in_its_range(value, least, span, divisor):
    most = least + span
    term = function(
        "whole_floor",
        function(
            "double_sum",
            function("double_quotient", clamped(V, double(least), double(most)), double(divisor)),
            double(0.5),
        ),
    )
    known = range_of(term)
    assert known.least <= math.floor(min(max(value, least), most) / divisor + 0.5) <= known.most
