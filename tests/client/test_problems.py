"""Problem documents become the library's own errors; what passes by itself is tried again, refusals are not."""

import json

import pytest

import sfumato as sf
from sfumato import errors
from sfumato.client import problems
from sfumato.client.problems import PROBLEM, TRIES, Answer, error_of, pause_after
from sfumato.errors import BudgetExceededError, CuratorError, EngineError, ParameterError, UnavailableError

ADDRESS = "https://curator.example.org"


def answer(status, document=None, *, body=b"", kind=PROBLEM, **headers):
    content = body if document is None else json.dumps(document).encode()
    return Answer(status=status, headers={"content-type": kind} | headers, body=content)


def of(error, detail="as it was said", **fields):
    return answer(422, {"error": error, "detail": detail, "fields": fields})


def test_an_error_has_its_class_its_message_and_its_attributes():
    told = of(
        "BudgetExceededError", requested={"type": "PureDP", "epsilon": "2"}, remaining="ε 1", account="people/ann"
    )
    error = error_of(told, ADDRESS)
    assert type(error) is BudgetExceededError
    assert str(error) == "as it was said"
    assert (error.requested, error.remaining, error.account) == (sf.PureDP(2), "ε 1", "people/ann")
    with pytest.raises(ValueError, match="as it was said"):
        raise error_of(of("ParameterError", name="epsilon"), ADDRESS)


@pytest.mark.parametrize("name", [name for name in vars(errors) if name.endswith("Error")])
def test_every_error_of_the_package_can_be_said(name):
    error = error_of(of(name), ADDRESS)
    assert type(error).__name__ == name
    assert str(error) == "as it was said"


def test_attributes_take_no_methods_and_nothing_hidden_away():
    error = error_of(
        of("ParameterError", args=["x"], with_traceback="x", __class__="x", _a="x", value={"a": 1}), ADDRESS
    )
    assert error.args == ("as it was said",)
    assert callable(error.with_traceback)
    assert vars(error) == {"value": {"a": 1}}


@pytest.mark.parametrize(
    "told",
    [
        answer(500, body=b"<html>"), answer(404, {"detail": "no"}, kind="application/json"), answer(500, body=b"["),
        answer(500, [1]), of("SystemExit"), of("_shown"), of(7), of("ParameterError", detail=""), answer(302),
    ],
)  # fmt: skip
def test_anything_else_is_an_error_of_the_curator(told):
    error = error_of(told, ADDRESS)
    assert type(error) is CuratorError
    assert error.status == told.status
    assert ADDRESS in str(error)


def test_an_outage_keeps_no_error_behind_it():
    with pytest.raises(EngineError) as told:
        raise error_of(of("UnavailableError"), ADDRESS)
    assert type(told.value) is UnavailableError
    assert told.value.__context__ is None


def test_what_passes_by_itself_is_tried_again_later_and_later():
    busy = answer(503, {"error": "BusyError", "detail": "…"})
    for passing in (None, answer(502, kind="text/html"), answer(503, kind="text/html"), busy):
        pauses = [pause_after(passing, tried) for tried in range(1, TRIES)]
        assert pauses == sorted(pauses)
        assert pauses[0] < pauses[-1] <= problems.LONGEST_PAUSE
        assert pause_after(passing, TRIES) is None
        assert pause_after(passing, 2, tries=2) is None


def test_a_server_says_how_long_to_wait():
    fast = {"error": "TooFastError", "detail": "…"}
    assert pause_after(answer(429, fast, **{"retry-after": "7"}), 1) == 7
    assert pause_after(answer(429, fast, **{"retry-after": "61"}), 1) is None
    for said in ("soon", "-1", "9" * 400, "٣", ""):
        assert pause_after(answer(429, fast, **{"retry-after": said}), 1) in (problems.FIRST_PAUSE, None)


@pytest.mark.parametrize(
    "told",
    [
        answer(503, {"error": "UnavailableError", "detail": "…"}, **{"retry-after": "1"}), of("ParameterError"),
        answer(402, {"error": "BudgetExceededError", "detail": "…"}), answer(401, {"error": "NotAuthenticatedError"}),
        answer(500, body=b"<html>"), answer(200, {}), answer(409, {"error": "ReservationError", "detail": "…"}),
    ],
)  # fmt: skip
def test_refusals_and_answers_are_final(told):
    assert pause_after(told, 1) is None


def test_a_parameter_error_is_a_value_error_here_too():
    assert isinstance(error_of(of("ParameterError"), ADDRESS), ParameterError)
