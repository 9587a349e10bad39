"""Keys that a secret store gives: a ledger is begun, opened and rotated with them, and none is ever on the disk."""

import sys

import pytest
from tests.ledger.stories import account, release

from sfumato.errors import LedgerCorruptError, LedgerError, LedgerMissingError
from sfumato.ledger.keeping import given_keys
from sfumato.ledger.keeping.given_keys import BY_COMMAND, IN_ENVIRONMENT, IN_FILE, given_secrets, source_of_keys
from sfumato.ledger.keeping.key import LedgerKey, announce, holds_secret, key_in, new_key, settle
from sfumato.ledger.locations import open_ledger, place_of
from sfumato.ledger.migration import migrate
from sfumato.ledger.rotation import rotate_key

FIRST, SECOND, THIRD = (bytes([number]) * 32 for number in (1, 2, 3))
NAMES = [LedgerKey(secret).name for secret in (FIRST, SECOND, THIRD)]


@pytest.fixture
def give(monkeypatch, tmp_path):
    """Keys are given from now on, in one of the ways."""

    def given(*secrets, way=IN_ENVIRONMENT):
        content = "\n".join(secret.hex() for secret in secrets)
        file = tmp_path / "given.txt"
        file.write_text(content + "\n")
        file.chmod(0o600)
        for name in given_keys.SOURCES:
            monkeypatch.delenv(name, raising=False)
        command = f"{sys.executable} -c 'print(open(\"{file}\").read())'"
        monkeypatch.setenv(way, {IN_ENVIRONMENT: content, IN_FILE: str(file), BY_COMMAND: command}[way])

    return given


@pytest.fixture
def ledger(tmp_path):
    (tmp_path / "ledger").mkdir()
    return tmp_path / "ledger" / "ledger.db"


def begun(location):
    """A ledger with one answer."""
    with open_ledger(location) as opened:
        opened.open_account(account("people"))
        reservation = opened.reserve("people", **release(), question="q")
        opened.commit(reservation, key="k", answer=1)


def on_the_disk(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("way", given_keys.SOURCES)
def test_keys_are_given_by_a_variable_a_file_and_a_command(give, way):
    assert given_secrets() == ()
    give(FIRST, SECOND, way=way)
    assert (source_of_keys(), given_secrets()) == (way, (FIRST, SECOND))


@pytest.mark.parametrize("way", given_keys.SOURCES)
def test_a_ledger_begins_with_a_given_key_and_only_its_name_is_on_the_disk(give, ledger, way):
    give(FIRST, way=way)
    begun(ledger)
    assert place_of(ledger).key.read_text() == f"given {NAMES[0]}\n"
    assert not holds_secret(place_of(ledger).key)
    with open_ledger(ledger, must_exist=True) as opened:
        assert (opened.key, opened.key.is_given) == (LedgerKey(FIRST), True)
        opened.verify()
    seen = on_the_disk(ledger.parent)
    assert FIRST.hex().encode() not in seen
    assert FIRST not in seen


def test_without_its_key_or_with_another_one_a_ledger_is_refused_and_stays(give, ledger, monkeypatch):
    give(FIRST)
    begun(ledger)
    give(SECOND)
    with pytest.raises(LedgerError, match=f"must give the ledger's key {NAMES[0]}; it gives {NAMES[1]}"):
        open_ledger(ledger)
    monkeypatch.delenv(IN_ENVIRONMENT)
    with pytest.raises(LedgerError, match=f"SFUMATO_LEDGER_KEY: must give the ledger's key {NAMES[0]}; it gives none"):
        open_ledger(ledger)
    give(FIRST)
    open_ledger(ledger).close()


def test_a_ledger_that_was_removed_is_not_begun_anew_under_a_given_key(give, ledger):
    give(FIRST)
    begun(ledger)
    ledger.unlink()
    with pytest.raises(LedgerMissingError, match="exists and its ledger is missing"):
        open_ledger(ledger)


def test_a_ledger_whose_key_lies_beside_it_takes_no_other(give, ledger):
    begun(ledger)
    give(FIRST)
    with open_ledger(ledger) as opened:
        assert not opened.key.is_given
    assert holds_secret(place_of(ledger).key)


def test_the_name_of_another_key_beside_a_ledger_is_refused(give, ledger):
    give(FIRST)
    begun(ledger)
    give(FIRST, SECOND)
    place_of(ledger).key.write_text(f"given {NAMES[1]}\n")
    with pytest.raises(LedgerError, match="sealed with the key"):
        open_ledger(ledger)


def test_the_drill_rotates_to_the_other_key_and_the_old_one_can_go(give, ledger):
    give(FIRST)
    begun(ledger)
    give(FIRST, SECOND)
    with open_ledger(ledger) as running:
        assert rotate_key(ledger).name == NAMES[1]
        with pytest.raises(LedgerCorruptError, match=NAMES[1]):
            running.spent("people")
    give(SECOND, FIRST, THIRD)
    rotate_key(ledger)
    assert place_of(ledger).key.read_text() == f"given {NAMES[2]} {NAMES[0]}\n"
    give(THIRD, FIRST)  # the second one is gone; the first one makes fingerprints for ever
    with open_ledger(ledger) as opened:
        opened.verify()
        assert opened.key.fingerprint("data") == LedgerKey(FIRST).seal("data")
        assert opened.key.seal("data") == LedgerKey(THIRD).seal("data")
        opened.open_account(account("others"))
    give(THIRD)
    with pytest.raises(LedgerError, match=f"must give the ledger's key {NAMES[0]}"):
        open_ledger(ledger)


def test_a_key_beside_a_ledger_moves_to_the_store_by_a_rotation(give, ledger):
    begun(ledger)
    with open_ledger(ledger) as opened:
        old = opened.key
    give(SECOND)
    with pytest.raises(LedgerError, match=f"must give the key {old.name} too"):
        rotate_key(ledger)
    give(old.secret, SECOND)
    rotate_key(ledger)
    assert old.secret.hex().encode() not in on_the_disk(ledger.parent)
    with open_ledger(ledger) as opened:
        opened.verify()
        assert opened.key.name == NAMES[1]


@pytest.mark.parametrize("secrets", [(FIRST,), (FIRST, SECOND, THIRD)], ids=["none", "two"])
def test_a_rotation_needs_exactly_one_other_key(give, ledger, secrets):
    give(FIRST)
    begun(ledger)
    give(*secrets)
    with pytest.raises(LedgerError, match="exactly one key that the ledger does not have yet"):
        rotate_key(ledger)
    with open_ledger(ledger) as opened:
        assert opened.key.name == NAMES[0]


def test_a_rotation_that_was_killed_is_finished_while_both_keys_are_given(give, ledger, monkeypatch):
    give(FIRST)
    begun(ledger)
    give(FIRST, SECOND)
    with monkeypatch.context() as killed:
        killed.setattr("sfumato.ledger.locations._settle", lambda *_: None)
        with pytest.raises(LedgerError):
            rotate_key(ledger)
    with open_ledger(ledger) as opened:
        assert opened.key.name == NAMES[1]


def test_a_rotation_that_was_killed_before_the_seal_is_forgotten(give, ledger):
    give(FIRST)
    begun(ledger)
    give(FIRST, SECOND)
    announce(place_of(ledger).key, new_key(key_in(place_of(ledger).key)))
    give(FIRST)  # the new one was taken away again
    with open_ledger(ledger) as opened:
        assert opened.key.name == NAMES[0]


def test_a_given_key_moves_with_its_ledger(give, ledger, tmp_path):
    give(FIRST)
    begun(ledger)
    there = tmp_path / "ledger" / "new.db"
    migrate(ledger, there)
    assert place_of(there).key.read_text() == f"given {NAMES[0]}\n"


def test_a_new_ledger_needs_exactly_one_key(give, ledger):
    give(FIRST, SECOND)
    with pytest.raises(LedgerError, match="it gives 2"):
        open_ledger(ledger)


def test_a_source_is_the_only_one(give, monkeypatch, ledger):
    give(FIRST)
    monkeypatch.setenv(BY_COMMAND, "true")
    with pytest.raises(LedgerError, match="is set too; keep the one"):
        open_ledger(ledger)


@pytest.mark.parametrize(
    "content", ["abc", "g" * 64, f"{FIRST.hex()},{SECOND.hex()}", FIRST.hex().upper().replace("0", "A"), "١" * 64]
)
def test_what_is_no_key_is_refused_and_not_shown(monkeypatch, content):
    monkeypatch.setenv(IN_ENVIRONMENT, content)
    with pytest.raises(LedgerError, match="must give keys of 64 hex digits") as caught:
        given_secrets()
    assert content not in str(caught.value)


@pytest.mark.parametrize("command", ["false", "/nowhere/kms", "'", "sh -c 'echo secret >&2; exit 1'"])
def test_a_command_that_fails_is_refused_without_what_it_said(monkeypatch, command):
    monkeypatch.setenv(BY_COMMAND, command)
    with pytest.raises(LedgerError, match="run its command by hand") as caught:
        given_secrets()
    assert caught.value.__cause__ is None
    assert "secret" not in str(caught.value)


def test_a_command_that_takes_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(given_keys, "_SECONDS", 0.05)
    monkeypatch.setenv(BY_COMMAND, "sleep 5")
    with pytest.raises(LedgerError, match="failed, or took more"):
        given_secrets()


def test_a_file_of_keys_is_for_its_owner_alone(give, tmp_path):
    give(FIRST, way=IN_FILE)
    (tmp_path / "given.txt").chmod(0o640)
    with pytest.raises(LedgerError, match="chmod 600"):
        given_secrets()
    (tmp_path / "given.txt").unlink()
    with pytest.raises(LedgerError, match="cannot be read"):
        given_secrets()


def test_a_given_key_is_announced_by_name_and_settled(give, tmp_path):
    give(FIRST)
    path = tmp_path / "a.key"
    announce(path, new_key())
    settle(path)
    assert key_in(path) == LedgerKey(FIRST)
