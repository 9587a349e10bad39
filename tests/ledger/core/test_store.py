import pytest

from sfumato.ledger.core.store import LedgerStore, Reading, Turn
from sfumato.ledger.memory import MemoryStore
from sfumato.ledger.postgres.store import PostgresStore
from sfumato.ledger.sqlite.store import SQLiteStore
from sfumato.ledger.writing.turns import OpenTurn


def methods(role):
    return {name for one in role.__mro__ for name in vars(one) if name[0].islower()}


@pytest.mark.parametrize(
    ("implementation", "role"),
    [(MemoryStore, LedgerStore), (SQLiteStore, LedgerStore), (PostgresStore, LedgerStore), (OpenTurn, Turn)],
)
def test_whoever_plays_a_role_has_its_methods(implementation, role):
    assert methods(role) > methods(Reading) == {"read", "find", "pointers", "snapshot", "end"}
    assert methods(role) <= set(dir(implementation))
