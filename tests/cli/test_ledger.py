import sqlite3
from contextlib import closing

import pytest
from tests.cli.commands import COUNT, QUERY, refusal, run

from sfumato.ledger.locations import open_ledger


@pytest.fixture
def ledger(people_csv, tmp_path):
    path = tmp_path / "l.db"
    run(*QUERY, people_csv, COUNT, "--epsilon", "0.25", "--budget", "1", "--ledger", path)
    return path


def tamper(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE record SET text = replace(text, '1/4', '1/9')")
        for _, sql in triggers:
            connection.execute(sql)


def test_an_account_is_shown_with_its_budget_and_spending(ledger):
    result = run("ledger", "show", ledger)
    row = next(line for line in result.stdout.splitlines() if "people" in line)
    assert row.split() == ["people", "row", "ε", "1", "ε", "0.25", "ε", "0.75"]
    assert "3 entries" in result.stdout


def test_a_ledger_that_verifies_tells_its_length_and_head(ledger):
    with open_ledger(ledger) as opened:
        chain = opened.verify()
    shown = run("ledger", "verify", ledger).stdout
    assert f"{chain.length} entries" in shown
    assert chain.head in shown


@pytest.mark.parametrize("command", ["verify", "show"])
def test_a_changed_entry_is_refused_and_named(ledger, command):
    tamper(ledger)
    assert "entry 1: its hash" in refusal("ledger", command, ledger)


def test_nothing_is_spent_on_a_changed_ledger(ledger, people_csv):
    tamper(ledger)
    assert "entry 1: its hash" in refusal(*QUERY, people_csv, COUNT, "--epsilon", "0.1", "--ledger", ledger)


@pytest.mark.parametrize("command", ["verify", "show"])
def test_a_missing_ledger_is_refused_and_not_made(tmp_path, command):
    assert "none.db" in refusal("ledger", command, tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
