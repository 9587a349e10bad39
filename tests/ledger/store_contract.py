"""What every store of a ledger does; a store opts in by a fixture `store`."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import pytest

from sfumato.errors import LedgerConflictError, LedgerError
from sfumato.ledger.core.store import Chain, IndexEntry, LedgerStore, ReadableStore, Record, StoreBatch, StoreEnd


class StopError(Exception):
    """What a test raises inside of a transaction."""


def linked(chain: Chain, *texts: str) -> tuple[Record, ...]:
    """The records that these texts make at the end of a chain."""
    records = []
    for text in texts:
        records.append(chain.link(text))
        chain = chain.follow(records[-1])
    return tuple(records)


def after(records: tuple[Record, ...]) -> Chain:
    """The chain whose last records these are."""
    return Chain(length=records[-1].index + 1, head=records[-1].hash) if records else Chain()


def following(reading: ReadableStore, *texts: str, snapshot: str | None = None) -> StoreBatch:
    """A batch of these texts after what there is, each with a pointer named like its text."""
    records = linked(after(reading.read(0)), *texts)
    index_entries = tuple(
        IndexEntry(name=record.text, index=record.index, seal=f"of {record.text}") for record in records
    )
    return StoreBatch(records=records, index_entries=index_entries, snapshot=snapshot)


def append(store: LedgerStore, batch: StoreBatch) -> None:
    """A transaction with one batch."""
    with store.transaction() as transaction:
        transaction.append(batch)


def filled(store: LedgerStore, *texts: str, snapshot: str | None = None) -> Chain:
    """Append texts in one transaction, whoever else does so; gives the chain."""
    with store.transaction() as transaction:
        transaction.append(following(transaction, *texts, snapshot=snapshot))
        return after(transaction.read(0))


def texts(store: LedgerStore) -> list[str]:
    return [record.text for record in store.read(0)]


class LedgerStoreContract:
    def test_a_new_store_holds_nothing(self, store):
        assert (store.read(0), store.find("one"), store.snapshot()) == ((), None, None)
        store.check()

    def test_records_come_back_in_order_as_they_were(self, store):
        chain = filled(store, "one", "two ✓", "three")
        first, second, third = store.read(0)
        assert [first.text, second.text, third.text] == ["one", "two ✓", "three"]
        assert Chain().follow(first).follow(second).follow(third) == chain

    def test_reading_starts_where_it_is_told_and_ends_there(self, store):
        filled(store, "one", "two", "three")
        assert [record.index for record in store.read(1)] == [1, 2]
        assert [record.index for record in store.read(1, limit=1)] == [1]
        assert store.read(3) == store.read(0, limit=0) == ()

    def test_a_pointer_leads_to_its_record(self, store):
        filled(store, "one", "two")
        assert store.find("two") == IndexEntry(name="two", index=1, seal="of two")
        assert store.find("TWO") is None

    def test_a_pointer_may_lead_to_an_earlier_record(self, store):
        filled(store, "one", "two")
        append(store, StoreBatch(index_entries=(IndexEntry(name="again", index=0, seal="s"),)))
        assert store.find("again").index == 0

    def test_the_last_snapshot_is_in_the_place_of_the_one_before(self, store):
        filled(store, "one", snapshot="first")
        filled(store, "two")
        assert store.snapshot() == "first"
        filled(store, "three", snapshot="")
        assert store.snapshot() == ""

    def test_the_last_seal_is_in_the_place_of_the_one_before(self, store):
        assert store.end() == StoreEnd(chain=Chain(), seal=None)
        append(store, StoreBatch(records=linked(Chain(), "one"), seal="first"))
        assert store.end() == StoreEnd(chain=after(store.read(0)), seal="first")
        with store.transaction() as transaction:
            transaction.append(StoreBatch(records=linked(transaction.end().chain, "two")))
            assert transaction.end() == StoreEnd(chain=after(transaction.read(0)), seal="first")
        assert store.end() == StoreEnd(chain=after(store.read(0)), seal="first")
        with store.transaction() as transaction:
            transaction.append(StoreBatch(records=linked(transaction.end().chain, "three"), seal="second"))
            assert transaction.end() == StoreEnd(chain=after(transaction.read(0)), seal="second")
        assert store.end() == StoreEnd(chain=after(store.read(0)), seal="second")

    def test_pointers_come_in_pages_by_their_names_and_new_ones_may_replace_them_all(self, store):
        filled(store, "b", "a", "c")
        assert [index_entry.name for index_entry in store.index_entries(limit=2)] == ["a", "b"]
        assert [index_entry.name for index_entry in store.index_entries(after="b", limit=2)] == ["c"]
        with store.transaction() as transaction:
            transaction.append(
                StoreBatch(index_entries=(IndexEntry(name="d", index=0, seal="of d"),), is_reindexed=True)
            )
            assert transaction.find("a") is None
            assert [index_entry.name for index_entry in transaction.index_entries(limit=9)] == ["d"]
        assert store.find("a") is None
        assert store.index_entries(limit=9) == (IndexEntry(name="d", index=0, seal="of d"),)

    def test_a_turn_reads_what_was_kept_before_and_what_it_appended(self, store):
        filled(store, "one", snapshot="first")
        with store.transaction() as transaction:
            assert transaction.snapshot() == "first"
            transaction.append(following(transaction, "two", "three", snapshot="second"))
            assert [record.text for record in transaction.read(0)] == ["one", "two", "three"]
            assert [record.text for record in transaction.read(0, limit=2)] == ["one", "two"]
            assert [record.text for record in transaction.read(2)] == ["three"]
            assert [record.text for record in transaction.read(1, limit=1)] == ["two"]
            assert transaction.read(3) == ()
            assert (transaction.find("three").index, transaction.find("one").index, transaction.snapshot()) == (
                2,
                0,
                "second",
            )

    def test_nobody_else_reads_what_is_not_yet_kept(self, store):
        filled(store, "one", snapshot="first")
        with store.transaction() as transaction:
            transaction.append(following(transaction, "two", snapshot="second"))
            assert (texts(store), store.find("two"), store.snapshot()) == (["one"], None, "first")
        assert (texts(store), store.find("two").index, store.snapshot()) == (["one", "two"], 1, "second")

    def test_several_batches_of_one_turn_are_kept_in_order(self, store):
        with store.transaction() as transaction:
            chain = Chain()
            for text in ("one", "two", "three"):
                transaction.append(StoreBatch(records=linked(chain, text)))
                chain = after(transaction.read(0))
        assert texts(store) == ["one", "two", "three"]

    def test_a_turn_that_appends_nothing_is_no_error(self, store):
        with store.transaction():
            pass
        with store.transaction() as transaction:
            transaction.append(StoreBatch())
        assert store.read(0) == ()

    @pytest.mark.parametrize("error", [StopError, KeyboardInterrupt])
    def test_a_turn_that_raises_leaves_nothing(self, store, error):
        def interrupted():
            with store.transaction() as transaction:
                transaction.append(following(transaction, "two", snapshot="second"))
                raise error

        filled(store, "one", snapshot="first")
        with pytest.raises(error):
            interrupted()
        assert (texts(store), store.find("two"), store.snapshot()) == (["one"], None, "first")
        filled(store, "two")
        assert texts(store) == ["one", "two"]

    @pytest.mark.parametrize("late", [linked(Chain(), "late"), linked(Chain(), "one", "two", "three")[2:]])
    def test_a_record_that_does_not_follow_the_last_is_a_conflict_and_leaves_nothing(self, store, late):
        chain = filled(store, "one")
        with pytest.raises(LedgerConflictError) as caught:
            append(store, StoreBatch(records=late))
        assert (caught.value.expected_head, caught.value.actual_head) == (late[0].previous, chain.head)
        assert texts(store) == ["one"]

    def test_records_that_do_not_follow_each_other_are_a_conflict(self, store):
        first, _, third = linked(Chain(), "one", "two", "three")
        with pytest.raises(LedgerConflictError):
            append(store, StoreBatch(records=(first, third)))
        assert store.read(0) == ()

    @pytest.mark.parametrize("names", [("one",), ("new", "new"), ("new", "one")])
    def test_a_name_is_given_once(self, store, names):
        filled(store, "one")
        batch = following(store, "two")
        index_entries = tuple(IndexEntry(name=name, index=1, seal="s") for name in names)
        with pytest.raises(LedgerError, match="name that is taken"):
            append(store, replace(batch, index_entries=index_entries))
        assert (texts(store), store.find("new"), store.find("one").seal) == (["one"], None, "of one")

    @pytest.mark.parametrize("index", [-1, 2])
    def test_a_pointer_to_no_record_is_refused(self, store, index):
        filled(store, "one")
        batch = following(store, "two")
        with pytest.raises(LedgerError, match="a record that is there"):
            append(store, replace(batch, index_entries=(IndexEntry(name="x", index=index, seal="s"),)))
        assert texts(store) == ["one"]

    @pytest.mark.parametrize("text", ["a\0b", "\ud800", "é\udfff"])
    def test_text_that_not_every_database_keeps_is_refused(self, store, text):
        record = Record(index=0, previous=Chain().head, text=text, hash="h")
        for batch in (StoreBatch(records=(record,)), StoreBatch(snapshot=text)):
            with pytest.raises(LedgerError, match="cannot keep text"):
                append(store, batch)
        assert (store.read(0), store.snapshot()) == ((), None)

    def test_a_failed_append_that_the_block_hides_keeps_nothing_of_the_turn(self, store):
        def hiding():
            with store.transaction() as transaction:
                transaction.append(StoreBatch(records=linked(Chain(), "one")))
                with pytest.raises(LedgerConflictError):
                    transaction.append(StoreBatch(records=linked(Chain(), "late")))

        with pytest.raises(LedgerError, match="nothing of the write transaction"):
            hiding()
        assert store.read(0) == ()

    def test_a_turn_that_is_over_does_nothing_any_more(self, store):
        with store.transaction() as transaction:
            pass
        for use in (
            lambda: transaction.append(StoreBatch(records=linked(Chain(), "late"))),
            lambda: transaction.read(0),
            lambda: transaction.find("one"),
            transaction.snapshot,
        ):
            with pytest.raises(LedgerError, match="transaction is over"):
                use()
        assert store.read(0) == ()

    def test_a_turn_within_a_turn_is_an_error_and_no_deadlock(self, store):
        with store.transaction():
            with pytest.raises(LedgerError, match="within another one"), store.transaction():
                pass
            with pytest.raises(LedgerError, match="within another one"):
                store.close()
        assert filled(store, "one").length == 1

    def test_who_comes_second_waits_for_the_first_and_sees_what_it_kept(self, store):
        begun, waiting = Event(), Event()

        def second():
            begun.wait()
            waiting.set()
            return filled(store, "second").length

        with ThreadPoolExecutor(1) as threads:
            coming = threads.submit(second)
            with store.transaction() as transaction:
                begun.set()
                waiting.wait()
                transaction.append(StoreBatch(records=linked(Chain(), "first")))
                assert not coming.done()
            assert coming.result() == 2
        assert texts(store) == ["first", "second"]

    def test_of_many_threads_nothing_is_lost_and_all_is_in_order(self, store):
        def write(thread: int) -> None:
            for number in range(5):
                filled(store, f"{thread}.{number}")

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(write, range(8)))
        chain = Chain()
        for record in store.read(0):
            chain = chain.follow(record)
        assert sorted(texts(store)) == sorted(f"{thread}.{number}" for thread in range(8) for number in range(5))
        assert all(store.find(text).index == index for index, text in enumerate(texts(store)))
        for thread in range(8):
            assert [text for text in texts(store) if text[0] == str(thread)] == [f"{thread}.{n}" for n in range(5)]
        store.check()

    def test_after_closing_nothing_works_and_closing_again_is_no_error(self, store):
        store.close()
        store.close()
        for use in (lambda: store.read(0), lambda: store.find("one"), store.snapshot, store.check):
            with pytest.raises(LedgerError):
                use()
        with pytest.raises(LedgerError), store.transaction():
            pytest.fail("a transaction began")
