"""Commands that ask a server."""

import json

import pytest
from tests.cli.commands import refusal, run
from tests.client.curator import TOKEN, application, opened, serving
from typer.testing import CliRunner

from sfumato.cli.app import app
from sfumato.client.tokens import token_for

BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


@pytest.fixture
def url(monkeypatch, tmp_path):
    monkeypatch.delenv("SFUMATO_TOKEN", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    session, view = opened()
    with session, serving(application(session, view)) as address:
        yield address


@pytest.fixture
def known(url, monkeypatch):
    monkeypatch.setenv("SFUMATO_TOKEN", TOKEN)
    return url


def test_a_key_is_asked_for_tried_and_kept_and_never_shown(url):
    result = CliRunner().invoke(app, ["login", url], input=f"{TOKEN}\n")
    assert result.exit_code == 0
    assert "Datasets: people" in result.stdout
    assert TOKEN not in result.output
    assert token_for(url, None).authorization == f"Bearer {TOKEN}"
    assert "± " in run("query", BY_SEX, "--url", url, "--epsilon", "0.5").stdout
    assert "no longer stored" in run("logout", url).stdout
    assert "no stored key" in refusal("logout", url)


def test_a_wrong_key_is_not_kept(url, tmp_path):
    result = CliRunner().invoke(app, ["login", url], input="sfk_other\n")
    assert result.exit_code == 2
    assert "no valid API key" in result.stderr
    assert "sfk_other" not in result.output
    assert not list(tmp_path.iterdir())


def test_an_answer_is_printed_or_written_as_json(known):
    assert "spent ε 0.5" in run("query", BY_SEX, "--url", known, "--epsilon", "0.5", "--dataset", "people").stdout
    found = json.loads(run("query", BY_SEX, "--url", known, "--epsilon", "0.5", "--json").stdout)
    assert found["reused"]
    assert [row["sex"] for row in found["records"]] == ["f", "m"]


def test_several_statements_are_answered_together(known):
    both = f"{BY_SEX}; SELECT COUNT(*) AS n FROM people"
    assert "query" in run("query", both, "--url", known, "--explain").stdout
    assert run("query", both, "--url", known, "--epsilon", "1").stdout.count("one of 2 answers") == 2
    assert "epsilon" in refusal("query", both, "--url", known)


def test_a_plan_is_explained_and_the_account_and_its_releases_are_shown(known):
    assert "cost" in run("query", BY_SEX, "--url", known, "--explain").stdout
    run("query", BY_SEX, "--url", known, "--epsilon", "0.5")
    shown = run("budget", "--url", known).stdout
    assert "people/ann" in shown
    assert "ε 2.5" in shown
    assert BY_SEX in run("releases", "--url", known).stdout


def test_options_of_files_are_refused(known):
    assert "--ledger" in refusal("query", BY_SEX, "--url", known, "--ledger", "l.db")
    assert "FILE" in refusal("query", "people.csv", BY_SEX, "--url", known)
    assert "must be one of: people" in refusal("budget", "--url", known, "--dataset", "others")


def test_without_a_key_or_over_an_open_line_nothing_is_sent(url):
    assert "sfumato login" in refusal("budget", "--url", url)
    assert "https://" in refusal("login", "http://curator.example.org")
