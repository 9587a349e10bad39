"""A restored ledger is refused until what was spent since is declared, and that is at least what was released."""

import json
import os
import shutil
import stat
from contextlib import closing, suppress
from fractions import Fraction

import pytest
from tests.cli.commands import run
from tests.server.operations.small import small

from sfumato.errors import LedgerCorruptError, LedgerError, ParameterError
from sfumato.ledger.keeping.files import locked
from sfumato.ledger.locations import open_ledger, place_of
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.server.config import load_curator
from sfumato.server.identity.acts import ActLog
from sfumato.server.identity.database import Database
from sfumato.server.identity.keys import ApiKeys
from sfumato.server.identity.releases import ReleaseRegistry
from sfumato.server.operations.backup import back_up
from sfumato.server.operations.manifest import verified_manifest
from sfumato.server.operations.restore import UnknownReleases, require_declared, restore, unknown_releases


@pytest.fixture
def server(tmp_path):
    (tmp_path / "here").mkdir()
    with small(tmp_path / "here") as made:
        made.ask(10)
        yield made


@pytest.fixture
def later(server, tmp_path):
    """A server that went on after its backup: a query and a batch of two, ε 0.3 and ε 0.2."""
    back_up(server.config, tmp_path / "backup", with_keys=True)
    server.ask(20, epsilon="0.3")
    queries = [f"SELECT COUNT(*) AS n FROM people WHERE age > {number}" for number in (30, 40)]
    for release in server.session.batch(queries, epsilon="0.2"):
        server.keep(release)
    return server


def declare(tmp_path, *options):
    """Declare for the restored server, beside the database that survived."""
    database = f"sqlite:///{tmp_path}/here/state/server.db"
    config = tmp_path / "there" / "curator.toml"
    return run("curator", "declare", "--config", config, "--database", database, *options)


def test_a_restored_server_is_as_it_was_and_works(server, tmp_path):
    with open_ledger(server.curator.ledger) as ledger:
        entries = list(ledger.entries())
    token = ApiKeys(server.database, secret=server.curator.secret).make("alice").token
    back_up(server.config, tmp_path / "backup", with_keys=True)
    restored = restore(tmp_path / "backup", tmp_path / "there")
    assert restored.to_do == ()
    curator = load_curator(tmp_path / "there" / "curator.toml")
    assert curator.ledger == f"sqlite:///{restored.ledger}"
    with open_ledger(restored.ledger, ignoring_checkpoint=True) as ledger:
        ledger.verify()
        assert list(ledger.entries()) == entries
    with closing(Database(curator.database)) as database, closing(ActLog(database)) as acts:
        assert acts.verify().broken is None
        assert ApiKeys(database, secret=curator.secret).authenticate(token).name == "alice"
    for path in [tmp_path / "there", *(tmp_path / "there").rglob("*")]:
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


def test_a_restored_ledger_is_refused_until_somebody_declares(server, tmp_path):
    back_up(server.config, tmp_path / "backup", with_keys=True)
    restored = restore(tmp_path / "backup", tmp_path / "there")
    with pytest.raises(LedgerCorruptError, match=r"recorded in the checkpoint .* which is missing"):
        open_ledger(restored.ledger)
    run("ledger", "restored", restored.ledger, "--spent", "people=0.2", "--reason", "a disk failed")
    with open_ledger(restored.ledger) as ledger:
        assert ledger.spent("people") == PureDP("0.3")


def test_in_the_place_of_the_old_one_it_is_refused_as_older_than_the_checkpoint(later, tmp_path):
    restored = restore(tmp_path / "backup", tmp_path / "there")
    name = "ledger.db.checkpoint"
    shutil.copy(tmp_path / "here" / name, tmp_path / "there" / name)
    with pytest.raises(LedgerCorruptError, match="older than its checkpoint"):
        open_ledger(restored.ledger)
    del later


def test_releases_that_the_ledger_never_charged_are_reported_with_their_cost(later, tmp_path):
    restored = restore(tmp_path / "backup", tmp_path / "there")
    with open_ledger(restored.ledger, ignoring_checkpoint=True) as ledger:
        (found,) = unknown_releases(later.curator.database, ledger)
        assert found == UnknownReleases(account="people", count=3, cost=PureDP("0.5"))
        assert unknown_releases(f"sqlite:///{restored.database}", ledger) == ()


def test_a_release_whose_cost_is_not_known_is_no_free_one(later, tmp_path):
    restored = restore(tmp_path / "backup", tmp_path / "there")
    document = json.dumps({"receipt": {"request": "r", "guarantee": {"type": "NoGuarantee"}}}).encode()
    with closing(Database(later.curator.database)) as database:
        ReleaseRegistry(database).keep(
            document, dataset="people", account="people", principal="ann", question_hash="h", shown_key="s"
        )
    with (
        open_ledger(restored.ledger, ignoring_checkpoint=True) as ledger,
        pytest.raises(LedgerError, match="without a price"),
    ):
        unknown_releases(later.curator.database, ledger)


def test_the_command_says_what_is_newer_and_declares_it(later, tmp_path):
    spent = later.session.desk.ledger.spent("people").epsilon
    restored = run("curator", "restore", "--from", tmp_path / "backup", "--to", tmp_path / "there")
    assert "refuses every query until you declare what was spent since: sfumato curator declare" in restored.stdout
    shown = declare(tmp_path, "--spent", "people=0.5", "--reason", "a disk failed").stdout
    assert "people: 3 releases are newer than the ledger, and cost ε 0.5 together" in shown
    assert "people: spent ε 0.6, remaining ε 999.4" in shown
    with open_ledger(tmp_path / "there" / "ledger.db") as ledger:
        ledger.verify()
        assert ledger.spent("people").epsilon >= spent == Fraction(3, 5)


@pytest.mark.parametrize(
    "options", [(), ("--spent", "people=0.4", "--reason", "r"), ("--spent", "ann=1", "--reason", "r")]
)
def test_less_than_what_was_released_is_refused_and_the_ledger_stays_refused(later, tmp_path, options):
    restore(tmp_path / "backup", tmp_path / "there")
    refused = declare(tmp_path, *options)
    assert (refused.exit_code, "must be at least ε 0.5: so much did 3 releases cost" in refused.stderr) == (2, True)
    with pytest.raises(LedgerCorruptError):
        open_ledger(tmp_path / "there" / "ledger.db")
    del later


def test_nothing_is_declared_while_a_worker_runs(later, tmp_path):
    restore(tmp_path / "backup", tmp_path / "there")
    with locked(tmp_path / "there" / "state" / "worker.lock"):
        refused = declare(tmp_path, "--spent", "people=0.5", "--reason", "r")
    assert (refused.exit_code, "is in use by a server; end it first" in refused.stderr) == (2, True)
    del later


@pytest.mark.parametrize(
    ("put", "keeps_log"), [(os.replace, True), (os.replace, False), (shutil.copyfile, True)]
)  # fmt: skip
def test_a_copy_that_is_put_under_a_server_that_runs_loses_no_spending(tmp_path, put, keeps_log):
    (tmp_path / "here").mkdir()
    ledger = tmp_path / "here" / "ledger.db"
    with suppress(LedgerError), small(tmp_path / "here") as server:  # whose ledger may not be there at the end
        server.ask(10)
        back_up(server.config, tmp_path / "backup")
        server.ask(20)
        put(tmp_path / "backup" / "ledger.db", ledger)
        for path in () if keeps_log else tmp_path.glob("here/ledger.db-*"):
            path.unlink()
        with suppress(LedgerError):
            server.ask(30)
    if keeps_log:  # all that was committed since is in it
        with open_ledger(ledger) as opened:
            opened.verify()
            assert opened.spent("people").epsilon >= Fraction(1, 5)
    else:
        with pytest.raises(LedgerCorruptError, match="older than its checkpoint"):
            open_ledger(ledger)


@pytest.mark.parametrize(
    ("declared", "is_enough"),
    [
        ({"ann": ApproxDP("0.5", "1e-6")}, True), ({"ann": ApproxDP(1, "1e-5")}, True), ({"ann": PureDP(1)}, False),
        ({"ann": ApproxDP("0.4", "1e-6")}, False), ({"bob": ApproxDP(1, "1e-5")}, False), ({}, False),
    ],
)  # fmt: skip
def test_what_is_declared_covers_epsilon_and_delta_of_the_same_account(declared, is_enough):
    unknown = [UnknownReleases(account="ann", count=2, cost=ApproxDP("0.5", "1e-6"))]
    if is_enough:
        require_declared(unknown, declared)
        return
    with pytest.raises(ParameterError, match=r"must be at least ε 0\.5, δ 1e-06"):
        require_declared(unknown, declared)


def test_keys_that_were_kept_apart_are_put_in_their_places(server, tmp_path):
    back_up(server.config, tmp_path / "backup")
    without = restore(tmp_path / "backup", tmp_path / "without")
    assert [line.split(" at ")[0] for line in without.to_do] == ["put ledger.db.key", "put keys.secret"]
    shown = run("curator", "restore", "--from", tmp_path / "backup", "--to", tmp_path / "again").stdout
    assert "put ledger.db.key at" in shown
    vault = tmp_path / "vault"
    vault.mkdir()
    for path in (place_of(server.curator.ledger).key, server.curator.secret):
        shutil.copy(path, vault)
    restored = restore(tmp_path / "backup", tmp_path / "there", keys=vault)
    assert restored.to_do == ()
    with open_ledger(restored.ledger, ignoring_checkpoint=True) as ledger:
        ledger.verify()


def test_what_was_elsewhere_or_on_servers_is_left_to_the_operator(server, tmp_path):
    policy = server.curator.datasets["people"].policy.rename(tmp_path / "people.toml")
    server.config.write_text(server.config.read_text().replace('policy = "people.toml"', f'policy = "{policy}"'))
    server.config.write_text('database = "postgresql://keeper@db/people"\n' + server.config.read_text())
    back_up(server.config, tmp_path / "backup")
    restored = restore(tmp_path / "backup", tmp_path / "there")
    assert restored.database is None
    dump, key, secret, moved = restored.to_do
    assert dump.startswith(f"run in {tmp_path / 'backup'}: pg_restore ")
    assert key.startswith(f"put ledger.db.key at {tmp_path / 'there' / 'ledger.db.key'}")
    assert secret.startswith(f"put keys.secret at {tmp_path / 'there' / 'state' / 'keys.secret'}")
    assert moved == "move elsewhere/people.toml to its place, or set its path in curator.toml"


def test_a_database_elsewhere_gets_its_secret_where_the_state_is(tmp_path):
    (tmp_path / "here").mkdir()
    with small(tmp_path / "here", top='database = "people.db"') as server:
        back_up(server.config, tmp_path / "backup", with_keys=True)
    restored = restore(tmp_path / "backup", tmp_path / "there")
    assert restored.to_do == ()
    assert (tmp_path / "there" / "state" / "keys.secret").exists()


def test_a_file_that_changes_while_it_is_restored_is_refused(server, tmp_path, monkeypatch):
    back_up(server.config, tmp_path / "backup")
    whole = verified_manifest(tmp_path / "backup")
    (tmp_path / "backup" / "people.toml").write_text("")
    monkeypatch.setattr("sfumato.server.operations.restore.verified_manifest", lambda _: whole)
    with pytest.raises(ParameterError, match=r"was changed meanwhile: people\.toml"):
        restore(tmp_path / "backup", tmp_path / "there")


def test_a_damaged_backup_and_a_folder_with_something_are_refused_before_anything_is_written(server, tmp_path):
    back_up(server.config, tmp_path / "backup")
    (tmp_path / "backup" / "people.toml").write_text("")
    with pytest.raises(ParameterError, match=r"people\.toml was changed"):
        restore(tmp_path / "backup", tmp_path / "there")
    assert not (tmp_path / "there").exists()
    (tmp_path / "backup").rename(tmp_path / "old")
    back_up(server.config, tmp_path / "backup")
    with pytest.raises(ParameterError, match="must be a new folder"):
        restore(tmp_path / "backup", tmp_path / "here")


def test_the_backup_command_says_what_is_in_it(server, tmp_path):
    shown = run("curator", "backup", "--config", server.config, "--to", tmp_path / "backup").stdout.splitlines()
    assert shown[0].startswith("4 files, ")
    assert shown[1].startswith("ledger: 4 entries, verified; head ")
    assert shown[2].startswith("log of acts: 1 act, verified; head ")
    assert "are not in it" in shown[3]
