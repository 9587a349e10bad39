import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ledger.store_contract import append
from tests.ledger.stories import (
    KEY,
    NOON,
    OTHER_KEY,
    account,
    committed,
    gaussian,
    kept,
    replayed,
    reserved,
    rho,
    state,
    told,
    ward,
)

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.errors import LedgerCorruptError
from sfumato.ledger.core.codec import encode_entry
from sfumato.ledger.core.entry import Abandoned, Closed, Protected, Rebudgeted, Recognized, Resumed, Shared, Suspended
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.store import Chain, StoreBatch
from sfumato.ledger.core.windows import DAY, CalendarWindow, RollingWindow
from sfumato.ledger.keeping import follower as module
from sfumato.ledger.keeping.follower import VERSION, Follower, decode_snapshot, encode_snapshot, follow
from sfumato.ledger.keeping.seals import IndexDigest, Seal, encode_seal
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.events import GaussianEvent, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP

FIRST = (account(), reserved("r"), committed("r"), reserved("s", epsilon="0.2"))
LATER = (reserved("t", epsilon="0.3"), committed("s", key="other"))


class Counted(MemoryStore):
    """A store that notes from where it was read."""

    def __init__(self):
        super().__init__()
        self.starts = []

    def read(self, start, *, limit=None):
        self.starts.append(start)
        return super().read(start, limit=limit)


@pytest.fixture
def store():
    store = Counted()
    kept(store, *FIRST, with_snapshot=True)
    kept(store, *LATER)
    store.starts.clear()
    return store


def test_a_snapshot_and_what_came_after_it_are_the_whole_replay(store):
    follower = Follower(KEY)
    assert state(follower.caught_up(store)) == state(replayed(*FIRST, *LATER))
    assert follower.snapshot_length == len(FIRST)
    assert min(store.starts) == len(FIRST) - 1  # nothing before the last record of the snapshot


def test_what_others_append_is_seen_with_the_next_question(store):
    follower = Follower(KEY)
    follower.caught_up(store)
    kept(store, reserved("u", epsilon="0.4"))
    assert state(follower.caught_up(store)) == state(replayed(*FIRST, *LATER, reserved("u", epsilon="0.4")))


@pytest.mark.parametrize(("old", "new"), [('"3/10"', '"0"'), ('"closed":false', '"closed":true'), ("}", "} ")])
def test_a_snapshot_that_somebody_changed_is_refused(store, old, new):
    text = store.snapshot()
    store._kept.snapshot = text.replace(old, new)
    assert store.snapshot() != text
    with pytest.raises(LedgerCorruptError, match="snapshot"):
        Follower(KEY).caught_up(store)


def test_a_snapshot_of_another_key_is_refused(store):
    store._kept.snapshot = encode_snapshot(replayed(*FIRST), OTHER_KEY)
    with pytest.raises(LedgerCorruptError, match="another key"):
        Follower(KEY).caught_up(store)


def test_a_snapshot_of_another_version_is_ignored(store):
    text = store.snapshot().partition(" ")[2].replace(f'"version":{VERSION}}}', '"version":99}')
    assert json.loads(text)["version"] == 99
    store._kept.snapshot = f"{KEY.seal('snapshot', text)} {text}"
    follower = Follower(KEY)
    assert state(follower.caught_up(store)) == state(replayed(*FIRST, *LATER))
    assert follower.snapshot_length == 0


def test_an_older_snapshot_is_as_good(store):
    store._kept.snapshot = encode_snapshot(replayed(*FIRST[:2]), KEY)
    assert state(Follower(KEY).caught_up(store)) == state(replayed(*FIRST, *LATER))


def test_without_a_snapshot_nothing_is_believed(store):
    store._kept.snapshot = None
    with pytest.raises(LedgerCorruptError, match="the snapshot of what was spent is missing"):
        Follower(KEY).caught_up(store)


def test_a_record_that_no_seal_covers_is_not_followed(store):
    chain = Follower(KEY).caught_up(store).chain
    append(store, StoreBatch(records=(chain.link(encode_entry(reserved("u"))),)))
    with pytest.raises(LedgerCorruptError, match="no seal covers it") as caught:
        Follower(KEY).caught_up(store)
    assert caught.value.index == chain.length


def test_records_without_any_seal_are_not_followed(store):
    store._kept.seal = None
    with pytest.raises(LedgerCorruptError, match="no seal covers the entries"):
        Follower(KEY).caught_up(store)


@pytest.mark.parametrize(
    "entries",
    [(*FIRST[:3], reserved("other")), (*FIRST, *LATER, reserved("u"))],
    ids=["of another chain", "of more than there is"],
)
def test_a_snapshot_that_is_not_of_these_records_is_refused(store, entries):
    store._kept.snapshot = encode_snapshot(replayed(*entries), KEY)
    with pytest.raises(LedgerCorruptError, match="is missing, or was changed"):
        Follower(KEY).caught_up(store)


@pytest.mark.parametrize("index", [len(FIRST) - 1, len(FIRST), len(FIRST) + 1])
def test_a_record_that_was_put_there_is_refused(store, index):
    record = store._kept.records[index]
    store._kept.records[index] = Chain(length=index, head="f" * 64).link(record.text)
    with pytest.raises(LedgerCorruptError):
        Follower(KEY).caught_up(store)


def test_a_record_that_no_ledger_writes_is_refused(store):
    chain = Follower(KEY).caught_up(store).chain
    record = chain.link(encode_entry(committed("never")))
    seal = encode_seal(Seal(chain=chain.follow(record), index=IndexDigest()), KEY)
    append(store, StoreBatch(records=(record,), seal=seal))
    with pytest.raises(LedgerCorruptError, match="cannot follow"):
        Follower(KEY).caught_up(store)


@pytest.mark.parametrize("forgets", [False, True])
def test_a_store_that_lost_its_end_is_refused_every_time(store, forgets):
    follower = Follower(KEY)
    follower.caught_up(store)
    del store._kept.records[-1:]
    for _ in range(3):
        with pytest.raises(LedgerCorruptError, match=r"and is missing"):
            follower.caught_up(store)
        if forgets:
            follower.forget()


def test_a_store_whose_end_was_replaced_is_refused(store):
    follower = Follower(KEY)
    kept(store, reserved("t2"))
    earlier = store.end().seal
    kept(store, reserved("t3"))
    follower.caught_up(store)
    del store._kept.records[-1:]
    store._kept.seal = earlier
    kept(store, reserved("u"), reserved("v"))
    with pytest.raises(LedgerCorruptError, match="is missing, or was changed"):
        follower.caught_up(store)


def test_a_replay_that_was_interrupted_is_dropped(store, monkeypatch):
    follower, apply, calls = Follower(KEY), Replay.apply, []

    def interrupted(replay, entry):
        apply(replay, entry)
        calls.append(entry)
        if len(calls) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(Replay, "apply", interrupted)
    with pytest.raises(KeyboardInterrupt):
        follower.caught_up(store)
    assert follower.replay is None
    assert state(follower.caught_up(store)) == state(replayed(*FIRST, *LATER))


def test_a_replay_that_was_given_up_is_made_anew(store):
    follower = Follower(KEY)
    first = follower.caught_up(store)
    assert follower.replay is first is follower.caught_up(store)
    follower.forget()
    assert follower.replay is None
    assert follower.caught_up(store) is not first


@pytest.mark.parametrize("page", [2, 3, 6, 7])
def test_records_are_followed_page_by_page(store, monkeypatch, page):
    monkeypatch.setattr(module, "PAGE", page)
    replay, seen = Replay(), []
    follow(store, replay, lambda record, entry: seen.append((record.index, type(entry).__name__)))
    assert state(replay) == state(replayed(*FIRST, *LATER))
    assert [index for index, _ in seen] == list(range(len(FIRST + LATER)))
    assert seen[0] == (0, "Opened")


def test_an_empty_store_has_no_accounts():
    assert Follower(KEY).caught_up(MemoryStore()).accounts == {}


def test_a_ledger_that_somebody_began_with_another_key_meanwhile_is_refused_every_time():
    store, follower = MemoryStore(), Follower(OTHER_KEY)
    follower.caught_up(store)
    kept(store, *FIRST, with_snapshot=True)
    for _ in range(2):
        with pytest.raises(LedgerCorruptError, match="sealed with the key"):
            follower.caught_up(store)
    assert Follower(KEY).caught_up(store).chain.length == len(FIRST)


NAMES = ("dataset", "team", "ann", "bob")
TREE = (
    account("dataset", ZCDP(5, "1e-5")),
    account("team", ApproxDP(4, "1e-5"), parents=("dataset",)),
    account("ann", ApproxDP(2, "1e-5"), parents=("team",), window=RollingWindow(2)),
    account("bob", PureDP(3), parents=("dataset",), window=CalendarWindow("month")),
)
REQUESTS = st.sampled_from("rstuv")
PAYERS = st.sampled_from(NAMES)
PARTS = st.none() | st.builds(ward, st.sampled_from("AB"))
CHARGES = st.sampled_from([
    {"event": PureEvent("0.3"), "charge": PureDP("0.3"), "prices": rho("dataset", "0.045")},
    gaussian(GaussianEvent(3), "0.7", "1e-7") | {"prices": rho("dataset", "0.0555", "1e-9")},
])  # fmt: skip
ENTRIES = st.one_of(
    st.builds(
        lambda request, payer, charge, part, key: reserved(request, payer, part=part, idempotency_key=key, **charge),
        REQUESTS, PAYERS, CHARGES, PARTS, st.sampled_from(["", "one"]),
    ),
    st.builds(committed, REQUESTS, PAYERS),
    st.builds(lambda request, payer: Abandoned(account=payer, request=request, reason="r"), REQUESTS, PAYERS),
    st.builds(lambda payer: Closed(account=payer, reason="r"), PAYERS),
    st.builds(lambda payer: Suspended(account=payer, request="r"), PAYERS),
    st.builds(lambda payer: Resumed(account=payer, reason="r"), PAYERS),
    st.builds(lambda payer: Recognized(account=payer, fingerprints=("f", payer)), PAYERS),
    st.builds(
        lambda payer, unit, seal, beside: Protected(
            account=payer, table="people", unit=unit, sources=(seal,), fingerprints=("f",), beside=beside
        ),
        PAYERS, st.sampled_from(["pid (text)", "each row"]), st.sampled_from("xy"), st.sampled_from([(), ("bob",)]),
    ),
    st.builds(
        lambda payer, source, request, charge: Shared(
            account=payer, source=source, request=request, **charge
        ),
        PAYERS, PAYERS, REQUESTS, CHARGES,
    ),
    st.just(Rebudgeted(account="dataset", budget=ZCDP(2), reason="r")),
)  # fmt: skip
PROGRAMS = st.lists(st.tuples(ENTRIES, st.sampled_from([0, 1, DAY, 20 * DAY])), max_size=15)


def played(program):
    """The replay of what can follow of a random program, and whose windows were looked at or not."""
    replay, at = replayed(*TREE), NOON
    for entry, passed in program:
        at += passed
        moved = type(entry)(**{name: getattr(entry, name) for name in entry.__slots__} | {"at": at})
        try:
            told(replay, moved)
        except LedgerCorruptError:
            replay.accounts["ann"].spent(at)
    return replay, at


@given(PROGRAMS)
def test_a_replay_comes_back_as_it_was(program):
    replay, at = played(program)
    again = decode_snapshot(encode_snapshot(replay, KEY), KEY)
    assert state(again) == state(replay)
    assert (again.chain, again.units, again.lineage) == (replay.chain, replay.units, replay.lineage)
    for name in NAMES:
        one, other = replay.state(name), again.state(name)
        assert (one.opened, one.budget, one.path, one.is_closed, one.tables, one.beside) == (
            other.opened, other.budget, other.path, other.is_closed, other.tables, other.beside,
        )  # fmt: skip
        assert left(one.lifetime.total()) == left(other.lifetime.total())
        for later in (at, at + DAY, at + 40 * DAY):
            assert left(one.spent(later)) == left(other.spent(later))


@given(PROGRAMS, ENTRIES)
def test_from_a_snapshot_on_it_goes_on_as_if_there_were_none(program, entry):
    replay, _ = played(program)
    again = decode_snapshot(encode_snapshot(replay, KEY), KEY)
    assert outcome(replay, entry) == outcome(again, entry)
    assert state(again) == state(replay)


def left(amounts):
    """Amounts without those of nothing."""
    return {name: number for name, number in amounts.numbers if number}


def outcome(replay, entry):
    later = type(entry)(**{name: getattr(entry, name) for name in entry.__slots__} | {"at": replay.at + 1})
    try:
        told(replay, later)
    except LedgerCorruptError as error:
        return str(error)
    return None


def test_a_new_ledger_has_a_snapshot_too():
    assert state(decode_snapshot(encode_snapshot(Replay(), KEY), KEY)) == state(Replay())


def test_the_text_is_canonical_and_a_seal_is_before_it():
    seal, _, text = encode_snapshot(replayed(*TREE), KEY).partition(" ")
    assert KEY.verifies(seal, "snapshot", text)
    assert text.isascii()
    assert json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) == text


def test_a_snapshot_says_of_which_chain_it_is_the_state():
    replay = replayed(account(), reserved("r"))
    document = json.loads(encode_snapshot(replay, KEY).partition(" ")[2])
    assert (document["length"], document["head"]) == (2, replay.chain.head)


@pytest.mark.parametrize("other", ["", " ", "{}", "0" * 64, "0" * 64 + " {}"])
def test_what_nobody_sealed_is_refused(other):
    with pytest.raises(LedgerCorruptError, match="sealed by another key"):
        decode_snapshot(other, KEY)


def test_what_another_key_sealed_is_refused():
    with pytest.raises(LedgerCorruptError, match="sealed by another key"):
        decode_snapshot(encode_snapshot(replayed(*TREE), OTHER_KEY), KEY)


def test_a_seal_of_the_same_text_for_something_else_is_none():
    text = encode_snapshot(replayed(*TREE), KEY).partition(" ")[2]
    with pytest.raises(LedgerCorruptError):
        decode_snapshot(f"{KEY.seal('index_entry', text)} {text}", KEY)


def test_a_snapshot_of_another_version_is_none():
    text = '{"version":1,"anything":1}'
    assert decode_snapshot(f"{KEY.seal('snapshot', text)} {text}", KEY) is None


def test_a_state_of_nothing_spent_is_not_one_of_something():
    assert state(replayed(account())) != state(replayed(account(), reserved("r")))
    assert Amounts() == replayed(account()).accounts["people"].spent(0)


class Busy(MemoryStore):
    """A store to which somebody else writes as soon as its end was read."""

    def end(self):
        found = super().end()
        if not found.chain.length:
            kept(self, *FIRST, with_snapshot=True)
        return found


def test_the_first_entries_may_come_while_a_ledger_is_opened():
    store = Busy()
    assert Follower(KEY).caught_up(store).chain == store.end().chain
