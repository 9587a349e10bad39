"""What fails on rows is told to nobody but the owner: all who ask that data see the same words until they say so."""

import logging
from dataclasses import replace

import pytest
from tests.query.planned import PEOPLE, VISITS, N
from tests.session.desk import asked, desk, rows

import sfumato as sf
from sfumato.errors import EngineError, EntropyError, FailedOnRowsError, UnavailableError

DATA = rows(PEOPLE, {"age": 30, "sex": "f", "pay": 1.5}, {"age": 50, "sex": "m"})


class Failing:
    """An engine that raises something instead of an answer, and counts how often it was asked."""

    name, sampling = "reference", "md5"

    def __init__(self, engine, error=None):
        self.ask, self.error, self.count = engine.run, error, 0

    def run(self, statement, *, salt):
        self.count += 1
        if self.error is not None:
            raise self.error
        return self.ask(statement, salt=salt)


def failing(error):
    curator = desk((PEOPLE, DATA), (VISITS, rows(VISITS)), budget=sf.PureDP(1))
    engine = Failing(curator.engine, error)
    return replace(curator, engine=engine), engine


def ask(curator, epsilon="0.1"):
    return asked(curator, PEOPLE, statistics=(N,)).release(epsilon=epsilon)


ON_ROWS = [
    FailedOnRowsError("postgres", "computed", "SQLSTATE class 22"), MemoryError("row 7: Alice"),
    ZeroDivisionError("Alice"), ValueError("Alice"),
]  # fmt: skip


@pytest.mark.parametrize("error", ON_ROWS, ids=lambda error: type(error).__name__)
def test_a_failure_on_rows_suspends_the_data_and_only_the_owner_hears_its_class(error, caplog):
    curator, engine = failing(error)
    shown = set()
    with caplog.at_level(logging.ERROR, logger="sfumato.owner"):
        for _ in range(3):
            with pytest.raises(UnavailableError) as caught:
                ask(curator)
            shown.add((type(caught.value), str(caught.value), caught.value.__cause__, caught.value.__context__))
    assert engine.count == 1
    assert len(shown) == 1
    (logged,) = caplog.messages
    assert getattr(error, "cause", type(error).__name__) in logged
    assert "Alice" not in logged + str(shown)
    assert str(curator.ledger.spent("test")) == "ε 0.1"


def test_stored_answers_are_still_given_and_after_the_acknowledgement_new_ones():
    curator, engine = failing(None)
    before = ask(curator)
    engine.error = ON_ROWS[0]
    with pytest.raises(UnavailableError):
        ask(curator, "0.2")
    assert [row.value for row in ask(curator)["n"]] == [row.value for row in before["n"]]
    engine.error = None
    with pytest.raises(UnavailableError):
        ask(curator, "0.2")
    curator.ledger.resume_account("test", reason="repaired")
    ask(curator, "0.2")


def test_a_question_that_ran_meanwhile_is_not_answered_either():
    curator, engine = failing(None)
    run = engine.ask

    def meanwhile(statement, *, salt):
        engine.error = ON_ROWS[0]
        with pytest.raises(UnavailableError):
            ask(curator, "0.2")
        return run(statement, salt=salt)

    engine.ask = meanwhile
    with pytest.raises(UnavailableError):
        ask(curator)
    assert (engine.count, curator.ledger.pending("test")) == (2, 0)


@pytest.mark.parametrize(
    "error",
    [EngineError("postgres", "opened"), EntropyError("ssl"), KeyboardInterrupt()],
    ids=lambda error: type(error).__name__,
)
def test_what_cannot_be_about_rows_is_told_and_suspends_nothing(error):
    curator, engine = failing(error)
    for count in (1, 2):
        with pytest.raises(type(error)) as caught:
            ask(curator)
        assert not isinstance(caught.value, UnavailableError)
        assert engine.count == count
