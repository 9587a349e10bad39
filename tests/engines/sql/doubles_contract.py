"""What every dialect gives of all doubles at which something changes, in every function of numbers: what Python gives.

A dialect opts in by a fixture `values_of`, which computes some terms over the rows of an Arrow table.
"""

import math
from fractions import Fraction

import pyarrow as pa
import pytest
from tests.engines.sql.expressions.test_scalars import INEXACT, TERMS, same
from tests.query.values.test_numbers import SPECIAL

from sfumato.engines.sql.expressions.kinds import Term, clamped_steps, computed
from sfumato.engines.sql.expressions.scalars import lower_expression
from sfumato.engines.sql.expressions.terms import column, function
from sfumato.query.model.expressions import Call, ColumnRef, Compare, Comparison, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.statement import COARSEST, LatticeValue
from sfumato.query.values.evaluation import clamped_steps as clamped_in_python
from sfumato.query.values.evaluation import evaluate

SIGNED = [sign * value for value in SPECIAL for sign in (1.0, -1.0)]
ENDS = [*SIGNED, 345.0, 346.57, 346.58, 692.9, -693.0, -693.1, -745.14]
EXPONENTS = ("0", "1/2", "1", "2", "5/2", "3", "1000", "99999999999999999999", "1/3")
X, Y = ColumnRef("float 1"), ColumnRef("float 2")
OF_TWO = (
    Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.DIVIDE, Function.LEAST, Function.GREATEST,
    Function.COALESCE, Function.NULL_IF,
)  # fmt: skip
CHAINED = [
    (Function.ADD, Function.SUBTRACT), (Function.SUBTRACT, Function.MULTIPLY), (Function.MULTIPLY, Function.DIVIDE),
    (Function.DIVIDE, Function.MULTIPLY), (Function.MULTIPLY, Function.ADD),
]  # fmt: skip
OF_ONE = (
    Function.NEGATE, Function.ABS, Function.SIGN, Function.FLOOR, Function.CEIL, Function.TRUNC, Function.SQRT,
    Function.LN, Function.LOG10, Function.EXP, Function.TO_INTEGER,
)  # fmt: skip


class DoublesContract:
    def test_all_pairs_of_doubles_are_computed_with_as_python_does(self, values_of):
        pairs = [(x, y) for x in SIGNED for y in SIGNED]
        both = [Call(function_, (X, Y)) for function_ in OF_TWO]
        both += [Call(second, (Call(first, (X, Y)), Y)) for first, second in CHAINED]
        both += [Compare(Comparison.LESS, X, Call(Function.MULTIPLY, (X, Y)))]
        both += [
            Call(Function.TO_INTEGER, (one,))
            for function_ in (Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.DIVIDE)
            for one in (Call(function_, (X, Y)), Call(Function.FLOOR, (Call(function_, (X, Y)),)))
        ]
        data = pa.table({"c2": [x for x, _ in pairs], "c3": [y for _, y in pairs]})
        terms = [lower_expression(one, TERMS).settled for one in both]
        for expression, values in zip(both, values_of(terms, data), strict=True):
            for (x, y), value in zip(pairs, values, strict=True):
                assert same(value, evaluate(expression, {"float 1": x, "float 2": y})), (expression, x, y)

    def test_all_doubles_are_what_python_makes_of_them(self, values_of):
        each = [Call(function_, (X,)) for function_ in OF_ONE]
        each += [Call(Function.POWER, (X, Literal(sign * Fraction(y)))) for y in EXPONENTS for sign in (1, -1)]
        each += [Call(Function.ROUND, (X, Literal(Fraction(digits)))) for digits in (0, 2, 15)]
        found = values_of([lower_expression(one, TERMS).settled for one in each], pa.table({"c2": ENDS}))
        for expression, values in zip(each, found, strict=True):
            for x, value in zip(ENDS, values, strict=True):
                expected = evaluate(expression, {"float 1": x})
                assert same(value, expected, exactly=expression.function not in INEXACT), (expression, x)

    @pytest.mark.parametrize("resolution", [Fraction(1), Fraction(1, 100), 1 / COARSEST, COARSEST, Fraction(10**30)])
    def test_lattice_steps_of_any_double_are_those_of_python(self, values_of, resolution):
        ends = [(-5, 7), (0, 2**53), (-(2**53), 2**53)]
        steps = [
            LatticeValue(value=X, resolution=resolution, lower=low, upper=high, offset=0, nullable=True)
            for low, high in ends
        ]
        terms = [Term(sql=column("c2"), kind=Kind.FLOAT), computed(column("c2"))]
        found = values_of([clamped_steps(term, one) for one in steps for term in terms], pa.table({"c2": SIGNED}))
        expected = [[clamped_in_python(value, one) for value in SIGNED] for one in steps for _ in terms]
        assert found == expected

    def test_the_bits_of_a_double_are_those_of_the_machine(self, values_of):
        values = [value for value in (*SIGNED, 1 / 3, math.pi) if value != 0] + [0.0]
        (found,) = values_of([function("bits_of_double", column("v"))], pa.table({"v": values}))
        assert found == pa.array(values).view(pa.int64()).to_pylist()
