import pytest
from tests.ledger.store_contract import LedgerStoreContract

from sfumato.ledger.stores.memory import MemoryStore


class TestMemoryStore(LedgerStoreContract):
    @pytest.fixture
    def store(self):
        return MemoryStore()
