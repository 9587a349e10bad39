"""Races to the end of a budget, and a curator who is killed, cut off or set back: nothing is given for nothing."""

import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from itertools import repeat

import pytest
from tests.attacks_on_ledgers.census import COUNT, asked, census, ledger_of, policy
from tests.session.opening import recorded

import sfumato as sf
from sfumato.errors import BudgetExceededError, EngineError, LedgerCorruptError, LedgerError, ReservationError
from sfumato.ledger.entry import Abandoned, Committed, Reserved
from sfumato.ledger.locations import open_ledger
from sfumato.ledger.sqlite import SQLiteStore

ROUNDS = 12 if os.environ.get("SFUMATO_FULL_SIZE") else 1
ANALYSTS = ("ann", "bob", "cyn", "dan")


def said(process):
    """The first line of a process, which says that it is ready."""
    return process.stdout.readline().strip()


def start(program, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


# 34: races.

RACE = """
import sys
from concurrent.futures import ThreadPoolExecutor
from sfumato.errors import BudgetExceededError
from sfumato.ledger.locations import open_ledger
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import PureDP

ledger = open_ledger(sys.argv[1])
price = PureDP("0.001")

def thirteen(name):
    granted = 0
    for _ in range(13):
        try:
            ledger.reserve(f"census/{name}", event=PureEvent("0.001"), charge=price, question="q")
            granted += 1
        except BudgetExceededError:
            pass
    return granted

print("ready", flush=True)
input()
with ThreadPoolExecutor(4) as threads:
    print(sum(threads.map(thirteen, sys.argv[2:])))
"""


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_34_a_hundred_requests_at_99_percent_are_granted_to_the_cap_exactly_at_every_account(tmp_path, _round):
    path = tmp_path / "ledger.db"
    with census(ledger=path) as session:
        views = [session.open_account(name, budget=sf.PureDP("0.003")) for name in ANALYSTS]
        asked(session, epsilon="0.99")
        racers = [start(RACE, path, *ANALYSTS) for _ in range(2)]
        assert [said(racer) for racer in racers] == ["ready"] * 2
        for racer in racers:
            racer.stdin.write("go\n")
            racer.stdin.flush()
        granted = [int(racer.communicate()[0]) for racer in racers]
        assert sum(granted) == 10
        assert session.spent == sf.PureDP(1)
        assert all(view.spent.epsilon <= Fraction(3, 1000) for view in views)
        assert sum(view.spent.epsilon for view in views) == Fraction(1, 100)
        ledger_of(session).verify()


def test_34_threads_that_ask_one_session_pass_no_account(tmp_path):
    with census(ledger=tmp_path / "ledger.db") as session, ThreadPoolExecutor(8) as threads:
        views = [session.open_account(name, budget=sf.PureDP("0.4")) for name in ANALYSTS]

        def answers(number):
            try:
                return asked(views[number % 4], number, epsilon="0.05").receipt
            except BudgetExceededError:
                return None

        receipts = [receipt for receipt in threads.map(answers, range(48)) if receipt]
        assert len(receipts) == 20
        assert session.remaining == sf.PureDP(0)
        assert max(view.spent.epsilon for view in views) <= Fraction(2, 5)


# 35, 41: kills, and who asks again.

KILLED = """
import os, signal, sys
from tests.attacks_on_ledgers.census import asked, census
from sfumato.engines.reference import ReferenceEngine
from sfumato.ledger.ledger import Ledger
from sfumato.session.question import Question

place, when, path = sys.argv[1:]
owner, name = {
    "reserve": (Ledger, "reserve"), "execute": (ReferenceEngine, "run"),
    "store": (Ledger, "commit"), "send": (Question, "_release"),
}[place]
through = getattr(owner, name)

def killing(*arguments, **named):
    if when == "after":
        through(*arguments, **named)
    os.kill(os.getpid(), signal.SIGKILL)

session = census(ledger=path)
setattr(owner, name, killing)
asked(session, 30, idempotency_key="one")
"""
PLACES = [(place, when) for place in ("reserve", "execute", "store", "send") for when in ("before", "after")]
CHARGED_FROM = PLACES.index(("reserve", "after"))
STORED_FROM = PLACES.index(("store", "after"))


@pytest.mark.parametrize("point", range(len(PLACES)), ids=[" ".join(reversed(point)) for point in PLACES])
def test_35_wherever_a_curator_is_killed_what_it_released_was_charged_and_asking_again_pays_once(tmp_path, point):
    path = tmp_path / "ledger.db"
    victim = start(KILLED, *PLACES[point], path)
    victim.communicate()
    assert victim.returncode == -signal.SIGKILL
    with census(ledger=path) as session:
        assert session.spent == sf.PureDP("0.1" if point >= CHARGED_FROM else 0)
        ledger_of(session).verify()
        kept = [entry.answer for entry in ledger_of(session).entries() if isinstance(entry, Committed)]
        assert len(kept) == (point >= STORED_FROM)
        release, again = (asked(session, 30, idempotency_key="one") for _ in range(2))
        assert release == again
        assert not kept or kept[0]["receipt"] == release.receipt.to_dict()
        assert session.spent == sf.PureDP("0.1")
        assert asked(session, 30).records() == release.records()


def test_35_without_a_key_what_was_charged_and_never_answered_is_charged_again(tmp_path):
    path = tmp_path / "ledger.db"
    start(KILLED, "store", "before", path).communicate()
    with census(ledger=path) as session:
        asked(session, 30)
        assert session.spent == sf.PureDP("0.2")


# 36: a ledger that cannot be written.


def failing(monkeypatch, *, after=0):
    """From here on, after so many turns, nobody can write."""
    turns, taken = SQLiteStore.turn, []

    def turn(store):
        taken.append(store)
        if len(taken) > after:
            raise LedgerError("ledger.db", "the disk is full; make room")
        return turns(store)

    monkeypatch.setattr(SQLiteStore, "turn", turn)


def test_36_a_ledger_that_cannot_be_written_answers_nothing_new_and_no_data_is_read(tmp_path, monkeypatch):
    session, engine = recorded(census(ledger=tmp_path / "ledger.db"))
    with session:
        first = asked(session, 10)
        engine.statements.clear()
        failing(monkeypatch)
        with pytest.raises(LedgerError, match="disk is full"):
            asked(session, 20)
        assert engine.statements == []
        assert asked(session, 10).records() == first.records()


def test_36_an_answer_that_cannot_be_kept_is_not_shown_and_stays_charged(tmp_path, monkeypatch):
    path = tmp_path / "ledger.db"
    with census(ledger=path) as session, monkeypatch.context() as patch:
        failing(patch, after=1)
        with pytest.raises(LedgerError, match="disk is full"):
            asked(session, 20, idempotency_key="one")
    with census(ledger=path) as session:
        assert session.spent == sf.PureDP("0.1")
        asked(session, 20, idempotency_key="one")
        assert session.spent == sf.PureDP("0.1")


# 37, 44: old ledgers and copies.


def test_37_a_ledger_from_before_is_refused_and_gives_no_second_budget(tmp_path):
    path, old = tmp_path / "ledger.db", tmp_path / "old.db"
    with census(ledger=path) as session:
        asked(session, 10, epsilon="0.2")
    shutil.copy(path, old)
    with census(ledger=path) as session:
        asked(session, 20, epsilon="0.8")
        ledger_of(session).checkpoint()
    for left in tmp_path.glob("ledger.db-*"):
        left.unlink()
    shutil.copy(old, path)
    with pytest.raises(LedgerCorruptError):
        census(ledger=path)


def test_37_a_ledger_that_was_taken_away_is_no_new_ledger(tmp_path):
    path = tmp_path / "ledger.db"
    with census(ledger=path) as session:
        asked(session, epsilon=1)
        ledger_of(session).checkpoint()
    for left in tmp_path.glob("ledger.db*"):
        if left.suffix not in (".key", ".checkpoint"):
            left.unlink()
    with pytest.raises(LedgerError):
        census(ledger=path)


def test_44_a_backup_is_restored_with_its_key_and_has_the_same_story(tmp_path):
    path, backup = tmp_path / "ledger.db", tmp_path / "backup"
    with census(ledger=path) as session:
        first = asked(session.open_account("ann", budget=sf.PureDP("0.5")), 10)
        told = ledger_of(session).verify()
    backup.mkdir()
    for file in tmp_path.glob("ledger.db*"):
        if file.is_file():
            shutil.copy(file, backup / file.name)
    with census(ledger=backup / "ledger.db") as session:
        assert ledger_of(session).verify().head == told.head
        assert session.spent == sf.PureDP("0.1")
        assert asked(session.account("ann"), 10).records() == first.records()


def test_44_a_copy_without_its_key_is_of_no_use(tmp_path):
    path, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    with census(ledger=path) as session:
        asked(session)
    shutil.copy(path, copy)
    with pytest.raises((LedgerError, LedgerCorruptError)), census(ledger=copy) as session:
        asked(session)


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
        with pytest.raises(ReservationError, match="another question"):
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
        with pytest.raises(type(error)):
            asked(session, 30, idempotency_key="one")
        engine.run = run
        assert session.spent == sf.PureDP("0.1")
        last = list(ledger_of(session).entries())[-1]
        assert isinstance(last, Abandoned)
        with pytest.raises(ReservationError, match="failed, and stays charged"):
            asked(session, 30, idempotency_key="one")
        asked(session, 30, idempotency_key="two")
        assert session.spent == sf.PureDP("0.2")


def test_42_failing_on_purpose_until_the_budget_is_spent_tells_nothing():
    session, engine, _ = stopped(census(), EngineError("reference", "failed"))
    with session:
        for _ in range(10):
            with pytest.raises(EngineError, match="^reference"):
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
