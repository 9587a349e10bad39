"""What is read of a ledger: from the store as it stands, and only what was written with its key."""

import pytest
from tests.ledger.accounts import KEY, people, reserve

from sfumato.errors import LedgerCorruptError, LedgerError, ReservationError
from sfumato.ledger.core.reservations import Asked
from sfumato.ledger.keeping.key import fresh_key
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import NO_GUARANTEE, PureDP


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def ledger(store):
    found = Ledger(store, key=KEY)
    found.open_account(people())
    return found


def under(key, body, principal="ann"):
    return Asked(principal=principal, idempotency_key=key, body=body)


def asked(ledger, question="q", body="b"):
    return ledger.reserve(
        "people", event=PureEvent("0.1"), charge=PureDP("0.1"), question=question, asked=under("once", body)
    )


def test_an_answer_is_found_by_its_account_and_key(ledger):
    ledger.commit(reserve(ledger), key="k", answer={"n": 1})
    assert ledger.answer("people", "k") == {"n": 1}
    assert ledger.answer("people", "other") is None
    assert ledger.answer("others", "k") is None


def test_an_answer_is_not_believed_without_the_key_that_sealed_it(ledger, store):
    ledger.commit(reserve(ledger), key="k", answer=1)
    with pytest.raises(LedgerCorruptError):
        Ledger(store, key=fresh_key())


def test_what_was_asked_under_a_key_is_found_with_the_same_body_only(ledger):
    reservation = asked(ledger)
    assert ledger.asked_before(under("once", "b")).request == reservation.request
    assert ledger.asked_before(under("once", "b", "bob")) is None
    assert ledger.asked_before(under("", "b")) is None
    with pytest.raises(ReservationError, match="another query"):
        ledger.asked_before(under("once", "c"))


def test_the_answer_to_a_reservation_under_a_key_is_found_by_it(ledger):
    reservation = asked(ledger)
    assert ledger.answer_of(reservation) is None
    ledger.commit(reservation, key="k", answer=[1])
    assert ledger.answer_of(reservation) == [1]


def test_entries_are_read_from_where_one_is_told(ledger):
    reserve(ledger)
    reserve(ledger)
    assert [entry.at for entry in ledger.entries(1)] == [entry.at for entry in ledger.entries()][1:]
    assert len(ledger) == len(tuple(ledger.entries())) == 3


def test_reservations_without_an_answer_are_counted(ledger):
    ledger.commit(reserve(ledger), key="k", answer=1)
    reserve(ledger)
    assert ledger.pending("people") == 1


def test_questions_that_are_left_are_counted_to_the_edge(ledger):
    cost = {"event": PureEvent("0.3"), "charge": PureDP("0.3")}
    assert ledger.questions_left("people", **cost) == 3
    reserve(ledger, "0.1")
    assert ledger.questions_left("people", **cost) == 3
    reserve(ledger, "0.1")
    assert ledger.questions_left("people", **cost) == 2
    assert ledger.questions_left("people", event=PureEvent(0), charge=PureDP(0)) is None


def test_nothing_limits_the_questions_of_an_account_without_a_promise(store):
    ledger = Ledger(store, key=KEY)
    ledger.open_account(people(NO_GUARANTEE))
    assert ledger.questions_left("people", event=PureEvent(1), charge=PureDP(1)) is None


def test_a_closed_account_has_no_question_left(ledger):
    ledger.close_account("people", reason="done")
    assert ledger.is_closed("people")
    assert ledger.questions_left("people", event=PureEvent(1), charge=PureDP(1)) == 0


def test_time_never_goes_back_for_who_reads(store):
    times = iter([5, 3, 9])
    ledger = Ledger(store, key=KEY, clock=lambda: next(times))
    assert [ledger.now() for _ in range(3)] == [5, 5, 9]


def test_an_unknown_account_is_an_error(ledger):
    with pytest.raises(LedgerError, match="not open"):
        ledger.is_closed("nobody")


def test_what_was_charged_for_an_open_reservation_is_found_however_far_back(ledger):
    first = asked(ledger, question="first")
    assert ledger.charged(first.request).question == "first"
    for _ in range(150):
        ledger.commit(reserve(ledger, "0.001"), key="k", answer=1)
    found = ledger.charged(first.request)
    assert (found.account, found.question, found.event, found.charge, found.body) == (
        "people", "first", PureEvent("0.1"), PureDP("0.1"), "b",
    )  # fmt: skip


def test_nothing_is_charged_for_what_was_never_reserved_or_has_ended(ledger):
    answered, abandoned = asked(ledger), reserve(ledger)
    ledger.commit(answered, key="k", answer=1)
    ledger.abandon(abandoned, reason="a test")
    assert [ledger.charged(one) for one in (answered.request, abandoned.request, "f" * 32, "")] == [None] * 4
