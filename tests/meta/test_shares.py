"""Each file of tests is in one share, and files that need the same server are in the same one."""

import re

import pytest
from tests import shares
from tests.meta.repository import ROOT
from tests.near import Times

FILES = shares.files_in(["tests"])
PLANNED = list(shares.shares(FILES, Times(files=dict.fromkeys(FILES, 1.0), tests={})))


def test_every_file_is_in_one_share_except_rules_about_the_project():
    everywhere = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    run = [file for share in PLANNED for file in share.files]
    assert len(run) == len(set(run))
    assert set(run) == {file for file in everywhere if not file.startswith(shares.APART)}


def test_files_that_need_the_same_server_are_together():
    of_spark = [share for share in PLANNED if "tests/engines/spark/test_engine.py" in share.files]
    of_postgres = [share for share in PLANNED if "tests/engines/postgres/test_engine.py" in share.files]
    assert of_spark == of_postgres == PLANNED[:1]
    of_servers = [share for share in PLANNED if any(file.startswith("tests/server/") for file in share.files)]
    assert PLANNED[1] in of_servers
    assert all(share in PLANNED[:2] for share in of_servers)


def test_the_others_are_cut_into_pieces_of_equal_length_in_their_order():
    *pieces, last = PLANNED[2:]
    assert len(pieces) == shares.PIECES - 1
    assert max(len(share.files) for share in pieces) - min(len(share.files) for share in pieces) <= 1
    assert len(last.files) <= len(pieces[0].files)
    assert [file for share in PLANNED[2:] for file in share.files] == sorted(
        file for share in PLANNED[2:] for file in share.files
    )


def test_a_folder_is_its_files_and_a_file_or_a_test_is_itself():
    assert shares.files_in(["tests/meta/test_shares.py"]) == ["tests/meta/test_shares.py"]
    assert shares.files_in(["tests/test_errors.py::test_x", "tests/test_errors.py::test_x"]) == [
        "tests/test_errors.py::test_x"
    ]
    assert "tests/meta/test_shares.py" in shares.files_in(["tests/meta"])


def test_a_test_that_fails_is_shown_and_all_are_counted(tmp_path, monkeypatch, capsys):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_it.py").write_text("def test_a():\n    assert False\n\n\ndef test_b(): ...\n", "utf-8")
    monkeypatch.setattr(shares, "ROOT", tmp_path)
    monkeypatch.setattr(shares, "OPTIONS", ("-q", "-p", "no:xdist", "-p", "no:cacheprovider"))
    assert not shares.main(["tests"])
    told = capsys.readouterr().out
    assert re.search(r"^== all tests: 1 failed, 1 passed in \d+ s, \d+ of processor$", told, re.MULTILINE)
    assert "assert False" in told
    assert "%]" not in told


@pytest.mark.parametrize(("code", "passes"), [(0, True), (shares.NOTHING_TO_RUN, True), (1, False), (2, False)])
def test_all_pass_if_every_share_does(monkeypatch, code, passes):
    codes = iter([code, 0, 0, 0, 0, 0, 0])
    monkeypatch.setattr(shares, "run", lambda _: (next(codes), "..\n2 passed in 0.1s\n"))
    assert shares.main(["tests"]) is passes
