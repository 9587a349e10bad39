"""Files beside the ledger are whole, as they were written, or refused."""

import math
import os
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from sfumato.errors import LedgerError
from sfumato.ledger.keeping import attachments as module
from sfumato.ledger.keeping.attachments import Attachments, attachments_in, removed
from sfumato.ledger.keeping.files import synced


def written(attachments, text):
    with attachments.writing() as path:
        path.write_text(text, encoding="utf-8")
    return attachments.attached(path)


@pytest.mark.parametrize("lasting", [True, False])
def test_a_file_is_found_as_it_was_written(tmp_path, lasting):
    attachments = Attachments(tmp_path / "ledger.db.answers" if lasting else None)
    first, second = written(attachments, "one"), written(attachments, "two")
    assert [attachments.path(one).read_text(encoding="utf-8") for one in (first, second)] == ["one", "two"]
    assert stat.S_IMODE(attachments.path(first).stat().st_mode) == 0o600
    assert stat.S_IMODE(attachments.path(first).parent.stat().st_mode) == 0o700
    attachments.close()


def test_a_folder_that_does_not_last_is_gone_when_it_is_closed():
    attachments = Attachments()
    path = attachments.path(written(attachments, "one"))
    attachments.close()
    assert not path.parent.exists()


def test_a_file_that_is_gone_or_was_changed_is_refused(tmp_path):
    attachments = Attachments(tmp_path)
    changed, gone = written(attachments, "one"), written(attachments, "two")
    (tmp_path / changed.name).write_text("1", encoding="utf-8")
    (tmp_path / gone.name).unlink()
    for attachment, what in ((changed, "changed"), (gone, "gone")):
        with pytest.raises(LedgerError, match=what):
            attachments.path(attachment)


def test_nothing_stays_of_a_file_that_was_not_finished(tmp_path):
    attachments = Attachments(tmp_path)
    with pytest.raises(ZeroDivisionError):
        _half_written(attachments)
    assert list(tmp_path.iterdir()) == []


def _half_written(attachments):
    with attachments.writing() as path:
        path.write_text("half", encoding="utf-8")
        raise ZeroDivisionError


def test_a_folder_that_cannot_be_made_is_an_error_of_the_ledger(tmp_path):
    with pytest.raises(LedgerError), Attachments(tmp_path / "no" / "where").writing():
        pass


def test_a_name_in_an_entry_never_leads_out_of_the_folder(tmp_path):
    (tmp_path / "other").write_text("x", encoding="utf-8")
    attachments = Attachments(tmp_path / "answers")
    attached = attachments.attached(tmp_path / "other")
    with pytest.raises(LedgerError, match="is missing"):
        attachments.path(type(attached)(name="../other", sha256=attached.sha256))


def test_files_and_folders_can_be_waited_for(tmp_path):
    synced(tmp_path)
    with pytest.raises(FileNotFoundError):
        synced(tmp_path / "missing")


def test_a_file_that_another_was_put_in_the_place_of_is_for_its_owner_alone_too(tmp_path):
    attachments = Attachments(tmp_path)
    with attachments.writing() as path:
        (tmp_path / "other").touch(0o644)
        (tmp_path / "other").replace(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_files_stay_beside_the_ledger_also_if_the_process_goes_to_another_folder(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    attachments = Attachments(type(tmp_path)("ledger.db.answers"))
    monkeypatch.chdir(tmp_path / "other")
    assert attachments.path(written(attachments, "one")).parent == tmp_path / "ledger.db.answers"


def test_a_new_folder_is_waited_for_as_well_as_what_is_in_it(tmp_path, monkeypatch):
    waited = []
    monkeypatch.setattr(module, "synced", waited.append)
    attachments = Attachments(tmp_path / "answers")
    file = attachments.path(written(attachments, "one"))
    assert waited == [tmp_path, file, tmp_path / "answers"]


def test_a_file_that_cannot_be_read_is_an_error_of_the_ledger(tmp_path, monkeypatch):
    attachments = Attachments(tmp_path)
    attached = written(attachments, "one")
    monkeypatch.setattr(module, "_hash", lambda _: os.open(tmp_path / "missing", os.O_RDONLY))
    with pytest.raises(LedgerError, match="cannot be read"):
        attachments.path(attached)


def test_looking_for_a_file_makes_no_folder(tmp_path):
    attached = written(Attachments(tmp_path / "answers"), "one")
    with pytest.raises(LedgerError, match="is missing"):
        Attachments(tmp_path / "other").path(attached)
    assert not (tmp_path / "other").exists()


def test_threads_that_come_at_once_share_a_folder():
    attachments, start = Attachments(), Barrier(8)

    def write(number):
        start.wait()
        return attachments.path(written(attachments, str(number))).parent

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(write, range(8)))) == 1
    attachments.close()


def test_a_fork_does_not_remove_the_folder_of_its_parent(monkeypatch):
    attachments = Attachments()
    path = attachments.path(written(attachments, "one"))
    monkeypatch.setattr(os, "getpid", lambda: -1)
    attachments.close()
    assert path.read_text(encoding="utf-8") == "one"
    shutil.rmtree(path.parent)


def test_files_of_answers_are_found_once_they_are_older_and_no_other_file_ever(tmp_path):
    attachments = Attachments(tmp_path)
    old, new = (attachments.path(written(attachments, text)) for text in ("old", "new"))
    os.utime(old, (1_000, 1_000))
    os.utime(new, (3_000, 3_000))
    for name in ("notes.txt", f"{'0' * 31}.parquet", f".{'0' * 32}.parquet.00"):
        (tmp_path / name).write_text("mine", encoding="utf-8")
        os.utime(tmp_path / name, (1_000, 1_000))
    (tmp_path / f"{'0' * 32}.parquet").mkdir()
    (tmp_path / f"{'1' * 32}.parquet").symlink_to(old)
    assert attachments.older_than(2_000) == (old,)


@pytest.mark.parametrize("folder", [None, "nowhere"])
def test_where_nothing_was_ever_written_there_are_no_files(tmp_path, folder):
    assert Attachments(None if folder is None else tmp_path / folder).older_than(math.inf) == ()


def test_files_are_removed_and_counted(tmp_path):
    attachments = Attachments(tmp_path)
    paths = [attachments.path(written(attachments, text)) for text in "ab"]
    assert removed(paths) == 2
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_removed_is_told(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(LedgerError, match="cannot be removed"):
        removed([tmp_path / "folder"])


def test_an_answer_names_its_files_wherever_they_stand_in_it():
    named = [{"attached": {"name": name, "sha256": "00"}} for name in "abc"]
    answer = {
        "sections": [named[0], {"groups": [["x"]], "measured": [[[1]]]}],
        "more": {"deep": [[named[1]], named[2]]},
    }
    assert [one.name for one in attachments_in(answer)] == ["a", "b", "c"]


@pytest.mark.parametrize("answer", [None, 3, "attached", [], {"attached": {"name": 1, "sha256": "0"}}])
def test_an_answer_without_files_names_none(answer):
    assert list(attachments_in(answer)) == []


def test_a_file_is_adopted_under_its_name_and_compared(tmp_path):
    (old, new) = (Attachments(tmp_path / name) for name in ("old", "new"))
    one = written(old, "rows")
    new.adopt(one, old.path(one))
    new.adopt(one, old.path(one))
    assert new.path(one).read_text(encoding="utf-8") == "rows"
    assert [path.name for path in (tmp_path / "new").iterdir()] == [one.name]
    assert stat.S_IMODE(new.path(one).stat().st_mode) == 0o600


def test_a_file_that_changes_while_it_is_adopted_is_refused(tmp_path):
    attachments = Attachments(tmp_path / "new")
    (tmp_path / "other").write_text("other", encoding="utf-8")
    with pytest.raises(LedgerError, match="was changed"):
        attachments.adopt(written(Attachments(tmp_path / "old"), "rows"), tmp_path / "other")


def test_where_nothing_can_be_written_nothing_is_adopted(tmp_path):
    one = written(Attachments(tmp_path / "old"), "rows")
    with pytest.raises(LedgerError, match="cannot be copied"):
        Attachments(tmp_path / "new").adopt(one, tmp_path / "nothing")
    assert list((tmp_path / "new").iterdir()) == []
