"""Operators start a server, add its first admin, and verify the log of acts."""

import re
import sqlite3
from contextlib import closing

import pytest
from tests.cli.commands import refusal, run

from sfumato.local import DirectEncoding, save_protocol
from sfumato.server.config import load_curator
from sfumato.server.identity.acts import ActLog
from sfumato.server.identity.collections import Collections
from sfumato.server.identity.database import Database
from sfumato.server.identity.keys import ApiKeys
from sfumato.server.identity.people import Action

CURATOR = """
[datasets.people]
policy = "people.toml"
budget = { epsilon = 1 }
"""


@pytest.fixture
def config(tmp_path):
    file = tmp_path / "curator.toml"
    file.write_text(CURATOR)
    return file


def test_the_first_admin_gets_a_key_that_works(config):
    token = run("curator", "add-admin", "alice", "--config", config).stdout.strip()
    curator = load_curator(config)
    database = Database(curator.database)
    alice = ApiKeys(database, secret=curator.secret).authenticate(token)
    database.close()
    assert (alice.name, alice.is_platform_admin, alice.grants) == ("alice", True, ())


def test_a_name_is_given_once(config):
    run("curator", "add-admin", "alice", "--config", config)
    assert "is taken" in refusal("curator", "add-admin", "alice", "--config", config)


def test_a_log_that_is_as_it_was_written_verifies(config):
    run("curator", "add-admin", "alice", "--config", config)
    shown = run("curator", "verify-acts", "--config", config).stdout
    head = re.fullmatch(r"1 acts, each as it was written; head ([0-9a-f]{64})\n", shown)[1]
    assert run("curator", "verify-acts", "--config", config, "--length", 1, "--head", head).exit_code == 0


def test_a_log_that_was_shortened_or_changed_does_not(config, tmp_path):
    run("curator", "add-admin", "alice", "--config", config)
    longer = run("curator", "verify-acts", "--config", config, "--length", 2, "--head", "0" * 64)
    assert (longer.exit_code, "act 2 is not as it was written, or is missing" in longer.stderr) == (1, True)
    with sqlite3.connect(tmp_path / "state" / "server.db") as connection:
        connection.execute("DROP TRIGGER act_has_no_update")
        connection.execute("UPDATE act SET person = 'bob'")
    connection.close()
    changed = run("curator", "verify-acts", "--config", config)
    assert (changed.exit_code, changed.stdout) == (1, "")
    assert "act 1 is not as it was written" in changed.stderr


def test_what_was_noted_is_given_whole_or_not_at_all(config):
    assert "belong together" in refusal("curator", "verify-acts", "--config", config, "--length", 2)


def test_a_server_needs_a_file_or_is_a_demo(config):
    assert "give either --config" in refusal("serve")
    assert "give either --config" in refusal("serve", "--demo", "--config", config)
    assert "must be an existing TOML file" in refusal("serve", "--config", "nowhere.toml")


def test_without_tls_others_are_not_served(config):
    config.write_text('address = "0.0.0.0:0"\n' + config.read_text())
    for only in ((), ("--only", "gateways"), ("--only", "worker")):
        assert "must be a loopback address, or have [tls]" in refusal("serve", "--config", config, *only)


def test_without_its_packages_a_server_says_which_to_install(config, monkeypatch):
    monkeypatch.setattr("sfumato.cli.curator.find_spec", lambda module: None if module == "opentelemetry" else module)
    for arguments in (
        ("serve", "--demo"),
        ("serve", "--config", config),
        ("curator", "verify-acts", "--config", config),
        ("curator", "check", "--config", config),
        ("curator", "backup", "--config", config, "--to", "backup"),
        ("curator", "restore", "--from", "backup", "--to", "there"),
        ("curator", "declare", "--config", config),
    ):
        assert "pip install opentelemetry-api" in refusal(*arguments)


def test_only_a_part_that_there_is_is_started(config):
    for options in (["--only", "other", "--config", config], ["--only", "worker", "--demo"]):
        assert "must be worker or gateways" in refusal("serve", *options)


# Collections


@pytest.fixture
def counted(tmp_path):
    """A curator's file with a collection of which a report was counted."""
    file = tmp_path / "curator.toml"
    save_protocol(DirectEncoding(["tea", "coffee"], epsilon=1), tmp_path / "drinks.json")
    file.write_text('[collections.drinks]\nprotocol = "drinks.json"\n')
    curator = load_curator(file)
    curator.make_state()
    with closing(Database(curator.database)) as database:
        kept, drinks = Collections(database), curator.collections["drinks"]
        report = bytes(drinks.protocol.client().report("tea"))
        kept.receive(drinks, [report], batch=f"{kept.days()[1]}.sixteen-at-least", body=b"")
    return file


def left(config):
    with closing(Database(load_curator(config).database)) as database:
        return Collections(database).names()


def test_counts_are_removed_once_that_is_said_and_the_log_tells(counted):
    shown = run("curator", "remove-collection", "drinks", "--config", counted).stdout
    assert "Delete them for good with --yes" in shown
    assert left(counted) == ("drinks",)
    shown = run("curator", "remove-collection", "drinks", "--config", counted, "--yes").stdout
    assert (shown, left(counted)) == ("the counts of drinks are deleted\n", ())
    with closing(Database(load_curator(counted).database)) as database, closing(ActLog(database)) as acts:
        assert [(one.act.action, one.act.target) for one in acts.read()] == [(Action.REMOVE_COLLECTION, "drinks")]
    assert "not found" in refusal("curator", "remove-collection", "drinks", "--config", counted, "--yes")


def test_a_server_does_not_start_with_another_protocol_than_that_of_its_counts(counted, tmp_path):
    save_protocol(DirectEncoding(["tea", "coffee", "water"], epsilon=1), tmp_path / "drinks.json")
    for only in ((), ("--only", "gateways")):
        said = refusal("serve", "--config", counted, *only)
        assert "collections.drinks.protocol" in said
        assert "sfumato curator remove-collection drinks" in said
    assert left(counted) == ("drinks",)


def test_a_database_that_is_not_there_yet_keeps_no_server_from_starting(counted, monkeypatch):
    counted.write_text('database = "postgresql://nobody@127.0.0.1:1/none?connect_timeout=1"\n' + counted.read_text())
    started = []
    monkeypatch.setattr("sfumato.server.serve.serve", lambda config, **_: started.append(config))
    assert run("serve", "--config", counted).exit_code == 0
    assert started == [counted]
