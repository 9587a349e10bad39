"""A backup is verified as a whole before anything of it is used."""

import json

import pytest

from sfumato.errors import ParameterError
from sfumato.server.operations.manifest import FILE, Manifest, hash_of, stored, telling_of_files, verified_manifest


@pytest.fixture
def backup(tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "ledger.db").write_bytes(b"entries")
    (tmp_path / "state" / "server.db").write_bytes(b"people")
    files = (stored("ledger", "ledger.db", tmp_path), stored("database", "state/server.db", tmp_path))
    Manifest(at="2026-11-27T00:00:00Z", files=files, ledger_length=2, ledger_head="0" * 64, by_hand=("a", "b")).write(
        tmp_path
    )
    return tmp_path


def changed(backup, **document):
    file = backup / FILE
    file.write_text(json.dumps(json.loads(file.read_text()) | document))


def test_what_is_whole_is_read_as_it_was_written(backup):
    manifest = verified_manifest(backup)
    assert [file.place for file in manifest.files] == ["ledger.db", "state/server.db"]
    assert (manifest.ledger_length, manifest.by_hand) == (2, ("a", "b"))
    assert manifest.of_role("ledger")[0].sha256 == hash_of(backup / "ledger.db")
    assert manifest.of_role("key") == ()


@pytest.mark.parametrize("content", [b"Entries", b"entrie", b"entries."], ids=["changed", "shorter", "longer"])
def test_a_file_that_was_changed_is_refused(backup, content):
    (backup / "ledger.db").write_bytes(content)
    with pytest.raises(ParameterError, match=r"ledger\.db was changed; use another backup"):
        verified_manifest(backup)


def test_a_file_that_is_missing_or_a_link_is_refused(backup):
    (backup / "ledger.db").rename(backup / "other")
    with pytest.raises(ParameterError, match=r"ledger\.db is missing"):
        verified_manifest(backup)
    (backup / "ledger.db").symlink_to(backup / "other")
    with pytest.raises(ParameterError, match=r"ledger\.db is missing"):
        verified_manifest(backup)


def test_an_error_names_the_file(tmp_path):
    with pytest.raises(ParameterError, match=r"none\.toml.* cannot be copied"), telling_of_files():
        (tmp_path / "none.toml").read_bytes()


def test_a_backup_that_was_not_finished_is_none(backup):
    (backup / FILE).unlink()
    with pytest.raises(ParameterError, match="must be a whole backup"):
        verified_manifest(backup)


@pytest.mark.parametrize(
    "document",
    [
        {"format": 2}, {"files": [{"role": "ledger"}]}, {"files": 3}, {"unknown": 1},
        *(
            {"files": [{"role": "ledger", "place": place, "size": 7, "sha256": "0" * 64}]}
            for place in ("../ledger.db", "/etc/passwd", "", ".", "state/../../x", FILE)
        ),
        {"files": [{"role": "other", "place": "ledger.db", "size": 7, "sha256": "0" * 64}]},
        {"files": [{"role": "ledger", "place": "ledger.db", "size": 7, "sha256": "0"}]},
        {"files": [{"role": "ledger", "place": "ledger.db", "size": 7, "sha256": "0" * 64}] * 2},
    ],
    ids=str,
)  # fmt: skip
def test_a_list_of_another_form_or_of_places_elsewhere_is_refused(backup, document):
    changed(backup, **document)
    with pytest.raises(ParameterError, match="must be a whole backup of this version"):
        verified_manifest(backup)


def test_what_is_no_list_is_refused(backup):
    for content in ("", "[]", "null", "{"):
        (backup / FILE).write_text(content)
        with pytest.raises(ParameterError, match="must be a whole backup"):
            verified_manifest(backup)


def test_a_list_is_written_once(backup):
    with pytest.raises(FileExistsError):
        Manifest(at="", files=()).write(backup)
