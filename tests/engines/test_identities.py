import os
import shutil

import pytest

from sfumato.engines.identities import file_identity
from sfumato.errors import ParameterError

CANARY = "canary-3141592653"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "people.csv").write_text(f"name\n{CANARY}\n")
    return tmp_path / "people.csv"


def test_the_same_file_by_a_link_another_path_or_another_name(path, monkeypatch):
    link, hard = path.with_name("link.csv"), path.with_name("hard.txt")
    link.symlink_to(path)
    os.link(path, hard)
    (path.parent / "inside").mkdir()
    monkeypatch.chdir(path.parent)
    paths = [path, link, hard, path.relative_to(path.parent), path.parent / "inside" / ".." / "people.csv"]
    assert len({file_identity(one) for one in paths}) == 1


def test_a_copy_is_the_same_data(path, tmp_path):
    assert file_identity(shutil.copy(path, tmp_path / "copy.parquet")) == file_identity(path)


@pytest.mark.parametrize(
    "change", [lambda old: old + b"\n", lambda old: old[:-1], lambda old: old.replace(b"6", b"7", 1)]
)
def test_other_bytes_are_other_data(path, change):
    before = file_identity(path)
    path.write_bytes(change(path.read_bytes()))
    assert file_identity(path) != before


def test_nothing_of_the_file_is_in_its_identity(path):
    kind, digest = file_identity(path)
    assert kind == "bytes"
    assert len(digest) == 64


def test_a_file_that_cannot_be_read_is_told_by_its_name(path):
    path.unlink()
    with pytest.raises(ParameterError, match=r"people.csv.*must be a file that can be read"):
        file_identity(path)
