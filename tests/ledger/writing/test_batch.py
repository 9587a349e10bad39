import pytest
from tests.ledger.stories import KEY, NOON, OTHER_KEY, account, committed, kept, replayed, reserved, state

from sfumato.errors import LedgerCorruptError, ParameterError
from sfumato.ledger.core.store import Chain
from sfumato.ledger.keeping.follower import Follower
from sfumato.ledger.keeping.seals import UNWRITTEN, answer_name, asked_name, first_name
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.ledger.writing.batch import PendingBatch


@pytest.fixture
def store():
    store = MemoryStore()
    kept(store, account(), reserved("old"), committed("old", key="old"))
    return store


@pytest.fixture
def pending(store):
    with store.transaction() as transaction:
        yield PendingBatch(Follower(KEY).caught_up(transaction), transaction, KEY, NOON)


def test_what_is_kept_counts_at_once_for_what_is_decided_next(pending):
    pending.keep(reserved("r", epsilon="0.4"))
    assert pending.replay.accounts["people"].spent(NOON)["epsilon"] * 2 == 1


def test_records_follow_the_chain_and_each_other(pending, store):
    pending.keep(reserved("r"))
    pending.keep(committed("r"))
    chain = Chain()
    for record in (*store.read(0), *pending.records):
        chain = chain.follow(record)
    assert chain == pending.replay.chain
    assert chain.length == 5


def test_an_entry_is_found_by_its_names_before_and_after_it_is_kept(store):
    asked = reserved("r", principal="ann", idempotency_key="one", body="b")
    kept(store, asked, committed("r"))
    for key, entry in (("old", committed("old", key="old")), ("k", committed("r"))):
        with store.transaction() as transaction:
            pending = PendingBatch(Follower(KEY).caught_up(transaction), transaction, KEY, NOON)
            assert pending.find(answer_name("people", key)) == pending.find(first_name("people", key)) == entry
            assert pending.find(asked_name("ann", "one")) == asked
            assert pending.find(asked_name("bob", "one")) is None


def test_within_a_turn_it_is_found_too(pending):
    pending.keep(reserved("r"))
    pending.keep(committed("r"))
    assert pending.find(answer_name("people", "k")) == committed("r")


def test_the_first_of_a_name_keeps_it(pending):
    for request, key in (("r", "k"), ("s", "k"), ("t", "old")):
        pending.keep(reserved(request))
        pending.keep(committed(request, key=key, answer=request))
    assert pending.find(answer_name("people", "k")).answer == "r"
    assert pending.find(answer_name("people", "old")).answer == 42
    assert [
        index_entry.name for index_entry in pending.batch(None, seal=pending.seal_after(UNWRITTEN)).index_entries
    ] == [
        answer_name("people", "k"),
        first_name("people", "k"),
    ]


@pytest.mark.parametrize(
    "entry",
    [account(), reserved("r", payer="nobody"), committed("never"), committed("old"), committed("new", answer=(1, 2))],
    ids=["opened twice", "unknown account", "never reserved", "committed twice", "no JSON"],
)
def test_what_cannot_follow_leaves_the_draft_as_it_was(pending, entry):
    pending.keep(reserved("new"))
    before, batch = state(pending.replay), pending.batch(None, seal=pending.seal_after(UNWRITTEN))
    with pytest.raises(ParameterError):
        pending.keep(entry)
    assert (state(pending.replay), pending.batch(None, seal=pending.seal_after(UNWRITTEN))) == (before, batch)


def test_what_was_decided_is_appended_with_a_snapshot_or_without(pending, store):
    pending.keep(reserved("r"))
    assert pending.batch("the state", seal=pending.seal_after(UNWRITTEN)).snapshot == "the state"
    assert pending.batch(None, seal=pending.seal_after(UNWRITTEN)).snapshot is None
    pending.transaction.append(pending.batch(None, seal=pending.seal_after(UNWRITTEN)))
    assert pending.transaction.read(3) == tuple(pending.records)
    assert len(store.read(0)) == 3  # not before the transaction is over


def test_the_replay_of_a_draft_is_that_of_its_entries(pending):
    pending.keep(reserved("r", epsilon="0.3"))
    assert state(pending.replay) == state(
        replayed(account(), reserved("old"), committed("old", key="old"), reserved("r", epsilon="0.3"))
    )


def test_a_pointer_of_another_key_is_not_followed(store):
    with store.transaction() as transaction:
        pending = PendingBatch(Follower(KEY).caught_up(transaction), transaction, OTHER_KEY, NOON)
        with pytest.raises(LedgerCorruptError, match="not written with the ledger's key"):
            pending.find(answer_name("people", "old"))
