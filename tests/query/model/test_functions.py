import pytest
from tests.expressions_of import CALLS, INEXACT

from sfumato.query.model.expressions import Call, Null
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.values.evaluation import evaluate

ARGUMENTS = {call[0]: len(call) - 1 for calls in (*CALLS.values(), INEXACT) for call in calls} | {Function.NULL_IF: 2}
"""How many arguments each function has."""


def test_a_function_is_called_by_its_own_name_in_lower_case():
    assert all(function.value == function.name.lower() for function in Function)


@pytest.mark.parametrize("function", Function)
def test_a_function_of_nulls_is_null(function):
    nulls = (Null(Kind.TEXT),) * ARGUMENTS[function]
    assert evaluate(Call(function, nulls), {}) is None
