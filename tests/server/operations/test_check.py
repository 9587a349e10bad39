"""`sfumato curator check` looks at everything, the worst first, fails if anything failed, and changes nothing."""

import json
from hashlib import sha256

import pytest
from tests.cli.commands import run
from tests.server.operations.small import small

from sfumato.errors import LedgerError
from sfumato.server.operations.check import check_curator, examined
from sfumato.server.operations.findings import Level, fine, has_failed


@pytest.fixture
def server(tmp_path):
    with small(tmp_path, quantum=0.05) as made:
        yield made


def on_the_disk(folder):
    """What every file holds, but for what SQLite puts beside its own."""
    return {
        path: sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-wal", "-shm"))
    }


def test_everything_is_looked_at_and_nothing_changed(server):
    before = on_the_disk(server.folder)
    found = check_curator(server.config)
    assert on_the_disk(server.folder) == before
    subjects = {one.subject for one in found}
    assert {"modes", "TLS", "budget of people", "ledger", "clock", "database", "log of acts", "worker"} <= subjects
    assert not has_failed([one for one in found if not one.subject.startswith("room")])


def test_the_worst_comes_first_and_what_is_not_fine_says_what_to_do(server):
    (server.folder / "ledger.db").chmod(0o644)
    found = check_curator(server.config)
    order = [list(Level).index(one.level) for one in found]
    assert order == sorted(order, reverse=True)
    assert found[0].level is Level.FAILURE
    assert all(bool(one.fix) is (one.level is not Level.FINE) for one in found)


def test_a_file_in_error_is_the_only_finding(tmp_path):
    (tmp_path / "curator.toml").write_text("nonsense = 1")
    (one,) = check_curator(tmp_path / "curator.toml")
    assert (one.level, "start.md" in one.fix) == (Level.FAILURE, True)
    (one,) = check_curator(tmp_path / "none.toml")
    assert "must be an existing TOML file" in one.seen


@pytest.mark.parametrize("place", ["ledger", "database"])
@pytest.mark.parametrize(
    "location",
    [
        "postgresql://u:hidden@127.0.0.1:1/db", "postgresql://u@127.0.0.1:1/db?password=hidden",
        "postgresql://u:hidden@[::1/db", "postgresql://u:a/hidden@db/db", "postgresql://u:hidden@db:99999/db",
        "mysql://u:hidden@db/db",
    ],
)  # fmt: skip
def test_no_password_is_shown_by_a_check_or_a_backup(server, tmp_path, place, location):
    server.config.write_text(f'{place} = "{location}"\n' + server.config.read_text())
    for arguments in (("check",), ("check", "--json"), ("backup", "--to", tmp_path / "backup")):
        shown = run("curator", *arguments, "--config", server.config)
        assert "hidden" not in shown.output
        assert shown.exception is None or isinstance(shown.exception, SystemExit)
    assert not [path for path in (tmp_path / "backup").rglob("manifest.json") if "hidden" in path.read_text()]


def test_one_part_that_cannot_be_looked_at_does_not_hide_the_others(server):
    (server.folder / "ledger.db.checkpoint").unlink()
    found = {one.subject: one for one in check_curator(server.config)}
    assert "which is missing" in found["ledger"].seen
    assert found["log of acts"].level is Level.FINE


def test_what_was_found_before_an_error_counts_and_the_error_is_a_failure():
    def broken(error):
        yield fine("first", "seen")
        raise error

    for error, seen in (
        (LedgerError("x", "is damaged"), "ledger x: is damaged"),
        (OSError(13, "not allowed"), "not allowed"),
    ):
        found = list(examined("the ledger", lambda error=error: broken(error)))
        assert [(one.level, one.subject) for one in found] == [(Level.FINE, "first"), (Level.FAILURE, "the ledger")]
        assert found[1].seen == seen


def test_the_command_prints_a_table_or_json_and_its_exit_code_tells(server, monkeypatch):
    monkeypatch.setattr("sfumato.server.operations.machine._room", lambda folder: fine("room", str(folder)))
    shown = run("curator", "check", "--config", server.config)
    assert (shown.exit_code, "what to do" in shown.stdout) == (0, True)
    (server.folder / "ledger.db").chmod(0o644)
    failed = run("curator", "check", "--config", server.config, "--json", "--deep")
    document = json.loads(failed.stdout)
    assert failed.exit_code == 1
    assert document[0]["level"] == "failure"
    assert document[0]["fix"] == f"chmod 600 {server.folder / 'ledger.db'}"
    assert any("each verified" in one["seen"] for one in document)
