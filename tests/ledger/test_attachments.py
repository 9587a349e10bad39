"""Files beside the ledger are whole, as they were written, or refused."""

import stat

import pytest

from sfumato.errors import LedgerError
from sfumato.ledger.attachments import Attachments, synced


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
    with pytest.raises(LedgerError, match="gone"):
        attachments.path(type(attached)(name="../other", sha256=attached.sha256))


def test_files_and_folders_can_be_waited_for(tmp_path):
    synced(tmp_path)
    with pytest.raises(FileNotFoundError):
        synced(tmp_path / "missing")
