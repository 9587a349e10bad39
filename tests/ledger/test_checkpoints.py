import json
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from sfumato.errors import LedgerCorruptError, LedgerError, ParameterError
from sfumato.ledger import checkpoints, whole_files
from sfumato.ledger.checkpoints import (
    Checkpoint,
    CheckpointFile,
    decode_checkpoint,
    encode_checkpoint,
    require_not_older,
)
from sfumato.ledger.journal import GENESIS, Chain
from sfumato.ledger.key import LedgerKey

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

    def late(lock):
        path.write_text(encode_checkpoint(noted(9)))  # somebody else's, while this one waited
        return real(lock)

    monkeypatch.setattr(checkpoints, "locked", late)
    file.write(noted(5))
    assert file.read(KEY) == noted(9)


def test_only_its_owner_may_read_it_and_no_draft_stays(file, tmp_path):
    file.write(noted(1))
    file.write(noted(2))
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
    assert modes == {"ledger.checkpoint": 0o600, "ledger.checkpoint.lock": 0o600}


def test_a_write_that_fails_leaves_the_last_one(file, tmp_path, monkeypatch):
    file.write(noted(1))

    def fail(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole_files, "synced", fail)
    with pytest.raises(LedgerError, match="cannot be written"):
        file.write(noted(2))
    assert file.read(KEY) == noted(1)
    assert len(list(tmp_path.iterdir())) == 2


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
