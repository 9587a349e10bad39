import pytest

from sfumato.engines.failures import failing
from sfumato.errors import EngineError, ParameterError


def fail(error):
    with failing("duckdb", "ran", (ArithmeticError, ValueError)):
        raise error


def test_a_failure_is_an_error_that_does_not_lead_to_its_text():
    with pytest.raises(EngineError) as caught:
        fail(ZeroDivisionError("row 7: canary"))
    assert (caught.value.engine, caught.value.phase) == ("duckdb", "ran")
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize("error", [ParameterError("sql", "x", "is wrong"), KeyError("a mistake of ours")], ids=repr)
def test_what_no_engine_did_is_no_failure(error):
    with pytest.raises(type(error)):
        fail(error)
