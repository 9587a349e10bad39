"""What PostgreSQL raises for is never computed, of columns or of constants; narrow sums are in 64 bits."""

import math

import pyarrow as pa
import pytest
from tests.engines.in_postgres import values_of
from tests.query.values.test_numbers import SPECIAL

from sfumato.engines.postgres.dialect import sql
from sfumato.engines.sql.dialect import native
from sfumato.engines.sql.expressions.arithmetic import ARITHMETIC, power
from sfumato.engines.sql.expressions.kinds import Term
from sfumato.engines.sql.expressions.terms import cast, column, double, function
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.values.numbers import LARGEST, factor, limited

X = column("x")
ONE = pa.table({"x": [1.0]})


def constant(value):
    return Term(sql=double(value), kind=Kind.FLOAT)


def test_constants_are_not_computed_before_it_is_known_that_they_can_be():
    least, most, zero = map(constant, (5e-324, LARGEST, 0.0))
    terms = [
        *(ARITHMETIC[one]([first, second]) for one in (Function.MULTIPLY, Function.DIVIDE, Function.ADD)
          for first in (least, most) for second in (least, most, zero)),
        *(power(one, exponent) for one in (least, most, zero) for exponent in (-1000, -0.5, 3)),
        ARITHMETIC[Function.EXP]([most]), ARITHMETIC[Function.LN]([zero]), ARITHMETIC[Function.SQRT]([constant(-1.0)]),
    ]  # fmt: skip
    assert all(len(found) == 1 for found in values_of([term.settled for term in terms], ONE))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_operands_and_factors_are_those_of_python(sign):
    values = [sign * value for value in (*SPECIAL, 2.0**-449, 1.9 * 2.0**-449, 2.0**500, 1e308, math.inf, math.nan)]
    operand = function("operand", X)
    operands, factors, both = values_of(
        [operand, function("factor", X), function("factor", operand)], pa.table({"x": values})
    )
    assert operands == list(map(limited, values))
    assert factors == both == [None if limited(value) is None else factor(value) for value in values]


def test_a_quotient_by_a_constant_has_no_case():
    assert "NULLIF" not in sql(function("double_quotient", X, double(0.01)))
    assert values_of([function("double_quotient", X, column("y"))], pa.table({"x": [1.0], "y": [-0.0]})) == [[None]]


def test_a_narrow_sum_is_one_of_64_bits():
    shown = cast(native("PG_TYPEOF", function("narrow_sum", column("n"))), "VARCHAR")
    assert values_of([shown], pa.table({"n": [1]})) == [["bigint"]]
