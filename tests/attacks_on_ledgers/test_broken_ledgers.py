"""A ledger that cannot be written, was set back, taken away or copied: no second budget, and no answer unpaid."""

import shutil

import pytest
from tests.attacks_on_ledgers.census import asked, census, ledger_of
from tests.session.opened import recorded

import sfumato as sf
from sfumato.errors import LedgerCorruptError, LedgerError
from sfumato.ledger.stores.sqlite import SQLiteStore

# 36: a ledger that cannot be written.


def failing(monkeypatch, *, after=0):
    """From here on, after so many turns, nobody can write."""
    turns, taken = SQLiteStore.transaction, []

    def transaction(store):
        taken.append(store)
        if len(taken) > after:
            raise LedgerError("ledger.db", "the disk is full; make room")
        return turns(store)

    monkeypatch.setattr(SQLiteStore, "transaction", transaction)


def test_36_a_ledger_that_cannot_be_written_answers_nothing_new_and_no_data_is_read(tmp_path, monkeypatch):
    session, engine = recorded(census(ledger=tmp_path / "ledger.db"))
    with session:
        first = asked(session, 10)
        engine.statements.clear()
        failing(monkeypatch)
        with pytest.raises(LedgerError, match="disk is full"):
            asked(session, 20)
        assert engine.statements == []
        assert asked(session, 10).records() == first.records()


def test_36_an_answer_that_cannot_be_kept_is_not_shown_and_stays_charged(tmp_path, monkeypatch):
    path = tmp_path / "ledger.db"
    with census(ledger=path) as session, monkeypatch.context() as patch:
        failing(patch, after=1)
        with pytest.raises(LedgerError, match="disk is full"):
            asked(session, 20, idempotency_key="one")
    with census(ledger=path) as session:
        assert session.spent == sf.PureDP("0.1")
        asked(session, 20, idempotency_key="one")
        assert session.spent == sf.PureDP("0.1")


# 37, 44: old ledgers and copies.


def test_37_a_ledger_from_before_is_refused_and_gives_no_second_budget(tmp_path):
    path, old = tmp_path / "ledger.db", tmp_path / "old.db"
    with census(ledger=path) as session:
        asked(session, 10, epsilon="0.2")
    shutil.copy(path, old)
    with census(ledger=path) as session:
        asked(session, 20, epsilon="0.8")
    for left in tmp_path.glob("ledger.db-*"):
        left.unlink()
    shutil.copy(old, path)
    with pytest.raises(LedgerCorruptError):
        census(ledger=path)


def test_37_nor_is_one_whose_whole_folder_was_set_back_where_its_checkpoint_lies_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("SFUMATO_LEDGER_CHECKPOINT", str(tmp_path / "elsewhere"))
    folder, old = tmp_path / "ledger", tmp_path / "old"
    folder.mkdir()
    with census(ledger=folder / "ledger.db") as session:
        asked(session, 10, epsilon="0.2")
    shutil.copytree(folder, old)
    with census(ledger=folder / "ledger.db") as session:
        asked(session, 20, epsilon="0.8")
    shutil.rmtree(folder)
    shutil.copytree(old, folder)
    with pytest.raises(LedgerCorruptError, match="older"):
        census(ledger=folder / "ledger.db")


def test_37_a_ledger_that_was_taken_away_is_no_new_ledger(tmp_path):
    path = tmp_path / "ledger.db"
    with census(ledger=path) as session:
        asked(session, epsilon=1)
    for left in tmp_path.glob("ledger.db*"):
        if left.suffix not in (".key", ".checkpoint"):
            left.unlink()
    with pytest.raises(LedgerError):
        census(ledger=path)


def test_44_a_backup_is_restored_with_its_key_and_has_the_same_story(tmp_path):
    path, backup = tmp_path / "ledger.db", tmp_path / "backup"
    with census(ledger=path) as session:
        first = asked(session.open_account("ann", budget=sf.PureDP("0.5")), 10)
        told = ledger_of(session).verify()
    backup.mkdir()
    for file in tmp_path.glob("ledger.db*"):
        if file.is_file():
            shutil.copy(file, backup / file.name)
    with census(ledger=backup / "ledger.db") as session:
        assert ledger_of(session).verify().head == told.head
        assert session.spent == sf.PureDP("0.1")
        assert asked(session.account("ann"), 10).records() == first.records()


def test_44_a_copy_without_its_key_is_of_no_use(tmp_path):
    path, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    with census(ledger=path) as session:
        asked(session)
    shutil.copy(path, copy)
    with pytest.raises((LedgerError, LedgerCorruptError)), census(ledger=copy) as session:
        asked(session)
