import pytest
from tests.cli.commands import in_one_line, refusal, run, spent
from tests.cli.demo.telling import quiet_stage, row, sentences, told

from sfumato.cli.demo.census import PICTURE
from sfumato.cli.demo.run import show_accounts, show_opening, show_receipt
from sfumato.datasets import load_adult
from sfumato.privacy.guarantees import PureDP

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


def test_it_says_who_the_people_are_and_who_looks_at_raw_rows(stage, people, curators):
    show_opening(stage, people, curators)
    said = sentences(stage)
    assert "the Adult census (UCI, adult.data), 32,561 rows" in said
    assert "The demo owns this data" in said
    assert "one budget, ε 0.25" in said
    assert "forgotten when the demo ends" in said


def test_with_a_ledger_it_says_what_was_spent_before(tmp_path, people, curators):
    curators.people.sql("SELECT COUNT(*) AS n FROM people", epsilon="0.05")
    stage = quiet_stage(tmp_path, ledger="l.db")
    show_opening(stage, people, curators)
    assert "Ledger l.db. Spent before this run: adult ε 0.05, company ε 0, patients ε 0." in sentences(stage)


def test_the_receipt_is_shown_whole(stage, curators):
    release = curators.patients.sql("SELECT COUNT(*) AS n FROM patients", epsilon="0.1")
    show_receipt(stage, release)
    assert release.receipt.to_json() in told(stage)


def test_every_account_is_shown_before_and_after(stage, curators):
    curators.patients.sql("SELECT COUNT(*) AS n FROM patients", epsilon="0.1")
    show_accounts(stage, curators, [PureDP(0)] * 3)
    assert row(stage, "patients") == ["patients", "ε 0.3", "ε 0", "ε 0.1", "ε 0.2"]
    assert "Forgotten now" in sentences(stage)


def test_with_a_ledger_it_says_how_to_check_it(tmp_path, curators):
    stage = quiet_stage(tmp_path, ledger="l.db")
    show_accounts(stage, curators, [PureDP(0)] * 3)
    assert "sfumato ledger verify l.db" in sentences(stage)
