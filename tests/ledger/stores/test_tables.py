"""What the contract of the stores cannot see: values that no store wrote."""

from contextlib import closing

import pytest
from tests.ledger.sqlite_edits import without_triggers
from tests.ledger.store_contract import filled

from sfumato.errors import LedgerCorruptError
from sfumato.ledger.stores.sqlite import SQLiteStore


@pytest.mark.parametrize(
    ("statement", "use"),
    [
        ("UPDATE pointer SET position = 'x' WHERE name = '7'", lambda store: store.find("7")),
        ("UPDATE pointer SET seal = x'00' WHERE name = '7'", lambda store: store.find("7")),
        ("UPDATE snapshot SET text = x'00'", lambda store: store.snapshot()),
    ],
)
def test_a_pointer_or_snapshot_that_is_no_text_is_damage(tmp_path, statement, use):
    with closing(SQLiteStore(tmp_path / "ledger.db")) as store:
        filled(store, "7", snapshot="sum")
        without_triggers(tmp_path / "ledger.db", statement)
        with pytest.raises(LedgerCorruptError, match="damaged"):
            use(store)


@pytest.mark.parametrize("column", ["previous", "text", "hash"])
def test_a_record_that_is_no_text_is_damage_and_named(tmp_path, column):
    with closing(SQLiteStore(tmp_path / "ledger.db")) as store:
        filled(store, *"abc")
        without_triggers(tmp_path / "ledger.db", f"UPDATE record SET {column} = x'00' WHERE position = 1")
        with pytest.raises(LedgerCorruptError) as caught:
            store.read(0)
        assert caught.value.index == 1
