"""A ledger that was moved is the same one: entries, budgets, answers; and nothing at all is kept if anything fails."""

import json
import stat
from pathlib import Path

import pytest
from tests.ledger import postgres_ledgers
from tests.ledger.sqlite_edits import first_version, without_triggers, write
from tests.ledger.stories import account, held, release

from sfumato.errors import LedgerCorruptError, LedgerError, ParameterError
from sfumato.ledger.core.reservations import Asked
from sfumato.ledger.core.store import Record
from sfumato.ledger.keeping.checkpoint_files import stored_in
from sfumato.ledger.locations import FOLDER, open_ledger
from sfumato.ledger.migration import migrate
from sfumato.privacy.guarantees import PureDP

GOLDEN = Path(__file__).parent.parent / "golden"
ASKED = Asked(principal="ann", idempotency_key="one", body="b")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where what belongs to ledgers in PostgreSQL is."""
    (tmp_path / "beside").mkdir()
    monkeypatch.setenv(FOLDER, str(tmp_path / "beside"))
    return tmp_path / "beside"


@pytest.fixture
def source(tmp_path):
    """A ledger with two accounts, a large answer, and a reservation without one."""
    path = tmp_path / "old.db"
    with open_ledger(path) as ledger:
        ledger.open_account(account("all", PureDP(2)), tables=[held("all", "mark")])
        ledger.open_account(account(parents=("all",)))
        first = ledger.reserve("people", question="q", asked=ASKED, **release("0.3"))
        with ledger.attachments.writing() as file:
            file.write_text("many rows", encoding="utf-8")
        attached = ledger.attachments.attached(file)
        document = {"attached": {"name": attached.name, "sha256": attached.sha256}}
        ledger.commit(first, key="k", answer={"sections": [document]})
        ledger.reserve("people", question="q", **release("0.1"))
    return path


def everything(location):
    with open_ledger(location, must_exist=True) as ledger:
        return ledger.verify(), list(ledger.records()), ledger.key, ledger.spent("people"), ledger.pending("people")


def files_of(path):
    return sorted(one.name for one in path.parent.iterdir() if one.name.startswith(path.name))


def test_a_moved_ledger_has_the_same_entries_key_and_spending(source, tmp_path):
    before = everything(source)
    moved = migrate(source, tmp_path / "new.db")
    assert everything(tmp_path / "new.db") == before
    assert (moved.length, moved.head, moved.attachments) == (before[0].length, before[0].head, 1)


def test_what_was_stored_is_found_there_also_by_those_who_ask_again(source, tmp_path):
    migrate(source, tmp_path / "new.db")
    with open_ledger(tmp_path / "new.db") as ledger:
        assert ledger.answer("people", "k")["sections"]
        again = ledger.reserve("people", question="q", asked=ASKED, **release("0.3"))
        assert again.is_repeated
        assert again.is_answered


def test_large_answers_go_with_it_and_are_compared(source, tmp_path):
    migrate(source, tmp_path / "new.db")
    (old,), (new,) = ([*(tmp_path / f"{name}.db.answers").iterdir()] for name in ("old", "new"))
    assert (old.name, old.read_bytes()) == (new.name, new.read_bytes())


def test_the_key_is_for_its_owner_alone_and_the_same(source, tmp_path):
    migrate(source, tmp_path / "new.db")
    assert (tmp_path / "new.db.key").read_bytes() == (tmp_path / "old.db.key").read_bytes()
    assert stat.S_IMODE((tmp_path / "new.db.key").stat().st_mode) == 0o600


def test_data_that_was_known_is_known_there(source, tmp_path):
    migrate(source, tmp_path / "new.db")
    with open_ledger(tmp_path / "new.db") as ledger:
        ledger.open_account(account("others"), tables=[held("others", "mark")])
        assert ledger.path("others") == ("others", "all")


def test_there_is_a_checkpoint_beside_the_new_one(source, tmp_path):
    moved = migrate(source, tmp_path / "new.db")
    checkpoint = stored_in((tmp_path / "new.db.checkpoint").read_bytes(), {})[1]
    assert (checkpoint.length, checkpoint.head) == (moved.length, moved.head)


def test_a_ledger_moves_to_a_server_and_back(source, tmp_path, folder):
    before, server = everything(source), postgres_ledgers.location()
    migrate(source, server)
    assert everything(server) == before
    assert any(one.name.endswith(".key") for one in folder.iterdir())
    migrate(server, tmp_path / "back.db")
    assert everything(tmp_path / "back.db") == before


def test_the_source_ends_with_the_place_it_was_moved_to_and_grants_nothing_any_more(source, tmp_path):
    copy = source.read_bytes()
    migrate(source, tmp_path / "new.db")
    with open_ledger(source) as old:
        *_, last = old.entries()
        assert last.destination == str(tmp_path / "new.db")
        assert old.answer("people", "k")["sections"]
        old.verify()
        for spend in (
            lambda: old.reserve("people", question="q", **release("0.1")),
            lambda: old.open_account(account("fresh", PureDP(9))),
            lambda: old.change_budget("people", PureDP(9), reason="r"),
        ):
            with pytest.raises(LedgerError, match=r"was moved to .*new.db; use the ledger there"):
                spend()
    source.write_bytes(copy)
    with pytest.raises(LedgerCorruptError, match="older than its checkpoint"):
        open_ledger(source)


def test_who_was_killed_before_the_source_was_ended_moves_it_again(source, tmp_path, monkeypatch):
    with monkeypatch.context() as killed:
        killed.setattr("sfumato.ledger.migration._end", lambda *_, **__: None)
        migrate(source, tmp_path / "new.db")
    migrate(source, tmp_path / "new.db")
    with open_ledger(source) as old, pytest.raises(LedgerError, match="was moved to"):
        old.reserve("people", question="q", **release("0.1"))
    with open_ledger(tmp_path / "new.db") as new:
        new.reserve("people", question="q", **release("0.1"))


def test_how_far_it_is_is_told(source, tmp_path):
    heard = []
    moved = migrate(source, tmp_path / "new.db", heard=heard.append)
    assert heard == [moved.length]


def test_a_place_with_a_ledger_in_it_is_refused_and_stays_as_it_is(source, tmp_path):
    migrate(source, tmp_path / "new.db")
    before = everything(tmp_path / "new.db")
    with pytest.raises(LedgerError, match="contains a ledger already"):
        migrate(source, tmp_path / "new.db")
    with pytest.raises(LedgerError, match="contains a ledger already"):
        migrate(source, source)
    assert everything(tmp_path / "new.db") == before


def test_the_key_of_another_ledger_is_refused_and_stays(source, tmp_path):
    (tmp_path / "new.db.key").write_text(f"{'0' * 64}\n", encoding="ascii")
    (tmp_path / "new.db.key").chmod(0o600)
    with pytest.raises(LedgerError, match="is the key of another ledger"):
        migrate(source, tmp_path / "new.db")
    assert files_of(tmp_path / "new.db") == ["new.db.key"]


def test_the_checkpoint_of_another_ledger_is_refused(source, tmp_path):
    with open_ledger(tmp_path / "other.db") as other:
        other.open_account(account())
        other.checkpoint()
    (tmp_path / "other.db.checkpoint").rename(tmp_path / "new.db.checkpoint")
    with pytest.raises(LedgerError, match="sealed with the key"):
        migrate(source, tmp_path / "new.db")


def test_of_a_source_that_was_changed_nothing_is_kept(source, tmp_path):
    with open_ledger(source) as ledger:
        ledger.checkpoint()
    without_triggers(source, "UPDATE record SET text = replace(text, '3/10', '1/10')")
    with pytest.raises(LedgerCorruptError):
        migrate(source, tmp_path / "new.db")
    with open_ledger(tmp_path / "new.db") as new:
        assert len(new) == 0


@pytest.mark.parametrize("harm", [lambda file: file.unlink(), lambda file: file.write_text("other", encoding="utf-8")])
def test_a_large_answer_that_is_gone_or_changed_is_refused(source, tmp_path, harm):
    (file,) = (tmp_path / "old.db.answers").iterdir()
    harm(file)
    with pytest.raises(LedgerError, match="the file of an answer"):
        migrate(source, tmp_path / "new.db")
    with open_ledger(tmp_path / "new.db") as new:
        assert len(new) == 0


def test_what_failed_half_way_is_tried_again(source, tmp_path, monkeypatch):
    def fail(*_):
        raise LedgerError("somewhere", "the power failed")

    with monkeypatch.context() as broken:
        broken.setattr("sfumato.ledger.migration._copied", fail)
        with pytest.raises(LedgerError, match="the power failed"):
            migrate(source, tmp_path / "new.db")
    before = everything(source)
    migrate(source, tmp_path / "new.db")
    assert everything(tmp_path / "new.db") == before


def test_pointers_that_were_lost_are_made_anew(source, tmp_path):
    without_triggers(source, "DELETE FROM pointer WHERE name LIKE 'answer%'")
    with pytest.raises(LedgerCorruptError, match="sfumato ledger migrate"):
        open_ledger(source)
    migrate(source, tmp_path / "new.db")
    with open_ledger(tmp_path / "new.db") as new:
        assert new.answer("people", "k")["sections"]


@pytest.mark.parametrize("place", ["memory:", "mysql://h/d", ""])
def test_a_place_that_does_not_last_is_refused(source, place):
    with pytest.raises(ParameterError, match="ledger"):
        migrate(source, place)


def test_a_source_that_does_not_exist_is_refused_and_nothing_is_made(tmp_path):
    with pytest.raises(LedgerError, match="does not exist"):
        migrate(tmp_path / "none.db", tmp_path / "new.db")
    assert files_of(tmp_path / "new.db") == []


# Ledgers of versions that sealed no batch, and other keys


@pytest.mark.parametrize("version", [1, 2])
def test_a_golden_ledger_of_an_older_version_opens_after_it_was_migrated_and_not_before(tmp_path, version):
    lines = (GOLDEN / f"ledger_v{version}.jsonl").read_text("ascii").splitlines()
    old = first_version(tmp_path / "old.db")
    write(old, *(Record(**json.loads(line)) for line in lines))
    old.close()
    with pytest.raises(LedgerCorruptError, match="has no seals"):
        open_ledger(tmp_path / "old.db")
    with pytest.raises(LedgerCorruptError, match="has no seals"):
        migrate(tmp_path / "old.db", tmp_path / "new.db")
    migrate(tmp_path / "old.db", tmp_path / "new.db", is_unsealed=True)
    with open_ledger(tmp_path / "new.db") as ledger:
        assert [record.text for record in ledger.records()] == [json.loads(line)["text"] for line in lines]
        if version == 2:  # a price of version 1 is none of today
            assert ledger.verify().length == len(lines)


def test_seals_are_not_left_out_where_there_are_some(source, tmp_path):
    with pytest.raises(LedgerError, match="leave --unsealed out"):
        migrate(source, tmp_path / "new.db", is_unsealed=True)


def test_a_ledger_whose_seals_were_removed_is_not_taken_for_an_old_one(tmp_path):
    old, location = first_version(tmp_path / "old.db"), tmp_path / "sealed.db"
    with open_ledger(location) as ledger:
        ledger.open_account(account("all", PureDP(2)))
        write(old, *ledger.records())
    old.close()
    (tmp_path / "old.db").replace(location)
    with pytest.raises(LedgerCorruptError, match="its checkpoint shows that it had seals"):
        migrate(location, tmp_path / "new.db", is_unsealed=True)
