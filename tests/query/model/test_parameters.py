"""How many arguments functions take, and which of them are constants."""

from fractions import Fraction

import pytest

from sfumato.errors import ParameterError
from sfumato.query.model.expressions import Call, ColumnRef, Literal
from sfumato.query.model.functions import Function
from sfumato.query.model.parameters import check_parameters, literal_integer

X = ColumnRef("x")


def number(value):
    return Literal(Fraction(value))


RIGHT = [
    Call(Function.ROUND, (X, number(15))),
    Call(Function.POWER, (X, number("-0.5"))),
    Call(Function.SUBSTRING, (X, number(1), number(0))),
    Call(Function.LIKE, (X, Literal("a%"))),
    Call(Function.TRUNCATE, (X, Literal("week"))),
    Call(Function.ADD_MONTHS, (X, number(-12))),
    Call(Function.CONCAT, (X, X, X)),
    Call(Function.COALESCE, (X,)),
]
WRONG = [
    Call(Function.ADD, (X,)),
    Call(Function.ABS, (X, X)),
    Call(Function.COALESCE, ()),
    Call(Function.CONCAT, (X,)),
    Call(Function.ROUND, (X, number(16))),
    Call(Function.ROUND, (X, number(-1))),
    Call(Function.ROUND, (X, number("0.5"))),
    Call(Function.ROUND, (X, X)),
    Call(Function.POWER, (X, X)),
    Call(Function.SUBSTRING, (X, number(0), number(1))),
    Call(Function.SUBSTRING, (X, number(1), number(-1))),
    Call(Function.LIKE, (X, X)),
    Call(Function.LIKE, (X, number(1))),
    Call(Function.TRUNCATE, (X, Literal("century"))),
    Call(Function.ADD_MONTHS, (X, X)),
    Call(Function.ADD_MONTHS, (X, number(10**20))),
]


@pytest.mark.parametrize("call", RIGHT, ids=lambda call: call.function.value)
def test_a_call_with_the_right_parameters_is_accepted(call):
    check_parameters(call)


@pytest.mark.parametrize("call", WRONG, ids=lambda call: call.function.value)
def test_a_call_with_other_parameters_is_refused(call):
    with pytest.raises(ParameterError):
        check_parameters(call)


def test_a_parameter_is_a_whole_number_written_out():
    assert literal_integer(number(3), "digits") == 3
    with pytest.raises(ParameterError, match="whole number"):
        literal_integer(X, "digits")
