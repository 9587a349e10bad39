from dataclasses import replace

import pytest
from tests.ledger.stories import (
    KEY,
    NOON,
    OTHER_KEY,
    HandClock,
    account,
    committed,
    gaussian,
    held,
    kept,
    of,
    release,
    replayed,
    reserved,
    rho,
    state,
    told,
    ward,
)

from sfumato.errors import LedgerCorruptError, ParameterError
from sfumato.ledger.core.entry import Abandoned, Closed, Rebudgeted, Shared, Suspended
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.reservations import Asked
from sfumato.ledger.core.windows import DAY, CalendarWindow, RollingWindow
from sfumato.ledger.keeping.follower import Follower, encode_snapshot
from sfumato.ledger.keeping.seals import answer_name, asked_name, request_name
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.reading.verification import StrictReplay, audited, verified
from sfumato.ledger.rotation import rewritten
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.privacy.budgets import ZCDP, RenyiDP
from sfumato.privacy.events import DiscreteLaplaceEvent, GaussianEvent, NonPrivateEvent, PoissonSampledEvent
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, PureDP
from sfumato.privacy.neighbors import REPLACE_ONE

THREE = account("dataset"), account("ann", parents=("dataset",)), account("bob", parents=("dataset",))
NOISE = gaussian(GaussianEvent(10), "0.6", "1e-6")


def check(store):
    return Ledger(store, key=KEY, clock=HandClock()).verify()


def followed(store):
    """The replay of a store and its seal, as whoever has it open knows them."""
    follower = Follower(KEY)
    return follower.caught_up(store), follower.seal


def busy(clock, store):
    """A ledger in which everything was done."""
    ledger = Ledger(store, key=KEY, clock=clock)
    ledger.open_account(account("dataset", ZCDP(1, "1e-5")), tables=[held("dataset", "f")])
    ledger.open_account(account("team", ApproxDP(3, "1e-5"), parents=("dataset",), window=CalendarWindow("month")))
    for name in ("dataset/ann", "dataset/bob"):
        ledger.open_account(account(name, PureDP(1), parents=("team",), window=RollingWindow(2)))
    for number in range(3):
        asked = Asked(principal="ann", idempotency_key=str(number), body="b")
        ledger.commit(
            ledger.reserve("dataset/ann", **release(), question="q", asked=asked), key=f"{number}", answer=number
        )
        assert ledger.share("dataset/bob", f"{number}", **release(), own=lambda answer, _: answer) is not None
        ledger.reserve("dataset/ann", **release("0.2"), question="q", part=ward("AB"[number % 2]))
        clock.at += DAY
    ledger.abandon(ledger.reserve("team", **NOISE, question="q"), reason="the engine failed")
    ledger.change_budget("team", ApproxDP(4, "1e-5"), reason="r")
    ledger.close_account("dataset/bob", reason="r")
    return ledger


def test_an_honest_ledger_verifies_and_says_how_far_it_is():
    store = MemoryStore()
    chain = busy(HandClock(), store).verify()
    assert (chain.length, chain.head) == (len(store.read(0)), store.read(0)[-1].hash)


@pytest.mark.parametrize("days", [0, 1, 5, 40])
def test_it_does_so_whenever_its_windows_were_looked_at(days):
    clock, store = HandClock(), MemoryStore()
    ledger = busy(clock, store)
    clock.at += days * DAY
    ledger.spent("dataset/ann")
    assert ledger.verify().length == len(store.read(0))
    assert check(store).length == len(store.read(0))


class Busy(MemoryStore):
    """A store to which somebody appends while it is read from the start."""

    meanwhile = None

    def read(self, start, *, limit=None):
        found = super().read(start, limit=limit)
        if start == 0 and self.meanwhile is not None:
            self.meanwhile, act = None, self.meanwhile
            act()
        return found


def test_it_does_so_while_others_append():
    store = Busy()
    ledger, other = busy(HandClock(), store), Ledger(store, key=KEY, clock=HandClock())
    length = len(store.read(0))
    store.meanwhile = lambda: other.reserve("dataset/ann", **release(0), question="q")
    assert ledger.verify().length == length
    assert ledger.verify().length == length + 1


FAILED = (Abandoned(account="people", request="r", reason="r"), Suspended(account="people", request="r"))
FAILED_BELOW = (Abandoned(account="ann", request="r", reason="r"), Suspended(account="dataset", request="r"))
FORGED = {
    "past the budget": (*THREE, reserved("r", "ann", "0.7"), reserved("s", "ann", "0.4")),
    "past that of an account above": (*THREE, reserved("r", "ann", "0.7"), reserved("s", "bob", "0.4")),
    "below the price": (
        account(), reserved(event=DiscreteLaplaceEvent(5, 1), charge=PureDP("0.19")),
    ),
    "an exact answer": (account(budget=NO_GUARANTEE), reserved(event=NonPrivateEvent(), charge=PureDP(5))),
    "a delta of a pure account": (account(), reserved(**NOISE)),
    "below the price in ρ": (
        account(budget=ZCDP(1)), reserved(**NOISE, prices=rho("people", "0.004")),
    ),
    "past a budget in ρ": (account(budget=ZCDP("0.004")), reserved(**NOISE, prices=rho("people", "0.005"))),
    "of a closed account": (account(), Closed(account="people", reason="r"), reserved()),
    "below a closed account": (*THREE, Closed(account="dataset", reason="r"), reserved("r", "ann")),
    "of a suspended account": (account(), reserved(), *FAILED, reserved("s")),
    "below a suspended account": (*THREE, reserved("r", "ann"), *FAILED_BELOW, reserved("s", "bob")),
    "an answer of a suspended account": (account(), reserved(), reserved("s"), *FAILED, committed("s")),
    "after the budget was lowered": (
        account(), reserved(), Rebudgeted(account="people", budget=PureDP("0.1"), reason="r"), reserved("s"),
    ),
    "shared past the budget": (
        *THREE[:2], account("bob", PureDP("0.1"), parents=("dataset",)), reserved("r", "ann", "0.2"),
        committed("r", "ann"), Shared(account="bob", source="ann", request="s", **release("0.2")),
    ),
    "shared by one who had no answer": (
        *THREE, reserved("r", "ann"), Shared(account="bob", source="ann", request="s", **release()),
        committed("s", "bob"),
    ),
    "shared at another price": (
        *THREE, reserved("r", "ann", "0.3"), committed("r", "ann"),
        Shared(account="bob", source="ann", request="s", **release()), committed("s", "bob"),
    ),
    "a request of before": (
        account(), reserved(), Abandoned(account="people", request="r", reason="r"), reserved(),
    ),
    "past a window": (
        account(window=RollingWindow(1)), reserved("r", epsilon="0.6", at=5), reserved("s", epsilon="0.5", at=DAY + 4),
    ),
    "in the last moment of a month": (
        account(window=CalendarWindow("month")), reserved("r", epsilon=1, at=NOON),
        reserved("s", at=NOON + 9 * DAY + DAY // 2 - 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("entries", FORGED.values(), ids=FORGED)
def test_a_charge_that_was_never_to_be_granted_is_found_and_named(entries):
    with pytest.raises(LedgerCorruptError) as caught:
        check(of(*entries))
    assert caught.value.index == len(entries) - 1


@pytest.mark.parametrize("entries", FORGED.values(), ids=FORGED)
def test_it_does_follow_for_whoever_trusts_the_entries(entries):
    assert replayed(*entries).chain.length == len(entries)


def test_without_a_price_in_its_own_measure_nobody_follows_it():
    with pytest.raises(ParameterError, match="must have a cost in the measure of this account"):
        of(account(budget=ZCDP(1)), reserved(**NOISE))


def test_an_entry_of_before_the_one_before_it_is_followed_by_nobody():
    with pytest.raises(ParameterError, match="must not be before"):
        of(account(at=NOON), reserved(at=NOON - 1))


def test_one_microsecond_later_it_is_in_the_next_window_and_right():
    rolling = (account(window=RollingWindow(1)), reserved("r", epsilon="0.6", at=5))
    assert check(of(*rolling, reserved("s", epsilon="0.5", at=DAY + 5))).length == 3


@pytest.mark.parametrize("prices", [rho("people", "0.005"), rho("people", "0.006")])
def test_a_price_above_that_of_the_event_is_no_forgery(prices):
    assert check(of(account(budget=ZCDP(1)), reserved(**NOISE, prices=prices))).length == 2


@pytest.mark.parametrize("budget", [NO_GUARANTEE, ZCDP(1), RenyiDP((2,), (1,))], ids=str)
def test_an_event_that_has_no_price_is_found(budget):
    event = PoissonSampledEvent("0.5", NonPrivateEvent())
    entries = (account(budget=budget), reserved(event=event, charge=PureDP(5), prices=rho("people", 0)))
    with pytest.raises(LedgerCorruptError):
        check(of(*entries))


def test_a_record_that_somebody_changed_is_found():
    store = MemoryStore()
    ledger = busy(HandClock(), store)
    record = store.read(5)[0]
    store._kept.records[5] = replace(record, text=record.text.replace('"1/10"', '"1/20"'))
    with pytest.raises(LedgerCorruptError) as caught:
        ledger.verify()
    assert caught.value.index == 5


NAMES = (answer_name("people", "k"), asked_name("ann", "one"), request_name("r"))


@pytest.fixture
def answered():
    asked = reserved(principal="ann", idempotency_key="one", body="b")
    return of(account(), asked, committed(), reserved("s"), committed("s", key="l"), with_snapshot=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_lost_pointer_is_found(answered, name):
    del answered._kept.index_entries[name]
    with pytest.raises(LedgerCorruptError, match="6 were sealed, 5 exist"):
        check(answered)
    with pytest.raises(LedgerCorruptError, match="its index entry is missing"):
        verified(answered, KEY, *followed(answered), NOON)


@pytest.mark.parametrize("name", NAMES)
def test_a_pointer_that_leads_elsewhere_is_found(answered, name):
    for index in range(5):
        index_entry = answered.find(name)
        if index == index_entry.index:
            continue
        answered._kept.index_entries[name] = replace(index_entry, index=index)
        with pytest.raises(LedgerCorruptError):
            check(answered)
        answered._kept.index_entries[name] = index_entry
    assert check(answered).length == 5


def test_pointers_of_another_key_are_found(answered):
    with pytest.raises(LedgerCorruptError, match="was not written with the ledger's key"):
        verified(answered, OTHER_KEY, *followed(answered), NOON)


def test_a_snapshot_that_forgot_a_charge_is_found(answered):
    replay = replayed(*(account(), reserved(epsilon=0, principal="ann", idempotency_key="one", body="b")))
    whole = kept(answered)
    replay.chain, replay.at = whole.chain, whole.at
    answered._kept.snapshot = encode_snapshot(replay, KEY)
    with pytest.raises(LedgerCorruptError, match="snapshot does not match its entries"):
        check(answered)


def test_whoever_waits_hears_how_far_it_is(answered):
    heard = []
    verified(answered, KEY, *followed(answered), NOON, heard.append)
    assert heard == [0]


# What whoever has no key can verify


def test_without_the_key_entries_and_decisions_are_verified(answered):
    heard = []
    assert audited(answered, heard.append).length == 5
    assert heard == [0]


@pytest.mark.parametrize("entries", FORGED.values(), ids=FORGED)
def test_without_the_key_a_charge_that_was_never_to_be_granted_is_found_too(entries):
    with pytest.raises(LedgerCorruptError) as caught:
        audited(of(*entries))
    assert caught.value.index == len(entries) - 1


# Sealed anew


def test_a_ledger_that_is_sealed_with_another_key_is_the_same_ledger(answered):
    index_entries = answered.index_entries(limit=100)
    with answered.transaction() as transaction:
        rewritten(transaction, Replay(), OTHER_KEY)
    assert [one.name for one in answered.index_entries(limit=100)] == [one.name for one in index_entries]
    with pytest.raises(LedgerCorruptError, match="sealed with the key"):
        check(answered)
    with Ledger(answered, key=OTHER_KEY) as ledger:
        assert ledger.answer("people", "k") is not None
        assert ledger.verify().length == 5


def test_of_several_answers_under_one_key_the_first_is_found():
    answers = [entry for number in range(3)
               for entry in (reserved(f"{number}"), committed(f"{number}", answer=number))]  # fmt: skip
    store = of(account(), *answers)
    with store.transaction() as transaction:
        rewritten(transaction, Replay(), KEY)
    with Ledger(store, key=KEY) as ledger:
        assert ledger.answer("people", "k") == 0
        assert ledger.verify().length == 7


# A strict replay, by itself


def test_what_was_rightly_granted_adds_up_as_it_does_for_those_who_trust():
    entries = (*THREE, reserved("r", "ann", "0.7"), committed("r", "ann"), reserved("s", "bob", "0.3"))
    strict, trusting = StrictReplay(), Replay()
    told(strict, *entries)
    told(trusting, *entries)
    assert state(strict) == state(trusting)


def test_the_neighboring_relation_of_the_account_is_that_of_the_price():
    double = account(neighboring_relation=REPLACE_ONE)
    charge = {"event": DiscreteLaplaceEvent(10, 1), "charge": PureDP("0.1")}
    assert check(of(account(), reserved(**charge))).length == 2
    assert check(of(double, reserved(**charge))).length == 2  # the event has its sensitivity in it
