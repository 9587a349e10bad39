import os
import stat
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path

import pytest

from sfumato.errors import EntropyError, LedgerError, ParameterError
from sfumato.ledger.keeping import files
from sfumato.ledger.keeping import key as module
from sfumato.ledger.keeping.key import LedgerKey, announce, announced, fresh_key, key_in, settle

KEY = LedgerKey(bytes(range(32)))
WRITTEN = KEY.secret.hex() + "\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db.key"


def written(path, content=WRITTEN, mode=0o600):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)


def test_a_seal_is_the_hmac_of_framed_parts():
    # RFC 4231 has no vector for framed parts; this is Python's own hmac, written out
    import hmac

    assert KEY.seal("a", 10) == hmac.new(KEY.secret, b"s" + b"t1:a" + b"i1:a", "sha256").hexdigest()


def test_a_seal_verifies_for_its_own_parts_alone():
    seal = KEY.seal("request", 7)
    assert KEY.verifies(seal, "request", 7)
    assert not KEY.verifies(seal, "request", 8)
    assert not KEY.verifies(seal, "request")


@pytest.mark.parametrize(
    "seal", ["", "0" * 64, "é", "\ud800", KEY.seal("request", 7).upper(), KEY.seal("request", 7)[:-1]]
)
def test_what_is_no_seal_does_not_verify(seal):
    assert not KEY.verifies(seal, "request", 7)


def test_lists_of_parts_that_look_alike_have_different_seals():
    lists = [(), ("",), ("", ""), ("ab",), ("a", "b"), ("a", "", "b"), ("t1:a",), ("1",), (1,), (-1,), ("i1:1",), (11,),
             (1, 1), ("a" * 11,), ("a", "a" * 10), (2**200,), ("\ud800",), ("?",)]  # fmt: skip
    assert all(KEY.seal(*one) != KEY.seal(*other) for one, other in combinations(lists, 2))


def test_another_key_makes_other_seals_and_another_name():
    other = LedgerKey(bytes(32))
    assert KEY.seal("a") != other.seal("a")
    assert KEY.name != other.name


def test_the_name_is_short_and_no_part_of_the_secret_or_of_a_seal():
    assert len(KEY.name) == 16
    assert KEY.name not in KEY.secret.hex() + KEY.seal() + KEY.seal("n")


@pytest.mark.parametrize("secret", [b"", bytes(31), bytes(33)])
def test_a_secret_of_another_length_is_refused_and_not_shown(secret):
    with pytest.raises(ParameterError, match="32 bytes") as caught:
        LedgerKey(secret)
    assert r"\x00" not in str(caught.value)


@pytest.mark.parametrize("show", [repr, str, lambda key: f"{key}", lambda key: repr([key])])
def test_a_key_shows_its_name_only(show):
    assert KEY.name in show(KEY)
    assert KEY.secret.hex() not in show(KEY)
    assert repr(KEY.secret) not in show(KEY)


def test_fresh_keys_differ():
    assert len({fresh_key().secret for _ in range(10)}) == 10


def test_a_key_is_found_again_once_it_made_the_seal(path, tmp_path):
    announce(path, KEY)
    assert not path.exists()
    assert announced(path, KEY.name) == KEY
    settle(path)
    assert announced(path, KEY.name) is None
    assert key_in(path) == KEY
    assert list(tmp_path.iterdir()) == [path]


def test_a_key_that_is_given_its_place_meanwhile_is_not_announced(path, monkeypatch):
    announce(path, KEY)

    def quicker(file):
        settle(path)
        return key_in(file)

    monkeypatch.setattr("sfumato.ledger.keeping.key.key_in", quicker)
    assert announced(path, KEY.name) is None
    assert key_in(path) == KEY


@pytest.mark.parametrize("sealed_by", [None, "", "0" * 16])
def test_a_key_that_did_not_make_the_seal_is_not_announced(path, sealed_by):
    written(path)
    announce(path, fresh_key())
    assert announced(path, sealed_by) is None
    assert key_in(path) == KEY


def test_only_its_owner_may_read_a_key_that_is_made(path):
    before = os.umask(0)
    try:
        announce(path, KEY)
    finally:
        os.umask(before)
    settle(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_file_is_64_hex_digits_and_a_newline_and_again_for_the_first_secret(path):
    written(path)
    assert key_in(path).secret == KEY.secret
    later = KEY.successor()
    announce(path, later)
    settle(path)
    assert path.read_text() == f"{later.secret.hex()}\n{KEY.secret.hex()}\n"
    assert key_in(path) == later


def test_fingerprints_stay_under_a_successor_and_seals_do_not():
    later = KEY.successor().successor()
    assert later.fingerprint("data", 1) == KEY.fingerprint("data", 1) == KEY.seal("data", 1)
    assert later.seal("data", 1) != KEY.seal("data", 1)
    assert later.name != KEY.name


def test_many_who_settle_at_once_have_one_key(path):
    announce(path, KEY)
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda _: settle(path), range(64)))
    assert key_in(path) == KEY


def test_a_key_is_on_the_disk_before_it_has_its_name_and_its_name_before_anything_is_sealed(path, monkeypatch):
    steps, real, replace = [], files.synced, Path.replace
    monkeypatch.setattr(files, "synced", lambda what: steps.append(what.name) or real(what))
    monkeypatch.setattr(Path, "replace", lambda *names: steps.append("replace") or replace(*names))
    announce(path, KEY)
    draft, *others = steps
    assert draft.startswith(".ledger.db.key.")
    assert others == ["replace", path.parent.name]


def test_a_missing_key_is_told(path, tmp_path):
    with pytest.raises(LedgerError, match="is missing; restore it"):
        key_in(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610, 0o601, 0o644])
def test_a_key_that_others_may_read_is_refused_with_the_command_that_mends_it(path, mode):
    written(path, mode=mode)
    with pytest.raises(LedgerError, match=f"chmod 600 {path}"):
        key_in(path)


def test_a_key_that_its_owner_may_only_read_is_fine(path):
    written(path, mode=0o400)
    assert key_in(path).secret == KEY.secret


@pytest.mark.parametrize(
    "content",
    ["", "\n", WRITTEN[:-1], WRITTEN[1:], WRITTEN.upper(), WRITTEN + "\n", WRITTEN * 3, " " + WRITTEN,
     "g" + WRITTEN[1:], WRITTEN[:-1] + "\r\n", b"\0" * 65, b"\xff" * 65],
)  # fmt: skip
def test_a_damaged_key_is_refused_kept_and_not_shown(path, content):
    written(path, content)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="holds no key") as caught:
        key_in(path)
    assert path.read_bytes() == before
    seen = (caught.value, caught.value.__cause__, caught.value.__context__)
    assert not any(WRITTEN[5:30] in repr(error).lower() for error in seen)


def test_a_folder_that_does_not_exist_is_told(tmp_path):
    with pytest.raises(LedgerError, match="cannot be made"):
        announce(tmp_path / "none" / "key", KEY)


def test_a_folder_in_the_place_of_a_key_is_told(path):
    path.mkdir()
    with pytest.raises(LedgerError, match="cannot be read"):
        key_in(path)


def test_a_link_to_nothing_is_no_key(path):
    path.symlink_to(path.parent / "none")
    with pytest.raises(LedgerError, match="key is missing"):
        key_in(path)


def test_a_key_that_cannot_be_written_leaves_nothing_behind(path, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    for failing in ("fsync", "open"):
        with monkeypatch.context() as broken:
            broken.setattr(module.os, failing, fail)
            with pytest.raises(LedgerError, match="cannot be made"):
                announce(path, KEY)
        assert list(tmp_path.iterdir()) == []


def test_without_entropy_no_key_is_made(monkeypatch):
    def fail(_):
        raise EntropyError("test")

    monkeypatch.setattr(module, "random_bytes", fail)
    with pytest.raises(EntropyError):
        fresh_key()
