"""What failed on rows suspends all accounts of the data, until the owner acknowledges it: one bit each time."""

from dataclasses import replace

import pytest
from tests.ledger.stories import KEY, HandClock, release

from sfumato.errors import LedgerError, ParameterError, ReservationError, UnavailableError
from sfumato.ledger.core.codec import decode_entry, encode_entry
from sfumato.ledger.core.entry import Abandoned, Opened, Resumed, Suspended
from sfumato.ledger.labels import label_of
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.reading.history import history
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE


def account(name, *parents):
    return Opened(
        account=name, budget=PureDP(1), neighboring_relation=ADD_OR_REMOVE_ONE, privacy_unit="person", parents=parents
    )


@pytest.fixture
def ledger():
    """A dataset with two analysts, and another dataset."""
    opened = Ledger(MemoryStore(), key=KEY, clock=HandClock())
    for one in (account("data"), account("data/ann", "data"), account("data/bob", "data"), account("other")):
        opened.open_account(one)
    return opened


def reserved(ledger, name):
    return ledger.reserve(name, **release("0.1"), question="q")


def test_nobody_who_asks_the_same_data_is_charged_or_answered_until_it_is_acknowledged(ledger):
    first, second = reserved(ledger, "data/ann"), reserved(ledger, "data/bob")
    ledger.commit(reserved(ledger, "data/bob"), key="before", answer=1)
    ledger.suspend_account(first)
    for name in ("data", "data/ann", "data/bob"):
        assert ledger.is_suspended(name)
        with pytest.raises(UnavailableError):
            reserved(ledger, name)
    with pytest.raises(UnavailableError):
        ledger.commit(second, key="k", answer=1)
    with pytest.raises(UnavailableError):
        ledger.share("data/ann", "before", **release("0.1"), own=lambda answer, _: answer)
    assert ledger.answer("data/bob", "before") == 1
    assert ledger.questions_left("data/ann", **release("0.1")) == 0
    assert not ledger.is_suspended("other")
    reserved(ledger, "other")
    assert ledger.resume_account("data/bob", reason="the column was repaired") == 1
    ledger.commit(second, key="k", answer=1)
    reserved(ledger, "data/ann")
    assert ledger.verify().length == len(ledger)


def test_each_acknowledgement_is_a_bit_that_the_label_shows(ledger):
    assert "outside" not in str(label_of(ledger, "data/ann"))
    for bits in (1, 2):
        ledger.suspend_account(reserved(ledger, "data/ann"))
        assert label_of(ledger, "data/bob").to_dict()["state"] == "suspended"
        assert ledger.resume_account("data", reason="repaired") == bits
    label = label_of(ledger, "data/bob")
    assert "outside of the guarantee: one bit for each acknowledged failure, 2 in all" in str(label)
    assert (label.to_dict()["state"], label.to_dict()["acknowledged_failures"]) == ("open", 2)
    assert ledger.acknowledged("other") == 0


def test_a_second_failure_of_questions_that_ran_at_once_is_the_same_one(ledger):
    first, second = reserved(ledger, "data/ann"), reserved(ledger, "data/bob")
    ledger.suspend_account(first)
    ledger.suspend_account(second)
    entries = list(ledger.entries())
    assert [type(entry) for entry in entries[-3:]] == [Abandoned, Suspended, Abandoned]
    assert entries[-2].account == "data"
    assert [row.kind for row in history(entries, account="data")][-1:] == ["suspended"]


def test_what_was_answered_or_never_reserved_suspends_nothing(ledger):
    reservation = reserved(ledger, "data/ann")
    ledger.commit(reservation, key="k", answer=1)
    with pytest.raises(ReservationError):
        ledger.suspend_account(reservation)
    assert not ledger.is_suspended("data")


def test_an_acknowledgement_has_a_reason_and_something_to_acknowledge(ledger):
    with pytest.raises(ParameterError, match="is not suspended"):
        ledger.resume_account("data", reason="just so")
    ledger.suspend_account(reserved(ledger, "data/ann"))
    with pytest.raises(ParameterError, match="reason"):
        ledger.resume_account("data", reason=" ")
    with pytest.raises(LedgerError, match="is not open"):
        ledger.resume_account("nobody", reason="r")
    assert ledger.is_suspended("data")


@pytest.mark.parametrize(
    "entries",
    [
        [Suspended(account="data/ann", request="r")], [Resumed(account="data", reason="r")],
        [Suspended(account="data", request="r")] * 2,
    ],
    ids=["not the root", "not suspended", "twice"],
)  # fmt: skip
def test_what_cannot_follow_is_refused(ledger, entries):
    replay, (*before, last) = ledger._caught_up(), entries
    for entry in before:
        replay.apply(replace(entry, at=replay.at))
    with pytest.raises(ParameterError, match="account"):
        replay.apply(replace(last, at=replay.at))


@pytest.mark.parametrize("entry", [Suspended(account="a", request="r", at=1), Resumed(account="a", reason="ok", at=1)])
def test_older_readers_say_that_they_are_too_old(entry):
    text = encode_entry(entry)
    assert text.endswith('"version":3}')
    assert decode_entry(text) == entry
    assert encode_entry(account("a")).endswith('"version":2}')


def test_another_process_that_opens_the_ledger_finds_it_suspended(tmp_path):
    from sfumato.ledger.locations import open_ledger

    with open_ledger(tmp_path / "ledger.db") as first:
        first.open_account(account("data"))
        first.suspend_account(reserved(first, "data"))
    with open_ledger(tmp_path / "ledger.db") as second, pytest.raises(UnavailableError):
        reserved(second, "data")
