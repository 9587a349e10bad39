"""From a prepared question to its answer: stored for nothing, shared and charged, asked again under a key, or new."""

import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from tests.attacks_on_ledgers.census import COUNT, asked, census, ledger_of
from tests.meta.repository import ROOT
from tests.session.desk import charge
from tests.session.opened import recorded

import sfumato as sf
from sfumato.errors import (
    BudgetExceededError,
    EngineError,
    LedgerError,
    ParameterError,
    ReservationError,
    UnsupportedEventError,
)
from sfumato.ledger.core.entry import Committed, Reserved, Shared
from sfumato.ledger.core.reservations import Asked
from sfumato.privacy.budgets import ZCDP
from sfumato.session.asking.execution import answered
from sfumato.session.asking.shown import CONFIDENCE, asked_by

TENTH = sf.PureDP("0.1")


def two(session):
    """The accounts of two analysts."""
    return (session.open_account(name, budget=sf.PureDP("0.5")) for name in ("ann", "bob"))


def kinds(session):
    """What was recorded, without accounts."""
    return [type(entry).__name__ for entry in ledger_of(session).entries() if isinstance(entry, RECORDED)]


RECORDED = Reserved | Committed | Shared


def test_a_new_answer_is_charged_and_kept_and_a_stored_one_is_free():
    session, engine = recorded(census())
    with session:
        first, again = asked(session, 30), asked(session, 30)
        assert (first.reused, again.reused) == (False, True)
        assert again.records() == first.records()
        assert kinds(session) == ["Reserved", "Committed"]
        assert (session.spent, len(engine.statements)) == (TENTH, 1)


def test_who_asks_is_recorded_with_what_was_asked():
    with census() as session:
        ann, _ = two(session)
        release = asked(ann, 30)
        (entry,) = (entry for entry in ledger_of(session).entries() if isinstance(entry, Reserved))
        assert (entry.principal, entry.account) == ("census/ann", "census/ann")
        assert (entry.request, entry.question) == (release.receipt.request, release.receipt.plan_hash)
        assert (entry.idempotency_key, entry.body) == ("", "")


# Sharing.


def test_a_shared_answer_charges_its_reader_and_nobody_above_twice():
    session, engine = recorded(census(shares_answers=True))
    with session:
        ann, bob = two(session)
        first, second = asked(ann, 30), asked(bob, 30)
        assert second["n"] == first["n"]
        assert (ann.spent, bob.spent, session.spent) == (TENTH, TENTH, TENTH)
        assert kinds(session) == ["Reserved", "Committed", "Shared", "Committed"]
        assert len(engine.statements) == 1


def test_a_shared_answer_is_shown_as_if_it_had_been_asked_anew():
    with census(shares_answers=True) as session:
        ann, bob = two(session)
        asked(ann, 80, epsilon="0.3")
        asked(ann, 30)
        release = bob.query(f"{COUNT} WHERE 30 <= age").release(epsilon="0.1")
        assert not release.reused
        assert repr(release).endswith("spent ε 0.1; remaining: ε 0.4 (about 4 such queries)")
        assert (release.receipt.spent, release.receipt.remaining) == (TENTH, sf.PureDP("0.4"))
        assert release.receipt.question.endswith("30 <= age")


def test_a_shared_answer_is_stored_for_its_reader_from_then_on():
    with census(shares_answers=True) as session:
        ann, bob = two(session)
        asked(ann, 30)
        first, again = asked(bob, 30), asked(bob, 30)
        assert again.reused
        assert again.records() == first.records()
        assert again.receipt.request == first.receipt.request
        assert (bob.spent, kinds(session).count("Shared")) == (TENTH, 1)


def test_the_account_of_a_dataset_shares_with_those_below_and_pays_itself_only_for_what_it_asked():
    with census(shares_answers=True) as session:
        ann, bob = two(session)
        asked(session, 30)
        asked(ann, 30)
        assert (session.spent, ann.spent) == (TENTH, TENTH)
        asked(bob, 40)
        asked(session, 40)
        assert (session.spent, bob.spent) == (sf.PureDP("0.2"), TENTH)


def test_teams_above_a_reader_pay_for_what_they_did_not_pay_before():
    with census(shares_answers=True) as session:
        north, south = (session.open_account(name, budget=sf.PureDP("0.5")) for name in ("north", "south"))
        ann, bob = (team.open_account("x", budget=sf.PureDP("0.5")) for team in (north, south))
        for view in (ann, bob):
            asked(view, 30)
        assert [view.spent for view in (session, north, south, ann, bob)] == [TENTH] * 5


def test_a_reader_who_has_no_delta_is_given_no_answer_with_one():
    with census(shares_answers=True, budget=sf.ApproxDP(1, "1e-5")) as session:
        ann = session.open_account("ann", budget=sf.ApproxDP(1, "1e-5"))
        bob = session.open_account("bob", budget=sf.PureDP(1))
        asked(ann, 30, delta="1e-6", mechanism="gaussian")
        with pytest.raises(UnsupportedEventError, match="query without delta"):
            asked(bob, 30, delta="1e-6", mechanism="gaussian")
        assert bob.spent == sf.PureDP(0)


def test_an_answer_that_was_saved_is_shared_with_who_wants_to_see_it(tmp_path):
    grouped = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    with census(shares_answers=True, ledger=tmp_path / "ledger.db") as session:
        ann, bob = two(session)
        ann.query(grouped).release(epsilon="0.1", to=tmp_path / "answer.parquet")
        release = bob.query(grouped).release(epsilon="0.1")
        assert release.to_arrow().equals(pq.read_table(tmp_path / "answer.parquet").cast(release.to_arrow().schema))
        assert (bob.spent, session.spent) == (TENTH, TENTH)


def test_a_closed_dataset_shares_no_more():
    with census(shares_answers=True) as session:
        ann, bob = two(session)
        first = asked(ann, 30)
        session.close_account(reason="the study is over")
        with pytest.raises(LedgerError, match="closed"):
            asked(bob, 30)
        assert asked(ann, 30).records() == first.records()


def test_a_shared_answer_is_asked_again_under_its_key_like_any_other():
    with census(shares_answers=True) as session:
        ann, bob = two(session)
        asked(ann, 30, idempotency_key="one")
        first, again = (asked(bob, 30, idempotency_key="one") for _ in range(2))
        assert again == first
        assert not first.reused
        with pytest.raises(ReservationError, match="another query"):
            asked(bob, 40, idempotency_key="one")
        assert bob.spent == TENTH


def test_a_part_of_people_is_not_shared():
    with census(shares_answers=True) as session:
        ann, bob = two(session)
        with ann.partition("people", by="sex") as hers, bob.partition("people", by="sex") as his:
            for parts in (hers, his):
                parts["f"].sql(COUNT, epsilon="0.1")
        assert kinds(session) == ["Reserved", "Committed"] * 2


def test_without_the_policys_word_nothing_is_shared():
    with census() as session:
        for view in two(session):
            asked(view, 30)
        assert kinds(session) == ["Reserved", "Committed"] * 2
        assert session.spent == sf.PureDP("0.2")


def test_a_reader_in_rho_pays_what_the_answer_costs_in_rho():
    with census(shares_answers=True, budget=ZCDP(1)) as session:
        views = [session.open_account(name, budget=ZCDP("0.02")) for name in ("ann", "bob")]
        for view in views:
            asked(view, 30)
        assert views[0].spent == views[1].spent == session.spent
        with pytest.raises(BudgetExceededError):
            asked(views[1], 40, epsilon=1)


# The same request again.


def test_under_its_key_a_question_has_the_same_answer_and_receipt_and_is_no_stored_one():
    with census() as session:
        first = asked(session, 30, idempotency_key="one")
        asked(session, 40)
        again = asked(session, 30, idempotency_key="one")
        assert again == first
        assert not again.reused
        assert repr(again) == repr(first)
        assert asked(session, 30).reused
        assert session.spent == sf.PureDP("0.2")


AGAIN = """
import sys
from tests.attacks_on_ledgers.census import asked, census
with census(ledger=sys.argv[1]) as session:
    print(asked(session, 30, idempotency_key="one").receipt.to_json())
"""


def test_another_process_hears_the_same_bytes(tmp_path):
    path = tmp_path / "ledger.db"
    with census(ledger=path) as session:
        first = asked(session, 30, idempotency_key="one").receipt.to_json()
    told = subprocess.run(
        [sys.executable, "-c", AGAIN, path], capture_output=True, check=True, cwd=ROOT, encoding="utf-8"
    )
    assert told.stdout == first + "\n"


@pytest.mark.usefixtures("unheard")
def test_what_was_charged_and_never_answered_is_answered_for_that_charge(tmp_path):
    path = tmp_path / "ledger.db"
    with census(ledger=path) as session:
        question = session.query(f"{COUNT} WHERE age >= 30")
        prepared = question._prepared("0.1", 0, None)
        ticket = charge(session._desk, prepared, asked=asked_by(session._desk, "one", prepared, CONFIDENCE))
    with census(ledger=path) as session:
        release = asked(session, 30, idempotency_key="one")
        assert release.receipt.request == ticket.reservation.request
        assert session.spent == TENTH
        assert kinds(session) == ["Reserved", "Committed"]


def test_a_key_of_another_question_is_refused_before_anything_is_charged():
    session, engine = recorded(census())
    with session:
        asked(session, 30, idempotency_key="one")
        for age, more in ((40, {}), (30, {"epsilon": "0.2"}), (30, {"confidence": "0.5"})):
            with pytest.raises(ReservationError, match="another query"):
                asked(session, age, idempotency_key="one", **more)
        assert (session.spent, len(engine.statements)) == (TENTH, 1)


def test_a_key_is_that_of_the_one_who_asks():
    with census() as session:
        ann, bob = two(session)
        first, second = (asked(view, 30, idempotency_key="one") for view in (ann, bob))
        assert first.receipt.request != second.receipt.request
        assert (ann.spent, bob.spent, session.spent) == (TENTH, TENTH, sf.PureDP("0.2"))
        asked(session, 50, idempotency_key="one")


@pytest.mark.parametrize("key", ["", None])
def test_a_key_is_some_text_or_none(key):
    with census() as session:
        if key is None:
            asked(session, 30, idempotency_key=None)
            return
        with pytest.raises(ParameterError, match="idempotency_key"):
            asked(session, 30, idempotency_key=key)
        assert session.spent == sf.PureDP(0)


@pytest.mark.parametrize("key", ["ключ", "a b\nc", "x" * 1_000, "'; DROP TABLE record; --", "\U0001f511"])
def test_a_key_is_any_text(tmp_path, key):
    with census(ledger=tmp_path / "ledger.db") as session:
        assert asked(session, 30, idempotency_key=key) == asked(session, 30, idempotency_key=key)
        assert session.spent == TENTH


def test_a_question_that_failed_is_not_asked_again_under_its_key():
    session, engine = recorded(census(), fails=True)
    with session:
        with pytest.raises(EngineError):
            asked(session, 30, idempotency_key="one")
        engine._fails = False
        with pytest.raises(ReservationError, match="stays charged"):
            asked(session, 30, idempotency_key="one")
        assert (session.spent, len(engine.statements)) == (TENTH, 1)


@pytest.mark.usefixtures("unheard")
def test_of_two_that_ask_at_once_under_one_key_both_hear_the_first_answer_and_one_is_charged():
    session, engine = recorded(census())
    run, others = engine.run, []

    def meanwhile(statement, *, salt):
        engine.run = run
        others.append(asked(session, 30, idempotency_key="one"))
        return run(statement, salt=salt)

    with session:
        engine.run = meanwhile
        assert asked(session, 30, idempotency_key="one") == others[0]
        assert session.spent == TENTH
        assert kinds(session) == ["Reserved", "Committed"]


def test_a_file_may_be_asked_for_under_a_key_too(tmp_path):
    with census(ledger=tmp_path / "ledger.db") as session:
        question = session.query("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")
        paths = [tmp_path / f"{number}.parquet" for number in range(2)]
        saved = [question.release(epsilon="0.1", to=path, idempotency_key="one") for path in paths]
        assert saved[0].receipt == saved[1].receipt
        assert pq.read_table(paths[0]).equals(pq.read_table(paths[1]))
        assert session.spent == TENTH


def test_an_answer_says_whether_it_was_there_before():
    with census() as session:
        desk, question = session._desk, session.query(COUNT)
        prepared = question._prepared("0.1", 0, None)
        found = [answered(desk, prepared, asked=Asked(), keep=None) for _ in range(2)]
        assert [one.is_reused for one in found] == [False, True]
        assert found[0].answer == found[1].answer


@pytest.mark.parametrize("key", [b"one", 1, ["one"]])
def test_a_key_that_is_no_text_is_refused_before_anything_is_charged(key):
    with census() as session:
        with pytest.raises(ParameterError, match="idempotency_key"):
            asked(session, 30, idempotency_key=key)
        assert session.spent == sf.PureDP(0)
