import pytest
from tests.cli.commands import refusal, run
from tests.cli.ledger.telling import told

from sfumato.ledger.core.windows import RollingWindow
from sfumato.ledger.locations import open_ledger
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import PureDP


def test_an_account_is_opened_below_another_with_its_unit(ledger):
    shown = told("open", ledger, "eve", "--below", "hospital", "--epsilon", "0.5", "--window", "30d")
    assert shown == "hospital/eve: ε 0.5, per any 30 days, below hospital\n"
    with open_ledger(ledger) as opened:
        facts = opened.opened("hospital/eve")
        assert (facts.privacy_unit, facts.window, facts.parents) == ("patient", RollingWindow(30), ("hospital",))


def test_an_account_is_opened_once_and_found_again(ledger):
    command = ["open", ledger, "eve", "--below", "hospital", "--rho", "0.5"]
    assert told(*command) == told(*command)
    assert "was opened with budget" in refusal("ledger", *command[:-1], "0.6")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["eve", "--below", "nobody", "--epsilon", "1"], "'nobody': is not open"),
        (["a/b", "--below", "hospital", "--epsilon", "1"], "without a slash"),
        (["", "--below", "hospital", "--epsilon", "1"], "without a slash"),
        (["eve", "--below", "hospital"], "exactly one must be stated"),
        (["eve", "--below", "hospital", "--epsilon", "nan"], "epsilon = 'nan'"),
        (["eve", "--below", "hospital", "--epsilon", "1", "--window", "fortnight"], "--window = 'fortnight'"),
    ],
)
def test_an_account_that_cannot_be_is_refused_and_not_opened(ledger, arguments, named):
    assert named in refusal("ledger", "open", ledger, *arguments)
    with open_ledger(ledger) as opened:
        assert len(opened.accounts()) == 3


def test_a_budget_is_changed_with_a_reason(ledger):
    shown = told("budget", ledger, "hospital/ann", "--epsilon", "0.2", "--reason", "less data")
    assert shown == "hospital/ann: ε 0.2 instead of ε 1, left ε 0\n"
    with open_ledger(ledger) as opened:
        assert opened.budget("hospital/ann") == PureDP("0.2")
    assert "ε 0.2: less data" in told("history", ledger)


def test_a_budget_stays_in_its_measure(ledger):
    assert "measure" in refusal("ledger", "budget", ledger, "hospital/ann", "--rho", "1", "--reason", "r")


def test_a_failure_is_acknowledged_and_counted(ledger):
    with open_ledger(ledger) as opened:
        event, charge = PureEvent("0.01"), PureDP("0.01")
        opened.suspend_account(opened.reserve("hospital/ann", event=event, charge=charge, question="q"))
    assert "suspended" in told("show", ledger)
    shown = told("resume", ledger, "hospital", "--reason", "a NULL was mended")
    assert shown == "hospital: resumed; outside of the guarantee: one bit for each acknowledged failure, 1 in all\n"
    assert "resumed" in told("history", ledger)
    assert "one bit for each acknowledged failure, 1 in all" in told("label", ledger, "hospital/bob")
    assert "is not suspended" in refusal("ledger", "resume", ledger, "hospital", "--reason", "again")


def test_an_account_is_closed_with_a_reason(ledger):
    told("close", ledger, "hospital/ann", "--reason", "she left")
    with open_ledger(ledger) as opened:
        assert opened.is_closed("hospital/ann")
        assert not opened.is_closed("hospital/bob")


@pytest.mark.parametrize("command", [["budget", "--epsilon", "1"], ["close"]])
def test_without_a_reason_nothing_is_changed(ledger, command):
    name, *options = command
    assert run("ledger", name, ledger, "hospital", *options).exit_code == 2
    assert "reason" in refusal("ledger", name, ledger, "hospital", *options, "--reason", " ")
    with open_ledger(ledger) as opened:
        assert len(opened) == 9
