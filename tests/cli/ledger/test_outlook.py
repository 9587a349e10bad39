import pytest
from tests.ledger.stories import HandClock, account, release, time

from sfumato.cli.ledger.outlook import last_questions, more, outlook
from sfumato.ledger.core.clock import DAY
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.memory import MemoryStore
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP


@pytest.fixture
def clock():
    return HandClock(time("2024-11-01T00:00"))


@pytest.fixture
def ledger(clock):
    ledger = Ledger(MemoryStore(), clock=clock)
    ledger.open_account(account("all", PureDP(2)))
    ledger.open_account(account(parents=("all",)))
    clock.at += DAY
    ledger.reserve("people", question="q", **release("0.1"))
    clock.at += 9 * DAY
    return ledger


def test_each_account_has_its_future(ledger):
    of_all, of_people = outlook(ledger, ledger.accounts(), days=30)
    assert of_all.split("; ") == [
        "all: spent ε 0 itself, in 0 charges", "at the pace of the last 10 days the budget lasts until 2025-05-20",
        "about 19 more questions like the last one",
    ]  # fmt: skip
    assert of_people.split("; ") == [
        "people: spent ε 0.1 itself, in 1 charge", "at the pace of the last 10 days the budget lasts until 2025-02-09",
        "about 9 more questions like the last one",
    ]  # fmt: skip


def test_only_accounts_that_were_asked_for_are_told(ledger):
    (line,) = outlook(ledger, ["people"], days=30)
    assert line.startswith("people: ")


def test_the_last_question_counts_for_all_above(ledger):
    ledger.reserve("all", question="q", **release("0.5"))
    last = last_questions(ledger)
    assert (more(ledger, "people", last["people"]), more(ledger, "all", last["all"])) == ("9", "2")


def test_who_never_asked_has_no_number(ledger):
    assert more(ledger, "people", None) == "?"


def test_what_nothing_limits_says_so():
    ledger = Ledger(MemoryStore())
    ledger.open_account(account(budget=NO_GUARANTEE))
    ledger.reserve("people", question="q", **release())
    assert more(ledger, "people", last_questions(ledger)["people"]) == "no limit"


def test_a_question_that_the_account_can_no_longer_hold_is_none_more():
    ledger = Ledger(MemoryStore())
    ledger.open_account(account(budget=ApproxDP(1, "1e-6")))
    ledger.reserve("people", question="q", **release("0.1", "1e-7"))
    ledger.change_budget("people", PureDP(1), reason="pure")
    assert more(ledger, "people", last_questions(ledger)["people"]) == "0"
