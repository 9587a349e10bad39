import pytest
from tests.cli.commands import refusal, run
from tests.cli.ledger.telling import told
from tests.ledger.stories import release

from sfumato.ledger.locations import open_ledger


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
    assert "hospital/ann: ε 0.7 was noted as spent, ε 0.3 is here" in shown
    assert "hospital/ann: ε 0.7 is spent now, ε 0.3 is left" in shown
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
    assert "hospital/ann: ε 0.7 was noted as spent, ε 0.3 is here" in result.stdout
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
        (["--spent", "hospital=0.1", "--spent", "hospital/ann=0.8", "--reason", "r"], "less than ε 0.8 left"),
    ],
)
def test_what_cannot_be_declared_is_refused_and_nothing_changes(older, options, named):
    result = run("ledger", "restored", older, *options)
    assert result.exit_code == 2
    assert named in result.stderr
    with open_ledger(older, ignoring_checkpoint=True) as opened:
        assert len(opened) == 9
    assert "older than its checkpoint" in refusal("ledger", "show", older)
