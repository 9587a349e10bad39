from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ledger.stories import KEY, OTHER_KEY, account, committed, kept, release, replayed, reserved

from sfumato.errors import LedgerCorruptError
from sfumato.ledger.core.codec import encode_entry
from sfumato.ledger.core.entry import Abandoned, Closed, Rebudgeted, Recognized, Shared
from sfumato.ledger.core.store import Chain, IndexEntry, StoreEnd
from sfumato.ledger.keeping.seals import (
    UNWRITTEN,
    IndexDigest,
    Seal,
    answer_name,
    asked_name,
    encode_seal,
    entry_at,
    first_name,
    index_entry_to,
    names_of,
    request_name,
    seal_of,
    sealed_by,
)
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.privacy.guarantees import PureDP

INDEX_ENTRIES = tuple(IndexEntry(name=f"name {number}", index=number, seal=f"{number}") for number in range(5))
SEAL = Seal(chain=Chain(length=3, head="a" * 64), index=IndexDigest().plus(INDEX_ENTRIES), checkpoint="beside")
END = StoreEnd(chain=SEAL.chain, seal=encode_seal(SEAL, KEY))


def test_a_seal_comes_back():
    assert seal_of(END, KEY) == SEAL
    assert sealed_by(END) == KEY.name


def test_where_nothing_was_kept_nothing_is_sealed():
    assert seal_of(StoreEnd(chain=Chain(), seal=None), KEY) == UNWRITTEN


@pytest.mark.parametrize(
    ("chain", "index", "said"),
    [
        (Chain(), 0, "is missing"),
        (Chain(length=2, head="b" * 64), 2, "is missing"),
        (Chain(length=3, head="b" * 64), 2, "differs from the one that was sealed"),
        (Chain(length=4, head="a" * 64), 3, "no seal covers it"),
    ],
)
def test_another_end_is_not_covered_and_the_first_entry_that_is_wrong_is_named(chain, index, said):
    with pytest.raises(LedgerCorruptError, match=said) as caught:
        seal_of(replace(END, chain=chain), KEY)
    assert caught.value.index == index


@pytest.mark.parametrize("at", range(0, len(END.seal), 7))
def test_a_flipped_bit_is_noticed(at):
    seal = f"{END.seal[:at]}{chr(ord(END.seal[at]) ^ 1)}{END.seal[at + 1 :]}"
    with pytest.raises(LedgerCorruptError, match="seal"):
        seal_of(replace(END, seal=seal), KEY)


@pytest.mark.parametrize("seal", ["", " ", "x", "x []", "x {}", "x " + "[" * 100_000])
def test_what_is_no_seal_is_damage(seal):
    with pytest.raises(LedgerCorruptError, match="is damaged"):
        seal_of(replace(END, seal=seal), KEY)


def test_another_key_is_told_by_name():
    with pytest.raises(LedgerCorruptError, match=f"{KEY.name}, and the key beside the ledger is {OTHER_KEY.name}"):
        seal_of(END, OTHER_KEY)


@pytest.mark.parametrize("change", [{"name": "x"}, {"index": 9}, {"seal": "x"}])
def test_an_index_notices_every_change_of_a_pointer_and_not_their_order(change):
    assert IndexDigest().plus(INDEX_ENTRIES[::-1]) == SEAL.index
    assert IndexDigest().plus(INDEX_ENTRIES[1:]) != SEAL.index
    assert IndexDigest().plus((replace(INDEX_ENTRIES[0], **change), *INDEX_ENTRIES[1:])) != SEAL.index


ASKED = reserved("r", principal="ann", idempotency_key="one", body="b")
WORDS = st.text('a", []', max_size=4)
CALLS = st.tuples(st.sampled_from([answer_name, first_name, asked_name]), WORDS, WORDS)


@pytest.fixture
def store():
    store = MemoryStore()
    kept(store, account(), ASKED, committed("r"), reserved("s"), committed("s", key="other", answer=7))
    return store


def rewritten(store, index, text):
    """Put another text into a record, with the hash that it would have had there."""
    record = store.read(index, limit=1)[0]
    store._kept.records[index] = Chain(length=index, head=record.previous).link(text)


def test_a_pointer_leads_to_what_was_written(store):
    assert entry_at(store, store.find(answer_name("people", "k")), KEY) == committed("r")
    assert entry_at(store, store.find(request_name("r")), KEY) == committed("r")
    assert entry_at(store, store.find(asked_name("ann", "one")), KEY) == ASKED


def test_a_pointer_bent_to_another_record_is_refused(store):
    bent = replace(store.find(answer_name("people", "k")), index=4)
    with pytest.raises(LedgerCorruptError, match="not written with the ledger's key") as caught:
        entry_at(store, bent, KEY)
    assert caught.value.index == 4


def test_a_pointer_under_another_name_is_refused(store):
    with pytest.raises(LedgerCorruptError):
        entry_at(store, replace(store.find(answer_name("people", "k")), name=answer_name("people", "other")), KEY)


def test_a_pointer_of_another_key_is_refused(store):
    forged = index_entry_to(store.read(4)[0], answer_name("people", "k"), OTHER_KEY)
    with pytest.raises(LedgerCorruptError):
        entry_at(store, forged, KEY)


@pytest.mark.parametrize("seal", ["", "0" * 64, "é"])
def test_a_made_up_seal_is_refused(store, seal):
    with pytest.raises(LedgerCorruptError):
        entry_at(store, replace(store.find(request_name("r")), seal=seal), KEY)


def test_an_answer_that_somebody_changed_is_refused_although_its_hash_is_right(store):
    rewritten(store, 2, encode_entry(committed("r", answer=43)))
    with pytest.raises(LedgerCorruptError, match="not written with the ledger's key"):
        entry_at(store, store.find(answer_name("people", "k")), KEY)


def test_an_answer_whose_hash_is_wrong_is_refused(store):
    record = store.read(2)[0]
    store._kept.records[2] = replace(record, text=record.text.replace("42", "43"))
    with pytest.raises(LedgerCorruptError, match="hash"):
        entry_at(store, store.find(answer_name("people", "k")), KEY)


def test_a_record_that_is_gone_is_refused(store):
    index_entry = store.find(answer_name("people", "other"))
    del store._kept.records[4]
    with pytest.raises(LedgerCorruptError, match="is missing"):
        entry_at(store, index_entry, KEY)


def names(entry, *before):
    return set(names_of(entry, replayed(*before)))


def test_an_answer_has_a_name_in_its_account_and_one_among_those_about_the_same_data():
    before = account("census/ann"), reserved("r", payer="census/ann")
    told = names(committed("r", owner="census/ann"), *before)
    assert told == {answer_name("census/ann", "k"), first_name("census/bob", "k")}
    assert first_name("census", "k") in told
    assert first_name("census 2", "k") not in told


def test_an_answer_to_a_question_under_a_key_has_the_name_of_its_request_too():
    asked = names(committed("r"), account(), ASKED)
    assert asked == {answer_name("people", "k"), first_name("people", "k"), request_name("r")}


def test_a_reservation_has_a_name_if_it_has_a_key():
    assert names(ASKED, account()) == {asked_name("ann", "one")}
    assert names(reserved("r"), account()) == set()


def test_what_is_shared_has_a_name_if_it_was_asked_under_a_key():
    shared = Shared(account="bob", source="ann", request="s", principal="bob", idempotency_key="one", **release())
    assert names(shared, account("ann"), account("bob")) == {asked_name("bob", "one")}
    assert names(replace(shared, idempotency_key=""), account("ann"), account("bob")) == set()


@pytest.mark.parametrize(
    "entry",
    [
        account("other"),
        Rebudgeted(account="people", budget=PureDP(2), reason="r"),
        Closed(account="people", reason="r"),
        Recognized(account="people", fingerprints=("f",)),
        Abandoned(account="people", request="r", reason="r"),
    ],
    ids=lambda entry: type(entry).__name__,
)
def test_nothing_else_has_a_name(entry):
    assert names(entry, account(), ASKED) == set()


@given(CALLS, CALLS)
def test_other_words_make_other_names(one, other):
    (name, *words), (other_name, *other_words) = one, other
    assert (name(*words) == other_name(*other_words)) == (one == other)


def test_names_do_not_run_into_each_other():
    assert len({answer_name('a", "b', "c"), answer_name("a", 'b", "c'), answer_name("a b", "c")}) == 3
    assert asked_name("", "ann") != asked_name("ann", "")


@pytest.mark.parametrize("name", [answer_name, first_name, asked_name])
def test_a_name_is_as_short_as_a_database_needs_it_and_still_its_own(name):
    long = "x" * 5_000
    names = [name("people", long), name("people", long + "x"), name("x" * 5_000 + "y", "k")]
    assert max(map(len, names)) <= 1_000
    assert len(set(names)) == 3
