"""Requests that are repeated, stopped, malformed or only about a question: charged once, charged, free, free."""

from fractions import Fraction

import pytest
from tests.attacks_on_ledgers.census import COUNT, asked, census, ledger_of
from tests.session.opened import recorded

import sfumato as sf
from sfumato.errors import BudgetExceededError, EngineError, ReservationError, UnavailableError
from sfumato.ledger.core.entry import Abandoned, Reserved, Suspended
from sfumato.ledger.locations import open_ledger

# 41: the same request.


def test_41_the_same_key_gives_the_same_bytes_in_another_session_and_later(tmp_path):
    path = tmp_path / "ledger.db"
    with census(ledger=path) as session:
        first = asked(session, 30, idempotency_key="one")
        asked(session, 40, idempotency_key="two")
    with census(ledger=path) as session:
        again = asked(session, 30, idempotency_key="one")
        assert again == first
        assert again.receipt.to_json() == first.receipt.to_json()
        assert session.spent == sf.PureDP("0.2")


OTHER_BODIES = {
    "another question": {"age": 40},
    "another price": {"epsilon": "0.2"},
    "another delta": {"delta": "1e-6", "mechanism": "gaussian"},
    "another confidence": {"confidence": "0.9"},
}


@pytest.mark.parametrize("name", OTHER_BODIES)
def test_41_the_same_key_with_another_body_is_refused_and_costs_nothing(name):
    with census(budget=sf.ApproxDP(1, "1e-5")) as session:
        asked(session, 30, idempotency_key="one")
        with pytest.raises(ReservationError, match="is for another query"):
            asked(session, **({"age": 30} | OTHER_BODIES[name]), idempotency_key="one")
        assert session.spent.epsilon == Fraction(1, 10)


def test_41_a_key_is_of_no_use_to_others():
    with census() as session:
        ann, bob = (session.open_account(name, budget=sf.PureDP(1)) for name in ("ann", "bob"))
        first = asked(ann, 30, idempotency_key="one")
        other = asked(bob, 40, idempotency_key="one")
        assert other.receipt.request != first.receipt.request
        assert (ann.spent, bob.spent) == (sf.PureDP("0.1"), sf.PureDP("0.1"))


# 42: what fails after it was paid.


def stopped(session, error):
    """An engine that finds what it is asked, and stops before it says so."""
    session, engine = recorded(session)
    run = engine.run

    def failing(statement, *, salt):
        run(statement, salt=salt)
        raise error

    engine.run = failing
    return session, engine, run


@pytest.mark.parametrize("error", [EngineError("reference", "failed"), KeyboardInterrupt(), MemoryError()], ids=repr)
def test_42_whatever_stops_a_question_after_the_data_was_read_it_stays_charged_and_has_no_answer(error):
    session, engine, run = stopped(census(), error)
    with session:
        with pytest.raises(UnavailableError if isinstance(error, MemoryError) else type(error)):
            asked(session, 30, idempotency_key="one")
        engine.run = run
        assert session.spent == sf.PureDP("0.1")
        last = list(ledger_of(session).entries())[-1]
        assert isinstance(last, Suspended if isinstance(error, MemoryError) else Abandoned)
        if isinstance(last, Suspended):  # a row may have been too large
            ledger_of(session).resume_account(last.account, reason="more memory")
        with pytest.raises(ReservationError, match="failed and stays charged"):
            asked(session, 30, idempotency_key="one")
        asked(session, 30, idempotency_key="two")
        assert session.spent == sf.PureDP("0.2")


def test_42_failing_on_purpose_until_the_budget_is_spent_tells_nothing():
    session, engine, _ = stopped(census(), EngineError("reference", "failed"))
    with session:
        for _ in range(10):
            with pytest.raises(EngineError, match="its message is hidden"):
                asked(session, 30)
        with pytest.raises(BudgetExceededError):
            asked(session, 30)
    assert len(engine.statements) == 10


MALFORMED = ["SELECT", "SELECT age FROM people", "SELECT COUNT(*) AS n FROM nobody", "DROP TABLE people", "\x00"]


@pytest.mark.parametrize("sql", MALFORMED)
def test_42_what_is_malformed_is_free_and_decided_without_data(sql):
    session, engine = recorded(census())
    with session:
        with pytest.raises(sf.errors.SfumatoError):
            session.sql(sql, epsilon="0.1")
        assert (session.spent, engine.statements) == (sf.PureDP(0), [])
        assert not [entry for entry in ledger_of(session).entries() if isinstance(entry, Reserved)]


# 43: what is free.


def test_43_whatever_is_said_about_a_question_opens_no_data_and_leaves_no_entry(tmp_path):
    session, engine = recorded(census(ledger=tmp_path / "ledger.db"))
    with session:
        ann = session.open_account("ann", budget=sf.PureDP(1))
        entries = list(ledger_of(session).entries())
        question = ann.query(f"{COUNT} WHERE age > 30")
        for _ in range(3):
            question.cost(epsilon=1)
            question.error(epsilon=1)
            question.explain(sql=True)
            question.epsilon_for({"n": 5})
        for view in (session, ann):
            repr(view), repr(question), view.spent, view.remaining, view.budget, view.table("people")
        with pytest.raises(BudgetExceededError):
            question.release(epsilon=2)
        assert engine.statements == []
        assert list(ledger_of(session).entries()) == entries
        assert (ann.spent, session.spent) == (sf.PureDP(0), sf.PureDP(0))


def test_43_looking_at_a_ledger_changes_nothing(tmp_path):
    path = tmp_path / "ledger.db"
    with census(ledger=path) as session:
        asked(session)
    with open_ledger(path, must_exist=True) as ledger:
        before = list(ledger.records())
        ledger.verify(), ledger.spent("census"), ledger.remaining("census"), ledger.path("census"), ledger.accounts()
        assert list(ledger.records()) == before
