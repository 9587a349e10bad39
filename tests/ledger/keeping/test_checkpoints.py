import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from sfumato.errors import LedgerCorruptError, LedgerError, ParameterError
from sfumato.ledger.core.journal import GENESIS, Chain
from sfumato.ledger.keeping import checkpoints, whole_files
from sfumato.ledger.keeping.checkpoints import (
    Checkpoint,
    CheckpointFile,
    Noting,
    decode_checkpoint,
    encode_checkpoint,
    require_not_older,
)
from sfumato.ledger.keeping.key import LedgerKey
from sfumato.ledger.keeping.slots import slots_in, write_beside

KEY, OTHER = LedgerKey(bytes(32)), LedgerKey(bytes(range(32)))
TOTALS = (("hospital", "ε 1/2"), ("hospital/ward \ud800", "ε 1/4, δ 0"))

GOLDEN = (
    '{"checkpoint":{"at":1700000000000000,"head":"4c0dd61c1a9c8cf5d5aa4a5b0d3e4f0a2b7f1b0c6d1e2f3a4b5c6d7e8f901234",'
    '"key":"85164e8979433cb5","length":3,"seal":"%s","totals":[["people","\\u03b5 1/10"]]},"version":1}'
)
"""What the first version wrote; it is read for ever."""

GOLDEN_SEAL = "97f030c066f495c9cc043d6019c87f805bb0c9f3878dc6e9d6d152517e9872c0"


def chain(*texts):
    """The records of some texts."""
    records, here = [], Chain()
    for text in texts:
        records.append(here.link(text))
        here = here.follow(records[-1])
    return records


def noted(length, *, head=None, at=0, key=KEY, totals=TOTALS):
    head = head or (f"{length:064x}" if length else GENESIS)
    return Checkpoint.sealed(key, length=length, head=head, at=at, totals=totals)


def hash_in(records):
    return lambda index: records[index].hash if index < len(records) else None


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
    assert (at_home.where, away.where) == (checkpoints.BESIDE, str(elsewhere))
    moved_home = CheckpointFile(moved, beside=moved)
    moved_home.write(noted(3))
    assert moved_home.at(at_home.where).read(KEY) == noted(3)
    assert moved_home.at(away.where).read(KEY) is None


def test_where_no_file_is_there_is_no_checkpoint(file):
    assert file.read(KEY) is None


@pytest.mark.parametrize("totals", [(), TOTALS])
def test_a_checkpoint_is_one_line_of_ascii_and_comes_back(totals):
    text = encode_checkpoint(noted(3, totals=totals))
    assert text.isascii()
    assert "\n" not in text
    assert decode_checkpoint(text) == noted(3, totals=totals)


def test_a_checkpoint_of_the_first_version_is_read_and_verifies():
    assert decode_checkpoint(GOLDEN % GOLDEN_SEAL).is_sealed_by(KEY)


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
    monkeypatch.setattr(whole_files, "synced", synced.append)
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


@pytest.mark.parametrize(
    "document",
    ["", "[]", "null", "7", "{}", '{"version":1}', "[" * 100_000, '{"version":1,"checkpoint":{}}', "1" * 5_000],
)
def test_what_is_no_checkpoint_is_refused(document):
    with pytest.raises(ParameterError, match="checkpoint of version 1"):
        decode_checkpoint(document)


@pytest.mark.parametrize(
    ("field", "value"),
    [("length", -1), ("length", "3"), ("length", 3.0), ("head", "0"), ("head", None), ("at", "now"), ("key", "k"),
     ("seal", ""), ("totals", {}), ("totals", [["a"]]), ("totals", [["a", 1]]), ("totals", ["ab"]), ("another", 1)],
)  # fmt: skip
def test_a_field_that_was_never_written_so_is_refused(field, value):
    document = json.loads(encode_checkpoint(noted(3)))
    document["checkpoint"][field] = value
    with pytest.raises(ParameterError, match="checkpoint of version 1"):
        decode_checkpoint(json.dumps(document))


def test_a_later_version_is_refused():
    text = encode_checkpoint(noted(3)).replace('"version":1', '"version":2')
    with pytest.raises(ParameterError, match="checkpoint of version 1"):
        decode_checkpoint(text)


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
    with pytest.raises(LedgerCorruptError, match="another history"):
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
    real = checkpoints.locked

    def late(lock, **options):
        path.write_text(encode_checkpoint(noted(9)))  # somebody else's, while this one waited
        return real(lock, **options)

    monkeypatch.setattr(checkpoints, "locked", late)
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

    monkeypatch.setattr(checkpoints, step, fail)
    with pytest.raises(LedgerError, match="cannot be written"):
        file.write(noted(2, totals=totals))
    assert file.read(KEY) == noted(1)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_draft_that_cannot_be_synced_leaves_the_last_one(file, tmp_path, monkeypatch):
    file.write(noted(1))

    def fail(_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(whole_files, "synced", fail)
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

    monkeypatch.setattr(checkpoints, "slots_in", half)
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


RECORDS = chain("a", "b", "c", "d")


@pytest.mark.parametrize("length", range(5))
def test_a_ledger_that_goes_on_from_its_checkpoint_passes(length):
    checkpoint = noted(length, head=RECORDS[length - 1].hash if length else GENESIS)
    require_not_older(checkpoint, len(RECORDS), hash_in(RECORDS))


def test_an_older_ledger_is_refused_with_the_remedy():
    checkpoint = noted(4, head=RECORDS[3].hash)
    with pytest.raises(
        LedgerCorruptError, match=r"4 entries were noted, 3 are there.*`sfumato ledger restored`"
    ) as caught:
        require_not_older(checkpoint, 3, hash_in(RECORDS[:3]))
    assert caught.value.index == 3


def test_an_empty_ledger_in_its_place_is_refused():
    with pytest.raises(LedgerCorruptError, match="1 entries were noted, 0 are there"):
        require_not_older(noted(1), 0, hash_in([]))


@pytest.mark.parametrize("others", [("a", "x", "c"), ("a", "x", "c", "d", "e"), ("b", "a", "c")])
def test_another_history_is_refused_however_long_it_is(others):
    checkpoint = noted(3, head=RECORDS[2].hash)
    with pytest.raises(LedgerCorruptError, match=r"another history.*`sfumato ledger restored`") as caught:
        require_not_older(checkpoint, len(others), hash_in(chain(*others)))
    assert caught.value.index == 2


def test_a_ledger_that_does_not_have_the_entry_is_refused():
    with pytest.raises(LedgerCorruptError, match="another history"):
        require_not_older(noted(3), 4, lambda _: None)


def test_a_note_is_sent_once_a_minute_and_at_the_end_and_by_no_fork(file, monkeypatch):
    sent = []
    monkeypatch.setattr(checkpoints, "send", lambda sink, text: sent.append((sink, text)))
    noting = Noting(file, sink="elsewhere")
    noting.write(noted(3), is_synced=True)
    noting.write(noted(4), is_synced=True)
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: -1)
        noting.finish()
    assert sent == [("elsewhere", f"{encode_checkpoint(noted(3))}\n")]
    noting.finish()
    noting.finish()
    assert sent[1:] == [("elsewhere", f"{encode_checkpoint(noted(4))}\n")]


def test_what_a_sink_does_not_accept_is_logged_and_stops_nobody(file, monkeypatch, caplog):
    def refuse(sink, _):
        raise LedgerError(sink, "was not accepted there")

    monkeypatch.setattr(checkpoints, "send", refuse)
    Noting(file, sink="elsewhere").write(noted(3), is_synced=True)
    assert file.read(KEY) == noted(3)
    assert "elsewhere: was not accepted there" in caplog.text
