import stat

import pytest

from sfumato.ledger.keeping import whole_files
from sfumato.ledger.keeping.whole_files import draft_of


def test_a_draft_is_whole_beside_its_file_and_its_owners_alone(tmp_path):
    with draft_of(tmp_path / "note", b"content") as draft:
        assert draft.parent == tmp_path
        assert draft.read_bytes() == b"content"
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == []


def test_a_draft_that_was_given_its_name_stays(tmp_path):
    with draft_of(tmp_path / "note", b"content") as draft:
        draft.replace(tmp_path / "note")
    assert [file.name for file in tmp_path.iterdir()] == ["note"]


def test_it_is_on_the_disk_before_it_can_be_given_a_name_and_the_name_afterwards(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(whole_files, "synced", synced.append)
    with draft_of(tmp_path / "note", b"content") as draft:
        assert synced == [draft]
    assert synced == [draft, tmp_path]


def test_an_error_leaves_nothing_behind(tmp_path):
    with pytest.raises(KeyError), draft_of(tmp_path / "note", b"content"):
        raise KeyError
    assert list(tmp_path.iterdir()) == []
