"""What every store of a ledger does; a store opts in by a fixture `store`."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from sfumato.errors import LedgerConflictError, LedgerError
from sfumato.ledger.journal import Chain, Record
from sfumato.ledger.store import LedgerStore


def filled(store: LedgerStore, *texts: str) -> Chain:
    chain = Chain()
    for text in texts:
        record = chain.link(text)
        store.append(record, expected_head=chain.head)
        chain = chain.follow(record)
    return chain


class LedgerStoreContract:
    def test_a_new_store_holds_nothing(self, store):
        assert store.read(0) == ()

    def test_records_come_back_in_order_as_they_were(self, store):
        chain = filled(store, "one", "two ✓", "three")
        records = store.read(0)
        assert [record.text for record in records] == ["one", "two ✓", "three"]
        assert records[-1].hash == chain.head
        assert Chain().follow(records[0]).follow(records[1]).follow(records[2]) == chain

    def test_reading_starts_where_it_is_told(self, store):
        filled(store, "one", "two", "three")
        assert [record.index for record in store.read(1)] == [1, 2]
        assert store.read(3) == ()

    def test_the_second_of_two_writers_is_refused_and_writes_nothing(self, store):
        chain = filled(store, "one")
        store.append(chain.link("mine"), expected_head=chain.head)
        with pytest.raises(LedgerConflictError) as caught:
            store.append(chain.link("yours"), expected_head=chain.head)
        assert caught.value.expected_head == chain.head
        assert caught.value.actual_head == chain.link("mine").hash
        assert [record.text for record in store.read(0)] == ["one", "mine"]

    def test_a_conflict_leaves_the_store_usable(self, store):
        chain = filled(store, "one")
        with pytest.raises(LedgerConflictError):
            store.append(Chain().link("late"), expected_head=Chain().head)
        store.append(chain.link("two"), expected_head=chain.head)
        assert len(store.read(0)) == 2

    def test_of_many_threads_with_one_head_exactly_one_wins(self, store):
        def attempt(number: int) -> bool:
            try:
                store.append(Chain().link(f"thread {number}"), expected_head=Chain().head)
            except LedgerConflictError:
                return False
            return True

        with ThreadPoolExecutor(8) as threads:
            assert sum(threads.map(attempt, range(16))) == 1
        assert len(store.read(0)) == 1

    def test_after_closing_nothing_works_and_closing_again_is_no_error(self, store):
        store.close()
        store.close()
        with pytest.raises(LedgerError):
            store.read(0)
        with pytest.raises(LedgerError):
            store.append(Record(index=0, previous="", text="", hash=""), expected_head=Chain().head)
