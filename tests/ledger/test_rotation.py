"""Another key for a ledger: the entries stay, and what the old key sealed counts no more."""

import pytest
from tests.ledger import postgres_ledgers
from tests.ledger.stories import account, held, release
from tests.ledger.test_migration import everything, folder, source

from sfumato.errors import LedgerCorruptError, LedgerError, ParameterError
from sfumato.ledger.locations import open_ledger, place_of
from sfumato.ledger.migration import migrate
from sfumato.ledger.rotation import declare_all_spent, rotate_key
from sfumato.privacy.guarantees import PureDP

__all__ = ["folder", "source"]


@pytest.fixture(params=["file", "server"])
def anywhere(request, source):
    """The ledger in a file, or on a server."""
    if request.param == "file":
        return source
    location = postgres_ledgers.location()
    migrate(source, location)
    return location


def test_a_ledger_with_another_key_is_the_same_and_the_old_key_seals_nothing(anywhere):
    before = everything(anywhere)
    with open_ledger(anywhere) as running:
        old = running.key
        new = rotate_key(anywhere)
        with pytest.raises(LedgerCorruptError, match=new.name):
            running.spent("people")
    after = everything(anywhere)
    assert after[2] == new != old
    assert (after[:2], after[3:]) == (before[:2], before[3:])
    with open_ledger(anywhere) as ledger:
        ledger.open_account(account("others"), tables=[held("others", "mark")])
        assert ledger.path("others") == ("others", "all")
        assert ledger.answer("people", "k")["sections"]
    place_of(anywhere).key.write_text(f"{old.secret.hex()}\n", encoding="ascii")
    with pytest.raises(LedgerError, match="sealed with the key"):
        open_ledger(anywhere)


def test_a_rotation_that_was_killed_before_its_key_had_its_place_is_finished_by_who_opens_it(source, monkeypatch):
    with monkeypatch.context() as killed:
        killed.setattr("sfumato.ledger.locations._settle", lambda *_: None)
        with pytest.raises(LedgerCorruptError, match="sealed with the key") as caught:
            rotate_key(source)
    assert everything(source)[2].name in str(caught.value)
    assert not (source.parent / "old.db.key.new").exists()


def test_a_lost_key_is_replaced_by_closing_all_accounts(anywhere):
    place_of(anywhere).key.unlink()
    with pytest.raises(LedgerCorruptError, match=r"its key .* is missing; restore it.*rotate-key --lost"):
        open_ledger(anywhere)
    with pytest.raises(ParameterError, match="reason"):
        declare_all_spent(anywhere, reason=" ")
    assert declare_all_spent(anywhere, reason="the disk failed") == ("all", "people")
    with open_ledger(anywhere) as ledger:
        ledger.verify()
        assert ledger.spent("people") == PureDP("0.4")
        with pytest.raises(LedgerError, match="was closed"):
            ledger.reserve("people", question="q", **release("0.1"))


def test_a_key_that_is_there_is_not_lost(source):
    with pytest.raises(LedgerError, match="exists; only a lost key"):
        declare_all_spent(source, reason="by mistake")
