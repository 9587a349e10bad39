"""Errors as documents: the class, the message with its fix, the attributes; of defects nothing."""

import json
from fractions import Fraction

import pytest

from sfumato import errors as tree
from sfumato.errors import (
    BudgetExceededError,
    DatabaseError,
    EngineError,
    LedgerConflictError,
    LedgerError,
    NotAuthenticatedError,
    ParameterError,
    ReservationError,
    SfumatoError,
    UnavailableError,
)
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.server.gateway.problems import (
    TooFastError,
    TooLargeError,
    document_of,
    documented,
    plain_problem,
    response_of,
    status_of,
)

STATUSES = {
    ParameterError("x", 1, "must be 2"): 422,
    BudgetExceededError(PureDP(2), PureDP(1)): 402,
    ReservationError("r", "failed"): 409,
    LedgerConflictError("a", "b"): 409,
    UnavailableError(): 503,
    EngineError("duckdb", "answered"): 503,
    NotAuthenticatedError(): 401,
    TooFastError("requests", 60): 429,
    TooLargeError(5): 413,
    ValueError("canary"): 500,
    KeyError("canary"): 500,
}


@pytest.mark.parametrize(("error", "status"), STATUSES.items(), ids=lambda part: type(part).__name__)
def test_an_error_is_a_document_with_its_status(error, status):
    response = response_of(error)
    content = json.loads(response.body)
    assert (response.status_code, content["status"], status_of(error)) == (status, status, status)
    assert response.headers["content-type"] == "application/problem+json"
    assert set(content) == {"type", "title", "status", "detail", "error", "fields"}
    assert ("retry-after" in response.headers) == (status in {429, 503})
    if status == 500:
        assert "canary" not in response.body.decode()
        assert content["error"] == "InternalError"
    else:
        assert content["error"] == type(error).__name__
        assert content["detail"] == str(error)


@pytest.mark.parametrize(
    "error", [LedgerError("/srv/canary/ledger.db", "cannot be written"), DatabaseError("sqlite:////canary", "is full")]
)
def test_where_a_ledger_or_a_database_is_nobody_outside_hears(error):
    content = json.loads(response_of(error).body)
    assert (content["status"], content["error"], content["fields"].get("engine")) == (503, "UnavailableError", "data")
    assert "canary" not in response_of(error).body.decode()


def test_what_is_said_of_an_account_is_said():
    assert "was closed" in response_of(LedgerError("account 'd/ann'", "was closed by its owner")).body.decode()


def test_every_error_of_the_package_has_a_status_of_its_own_and_none_is_a_defect():
    kinds = [kind for kind in vars(tree).values() if isinstance(kind, type) and issubclass(kind, SfumatoError)]
    unknown = [kind.__name__ for kind in kinds if kind is not SfumatoError and status_of(kind.__new__(kind)) == 500]
    assert set(unknown) <= {"BudgetError", "CuratorError"}  # a base that nobody raises, and one of clients


STRANGE = [
    float("nan"), float("inf"), -float("inf"), 10**5_000, Fraction(10**5_000, 3), 2**63, -(2**53) - 1, "x" * 10**6,
    b"\xff", object, None, True, 0.5, Fraction(1, 3), ["x"], {"x": float("nan")}, "é\u2028", (10**5_000,),
]  # fmt: skip


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: type(value).__name__)
def test_whatever_an_error_is_about_it_can_be_sent(value):
    content = response_of(ParameterError("x", value, "must be something else")).body
    assert len(content) < 10_000
    shown = json.loads(content)["fields"]["value"]
    assert shown is None or isinstance(shown, str | int | float)
    assert not isinstance(shown, int) or abs(shown) <= 2**53


def test_budgets_are_shown_as_anywhere_else():
    fields = document_of(BudgetExceededError(ApproxDP(2, "1e-6"), ApproxDP(1, "1e-6")))["fields"]
    assert [type(fields[name]) for name in ("requested", "remaining")] == [dict, dict]


def test_what_is_of_http_alone_says_so():
    content = json.loads(plain_problem(408, "send it faster", {"Connection": "close"}).body)
    assert (content["type"], content["error"]) == ("about:blank", "RequestTimeoutError")


def test_the_document_of_the_interface_refers_to_one_model():
    (described,) = documented(402).values()
    assert described["description"] == "Payment Required"


def test_51_what_was_sent_comes_back_shortened_and_nothing_else_does(beside):
    """Catalogue 51: names of fields may be anything, and are the analyst's own."""
    with beside.client("ann") as ann:
        long = ann.post("/datasets/clinic/ask", json={"sql": "x", "y" * 900_000: 1})
        unknown = ann.get("/" + "z" * 10_000)
    assert (long.status_code, len(long.content) < 10_000) == (422, True)
    assert (unknown.status_code, len(unknown.content) < 1_000) == (404, True)
