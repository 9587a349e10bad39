"""Files that were changed, cut, put back or cut off by a power failure: refused, or a beginning that verifies."""

import os
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.ledger.faults import answer, appended, charges, filled
from tests.ledger.killing import open_accounts
from tests.ledger.processes import Home, ended, home, started, wire
from tests.ledger.sqlite_edits import edit, first_version, without_triggers
from tests.ledger.writers import endless

from sfumato.errors import LedgerCorruptError, LedgerError
from sfumato.ledger.core.entry import Committed, Reserved
from sfumato.ledger.keeping.checkpoint_files import stored_in


@pytest.fixture
def place(tmp_path):
    """A ledger in a file, with three answers."""
    place = home("sqlite", tmp_path)
    filled(place)
    return place


@pytest.fixture
def path(place):
    return Path(place.location)


def used(place):
    """All that a ledger tells and verifies; or the error of whoever opens, reads or verifies it."""
    with place.opened(must_exist=True) as ledger:
        answers = {f"question {number}": ledger.answer("people", f"question {number}") for number in range(3)}
        ledger.verify()
        return answers, ledger.remaining("people"), [*ledger.records()]


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("UPDATE record SET text = replace(text, '0', '9') WHERE position = 2", "entry 2: its hash"),
        ("UPDATE record SET text = replace(text, 'answer to', 'reply to') WHERE position = 4", "entry 4: its hash"),
        ("DELETE FROM record WHERE position = 6", "is damaged"),
        ("DELETE FROM record WHERE position = 0", "entry 0: "),
        (
            "UPDATE pointer SET position = position - 2 WHERE position = 4",
            "index entries were changed or are missing",
        ),
        (
            "UPDATE pointer SET seal = replace(seal, 'a', 'b') WHERE position = 4",
            "index entries were changed or are missing",
        ),
        ("UPDATE pointer SET position = 700 WHERE position = 4", "index entries were changed or are missing"),
        ("DELETE FROM pointer WHERE position = 4", "index entries were changed or are missing"),
        ("UPDATE snapshot SET text = replace(text, 'ep', 'eq')", "the snapshot there is damaged"),
        ("UPDATE snapshot SET text = ''", "the snapshot there is damaged"),
        ("UPDATE head SET length = length - 1", "is damaged"),
        ("UPDATE head SET hash = 'h'", "is damaged"),
    ],
)
def test_what_was_changed_behind_the_triggers_is_refused(place, path, statement, error):
    """Catalogue 44."""
    without_triggers(path, statement)
    with pytest.raises(LedgerCorruptError, match=f"{error}.*restore a good copy"):
        used(place)


def test_an_account_that_somebody_deletes_with_all_that_it_paid_is_missed(place, path):
    """Catalogue 44. Even by one who puts the head right."""
    without_triggers(path, "DELETE FROM record", f"UPDATE head SET length = 0, hash = '{'0' * 64}'")
    with pytest.raises(LedgerCorruptError, match="restore a good copy"):
        used(place)


@pytest.mark.parametrize("part", range(40))
def test_a_flipped_bit_is_found_or_was_in_no_record(place, path, part):
    """Catalogue 44."""
    before, whole = used(place), path.read_bytes()
    at = (2 * part + 1) * len(whole) // 80
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << part % 8]) + whole[at + 1 :])
    try:
        found = used(place)
    except LedgerError:
        return
    assert found == before


@pytest.mark.parametrize("part", range(8))
def test_a_truncated_file_is_refused(place, path, part):
    whole = path.read_bytes()
    path.write_bytes(whole[: part * len(whole) // 8])
    with pytest.raises(LedgerError, match=r"restore|name the ledger's own file"):
        used(place)


def test_a_key_with_a_flipped_digit_is_another_key_and_refused(place, path):
    key = path.with_name("ledger.db.key")
    text = key.read_text()
    key.write_text(("0" if text[7] != "0" else "1").join((text[:7], text[8:])))
    with pytest.raises(LedgerError, match="restore the key that belongs to it"):
        used(place)


@pytest.mark.parametrize("content", ["", "0" * 63, None])
def test_a_key_that_is_cut_or_gone_is_refused(place, path, content):
    key = path.with_name("ledger.db.key")
    key.unlink() if content is None else key.write_text(content)
    with pytest.raises(LedgerError, match="restore it"):
        used(place)


@pytest.fixture
def noted(place, path):
    """The file of a checkpoint of this ledger."""
    with place.opened() as ledger:
        ledger.checkpoint()
    return path.with_name("ledger.db.checkpoint")


@pytest.mark.parametrize("change", [lambda text: text[:99], lambda text: text.replace('"length":', '"length":1')])
def test_a_checkpoint_that_is_cut_or_changed_is_refused(place, noted, change):
    noted.write_text(change(noted.read_text()))
    with pytest.raises(LedgerError, match="the checkpoint is damaged or was changed; restore a good copy"):
        used(place)


def test_an_older_copy_in_the_place_of_the_ledger_is_refused(place, path, tmp_path):
    """Catalogue 37. All of it is genuine, but for what is missing; the newer one is opened again."""
    shutil.copy(path, tmp_path / "copy.db")
    with place.opened() as ledger:
        answer(ledger, "question 3")
        ledger.checkpoint()
    path.rename(tmp_path / "newer.db")
    shutil.copy(tmp_path / "copy.db", path)
    with pytest.raises(LedgerCorruptError, match="older than its checkpoint: 9 entries were recorded, 7 exist; rest"):
        used(place)
    (tmp_path / "newer.db").replace(path)
    with place.opened() as ledger:
        assert charges(ledger) == 4


def killed(home, connection):
    """The work of a process: spend all that is left, and wait to be killed."""
    with home.opened() as ledger:
        for number in range(3, 10):
            answer(ledger, f"question {number}")
        connection.send("spent")
        connection.recv()


@pytest.mark.essential
def test_an_older_copy_is_refused_also_if_who_spent_was_killed(place, path, tmp_path):
    shutil.copy(path, tmp_path / "copy.db")
    own, other = wire()
    spender = started(killed, place, other)
    own.recv()
    os.kill(spender.pid, signal.SIGKILL)
    ended(spender)
    for left in path.parent.glob("ledger.db-*"):
        left.unlink()
    shutil.copy(tmp_path / "copy.db", path)
    with pytest.raises(LedgerCorruptError, match="older than its checkpoint: 21 entries were recorded, 7 exist"):
        used(place)


def test_an_older_copy_is_refused_also_if_who_spent_never_closed(place, path, tmp_path):
    shutil.copy(path, tmp_path / "copy.db")
    ledger = place.opened()
    answer(ledger, "question 3")
    ledger._store.close()
    for left in path.parent.glob("ledger.db-*"):
        left.unlink()
    shutil.copy(tmp_path / "copy.db", path)
    with pytest.raises(LedgerCorruptError, match="older than its checkpoint: 9 entries were recorded"):
        used(place)


def test_a_checkpoint_that_is_gone_is_missed(place, path):
    path.with_name("ledger.db.checkpoint").unlink()
    with pytest.raises(LedgerCorruptError, match=r"the checkpoint .* is missing; .*`sfumato ledger restored`"):
        used(place)


def test_a_checkpoint_that_was_named_is_asked_also_by_who_names_another(place, path, tmp_path):
    with place.opened(checkpoint=tmp_path / "elsewhere") as ledger:
        answer(ledger, "question 3")
    shutil.copy(path, tmp_path / "copy.db")
    with place.opened(checkpoint=tmp_path / "elsewhere") as ledger:
        answer(ledger, "question 4")
    shutil.copy(tmp_path / "copy.db", path)
    with pytest.raises(LedgerCorruptError, match="older than its checkpoint: 11 entries were recorded, 9 exist"):
        place.opened()
    (tmp_path / "elsewhere").unlink()
    with pytest.raises(LedgerCorruptError, match="elsewhere, which is missing"):
        place.opened()


def test_a_checkpoint_of_a_moment_ago_is_accepted_and_what_came_after_it_replayed(place, path):
    file = path.with_name("ledger.db.checkpoint")
    before = file.read_bytes()
    with place.opened() as ledger:
        answer(ledger, "question 3")
    file.write_bytes(before)
    with place.opened() as ledger:
        assert charges(ledger) == 4


def test_another_history_of_the_same_length_is_refused(place, path, tmp_path):
    """Catalogue 37."""
    shutil.copy(path, tmp_path / "copy.db")
    shutil.copy(path.with_name("ledger.db.checkpoint"), tmp_path / "earlier")
    with place.opened() as ledger:
        answer(ledger, "question 3")
        ledger.checkpoint()
    shutil.copy(tmp_path / "copy.db", path)
    path.with_name("ledger.db.checkpoint").replace(tmp_path / "noted")
    shutil.copy(tmp_path / "earlier", path.with_name("ledger.db.checkpoint"))
    with place.opened() as ledger:
        answer(ledger, "another question 3")
    (tmp_path / "noted").replace(path.with_name("ledger.db.checkpoint"))
    with pytest.raises(LedgerCorruptError, match="history differs from that of its checkpoint"):
        used(place)


def test_the_first_version_does_not_take_the_file_for_one_of_its_own(path, tmp_path):
    """It compares all tables and triggers with its own, which are some of these."""
    first_version(tmp_path / "first.db").close()

    def schema(file):
        with closing(sqlite3.connect(file)) as connection:
            return set(connection.execute("SELECT type, name, sql FROM sqlite_master"))

    assert schema(tmp_path / "first.db") < schema(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"epsilon":"1/10"', '"epsilon":"-1/10"'),
        ('"epsilon":"1/10"', '"epsilon":"NaN"'),
        ('"epsilon":"1/10"', '"epsilon":"Infinity"'),
        ('"epsilon":"1/10"', '"epsilon":NaN'),
        ('"epsilon":"1/10"', '"epsilon":1e999'),
        ('"epsilon":"1/10"', '"epsilon":"1/0"'),
        ('"account":"people"', '"account":"nobody"'),
        ('"type":"Reserved"', '"type":"Refunded"'),
        ('"at":', '"at":-'),
    ],
)
def test_an_entry_that_charges_less_than_nothing_or_nobody_is_refused_although_its_hash_follows(place, old, new):
    with place.opened() as ledger:
        text = [*ledger.records()][1].text
        assert old in text
        appended(ledger, text.replace(old, new))
        with pytest.raises(LedgerCorruptError, match=r"entry 7: .*restore a good copy"):
            answer(ledger, "question 3")
    with pytest.raises(LedgerCorruptError, match=r"entry 7: .*restore a good copy"):
        used(place)


@pytest.mark.parametrize("parents", ['["people"]', '["team","people"]', '["later"]'])
def test_accounts_in_a_circle_are_refused_although_their_hashes_follow(place, parents):
    with place.opened() as ledger:
        text = next(ledger.records()).text
        team = text.replace('"account":"people"', '"account":"team"')
        appended(ledger, team.replace('"parents":[]', f'"parents":{parents}').replace('["people"]', '["team"]'))
    with pytest.raises(LedgerCorruptError, match="entry 7: "):
        used(place)


def moments(place, folder):
    """Copies of a ledger's files while a process writes to them, as they are on a disk that loses its power.

    What was noted in the middle is kept beside them.
    """
    own, other = wire()
    writer = started(endless, place, other, "writer")
    for number in range(5):
        for _ in range(2 * number + 1):
            own.recv()
        os.kill(writer.pid, signal.SIGSTOP)
        copy = folder / f"copy {number}"
        copy.mkdir()
        for name in ("ledger.db", "ledger.db-wal", "ledger.db.key"):
            shutil.copy(place.folder / name, copy)
        if number == 2:
            shutil.copy(place.folder / "ledger.db.checkpoint", folder / "noted")
        os.kill(writer.pid, signal.SIGCONT)
        yield copy
    os.kill(writer.pid, signal.SIGKILL)
    assert ended(writer) == -signal.SIGKILL


def with_logs_cut_off(copy):
    """The homes of copies of a copy, of whose log some reached the disk."""
    log = (copy / "ledger.db-wal").read_bytes()
    for part in range(4, -1, -1):
        cut = copy.with_name(f"{copy.name}, {part} of 4")
        shutil.copytree(copy, cut)
        (cut / "ledger.db-wal").write_bytes(log[: part * len(log) // 4])
        yield Home(str(cut / "ledger.db"), cut)


def assert_is_a_beginning(home, records):
    """It verifies, and no answer is in it whose charge is not; gives how many records it has."""
    with home.opened(ignoring_checkpoint=True) as ledger:
        found = [*ledger.records()]
        assert found == records[: len(found)]
        entries = [*ledger.entries()]
        charged = {entry.request for entry in entries if isinstance(entry, Reserved)}
        assert {entry.request for entry in entries if isinstance(entry, Committed)} <= charged
        ledger.verify()
    return len(found)


def test_wherever_the_power_fails_a_beginning_is_left_that_verifies_and_is_refused_if_more_was_noted(tmp_path):
    """Catalogue 36, 37."""
    live = tmp_path / "live"
    live.mkdir()
    place = home("sqlite", live)
    with place.opened() as ledger:
        open_accounts(ledger)
    copies = [*moments(place, tmp_path)]
    with place.opened() as ledger:
        records = [*ledger.records()]
    file = tmp_path / "noted"
    noted, lengths = stored_in(file.read_bytes(), {})[1].length, set()
    for cut in (cut for copy in copies for cut in with_logs_cut_off(copy)):
        lengths.add(length := assert_is_a_beginning(cut, records))
        shutil.copy(file, cut.folder / "ledger.db.checkpoint")
        if length < noted:
            with pytest.raises(LedgerCorruptError, match="older than its checkpoint"):
                cut.opened()
        else:
            cut.opened().close()
    assert min(lengths) < noted <= max(lengths)


@pytest.mark.parametrize("statement", ["DELETE FROM record", "UPDATE record SET text = ''", "DELETE FROM head"])
def test_an_edit_that_the_triggers_see_is_refused_by_the_file_itself(path, statement):
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        edit(path, statement)
