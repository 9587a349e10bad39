import os
import stat
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import pytest

from sfumato.errors import EntropyError, LedgerError, ParameterError
from sfumato.ledger import key as module
from sfumato.ledger import whole_files
from sfumato.ledger.key import LedgerKey, fresh_key, key_in

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


def test_a_key_that_is_made_is_found_again(path):
    assert key_in(path, must_exist=False).secret == key_in(path, must_exist=True).secret
    assert key_in(path, must_exist=False).secret == key_in(path, must_exist=False).secret


def test_only_its_owner_may_read_a_key_that_is_made(path, tmp_path):
    before = os.umask(0)
    try:
        key_in(path, must_exist=False)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_is_64_hex_digits_and_a_newline(path):
    written(path)
    assert key_in(path, must_exist=True).secret == KEY.secret
    path.unlink()
    made = key_in(path, must_exist=False)
    assert path.read_text() == made.secret.hex() + "\n"


def test_many_who_make_it_at_once_get_one_key(path, tmp_path):
    with ThreadPoolExecutor(16) as threads:
        keys = set(threads.map(lambda _: key_in(path, must_exist=False).secret, range(64)))
    assert len(keys) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_key_that_another_process_made_meanwhile_is_taken(path, monkeypatch):
    def link(*_):
        written(path)
        raise FileExistsError

    monkeypatch.setattr(module.os, "link", link)
    assert key_in(path, must_exist=False).secret == KEY.secret


def test_a_key_is_on_the_disk_before_it_has_its_name_and_its_name_before_it_is_returned(path, monkeypatch):
    steps = []
    real, link = whole_files.synced, os.link
    for one in (whole_files, module):
        monkeypatch.setattr(one, "synced", lambda what: steps.append(what.name) or real(what))
    monkeypatch.setattr(module.os, "link", lambda *names: steps.append("link") or link(*names))
    key_in(path, must_exist=False)
    draft, *others = steps
    assert draft.startswith(".ledger.db.key.")
    assert others[:2] == ["link", path.parent.name]


def test_the_name_of_a_key_that_somebody_made_just_now_is_on_the_disk_before_it_is_returned(path, monkeypatch):
    written(path)
    steps = []
    monkeypatch.setattr(module, "synced", steps.append)
    key_in(path, must_exist=False)
    assert steps == [path.parent]


def test_a_missing_key_is_not_made_for_who_needs_the_old_one(path, tmp_path):
    with pytest.raises(LedgerError, match="is gone; restore it"):
        key_in(path, must_exist=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610, 0o601, 0o644])
@pytest.mark.parametrize("must_exist", [True, False])
def test_a_key_that_others_may_read_is_refused_with_the_command_that_mends_it(path, mode, must_exist):
    written(path, mode=mode)
    with pytest.raises(LedgerError, match=f"chmod 600 {path}"):
        key_in(path, must_exist=must_exist)


def test_a_key_that_its_owner_may_only_read_is_fine(path):
    written(path, mode=0o400)
    assert key_in(path, must_exist=True).secret == KEY.secret


@pytest.mark.parametrize(
    "content",
    ["", "\n", WRITTEN[:-1], WRITTEN[1:], WRITTEN.upper(), WRITTEN + "\n", WRITTEN * 2, " " + WRITTEN,
     "g" + WRITTEN[1:], WRITTEN[:-1] + "\r\n", b"\0" * 65, b"\xff" * 65],
)  # fmt: skip
@pytest.mark.parametrize("must_exist", [True, False])
def test_a_damaged_key_is_refused_kept_and_not_shown(path, content, must_exist):
    written(path, content)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="holds no key") as caught:
        key_in(path, must_exist=must_exist)
    assert path.read_bytes() == before
    seen = (caught.value, caught.value.__cause__, caught.value.__context__)
    assert not any(WRITTEN[5:30] in repr(error).lower() for error in seen)


def test_a_folder_that_does_not_exist_is_told(tmp_path):
    with pytest.raises(LedgerError, match="cannot be made"):
        key_in(tmp_path / "none" / "key", must_exist=False)


def test_a_folder_in_the_place_of_a_key_is_told(path):
    path.mkdir()
    with pytest.raises(LedgerError, match="cannot be read"):
        key_in(path, must_exist=False)


def test_a_link_to_nothing_is_no_key(path):
    path.symlink_to(path.parent / "none")
    with pytest.raises(LedgerError, match="is gone"):
        key_in(path, must_exist=False)


@pytest.mark.parametrize("failing", ["link", "fsync", "open"])
def test_a_key_that_cannot_be_written_leaves_nothing_behind(path, tmp_path, monkeypatch, failing):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, failing, fail)
    with pytest.raises(LedgerError, match="cannot be made"):
        key_in(path, must_exist=False)
    assert list(tmp_path.iterdir()) == []


def test_without_entropy_no_key_is_made(path, tmp_path, monkeypatch):
    def fail(_):
        raise EntropyError("test")

    monkeypatch.setattr(module, "random_bytes", fail)
    with pytest.raises(EntropyError):
        key_in(path, must_exist=False)
    assert list(tmp_path.iterdir()) == []
