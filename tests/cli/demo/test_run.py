import pytest
from tests.cli.commands import in_one_line, refusal, run, spent

from sfumato.cli.demo.ages import PICTURE
from sfumato.datasets import load_adult

FACTS = (
    "$156,000", "Chandler = 1", "ln 3 = 1.0986", "ln 21 = 3.0445", "0.1 + 0.2 = exactly 0.3", "refused",
    "The receipt of the first answer", '"guarantee"', "simulation",
)  # fmt: skip
ACCOUNTS = {"adult": "ε 0.211", "company": "ε 18.2", "patients": "ε 0.3"}


@pytest.fixture
def demo(tmp_path):
    """The demo with a ledger and its own folder for pictures."""
    return lambda: run("demo", "--output", tmp_path / "out", "--ledger", tmp_path / "l.db")


def test_on_the_census_every_promised_fact_is_printed_and_drawn(demo, tmp_path):
    load_adult("all")
    result = demo()
    assert (result.exit_code, result.stderr) == (0, "")
    assert [fact for fact in ("6,460", "22,379", "9,577.2", *FACTS) if fact not in in_one_line(result.stdout)] == []
    assert (tmp_path / "out" / PICTURE).stat().st_size > 10_000


def test_a_second_run_spends_nothing_more_and_answers_the_same(demo, tmp_path):
    load_adult("all")
    first, second = demo().stdout, demo().stdout
    assert {account: spent(tmp_path / "l.db", account) for account in ACCOUNTS} == ACCOUNTS
    assert "Spent before this run: adult ε 0.211, company ε 18.2, patients ε 0.3" in in_one_line(second)
    assert payroll(first) == payroll(second) != []


def payroll(shown):
    """The answers of the averages, which no two runs of chance would share."""
    return [line for line in shown.splitlines() if line.count("$") == 5]


@pytest.mark.usefixtures("no_adult")
def test_without_the_census_made_up_people_answer_and_are_called_so(demo, tmp_path):
    result = demo()
    assert result.exit_code == 0
    assert [fact for fact in ("made-up people", *FACTS) if fact not in in_one_line(result.stdout)] == []
    assert "0.1     6,460 " not in result.stdout  # the true column; by chance a private figure may hold these digits
    assert spent(tmp_path / "l.db", "made-up people") == "ε 0.211"


def test_a_ledger_that_cannot_be_is_refused(tmp_path):
    assert "none" in refusal("demo", "--output", tmp_path, "--ledger", tmp_path / "none" / "l.db")
