import os
import signal
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from tests.ledger.checkpoints import KEY, OTHER, TOTALS, noted
from tests.ledger.processes import ended, started, wire
from tests.ledger.writers import in_slots

from sfumato.errors import LedgerCorruptError, LedgerError
from sfumato.ledger.keeping import checkpoint_files, files
from sfumato.ledger.keeping.checkpoint_files import BLOCK, CheckpointFile, file_of, slots_in, write_beside
from sfumato.ledger.keeping.checkpoints import decode_checkpoint, encode_checkpoint
from sfumato.ledger.keeping.key import LedgerKey


@pytest.fixture
def file(tmp_path):
    return CheckpointFile(tmp_path / "ledger.checkpoint")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.checkpoint"


def test_what_was_written_is_read(file):
    file.write(noted(3, at=5))
    assert file.read(KEY) == noted(3, at=5)


def test_of_the_file_beside_it_a_ledger_remembers_no_path_as_both_move_together(tmp_path):
    beside, elsewhere, moved = tmp_path / "beside", tmp_path / "elsewhere", tmp_path / "moved"
    at_home, away = CheckpointFile(beside, beside=beside), CheckpointFile(elsewhere, beside=beside)
    assert (at_home.where, away.where) == (checkpoint_files.BESIDE, str(elsewhere))
    moved_home = CheckpointFile(moved, beside=moved)
    moved_home.write(noted(3))
    assert moved_home.at(at_home.where).read(KEY) == noted(3)
    assert moved_home.at(away.where).read(KEY) is None


def test_where_no_file_is_there_is_no_checkpoint(file):
    assert file.read(KEY) is None


@pytest.mark.parametrize(
    "change",
    [{"length": 2}, {"head": "1" * 64}, {"at": 1}, {"totals": ()}, {"totals": TOTALS[::-1]}, {"seal": "0" * 64},
     {"totals": (("hospital", ""), *TOTALS[1:])}],
)  # fmt: skip
def test_a_changed_checkpoint_is_refused(file, path, change):
    path.write_text(encode_checkpoint(replace(noted(3), **change)))
    with pytest.raises(LedgerError, match=r"damaged or was changed.*sfumato ledger restored"):
        file.read(KEY)


@pytest.mark.parametrize("place", range(0, len(encode_checkpoint(noted(3))), 7))
def test_a_checkpoint_with_a_flipped_bit_is_refused(file, path, place):
    content = bytearray(encode_checkpoint(noted(3)).encode())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(LedgerError):
        file.read(KEY)


@pytest.mark.parametrize("length", range(0, len(encode_checkpoint(noted(3))), 29))
def test_a_cut_checkpoint_is_refused_and_not_taken_for_none(file, path, length):
    path.write_text(encode_checkpoint(noted(3))[:length])
    with pytest.raises(LedgerError, match="damaged"):
        file.read(KEY)
    with pytest.raises(LedgerError, match="damaged"):
        file.write(noted(4))


def test_a_checkpoint_of_another_key_is_told_by_the_names_of_both(file):
    file.write(noted(3, key=OTHER))
    with pytest.raises(LedgerError, match=f"{OTHER.name}, and the key of this ledger is {KEY.name}"):
        file.read(KEY)
    with pytest.raises(LedgerError, match=f"{OTHER.name}, and the key of this ledger is {KEY.name}"):
        file.write(noted(4))


def test_a_checkpoint_that_was_sealed_anew_is_on_the_disk(file, path, monkeypatch):
    file.write(noted(3))
    synced = []
    monkeypatch.setattr(files, "synced", synced.append)
    file.reseal(KEY, OTHER)
    assert synced[-1] == path.parent


def test_a_checkpoint_is_sealed_anew_under_another_key_and_only_by_who_has_the_old_one(file):
    file.reseal(KEY, OTHER)
    assert file.read(KEY) is None
    file.write(noted(3, at=5))
    with pytest.raises(LedgerError, match=f"{KEY.name}, and the key of this ledger is"):
        file.reseal(LedgerKey(bytes([7] * 32)), OTHER)
    for _ in range(2):  # the second time there is nothing left to do
        file.reseal(KEY, OTHER)
        assert file.read(OTHER) == noted(3, at=5, key=OTHER)


def test_whoever_writes_the_name_of_a_key_does_not_have_it(file, path):
    path.write_text(encode_checkpoint(replace(noted(3, key=OTHER), key=KEY.name)))
    with pytest.raises(LedgerError, match="damaged or was changed"):
        file.read(KEY)


def test_a_longer_checkpoint_stays(file):
    file.write(noted(5))
    file.write(noted(4, at=9))
    assert file.read(KEY) == noted(5)
    file.write(noted(6))
    assert file.read(KEY) == noted(6)


def test_of_one_length_the_later_checkpoint_stays(file):
    for at in (2, 3, 1):
        file.write(noted(5, at=at))
    assert file.read(KEY) == noted(5, at=3)


def test_two_histories_of_one_length_are_told(file):
    file.write(noted(5))
    with pytest.raises(LedgerCorruptError, match="history differs from that of its checkpoint"):
        file.write(noted(5, head="f" * 64, at=9))
    assert file.read(KEY) == noted(5)


@pytest.mark.parametrize("there", [encode_checkpoint(noted(5)), encode_checkpoint(noted(5, key=OTHER)), "damage"])
def test_once_the_owner_has_declared_an_older_copy_it_replaces_any_checkpoint(file, path, there):
    path.write_text(there)
    file.write(noted(4), although_shorter=True)
    assert file.read(KEY) == noted(4)


def test_of_many_who_write_at_once_the_longest_stays(path):
    lengths = [*range(1, 33, 3), *range(1, 33)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda length: CheckpointFile(path).write(noted(length)), lengths))
    assert CheckpointFile(path).read(KEY) == noted(32)


def test_who_writes_looks_again_once_nobody_else_writes(file, path, monkeypatch):
    real = checkpoint_files.locked

    def late(lock, **options):
        path.write_text(encode_checkpoint(noted(9)))  # somebody else's, while this one waited
        return real(lock, **options)

    monkeypatch.setattr(checkpoint_files, "locked", late)
    file.write(noted(5))
    assert file.read(KEY) == noted(9)


def test_only_its_owner_may_read_it_and_no_draft_stays(file, tmp_path):
    file.write(noted(1))
    file.write(noted(2))
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
    assert modes == {"ledger.checkpoint": 0o600, "ledger.checkpoint.lock": 0o600}


MANY = tuple((f"account {number}", "ε 1/2") for number in range(400))
"""More than there is room for in the slots of a file that was begun with a few."""


@pytest.mark.parametrize(("step", "totals"), [("draft_of", MANY), ("write_beside", TOTALS)])
def test_a_write_that_fails_leaves_the_last_one(file, tmp_path, monkeypatch, step, totals):
    file.write(noted(1))

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint_files, step, fail)
    with pytest.raises(LedgerError, match="cannot be written"):
        file.write(noted(2, totals=totals))
    assert file.read(KEY) == noted(1)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_draft_that_cannot_be_synced_leaves_the_last_one(file, tmp_path, monkeypatch):
    file.write(noted(1))

    def fail(_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(files, "synced", fail)
    with pytest.raises(LedgerError, match="cannot be written"):
        file.write(noted(2, totals=MANY))
    assert file.read(KEY) == noted(1)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_file_is_made_once_and_written_in_place_from_then_on(file, path):
    file.write(noted(1))
    made = path.stat()
    for length in range(2, 9):
        file.write(noted(length), is_synced=length % 2 == 0)
        assert (path.stat().st_ino, path.stat().st_size) == (made.st_ino, made.st_size)
        assert [decode_checkpoint(slot.text).length for slot in slots_in(path.read_bytes())] == (
            [length - 1, length] if length % 2 == 0 else [length, length - 1]
        )


def test_what_has_no_room_any_more_gets_another_file(file, path):
    file.write(noted(1))
    size = path.stat().st_size
    file.write(noted(2, totals=MANY))
    assert file.read(KEY) == noted(2, totals=MANY)
    assert path.stat().st_size > size
    made = path.stat().st_ino
    file.write(noted(3, totals=MANY))
    assert path.stat().st_ino == made


def _slots(path):
    """Where the slots of a file are, the newest first."""
    found = slots_in(path.read_bytes())
    return sorted(found, key=lambda slot: -decode_checkpoint(slot.text).length)


def _torn(path, slot, at, *, bits=0):
    """A slot of which what comes after a place was never written, or a bit was turned there."""
    content = bytearray(path.read_bytes())
    end = slot.offset + len(content) // 2
    if bits:
        content[slot.offset + at] ^= bits
    else:
        content[slot.offset + at : end] = b"\0" * (end - slot.offset - at)
    path.write_bytes(content)


@pytest.mark.parametrize("bits", [0, 1, 128])
@pytest.mark.parametrize("at", range(0, 64 + 1 + len(encode_checkpoint(noted(3))), 23))
def test_of_two_slots_the_other_one_counts_if_one_was_torn(file, path, at, bits):
    file.write(noted(3))
    file.write(noted(4))
    newest, before = _slots(path)
    _torn(path, before, at, bits=bits)
    assert file.read(KEY) == noted(4)
    file.write(noted(5))
    newest, before = _slots(path)
    _torn(path, newest, at, bits=bits)
    assert file.read(KEY) == noted(4)
    file.write(noted(5))
    assert file.read(KEY) == noted(5)
    assert len(_slots(path)) == 2


def test_of_two_torn_slots_none_counts_and_the_remedy_is_told(file, path):
    file.write(noted(3))
    file.write(noted(4))
    for slot in _slots(path):
        _torn(path, slot, 80)
    with pytest.raises(LedgerError, match=r"damaged.*sfumato ledger restored"):
        file.read(KEY)
    with pytest.raises(LedgerError, match="damaged"):
        file.write(noted(5))
    file.write(noted(5), although_shorter=True)
    assert file.read(KEY) == noted(5)


def test_a_slot_that_is_whole_and_not_sealed_by_the_key_is_refused(file, path):
    file.write(noted(3))
    (slot,) = slots_in(path.read_bytes())
    forged = encode_checkpoint(replace(noted(4), seal="0" * 64))
    assert write_beside(path, path.read_bytes(), slot, forged)
    with pytest.raises(LedgerError, match="damaged or was changed"):
        file.read(KEY)


@pytest.mark.parametrize("length", [1, 60, 4096, 4097, 8191])
def test_a_file_that_was_cut_keeps_what_is_whole_of_it(file, path, length):
    file.write(noted(3))
    file.write(noted(4))
    path.write_bytes(path.read_bytes()[:length])
    if length < 4096:
        with pytest.raises(LedgerError, match="damaged"):
            file.read(KEY)
        return
    assert file.read(KEY).length in (3, 4)
    file.write(noted(5))
    assert file.read(KEY) == noted(5)


def test_a_file_of_one_text_as_the_first_version_wrote_it_is_read_and_replaced(file, path):
    path.write_text(encode_checkpoint(noted(3)) + "\n")
    assert file.read(KEY) == noted(3)
    file.write(noted(2))
    assert file.read(KEY) == noted(3)
    file.write(noted(4))
    assert file.read(KEY) == noted(4)
    assert len(slots_in(path.read_bytes())) == 1


def test_who_reads_while_somebody_writes_looks_again(file, path, monkeypatch):
    file.write(noted(3))
    whole, real = path.read_bytes(), slots_in
    path.write_bytes(b"")

    def half(content):
        path.write_bytes(whole)
        return real(content)

    monkeypatch.setattr(checkpoint_files, "slots_in", half)
    assert file.read(KEY) == noted(3)


def test_a_folder_that_does_not_exist_is_told(tmp_path):
    with pytest.raises(LedgerError, match="cannot be written; name a file in an existing folder"):
        CheckpointFile(tmp_path / "none" / "checkpoint").write(noted(1))


def test_a_folder_in_its_place_is_told(file, path):
    path.mkdir()
    with pytest.raises(LedgerError, match="cannot be read"):
        file.read(KEY)


def test_a_process_that_goes_to_another_folder_writes_to_the_same_file(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    file = CheckpointFile(tmp_path.relative_to(tmp_path) / "checkpoint")
    monkeypatch.chdir("elsewhere")
    file.write(noted(1))
    assert (tmp_path / "checkpoint").is_file()


@pytest.mark.parametrize("text", ["", "a text", "{}", "x" * 10_000])
def test_a_text_is_found_in_a_file_that_was_made_with_it(text):
    content = file_of(text)
    assert [slot.text for slot in slots_in(content)] == [text]
    assert len(content) % (2 * BLOCK) == 0


@pytest.mark.parametrize("content", [b"", b"a text", b"0" * 10_000, b"\n" * 10_000])
def test_what_is_no_file_of_slots_has_none(content):
    assert slots_in(content) == ()


def test_texts_are_written_by_turns_as_long_as_there_is_room(path):
    path.write_bytes(file_of("0"))
    for number in range(1, 5):
        last = max(slots_in(path.read_bytes()), key=lambda slot: int(slot.text))
        assert write_beside(path, path.read_bytes(), last, str(number))
        assert sorted(slot.text for slot in slots_in(path.read_bytes())) == [str(number - 1), str(number)]
    assert not write_beside(path, path.read_bytes(), last, "5" * BLOCK)
    assert sorted(slot.text for slot in slots_in(path.read_bytes())) == ["3", "4"]


def test_a_file_that_was_cut_is_not_written_in_place(path):
    content = file_of("0")[:-1]
    path.write_bytes(content)
    assert not write_beside(path, content, slots_in(content)[0], "1")


def test_a_write_that_is_cut_short_is_an_error(path, monkeypatch):
    content = file_of("0")
    path.write_bytes(content)
    monkeypatch.setattr(os, "pwrite", lambda *_: 100)
    with pytest.raises(OSError, match="100 of 4096"):
        write_beside(path, content, slots_in(content)[0], "1")


@pytest.mark.parametrize("round_", range(3))
def test_a_process_that_is_killed_while_it_writes_leaves_a_whole_slot(path, round_):
    path.write_bytes(file_of("0 " + "x" * 9_000))
    own, other = wire()
    writer = started(in_slots, path, other)
    own.recv()
    time.sleep(0.02 + 0.007 * round_)
    os.kill(writer.pid, signal.SIGKILL)
    assert ended(writer) == -signal.SIGKILL
    assert max(int(slot.text.split()[0]) for slot in slots_in(path.read_bytes())) > 0
