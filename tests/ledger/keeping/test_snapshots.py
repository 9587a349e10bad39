import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ledger.stories import (
    KEY,
    NOON,
    OTHER_KEY,
    account,
    committed,
    gaussian,
    replayed,
    reserved,
    rho,
    state,
    told,
    ward,
)

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.errors import LedgerCorruptError
from sfumato.ledger.core.clock import DAY
from sfumato.ledger.core.entry import Abandoned, Closed, Protected, Rebudgeted, Recognized, Resumed, Shared, Suspended
from sfumato.ledger.core.replay import Replay
from sfumato.ledger.core.windows import CalendarWindow, RollingWindow
from sfumato.ledger.keeping.snapshots import decode_snapshot, encode_snapshot
from sfumato.privacy.budgets import ZCDP
from sfumato.privacy.events import GaussianEvent, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP

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
        decode_snapshot(f"{KEY.seal('pointer', text)} {text}", KEY)


def test_a_snapshot_of_another_version_is_none():
    text = '{"version":1,"anything":1}'
    assert decode_snapshot(f"{KEY.seal('snapshot', text)} {text}", KEY) is None


def test_a_state_of_nothing_spent_is_not_one_of_something():
    assert state(replayed(account())) != state(replayed(account(), reserved("r")))
    assert Amounts() == replayed(account()).accounts["people"].spent(0)
