import json

import pytest
from tests.cli.commands import refusal
from tests.cli.ledger.telling import row, told
from tests.ledger.sqlite_edits import without_triggers
from tests.ledger.stories import HandClock, account, held, release, time

from sfumato.cli.ledger.show import last_queries, outlook, queries_left
from sfumato.ledger.core import windows
from sfumato.ledger.core.windows import DAY
from sfumato.ledger.labels import label_of
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import open_ledger
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP


def test_accounts_are_a_tree_with_budgets_and_what_is_left(ledger):
    shown = told("show", ledger)
    assert "hospital protects one patient (add_or_remove_one)" in shown
    assert row(shown, "hospital") == "ε 3, δ 1e-05 ε 0.9, δ 1e-06 ε 2.1, δ 9e-06 10 open"
    assert row(shown, "hospital/ann") == "ε 1 ε 0.3 ε 0.7 3 open, 1 pending"
    assert row(shown, "hospital/bob") == "ρ 0.5 per calendar month (UTC) ρ 0.005 ρ 0.495 3 hospital open"


def test_an_account_of_which_nothing_is_left_is_spent(ledger):
    with open_ledger(ledger) as opened:
        opened.reserve("hospital/ann", question="d" * 64, **release("0.7"))
    assert row(told("show", ledger), "hospital/ann") == "ε 1 ε 1 ε 0 0 spent, 2 pending"


def test_the_account_above_that_limits_an_account_is_named(ledger):
    with open_ledger(ledger) as opened:
        opened.change_budget("hospital", ApproxDP(1, "1e-5"), reason="less")
    shown = told("show", ledger)
    assert row(shown, "hospital") == "ε 1, δ 1e-05 ε 0.9, δ 1e-06 ε 0.1, δ 9e-06 0 open"
    assert row(shown, "hospital/ann") == "ε 1 ε 0.3 ε 0.7 0 hospital open, 1 pending"


def test_who_never_asked_is_limited_by_an_account_above_that_has_no_room(ledger):
    with open_ledger(ledger) as opened:
        opened.open_account(account("hospital/eve", parents=("hospital",), privacy_unit="patient"))
        opened.change_budget("hospital", ApproxDP("0.9", "1e-5"), reason="less")
    assert row(told("show", ledger), "hospital/eve") == "ε 1 ε 0 ε 1 ? hospital open"
    assert row(told("show", ledger), "hospital").endswith("ε 0, δ 9e-06 0 spent")


def test_a_ledger_that_is_later_than_the_clock_says_so(ledger, monkeypatch):
    late = windows._wall() + 3 * DAY
    with monkeypatch.context() as patched:
        patched.setattr(windows, "_wall", lambda: late)
        with open_ledger(ledger) as opened:
            opened.reserve("hospital/ann", question="d" * 64, **release("0.1"))
    shown = told("show", ledger)
    assert "clock: the last entry is 2 days later than the clock of this machine" in shown


def test_a_ledger_in_time_says_nothing_of_clocks(ledger):
    assert "clock:" not in told("show", ledger) + told("history", ledger) + told("verify", ledger)


def test_entries_and_reservations_without_an_answer_are_counted(ledger):
    assert "9 entries; 1 unanswered reservation (still charged)" in told("show", ledger)


def test_each_tree_says_whom_it_protects(ledger):
    with open_ledger(ledger) as opened:
        opened.open_account(account("school", NO_GUARANTEE, privacy_unit="pupil"))
    shown = told("show", ledger)
    assert "school protects one pupil (add_or_remove_one)" in shown
    assert row(shown, "school").endswith("? open")


def test_each_table_says_who_one_unit_is_and_accounts_beside_are_named(ledger):
    with open_ledger(ledger) as opened:
        nations = held("school", unit="public", table="nations")
        visits = held("school", "mark", unit="visit (text)", table="visits", sources=("mark of the file",))
        school = account("school", NO_GUARANTEE, privacy_unit="visit")
        opened.open_account(school, tables=[nations, visits], beside=("hospital",))
    shown = told("show", ledger).splitlines()
    for line in (
        "  in table visits of hospital, one patient is pid (text)",
        "  same data as hospital with other privacy units: school; the budgets add up",
        "  in table visits of school, one visit is visit (text)",
        "  in table nations of school, every row is public",
        "  same data as school with other privacy units: hospital; the budgets add up",
    ):
        assert line in shown
    assert "nations: public, beside hospital" in told("export", ledger)


def test_an_account_below_several_is_shown_once(ledger):
    with open_ledger(ledger) as opened:
        both = ("hospital/ann", "hospital/bob")
        opened.open_account(account("joint", parents=both, privacy_unit="patient"))
    assert row(told("show", ledger), "joint,").startswith("also a child of hospital/bob")


def test_a_closed_account_closes_those_below(ledger):
    with open_ledger(ledger) as opened:
        opened.close_account("hospital", reason="over")
    assert row(told("show", ledger), "hospital/bob").endswith("0 hospital closed")


def test_names_cannot_steer_the_terminal(ledger):
    with open_ledger(ledger) as opened:
        opened.open_account(account("a\x1b[2J\u202eb"))
    assert "a\\x1b[2J\\u202eb protects" in told("show", ledger)


@pytest.mark.parametrize("command", [["verify"], ["show"], ["history"], ["export"], ["checkpoint"], ["sweep"]])
def test_a_missing_ledger_is_refused_and_not_made(tmp_path, command):
    assert "none.db" in refusal("ledger", *command, tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["verify"], ["show"], ["history"], ["export"]])
def test_a_changed_entry_is_refused_and_named(ledger, command):
    without_triggers(ledger, "UPDATE record SET text = replace(text, '1/10', '1/11')")
    assert "entry 4: its hash" in refusal("ledger", *command, ledger)


@pytest.fixture
def clock():
    return HandClock(time("2024-11-01T00:00"))


@pytest.fixture
def asked(clock):
    ledger = Ledger(MemoryStore(), clock=clock)
    ledger.open_account(account("all", PureDP(2)))
    ledger.open_account(account(parents=("all",)))
    clock.at += DAY
    ledger.reserve("people", question="q", **release("0.1"))
    clock.at += 9 * DAY
    return ledger


def test_each_account_has_its_future(asked):
    of_all, of_people = outlook(asked, asked.accounts(), days=30)
    assert of_all.split("; ") == [
        "all: 0 charges of its own, ε 0 in total", "at the pace of the last 10 days the budget lasts until 2025-05-20",
        "queries left: about 19",
    ]  # fmt: skip
    assert of_people.split("; ") == [
        "people: 1 charge of its own, ε 0.1 in total",
        "at the pace of the last 10 days the budget lasts until 2025-02-09", "queries left: about 9",
    ]  # fmt: skip


def test_only_accounts_that_were_asked_for_are_told(asked):
    (line,) = outlook(asked, ["people"], days=30)
    assert line.startswith("people: ")


def test_the_last_question_counts_for_all_above(asked):
    asked.reserve("all", question="q", **release("0.5"))
    last = last_queries(asked)
    assert (queries_left(asked, "people", last["people"]), queries_left(asked, "all", last["all"])) == ("9", "2")


def test_who_never_asked_has_no_number(asked):
    assert queries_left(asked, "people", None) == "?"


def test_what_nothing_limits_says_so():
    ledger = Ledger(MemoryStore())
    ledger.open_account(account(budget=NO_GUARANTEE))
    ledger.reserve("people", question="q", **release())
    assert queries_left(ledger, "people", last_queries(ledger)["people"]) == "no limit"


def test_a_question_that_the_account_can_no_longer_hold_is_none_more():
    ledger = Ledger(MemoryStore())
    ledger.open_account(account(budget=ApproxDP(1, "1e-6")))
    ledger.reserve("people", question="q", **release("0.1", "1e-7"))
    ledger.change_budget("people", PureDP(1), reason="pure")
    assert queries_left(ledger, "people", last_queries(ledger)["people"]) == "0"


def test_a_label_is_printed_for_people(ledger):
    with open_ledger(ledger) as opened:
        assert told("label", ledger, "hospital/bob") == f"{label_of(opened, 'hospital/bob')}\n"


def test_a_label_is_printed_for_programs_at_the_delta_asked_for(ledger):
    document = json.loads(told("label", ledger, "hospital/bob", "--json", "--delta", "1e-9"))
    assert (document["account"], document["bounds"][0]["delta"]) == ("hospital/bob", 1e-9)


def test_an_account_that_is_not_open_is_refused(ledger):
    assert "'nobody': is not open" in refusal("ledger", "label", ledger, "nobody")


def test_a_delta_outside_is_refused(ledger):
    assert "delta = '2'" in refusal("ledger", "label", ledger, "hospital", "--delta", "2")
