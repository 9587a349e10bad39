"""Files that others may use, keys beside backups, checkpoints on the same disk, and certificates that end."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.server.operations.small import small

from sfumato.ledger.keeping.given_keys import IN_ENVIRONMENT
from sfumato.ledger.keeping.noting import SINK
from sfumato.server.config import load_curator
from sfumato.server.operations import files
from sfumato.server.operations.backup import back_up
from sfumato.server.operations.files import certified_until, examine_files, examine_tls
from sfumato.server.operations.findings import Level

NOW = datetime.now(UTC)
COMPANY = """
[providers.company]
issuer = "https://login.example"
client_id = "sfumato"
client_secret_file = "company.secret"
groups = [{ name = "it", platform_admin = true }]
"""


@pytest.fixture
def server(tmp_path):
    (tmp_path / "here").mkdir()
    with small(tmp_path / "here") as made:
        yield made


def found(server, level, *, backups=None):
    """What is found at a level, by subject, with what is to be done."""
    curator = load_curator(server.config)
    return {one.subject: one.fix for one in examine_files(curator, server.config, backups) if one.level is level}


def test_a_server_as_it_is_made_has_no_failure(server):
    assert found(server, Level.FAILURE) == {}
    assert "modes" in found(server, Level.FINE)


@pytest.mark.parametrize(
    ("name", "subject", "mode"),
    [
        ("ledger.db", "ledger", 0o640), ("ledger.db.key", "ledger's key", 0o604), ("state", "state", 0o750),
        ("state/server.db", "database", 0o644), ("state/keys.secret", "secret of API keys", 0o640),
        ("ledger.db.checkpoint", "checkpoint", 0o644),
    ],
)  # fmt: skip
def test_what_others_may_use_is_a_failure_with_the_command_that_mends_it(server, name, subject, mode):
    path = server.folder / name
    path.chmod(mode)
    assert found(server, Level.FAILURE) == {subject: f"chmod {'700' if path.is_dir() else '600'} {path}"}


def test_the_secret_at_a_provider_is_private(server):
    path = server.folder / "company.secret"
    path.write_text("x")
    path.chmod(0o640)
    text = server.config.read_text("utf-8")
    server.config.write_text(f'public_url = "https://curator.example"\n{text}{COMPANY}', "utf-8")
    assert found(server, Level.FAILURE) == {"secret at provider company": f"chmod 600 {path}"}


@pytest.mark.parametrize(("name", "subject"), [("curator.toml", "curator's file"), ("people.toml", "policy of people")])
def test_settings_may_be_read_and_not_changed(server, name, subject):
    path = server.folder / name
    path.chmod(0o644)
    assert found(server, Level.FAILURE) == {}
    path.chmod(0o664)
    assert found(server, Level.FAILURE) == {subject: f"chmod go-w {path}"}


def test_settings_with_an_address_of_a_database_are_private(server):
    server.config.write_text('database = "postgresql://people:hidden@db/people"\n' + server.config.read_text())
    server.config.chmod(0o644)
    assert list(found(server, Level.FAILURE)) == ["curator's file, with an address of a database"]


def test_a_file_that_root_restored_is_a_failure_with_the_command_that_mends_it(server, monkeypatch):
    ledger, stat = server.folder / "ledger.db", Path.stat

    def owned(path, **options):  # by root, and all else by this user
        found = stat(path, **options)
        given = path in (ledger, server.config)
        return os.stat_result((*found[:4], found.st_uid + 1, *found[5:])) if given else found

    monkeypatch.setattr(Path, "stat", owned)
    assert found(server, Level.FAILURE) == {"ledger": f"chown --reference={server.folder / 'state'} {ledger}"}


def test_a_key_beside_the_ledger_is_advised_against_and_a_given_one_is_fine(server, tmp_path, monkeypatch):
    assert "secret store" in found(server, Level.ADVICE)["ledger's key"]
    monkeypatch.setenv(IN_ENVIRONMENT, "11" * 32)
    (tmp_path / "other").mkdir()
    with small(tmp_path / "other") as other:
        assert "ledger's key" in found(other, Level.FINE)


def test_keys_beside_backups_and_backups_on_the_same_disk_are_warned_of(server, tmp_path, monkeypatch):
    assert "backups" in found(server, Level.ADVICE)
    back_up(server.config, tmp_path / "backups" / "one")
    assert found(server, Level.WARNING, backups=tmp_path / "backups")["backups"].startswith("keep backups on another")
    monkeypatch.setattr(files, "_disk", lambda path: len(str(path)))
    assert "backups" not in found(server, Level.WARNING, backups=tmp_path / "backups")
    back_up(server.config, tmp_path / "backups" / "two", with_keys=True)
    assert found(server, Level.WARNING, backups=tmp_path / "backups")["backups"] == "keep keys apart from backups"


def test_a_checkpoint_belongs_on_another_disk_or_is_sent(server, monkeypatch):
    assert "checkpoint" in found(server, Level.WARNING)
    monkeypatch.setenv(SINK, "true")
    assert "checkpoint" in found(server, Level.FINE)


# TLS


CERTIFICATES = Path(__file__).parent / "certificates"  # of nobody, made for these tests, for a hundred years
END = datetime(2126, 11, 3, tzinfo=UTC)


def told(server, certificate=None, *, key=None, top="", now=NOW):
    """The one finding about TLS."""
    content = server.config.read_text()
    tls = "" if certificate is None else f'[tls]\ncertificate = "{certificate}"\nkey = "{key}"\n'
    server.config.write_text(f"{top}\n{content}\n{tls}")
    (finding,) = examine_tls(load_curator(server.config), now)
    return finding


def test_a_certificate_says_how_long_it_lasts():
    assert abs(certified_until(CERTIFICATES / "one.pem", CERTIFICATES / "one.key") - END) < timedelta(days=1)


@pytest.mark.parametrize(
    ("key", "now", "level", "seen"),
    [
        ("one", NOW, Level.FINE, "lasts until 2126"), ("one", END - timedelta(days=20), Level.WARNING, "ends on 2126"),
        ("other", NOW, Level.FAILURE, "cannot be used"),
    ],
)  # fmt: skip
def test_a_certificate_that_ends_soon_or_has_another_key_is_told(server, key, now, level, seen):
    finding = told(server, CERTIFICATES / "one.pem", key=CERTIFICATES / f"{key}.key", now=now)
    assert (finding.level, seen in finding.seen) == (level, True)


def test_a_file_that_is_no_certificate_is_a_failure(server, tmp_path):
    (tmp_path / "none.pem").write_text("nothing")
    finding = told(server, tmp_path / "none.pem", key=CERTIFICATES / "one.key")
    assert (finding.level, "cannot be used" in finding.seen) == (Level.FAILURE, True)


def test_without_tls_only_loopback_is_fine(server):
    assert told(server).level is Level.FINE
    content = server.config.read_text()
    server.config.write_text(content.replace("127.0.0.1:0", "0.0.0.0:0"))
    finding = told(server, top="insecure = true")
    assert (finding.level, "a proxy" in finding.fix) == (Level.WARNING, True)
