"""What the contract of the stores cannot see; the rest of it is in `store_contract.py`."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.ledger.store_contract import linked

from sfumato.errors import LedgerConflictError, LedgerError
from sfumato.ledger.core.store import Chain, IndexEntry, StoreBatch, StoreEnd
from sfumato.ledger.stores.transactions import Gate, OpenTransaction

NEW = StoreEnd(chain=Chain(), seal=None)


class Written:
    """Tables that note what is written, or fail."""

    def __init__(self, error=None):
        self.batches, self._error = [], error

    def end(self):
        return NEW

    def keep(self, batch):
        if self._error:
            raise self._error
        self.batches.append(batch)


@pytest.mark.parametrize(
    "batch",
    [
        StoreBatch(records=linked(Chain(), "one", "two")[1:]),
        StoreBatch(records=linked(Chain(), "one"), index_entries=(IndexEntry(name="n", index=1, seal="s"),)),
        StoreBatch(records=linked(Chain(), "one"), snapshot="\0"),
    ],
)
def test_what_does_not_fit_is_not_written_at_all(batch):
    tables = Written()
    with pytest.raises(LedgerError):
        OpenTransaction(tables, "here").append(batch)
    assert tables.batches == []


def test_after_a_batch_that_could_not_be_written_the_chain_is_where_it_was():
    transaction = OpenTransaction(Written(LedgerError("here", "failed")), "here")
    with pytest.raises(LedgerError, match="failed"):
        transaction.append(StoreBatch(records=linked(Chain(), "one")))
    with pytest.raises(LedgerConflictError):
        transaction.append(StoreBatch(records=linked(Chain(), "one", "two")[1:]))


def test_a_turn_whose_block_raises_is_over_and_its_own_error_is_not_hidden():
    transaction = OpenTransaction(Written(LedgerError("here", "failed")), "here")
    with pytest.raises(LedgerError, match="failed"), transaction.ending():
        transaction.append(StoreBatch())
    with pytest.raises(LedgerError, match="over"):
        transaction.read(0)


def test_a_block_that_raised_lets_the_next_one_in_also_of_another_thread():
    gate = Gate("here")

    def taken():
        with gate.entered():
            return True

    with pytest.raises(KeyError), gate.entered():
        raise KeyError
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(taken).result()
