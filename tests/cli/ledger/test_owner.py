import pytest
from tests.cli.commands import refusal, run
from tests.cli.ledger.telling import told
from tests.ledger.stories import release

from sfumato.cli.ledger.owner import budget_of, window_of
from sfumato.errors import ParameterError
from sfumato.ledger.core.windows import CalendarWindow, RollingWindow
from sfumato.ledger.locations import open_ledger
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP


@pytest.mark.parametrize(
    ("options", "budget"),
    [
        (("1", None, None), PureDP(1)), (("0.1", "1e-6", None), ApproxDP("0.1", "1e-6")),
        ((None, None, "0.5"), ZCDP("0.5")), ((None, "1e-6", "0.5"), ZCDP("0.5", "1e-6")),
    ],
)  # fmt: skip
def test_a_budget_is_in_epsilon_or_in_rho(options, budget):
    assert budget_of(**dict(zip(("epsilon", "delta", "rho"), options, strict=True))) == budget


@pytest.mark.parametrize("options", [(None, None, None), ("1", None, "1"), (None, "1e-6", None)])
def test_a_budget_has_exactly_one_measure(options):
    with pytest.raises(ParameterError, match="exactly one"):
        budget_of(**dict(zip(("epsilon", "delta", "rho"), options, strict=True)))


@pytest.mark.parametrize("number", ["-1", "nan", "inf", "much", "1e-500"])
def test_a_budget_of_no_number_is_refused(number):
    for name in ("epsilon", "rho"):
        with pytest.raises(ParameterError, match=name):
            budget_of(**({"epsilon": None, "delta": None, "rho": None} | {name: number}))


@pytest.mark.parametrize("text", ["day", "week", "month", "quarter", "year"])
def test_a_window_is_a_period(text):
    assert window_of(text) == CalendarWindow(text)


def test_a_window_is_a_number_of_days_or_none():
    assert window_of("30d") == RollingWindow(30)
    assert window_of(None) is None


@pytest.mark.parametrize("text", ["0d", "d", "30", "-1d", "99999999d", "month!", "", "1.5d", "٣d"])
def test_a_window_of_no_kind_is_refused(text):
    with pytest.raises(ParameterError):
        window_of(text)


def test_an_account_is_opened_below_another_with_its_unit(ledger):
    shown = told("open", ledger, "eve", "--below", "hospital", "--epsilon", "0.5", "--window", "30d")
    assert shown == "hospital/eve: ε 0.5, per any 30 days, child of hospital\n"
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
        (["eve", "--below", "hospital"], "give exactly one"),
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
    assert shown == "hospital/ann: budget changed from ε 1 to ε 0.2; remaining: ε 0\n"
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
    assert shown == "hospital: resumed; failures may have revealed 1 bit in total, outside the guarantee\n"
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


@pytest.fixture
def older(ledger):
    """An older copy in the ledger's place: ann spent ε 0.4 since."""
    with open_ledger(ledger) as opened:
        opened.checkpoint()
    copy = ledger.read_bytes()
    with open_ledger(ledger) as opened:
        opened.reserve("hospital/ann", question="q", **release("0.4"))
        opened.checkpoint()
    ledger.write_bytes(copy)
    return ledger


def spent(path, account="hospital/ann"):
    with open_ledger(path) as opened:
        return str(opened.spent_in_all(account))


def test_an_older_copy_is_refused_by_every_other_command(older):
    assert "older than its checkpoint" in refusal("ledger", "show", older)


def test_once_it_is_declared_what_was_spent_the_copy_is_the_ledger(older):
    shown = told("restored", older, "--spent", "hospital/ann=0.4", "--reason", "the disk failed")
    assert "hospital/ann: spent ε 0.7 by the checkpoint, ε 0.3 in this copy" in shown
    assert "hospital/ann: spent ε 0.7, remaining ε 0.3" in shown
    assert spent(older) == "ε 0.7"
    assert spent(older, "hospital") == "ε 1.3, δ 1e-06"
    told("verify", older)


def test_it_is_told_for_ever_why(older):
    told("restored", older, "--spent", "hospital/ann=0.4", "--reason", "the disk failed")
    assert "spent before" in told("history", older)
    assert "the disk failed" in told("export", older, "--json")


def test_a_delta_is_declared_behind_a_comma(older):
    told("restored", older, "--spent", "hospital=0.5,1e-6", "--spent", "hospital/ann=0", "--reason", "r")
    assert spent(older, "hospital") == "ε 1.4, δ 2e-06"


def test_an_account_in_rho_is_declared_in_epsilon(older):
    told("restored", older, "--spent", "hospital/bob=0.1", "--reason", "r")
    with open_ledger(older) as opened:
        assert opened.spent_in_all("hospital/bob").rho > 0.009


def test_without_a_declaration_it_is_told_what_was_noted_and_nothing_changes(older):
    result = run("ledger", "restored", older, "--reason", "the disk failed")
    assert result.exit_code == 2
    assert "hospital/ann: spent ε 0.7 by the checkpoint, ε 0.3 in this copy" in result.stdout
    assert "--spent" in result.stderr
    assert "older than its checkpoint" in refusal("ledger", "show", older)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--spent", "hospital/ann=0.4"], "--reason"),
        (["--spent", "hospital/ann=0.4", "--reason", " "], "--reason"),
        (["--spent", "hospital/ann", "--reason", "r"], "--spent = 'hospital/ann'"),
        (["--spent", "=1", "--reason", "r"], "--spent = '=1'"),
        (["--spent", "hospital/ann=nan", "--reason", "r"], "epsilon = 'nan'"),
        (["--spent", "hospital/ann=-1", "--reason", "r"], "epsilon = '-1'"),
        (["--spent", "nobody=1", "--reason", "r"], "'nobody': is not in this copy"),
        (["--spent", "hospital=0.1", "--spent", "hospital/ann=0.8", "--reason", "r"], "less than ε 0.8 remaining"),
    ],
)
def test_what_cannot_be_declared_is_refused_and_nothing_changes(older, options, named):
    result = run("ledger", "restored", older, *options)
    assert result.exit_code == 2
    assert named in result.stderr
    with open_ledger(older, ignoring_checkpoint=True) as opened:
        assert len(opened) == 9
    assert "older than its checkpoint" in refusal("ledger", "show", older)
