import shutil
import sqlite3
from unittest.mock import patch

import pytest
from tests.streams.accounts import stream

from sfumato.errors import BudgetExceededError, LedgerTimeoutError, StateError, UnavailableError
from sfumato.ledger.core.entry import Abandoned, Committed, Renewed, Reserved
from sfumato.ledger.ledger import Ledger
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import PureDP
from sfumato.streams.keeping.state import DurableState, PassingState

EVENT, CHARGE = PureEvent(1), PureDP(1)


@pytest.fixture
def session(tmp_path):
    with stream(tmp_path, budget=PureDP(2)) as found:
        yield found


def opened(session, path, **options):
    facts = {"event": EVENT, "charge": CHARGE, "parameters": {"n": 1}}
    return DurableState(path, session.payer, **(facts | options))


def kinds(session, kind):
    return [entry for entry in session.payer.ledger.entries() if isinstance(entry, kind)]


def test_a_state_is_charged_once_and_goes_on_where_it_was(session, tmp_path):
    state = opened(session, tmp_path / "s")
    assert (state.content, list(state.rows()), str(session.spent)) == (b"", [], "ε 1")
    state.commit(b"one", b"first")
    state.commit(b"two")
    state.commit(b"three", b"third")
    state.close()
    again = opened(session, tmp_path / "s")
    assert (again.content, list(again.rows()), str(session.spent)) == (b"three", [b"first", b"third"], "ε 1")
    assert len(kinds(session, Reserved)) == 1
    session.payer.ledger.verify()


def test_a_refused_charge_leaves_a_file_that_can_be_charged_later(session, tmp_path):
    opened(session, tmp_path / "a").close()
    opened(session, tmp_path / "b").close()
    with pytest.raises(BudgetExceededError):
        opened(session, tmp_path / "c")
    session.payer.ledger.change_budget("visits", PureDP(3), reason="one more")
    opened(session, tmp_path / "c").close()
    assert str(session.spent) == "ε 3"


def test_an_old_copy_is_refused_whether_the_state_is_open_or_not(session, tmp_path):
    state = opened(session, tmp_path / "s")
    state.commit(b"one")
    state.close()
    shutil.copy(tmp_path / "s", tmp_path / "old")
    state = opened(session, tmp_path / "s")
    with pytest.raises(StateError, match="old copy"):
        opened(session, tmp_path / "old")
    state.commit(b"two")
    state.close()
    with pytest.raises(StateError, match="old copy"):
        opened(session, tmp_path / "old")
    assert opened(session, tmp_path / "s").content == b"two"


def test_a_file_from_before_its_charge_is_refused_once_another_copy_was_charged(session, tmp_path):
    with patch.object(Ledger, "reserve", side_effect=BudgetExceededError("1", "0")), pytest.raises(BudgetExceededError):
        opened(session, tmp_path / "s")
    shutil.copy(tmp_path / "s", tmp_path / "old")
    opened(session, tmp_path / "s").close()
    with pytest.raises(StateError, match="old copy"):
        opened(session, tmp_path / "old")
    assert len(kinds(session, Reserved)) == 1


def test_whoever_opened_a_copy_first_goes_on_and_the_other_is_refused(session, tmp_path):
    first = opened(session, tmp_path / "s")
    first.commit(b"one")
    first.close()
    shutil.copy(tmp_path / "s", tmp_path / "twin")
    first = opened(session, tmp_path / "s")
    with pytest.raises(StateError, match="old copy"):
        opened(session, tmp_path / "twin")
    first.commit(b"two")


def test_who_was_overtaken_by_a_copy_can_keep_nothing_more(session, tmp_path):
    first = opened(session, tmp_path / "s")
    first.commit(b"one")
    first.close()
    first = opened(session, tmp_path / "s")
    for name in ("s", "s-wal"):  # the lock is of one file: a copy while it is open has none
        if (tmp_path / name).exists():
            shutil.copy(tmp_path / name, tmp_path / name.replace("s", "twin", 1))
    second = opened(session, tmp_path / "twin")
    with pytest.raises(StateError, match="another process went on with it"):
        first.commit(b"two")
    with pytest.raises(StateError, match="open the stream again"):
        first.commit(b"two")
    second.commit(b"two by the other")


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE state SET content = x'00'", "UPDATE state SET number = number + 1", "UPDATE state SET owner = 'x'",
        "UPDATE state SET head = 'x'", """UPDATE header SET text = replace(text, '"n": 1', '"n": 2')""",
    ],
    ids=["content", "number", "owner", "head", "header"],
)  # fmt: skip
def test_a_state_that_somebody_changed_is_refused(session, tmp_path, edit):
    state = opened(session, tmp_path / "s")
    state.commit(b"one", b"row")
    state.close()
    connection = sqlite3.connect(tmp_path / "s")
    connection.execute(edit)
    connection.commit()
    connection.close()
    parameters = {"n": 2} if "header" in edit else {"n": 1}
    with pytest.raises(StateError):
        opened(session, tmp_path / "s", parameters=parameters)
    assert len(kinds(session, Reserved)) == 1


@pytest.mark.parametrize("edit", ["UPDATE log SET row = x'00'", "DELETE FROM log", "INSERT INTO log VALUES (9, x'01')"])
def test_a_log_that_somebody_changed_is_refused(session, tmp_path, edit):
    state = opened(session, tmp_path / "s")
    state.commit(b"one", b"row")
    state.close()
    connection = sqlite3.connect(tmp_path / "s")
    connection.execute(edit)
    connection.commit()
    connection.close()
    with pytest.raises(StateError, match="log is damaged or was changed"):
        list(opened(session, tmp_path / "s").rows())


def test_a_state_of_other_parameters_or_another_ledger_is_refused_and_charges_nothing(session, tmp_path):
    opened(session, tmp_path / "s").close()
    with pytest.raises(StateError, match="is of another stream"):
        opened(session, tmp_path / "s", parameters={"n": 2})
    other = tmp_path / "other"
    other.mkdir()
    with stream(other) as elsewhere, pytest.raises(StateError, match="is of another ledger"):
        opened(elsewhere, tmp_path / "s")
    assert str(session.spent) == "ε 1"
    with pytest.raises(StateError, match="does not exist"):
        opened(session, tmp_path / "mistyped", must_exist=True)
    assert str(session.spent) == "ε 1"


def test_what_was_written_before_the_ledger_failed_goes_on_when_it_is_opened_again(session, tmp_path):
    state = opened(session, tmp_path / "s")
    state.commit(b"one")
    with patch.object(Ledger, "renew", side_effect=LedgerTimeoutError("ledger", 30)), pytest.raises(LedgerTimeoutError):
        state.commit(b"two", b"row")
    with pytest.raises(StateError, match="open the stream again"):
        state.commit(b"three")
    state.close()
    again = opened(session, tmp_path / "s")
    assert (again.content, list(again.rows())) == (b"two", [b"row"])


def test_a_suspended_account_keeps_nothing_and_goes_on_once_it_is_resumed(session, tmp_path):
    state, other = (
        opened(session, tmp_path / "s"),
        PassingState(session.payer, event=EVENT, charge=CHARGE, parameters={}),
    )
    state.commit(b"one")
    other.suspend()
    for one in (state, other):
        with pytest.raises(UnavailableError):
            one.commit(b"two")
    session.payer.ledger.resume_account("visits", reason="the source was repaired")
    state.commit(b"two")
    state.close()
    assert opened(session, tmp_path / "s").content == b"two"


def test_a_finished_state_is_there_to_be_read_and_not_to_be_continued(session, tmp_path):
    state = opened(session, tmp_path / "s")
    state.commit(b"last", b"row")
    shutil.copy(tmp_path / "s", tmp_path / "old")
    state.finish({"n": 1})
    state.close()
    again = opened(session, tmp_path / "s")
    assert (again.is_finished, again.content, list(again.rows())) == (True, b"last", [b"row"])
    again.close()
    assert session.payer.ledger.pending("visits") == 0
    assert len(kinds(session, Committed)) == 1
    session.payer.ledger.verify()


def test_a_passing_state_is_charged_and_ends_with_a_note(session):
    state = PassingState(session.payer, event=EVENT, charge=CHARGE, parameters={"n": 1})
    state.commit(b"one", b"row")
    assert (state.content, list(state.rows()), str(session.spent)) == (b"one", [], "ε 1")
    state.close()
    state.close()
    assert len(kinds(session, Abandoned)) == 1
    assert str(session.spent) == "ε 1"


def test_each_commit_is_one_renewal_in_the_ledger_with_another_lease(session, tmp_path):
    state = opened(session, tmp_path / "s")
    for _ in range(3):
        state.commit(b"same")
    leases = [entry.lease for entry in kinds(session, Renewed)]
    assert len(leases) == len(set(leases)) == 4


def test_two_copies_that_were_opened_at_once_are_not_taken_for_one(session, tmp_path):
    """The copy that was refused is as far as the state that went on, and still another one."""
    opened(session, tmp_path / "s").close()
    shutil.copy(tmp_path / "s", tmp_path / "twin")
    refused = patch.object(Ledger, "renew", side_effect=LedgerTimeoutError("ledger", 30))
    with refused, pytest.raises(LedgerTimeoutError):
        opened(session, tmp_path / "twin")  # written, and the ledger did not hear of it
    opened(session, tmp_path / "s").close()
    with pytest.raises(StateError, match="old copy"):
        opened(session, tmp_path / "twin")
