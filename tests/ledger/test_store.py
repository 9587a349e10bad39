import pytest

from sfumato.ledger.memory import MemoryStore
from sfumato.ledger.sqlite import SQLiteStore
from sfumato.ledger.store import LedgerStore


@pytest.mark.parametrize("implementation", [MemoryStore, SQLiteStore])
def test_every_store_has_the_methods_of_the_role(implementation):
    role = {name for name in vars(LedgerStore) if not name.startswith("_")}
    assert role == {"read", "append", "close"}
    assert role <= set(dir(implementation))
