"""A server is backed up under load and restored elsewhere: its ledger verifies, and nothing was released unpaid."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from threading import Event

import pytest
from tests.attacks_on_servers.curators import Curator, database, write_curator
from tests.attacks_on_servers.racing import question
from tests.cli.commands import run
from tests.engines.postgres_server import OWNER_PASSWORD, server
from tests.server.work.curators import until
from tests.sizes import FULL_SIZE

from sfumato.errors import LedgerCorruptError
from sfumato.ledger.locations import FOLDER, open_ledger
from sfumato.server.config import load_curator
from sfumato.server.operations.manifest import verified_manifest
from sfumato.server.operations.restore import unknown_releases

BACKUPS, ASKERS = (8, 8) if FULL_SIZE else (2, 2)


@contextmanager
def running(folder, **places):
    """A server with an analyst's account, in a folder of its own."""
    folder.mkdir()
    with Curator(write_curator(folder, **places)) as curator:
        curator.account("ann", 500)
        yield curator


@contextmanager
def load(curator):
    """An analyst asks without a pause, each time something new; gives the ε of what was released."""
    ann, is_over, released = curator.analyst("people/ann", "ann"), Event(), []

    def ask_on(start):
        with ann.client(curator.url) as client:
            for number in range(start, start + 10_000):
                if is_over.is_set():
                    return
                response = client.post("/datasets/people/ask", json=question(number))
                assert response.status_code == 200, response.text
                released.append(Fraction(response.json()["releases"][0]["receipt"]["guarantee"]["epsilon"]))

    with ThreadPoolExecutor(ASKERS) as threads:
        asking = [threads.submit(ask_on, 10_000 * number) for number in range(ASKERS)]
        try:
            yield released
        finally:
            is_over.set()
    assert all(one.result() is None for one in asking)


def backed_up(curator, folder, released):
    """A backup, before and after which something was released."""
    seen = len(released)
    until(lambda: len(released) > seen)
    made = run("curator", "backup", "--config", curator.config, "--to", folder, "--with-keys")
    assert made.exit_code == 0, made.output
    for command in verified_manifest(folder).by_hand:
        by_hand(command, folder)
    seen = len(released)
    until(lambda: len(released) > seen)


def by_hand(command, folder):
    """Run a command that operators are told to run."""
    environment = os.environ | {"PATH": f"{server().programs}:{os.environ['PATH']}", "PGPASSWORD": OWNER_PASSWORD}
    subprocess.run(["/bin/sh", "-c", command], cwd=folder, check=True, env=environment)  # as it is printed


def assert_nothing_is_unpaid(there, released, newest):
    """A restored server declares what its ledger lacks, and then has charged all that was ever released."""
    curator = load_curator(there / "curator.toml")
    with pytest.raises(LedgerCorruptError):
        open_ledger(curator.ledger)
    with open_ledger(curator.ledger, ignoring_checkpoint=True) as copied:
        copied.verify()
        assert unknown_releases(curator.database, copied) == ()
        (newer,) = unknown_releases(newest, copied)
    declare = (
        "curator",
        "declare",
        "--config",
        there / "curator.toml",
        "--database",
        newest,
        "--reason",
        "a disk failed",
    )
    assert run(*declare, "--spent", f"people/ann={newer.cost.epsilon / 2}").exit_code == 2
    shown = run(*declare, "--spent", f"people/ann={newer.cost.epsilon}")
    assert (shown.exit_code, "releases are newer than the ledger" in shown.stdout) == (0, True), shown.output
    with open_ledger(curator.ledger, must_exist=True) as restored:
        restored.verify()
        assert restored.spent("people").epsilon >= sum(released)
        assert restored.spent("people/ann").epsilon >= sum(released)


def test_backups_under_load_are_restored_elsewhere_and_nothing_was_released_unpaid(tmp_path):
    with running(tmp_path / "here") as curator:
        with load(curator) as released:
            for number in range(BACKUPS):
                backed_up(curator, tmp_path / f"backup{number}", released)
        for number in range(BACKUPS):
            there = tmp_path / f"there{number}"
            restored = run("curator", "restore", "--from", tmp_path / f"backup{number}", "--to", there)
            assert restored.exit_code == 0, restored.output
            assert_nothing_is_unpaid(there, released, f"sqlite:///{curator.folder}/state/server.db")


def test_dumps_of_postgresql_under_load_are_restored_elsewhere_and_nothing_was_released_unpaid(tmp_path, monkeypatch):
    here, there, backup = tmp_path / "here", tmp_path / "there", tmp_path / "backup"
    before, after = database(), database()
    monkeypatch.setenv(FOLDER, str(here))
    with running(here, ledger=f"{before}?ledger=books", database=before) as curator:
        with load(curator) as released:
            backed_up(curator, backup, released)
        monkeypatch.setenv(FOLDER, str(there))
        shown = run("curator", "restore", "--from", backup, "--to", there).stdout.splitlines()
        to_do = [line.removeprefix(f"run in {backup}: ") for line in shown if line.startswith("run in ")]
        assert [command.split()[0] for command in to_do] == ["pg_restore", "pg_restore", "test"]
        for command in to_do:
            by_hand(command.replace(name_of(before), name_of(after)), backup)
        config = there / "curator.toml"
        config.write_text(config.read_text().replace(name_of(before), name_of(after)))
        assert_nothing_is_unpaid(there, released, before)


def name_of(location):
    """The name of a database, as it is in addresses."""
    return "/" + location.rpartition("/")[2]
