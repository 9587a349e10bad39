"""Races to the end of a budget, and a curator who is killed on the way: nothing is given for nothing."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from tests.attacks_on_ledgers.census import asked, census, ledger_of
from tests.meta.repository import ROOT
from tests.sizes import FULL_SIZE

import sfumato as sf
from sfumato.errors import BudgetExceededError
from sfumato.ledger.core.entry import Committed

ROUNDS = 12 if FULL_SIZE else 1
ANALYSTS = ("ann", "bob", "cyn", "dan")


def said(process):
    """The first line of a process, which says that it is ready."""
    return process.stdout.readline().strip()


def start(program, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
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
from sfumato.engines.reference.engine import ReferenceEngine
from sfumato.ledger.ledger import Ledger
from sfumato.session.asking import question

place, when, path = sys.argv[1:]
owner, name = {
    "reserve": (Ledger, "fly"), "execute": (ReferenceEngine, "run"),
    "store": (Ledger, "commit"), "send": (question, "release_of"),
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
TRIED = range(len(PLACES)) if FULL_SIZE else range(1, len(PLACES), 3)
"""The ledger alone is killed at all of these in tests/ledger/test_kills.py; whole sessions only in `make soak`."""


@pytest.mark.usefixtures("unheard")
@pytest.mark.parametrize("point", TRIED, ids=lambda point: " ".join(reversed(PLACES[point])))
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


@pytest.mark.usefixtures("unheard")
def test_35_without_a_key_what_was_charged_and_never_answered_is_charged_again(tmp_path):
    path = tmp_path / "ledger.db"
    start(KILLED, "store", "before", path).communicate()
    with census(ledger=path) as session:
        asked(session, 30)
        assert session.spent == sf.PureDP("0.2")
