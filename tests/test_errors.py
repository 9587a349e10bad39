"""Errors carry what they are about, say how to mend it, and hold nothing that was computed from rows."""

import inspect
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sfumato import errors
from sfumato.errors import (
    BudgetExceededError,
    BusyError,
    CuratorError,
    DatabaseError,
    EngineError,
    EntropyError,
    FailedOnRowsError,
    ForbiddenError,
    LedgerConflictError,
    LedgerCorruptError,
    LedgerError,
    LedgerMissingError,
    LedgerTimeoutError,
    NotAuthenticatedError,
    NotFoundError,
    NotPrivateError,
    ParameterError,
    PolicyError,
    ReservationError,
    SfumatoError,
    StateError,
    TicketError,
    UnavailableError,
    UnboundedSensitivityError,
    UnitChangedError,
    UnsupportedEventError,
)

RAISED = [
    (ParameterError("epsilon", -1, "must be 0 or more"), {"name": "epsilon", "value": -1}, "epsilon = -1: must be"),
    (ParameterError("--spent", None, "is missing: give it"), {"name": "--spent"}, "^--spent is missing: give it$"),
    (NotPrivateError("MAX(age)", "is unbounded", "Ask AVG."), {"expression": "MAX(age)"},
     r"MAX\(age\): is unbounded\. Ask"),
    (UnboundedSensitivityError("t", "v", "Declare bounds."), {"relation": "t", "column": "v"}, "t.v: .*Declare bounds"),
    (UnsupportedEventError("event", "PLD"), {"accountant": "PLD"}, "PLD has no sound cost.*supports"),
    (PolicyError("tables.t", "must be"), {"path": "tables.t"}, "policy, at tables.t: must be"),
    (EngineError("duckdb", "ran"), {"engine": "duckdb", "phase": "ran"}, "message is hidden"),
    (FailedOnRowsError("duckdb", "ran", "SQLSTATE class 22"), {"engine": "duckdb", "cause": "SQLSTATE class 22"},
     "^the duckdb engine failed while it ran; its message is hidden, as it can quote rows$"),
    (UnavailableError(), {}, "Try again later, or ask its owner"),
    (BudgetExceededError("ε 2", "ε 1"), {"requested": "ε 2", "remaining": "ε 1"},
     "^budget exceeded: the query costs ε 2; the account has ε 1 remaining; nothing was spent. Lower epsilon"),
    (ReservationError("r", "used"), {"reservation": "r", "state": "used"}, "each reservation can be used once"),
    (LedgerError("l.db", "is closed"), {"ledger": "l.db"}, "ledger l.db: is closed"),
    (LedgerConflictError("a", "b"), {"ledger": "b"}, "read again and retry"),
    (LedgerTimeoutError("a", 30, "7 on h"), {"seconds": 30, "holder": "7 on h"}, "resume or end that process"),
    (LedgerMissingError("a", "does not exist; name it"), {"ledger": "a"}, "name it"),
    (
        UnitChangedError("a", "t", was="id (text)", is_now="each row"),
        {"account": "a", "table": "t", "was": "id (text)", "is_now": "each row", "holder": "a"},
        "Restore the old unit",
    ),
    (LedgerCorruptError(7), {"index": 7}, "restore a good copy"),
    (StateError("s.db", "is damaged"), {"state": "s.db", "requirement": "is damaged"}, "^state s.db: is damaged"),
    (BusyError("queries at once", 2), {"what": "queries at once", "retry_after": 2}, "queries at once"),
    (TicketError("key", "must be known"), {"part": "key", "requirement": "must be known"}, "its key must be known"),
    (NotAuthenticatedError(), {}, "^no valid API key; send one as"),
    (ForbiddenError("ask", "ask for a role"), {"action": "ask", "requirement": "ask for a role"},
     "ask: not allowed; ask for a role"),
    (NotFoundError("dataset", "d"), {"thing": "dataset", "name": "d"}, "dataset 'd': not found. Check"),
    (DatabaseError("s.db", "is newer"), {"database": "s.db", "requirement": "is newer"}, "database s.db: is newer"),
    (CuratorError("https://c", 502, "is none"), {"curator": "https://c", "status": 502}, "https://c, status 502: is"),
    (EntropyError("ssl"), {"source": "ssl"}, "nothing was released"),
]  # fmt: skip


def classes():
    return [value for _, value in inspect.getmembers(errors, inspect.isclass) if value.__module__ == errors.__name__]


@pytest.mark.parametrize(("error", "carried", "message"), RAISED, ids=lambda value: type(value).__name__)
def test_an_error_carries_its_objects_and_says_what_to_do(error, carried, message):
    assert {name: getattr(error, name) for name in carried} == carried
    assert re.search(message, str(error))


def test_every_error_is_tried_here_or_is_a_base():
    assert {type(error) for error, _, _ in RAISED} | {SfumatoError, errors.BudgetError, errors.AccessError} == set(
        classes()
    )


@pytest.mark.parametrize("error", classes(), ids=lambda error: error.__name__)
def test_every_error_is_one_of_the_package_and_stands_in_the_tree(error):
    assert issubclass(error, SfumatoError)
    assert re.search(rf"^ +{error.__name__}\b", errors.__doc__, re.MULTILINE)


def test_a_wrong_parameter_is_a_value_error_too():
    assert issubclass(ParameterError, ValueError)


def test_the_module_imports_nothing():
    assert not re.search(r"^(import|from) ", inspect.getsource(errors), re.MULTILINE)


@pytest.mark.parametrize(
    "value", [2**20_000, Fraction(1, 3**20_000), "x" * 10_000, [1] * 10_000], ids=lambda v: type(v).__name__
)
def test_a_value_of_any_size_makes_a_short_message(value):
    assert len(str(errors.ParameterError("epsilon", value, "must be smaller"))) < 300


def failing_engine():
    try:
        "row 7: canary".encode("latin2").decode("ascii7")
    except LookupError:
        raise EngineError("duckdb", "ran") from None


@pytest.mark.parametrize("hold", [lambda rows: rows, lambda rows: [rows], lambda rows: {"people": rows}])
@pytest.mark.parametrize(
    "rows", [pd.DataFrame({"name": ["Ann"]}), pd.Series(["Ann"]), pa.table({"name": ["Ann"]}), np.array(["Ann"])],
    ids=["a frame", "a series", "a table", "an array"],
)  # fmt: skip
def test_rows_in_the_place_of_a_parameter_are_not_shown(rows, hold):
    assert "Ann" not in str(ParameterError("columns", hold(rows), "must be columns"))


def test_a_number_of_numpy_is_shown():
    assert str(ParameterError("n", np.int64(7), "must be text")).startswith("n = np.int64(7)")


def test_no_error_of_an_engine_leads_to_what_the_engine_said():
    with pytest.raises(EngineError) as caught:
        failing_engine()
    assert caught.value.__context__ is caught.value.__cause__ is None
