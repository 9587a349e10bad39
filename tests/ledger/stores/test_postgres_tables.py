"""What the contract of the stores cannot see: what somebody did to the tables behind their triggers."""

from contextlib import closing

import pytest
from tests.engines.postgres_server import owner, server
from tests.ledger.postgres_ledgers import location, schema
from tests.ledger.store_contract import filled

from sfumato.errors import LedgerCorruptError
from sfumato.ledger.core.store import Chain
from sfumato.ledger.stores.postgres import PostgresStore

TRIGGERS = {
    "record": ("head_follows", "record_stays"),
    "pointer": ("pointer_stays",),
    "head": ("head_stays", "head_grows"),
}


def without_triggers(found, *statements):
    """Edit as a superuser who silences the triggers meanwhile."""

    def alter(how):
        pairs = ((table, trigger) for table, triggers in TRIGGERS.items() for trigger in triggers)
        server().execute(*(f"ALTER TABLE {schema(found)}.{table} {how} TRIGGER {trigger}" for table, trigger in pairs))

    with owner(server().port).transaction():
        alter("DISABLE")
        server().execute(f"SET LOCAL search_path = {schema(found)}", *statements)
        alter("ENABLE ALWAYS")


def verified(found):
    with closing(PostgresStore(found, must_exist=True)) as store:
        store.check()
        chain = Chain()
        for record in store.read(0):
            chain = chain.follow(record)
        return chain.length


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        ("DELETE FROM record WHERE position = 100", 0),
        ("DELETE FROM record WHERE position = 0", 0),
        ("DELETE FROM record WHERE position = 199", 0),
        ("TRUNCATE record", 0),
        ("DELETE FROM head", 0),
        ("UPDATE head SET length = length - 1", 0),
        ("UPDATE head SET hash = 'h'", 0),
        ("UPDATE record SET text = replace(text, 'many', 'few') WHERE position = 7", 7),
        ("UPDATE record SET previous = hash WHERE position = 7", 7),
        ("UPDATE record SET position = 999 WHERE position = 150", 0),
        ("UPDATE pointer SET position = 200 WHERE position = 7", 0),
    ],
)
def test_an_edit_behind_the_triggers_is_found(statement, index):
    found = location()
    with closing(PostgresStore(found)) as store:
        filled(store, *(f"{number}: how many?" for number in range(200)))
    assert verified(found) == 200
    without_triggers(found, statement)
    with pytest.raises(LedgerCorruptError) as caught:
        verified(found)
    assert caught.value.index == index


def test_records_that_are_gone_are_noticed_before_anything_is_appended():
    found = location()
    with closing(PostgresStore(found)) as store:
        filled(store, "one", "two")
        without_triggers(found, "DELETE FROM record WHERE position = 1")
        with pytest.raises(LedgerCorruptError, match="damaged"), store.transaction():
            pytest.fail("a transaction began")
