import os
import time

import pytest
from tests.cli.commands import refusal
from tests.cli.ledger.telling import told

from sfumato.errors import LedgerMissingError
from sfumato.ledger.keeping.checkpoint_files import stored_in
from sfumato.ledger.locations import CHECKPOINT, open_ledger


def test_a_ledger_that_verifies_tells_its_length_and_head(ledger):
    with open_ledger(ledger) as opened:
        chain = opened.verify()
    shown = told("verify", ledger)
    assert (
        f"{chain.length} entries: hash chain intact; every charge was allowed; all are sealed with the ledger's key"
        in shown
    )
    assert f"head {chain.head}" in shown
    assert "1 file of large answers, unchanged" in shown


def test_a_file_of_an_answer_that_is_gone_is_named(ledger, answer_file):
    answer_file.unlink()
    shown = refusal("ledger", "verify", ledger)
    assert answer_file.name in shown
    assert "the file of an answer is missing" in shown


def test_a_file_of_an_answer_that_was_changed_is_named(ledger, answer_file):
    answer_file.write_text("other rows", encoding="utf-8")
    assert "was changed" in refusal("ledger", "verify", ledger)


def test_a_file_that_no_answer_names_is_listed(ledger, answer_file):
    left = answer_file.with_name(f"{'0' * 32}.parquet")
    left.write_text("rows", encoding="utf-8")
    shown = told("verify", ledger)
    assert f"no entry names {left}" in shown
    assert f"no entry names {answer_file}" not in shown


def test_without_the_key_it_says_what_it_cannot_check(ledger, tmp_path):
    (tmp_path / "ledger.db.key").unlink()
    shown = told("verify", ledger)
    assert "9 entries: hash chain intact; every charge was allowed\n" in shown
    assert "not checked, because the key" in shown
    assert "who wrote the entries" in shown


def left_behind(answer_file, *, days):
    path = answer_file.with_name(f"{'0' * 32}.parquet")
    path.write_text("rows", encoding="utf-8")
    moment = time.time() - days * 24 * 60 * 60
    os.utime(path, (moment, moment))
    return path


def test_a_checkpoint_is_written_where_it_is_looked_for_and_where_it_is_asked_for(ledger, tmp_path):
    shown = told("checkpoint", ledger, "--to", tmp_path / "elsewhere")
    noted = stored_in((tmp_path / "elsewhere").read_bytes(), {})[1]
    assert f"{noted.length} entries up to 2" in shown
    assert noted.head in shown
    assert (tmp_path / "ledger.db.checkpoint").exists()


def test_a_checkpoint_elsewhere_guards_a_ledger_that_lost_its_own(ledger, tmp_path, monkeypatch):
    told("checkpoint", ledger, "--to", tmp_path / "elsewhere")
    for path in tmp_path.glob("ledger.db*"):
        if path.is_file() and path.suffix != ".key":
            path.unlink()
    monkeypatch.setenv(CHECKPOINT, str(tmp_path / "elsewhere"))
    with pytest.raises(LedgerMissingError, match="exists and its ledger is missing"):
        open_ledger(ledger)


def test_a_checkpoint_that_cannot_be_written_is_refused(ledger, tmp_path):
    assert "cannot be written" in refusal("ledger", "checkpoint", ledger, "--to", tmp_path / "none" / "c")


def test_a_ledger_is_moved_and_its_owner_told_about_the_key_and_the_old_one(ledger, tmp_path):
    shown = told("migrate", ledger, tmp_path / "new.db")
    assert "9 entries and 1 file of large answers, copied and verified" in shown
    assert str(tmp_path / "new.db.key") in shown
    assert "The old ledger is closed" in shown
    with open_ledger(tmp_path / "new.db") as moved, open_ledger(ledger) as old:
        assert moved.verify().length == old.verify().length - 1


def test_a_place_that_is_taken_is_refused(ledger):
    assert "contains a ledger already" in refusal("ledger", "migrate", ledger, ledger)


def test_a_file_that_no_answer_names_is_listed_and_removed_only_when_asked(ledger, answer_file):
    path = left_behind(answer_file, days=2)
    shown = told("sweep", ledger)
    assert str(path) in shown
    assert "1 file that no answer names" in shown
    assert path.exists()
    assert told("sweep", ledger, "--yes") == "1 file removed\n"
    assert (path.exists(), answer_file.exists()) == (False, True)


def test_a_file_of_today_may_yet_be_named_and_stays(ledger, answer_file):
    path = left_behind(answer_file, days=0.9)
    assert told("sweep", ledger, "--yes") == "0 files removed\n"
    assert path.exists()


def test_an_old_file_that_an_answer_names_stays(ledger, answer_file):
    os.utime(answer_file, (0, 0))
    assert told("sweep", ledger, "--yes") == "0 files removed\n"
    assert answer_file.exists()
