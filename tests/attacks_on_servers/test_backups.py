"""A server is backed up under load and restored elsewhere: its ledger verifies, and nothing was released unpaid."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from threading import Event

import pytest
from tests.attacks_on_servers.curators import Curator, write_curator
from tests.attacks_on_servers.racing import question
from tests.cli.commands import run
from tests.server.work.curators import until
from tests.sizes import FULL_SIZE

from sfumato.errors import LedgerCorruptError
from sfumato.ledger.keeping.key import key_in
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import open_ledger, place_of
from sfumato.ledger.stores.sqlite import SQLiteStore
from sfumato.server.operations.restore import unknown_releases

BACKUPS, ASKERS = (8, 8) if FULL_SIZE else (2, 4)


@pytest.fixture
def curator(tmp_path):
    (tmp_path / "here").mkdir()
    with Curator(write_curator(tmp_path / "here")) as running:
        running.account("ann", 500)
        yield running


def test_backups_under_load_are_restored_elsewhere_and_nothing_was_released_unpaid(curator, tmp_path):
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
            for number in range(BACKUPS):
                seen = len(released)
                until(lambda seen=seen: len(released) > seen)
                folder = tmp_path / f"backup{number}"
                made = run("curator", "backup", "--config", curator.config, "--to", folder, "--with-keys")
                assert made.exit_code == 0, made.output
                seen = len(released)
                until(lambda seen=seen: len(released) > seen)
        finally:
            is_over.set()
    assert all(one.result() is None for one in asking)
    database = f"sqlite:///{curator.folder}/state/server.db"
    for number in range(BACKUPS):
        folder, there = tmp_path / f"backup{number}", tmp_path / f"there{number}"
        with Ledger(SQLiteStore(folder / "ledger.db"), key=key_in(folder / "ledger.db.key")) as copied:
            copied.verify()
            assert unknown_releases(f"sqlite:///{folder}/state/server.db", copied) == ()
            (newer,) = unknown_releases(database, copied)
        assert run("curator", "restore", "--from", folder, "--to", there).exit_code == 0
        with pytest.raises(LedgerCorruptError):
            open_ledger(there / "ledger.db")
        declared = ["--spent", f"people/ann={newer.cost.epsilon}", "--reason", "a disk failed"]
        shown = run("curator", "declare", "--config", there / "curator.toml", "--database", database, *declared)
        assert (shown.exit_code, "releases are newer than the ledger" in shown.stdout) == (0, True), shown.output
        with open_ledger(there / "ledger.db", must_exist=True) as restored:
            restored.verify()
            assert restored.spent("people").epsilon >= sum(released)
            assert restored.spent("people/ann").epsilon >= sum(released)
        assert place_of(there / "ledger.db").checkpoint().path.exists()
