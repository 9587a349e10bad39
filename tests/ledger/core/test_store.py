from dataclasses import replace
from hashlib import sha256

import pytest

from sfumato.errors import LedgerCorruptError
from sfumato.ledger.core.store import GENESIS, Chain, LedgerStore, ReadableStore, WriteTransaction
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.ledger.stores.postgres import PostgresStore
from sfumato.ledger.stores.sqlite import SQLiteStore
from sfumato.ledger.stores.transactions import OpenTransaction


def methods(role):
    return {name for one in role.__mro__ for name in vars(one) if name[0].islower()}


@pytest.mark.parametrize(
    ("implementation", "role"),
    [
        (MemoryStore, LedgerStore),
        (SQLiteStore, LedgerStore),
        (PostgresStore, LedgerStore),
        (OpenTransaction, WriteTransaction),
    ],
)
def test_whoever_plays_a_role_has_its_methods(implementation, role):
    assert methods(role) > methods(ReadableStore) == {"read", "find", "index_entries", "snapshot", "end"}
    assert methods(role) <= set(dir(implementation))


FIRST = Chain().link("one")
CHAIN = Chain().follow(FIRST)


def test_a_hash_covers_the_hash_before_and_the_text():
    assert FIRST.previous == GENESIS
    assert FIRST.hash == sha256(b"0" * 64 + b"one").hexdigest()
    assert CHAIN.link("two").hash == sha256(FIRST.hash.encode() + b"two").hexdigest()


def test_a_chain_follows_its_own_records():
    chain = CHAIN.follow(CHAIN.link("two"))
    assert (chain.length, chain.head) == (2, CHAIN.link("two").hash)


@pytest.mark.parametrize(
    "change", [{"text": "tw0"}, {"previous": GENESIS}, {"hash": "f" * 64}, {"text": "two "}, {"hash": ""}]
)
def test_a_changed_record_is_found_and_named(change):
    with pytest.raises(LedgerCorruptError) as caught:
        CHAIN.follow(replace(CHAIN.link("two"), **change))
    assert caught.value.index == 1


@pytest.mark.parametrize("index", [0, 2, -1])
def test_a_record_out_of_its_place_is_found(index):
    with pytest.raises(LedgerCorruptError) as caught:
        CHAIN.follow(replace(CHAIN.link("two"), index=index))
    assert caught.value.index == 1


def test_records_that_change_places_are_found():
    second = CHAIN.link("two")
    with pytest.raises(LedgerCorruptError):
        Chain().follow(replace(second, index=0))
