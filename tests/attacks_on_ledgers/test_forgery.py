"""Somebody may write the store of a ledger and has not its key: whatever they make of it is refused, never believed."""

import json
import shutil
import sqlite3
from contextlib import closing

import psycopg
import pytest
from tests.engines.postgres_server import server
from tests.ledger import postgres_ledgers
from tests.ledger.accounts import people
from tests.ledger.faults import ask, filled
from tests.ledger.processes import home
from tests.ledger.sqlite_edits import without_triggers

from sfumato.errors import LedgerCorruptError, LedgerError
from sfumato.ledger.core.codec import encode_entry
from sfumato.ledger.core.entry import Rebudgeted
from sfumato.ledger.core.store import Chain
from sfumato.privacy.guarantees import PureDP


class Forger:
    """Writes what it likes into the store of a ledger.

    Args:
        store: Of which kind it is.
        place: Its home.
    """

    def __init__(self, store, place):
        self._is_file, self.place = store == "sqlite", place

    def records(self):
        return [row[0] for row in self._done("SELECT text FROM {}record ORDER BY position")]

    def rewritten(self, texts, *more):
        """Put other entries there, with the chain and the head computed anew; and do more."""
        chain, rows = Chain(), []
        for text in texts:
            record = chain.link(text)
            rows.append(
                f"({record.index}, '{record.previous}', '{text.replace(chr(39), 2 * chr(39))}', '{record.hash}')"
            )
            chain = chain.follow(record)
        self.edit(
            "DELETE FROM {}record",
            *(f"INSERT INTO {{}}record VALUES {row}" for row in rows),
            f"UPDATE {{}}head SET length = {chain.length}, hash = '{chain.head}'",
            *more,
        )

    def edit(self, *statements):
        """Edit without the triggers, which are there again afterwards."""
        if self._is_file:
            without_triggers(self.place.location, *(statement.replace("{}", "") for statement in statements))
            return
        schema = postgres_ledgers.schema(self.place.location)
        tables, names = (
            ("record", "pointer", "head"),
            ("record_stays", "pointer_stays", "head_stays", "head_grows"),
        )
        server().execute(
            *(f"ALTER TABLE {schema}.{table} DISABLE TRIGGER USER" for table in tables),
            *(statement.replace("{}", f"{schema}.") for statement in statements),
            f"ALTER TABLE {schema}.record ENABLE ALWAYS TRIGGER head_follows",
            *(f"ALTER TABLE {schema}.{name.split('_')[0]} ENABLE ALWAYS TRIGGER {name}" for name in names),
        )

    def _done(self, query):
        if self._is_file:
            with closing(sqlite3.connect(self.place.location)) as connection:
                return connection.execute(query.replace("{}", "")).fetchall()
        with psycopg.connect(self.place.location.partition("?ledger=")[0]) as connection:
            return connection.execute(
                query.replace("{}", f"{postgres_ledgers.schema(self.place.location)}.")
            ).fetchall()


@pytest.fixture(params=["sqlite", "postgres"])
def forger(request, tmp_path):
    """Whoever may write a ledger in which ε 0.3 of 1 was spent for three answers."""
    place = home(request.param, tmp_path)
    filled(place)
    return Forger(request.param, place)


def refused(place):
    """Nobody opens it, nor grants anything on it."""
    with pytest.raises(LedgerCorruptError):
        place.opened()
    with pytest.raises(LedgerError):
        place.opened(must_exist=True, ignoring_checkpoint=True)


CHEAPER = [
    (),
    ("DELETE FROM {}snapshot", "DELETE FROM {}pointer"),
    ("DELETE FROM {}snapshot", "DELETE FROM {}pointer", "UPDATE {}head SET seal = NULL"),
]


@pytest.mark.parametrize("more", CHEAPER, ids=["chain and head", "nothing beside it", "no seal"])
def test_prices_that_were_rewritten_with_chain_and_head_computed_anew_are_refused(forger, more):
    texts = [text.replace('"1/10"', '"1/1000"') for text in forger.records()]
    assert texts != forger.records()
    forger.rewritten(texts, *more)
    refused(forger.place)


@pytest.mark.parametrize("more", CHEAPER, ids=["chain and head", "nothing beside it", "no seal"])
def test_nor_without_key_and_checkpoint_beside_it(forger, more):
    forger.rewritten([text.replace('"1/10"', '"1/1000"') for text in forger.records()], *more)
    for file in forger.place.folder.glob("*"):
        if file.suffix in (".key", ".checkpoint"):
            file.unlink()
    refused(forger.place)
    assert not list(forger.place.folder.glob("*.key"))


def test_a_budget_that_somebody_adds_is_not_followed_by_who_opens_nor_by_who_has_it_open(forger):
    text = encode_entry(Rebudgeted(account="people", budget=PureDP(100), reason="r", at=2 * 10**15))
    with forger.place.opened() as ledger:
        forger.rewritten([*forger.records(), text])
        for use in (lambda: ledger.budget("people"), lambda: ask(ledger, "more"), ledger.verify):
            with pytest.raises(LedgerCorruptError, match="no seal covers it"):
                use()
    refused(forger.place)


def test_entries_that_were_cut_off_are_missed_although_chain_and_head_fit(forger):
    forger.rewritten(forger.records()[:-2])
    refused(forger.place)


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("DELETE FROM {}pointer", "12 were sealed, 0 exist"),
        ("DELETE FROM {}pointer WHERE position = 4", "12 were sealed"),
        ("UPDATE {}pointer SET name = 'x' WHERE position = 3", "12 were sealed, 12 exist"),
        ("DELETE FROM {}snapshot", "the snapshot of what was spent is missing"),
        ("UPDATE {}head SET seal = NULL", "no seal covers the entries"),
        ("""UPDATE {}head SET seal = replace(seal, '"pointers":12', '"pointers":0')""", "is damaged"),
    ],
)
def test_what_lies_beside_the_chain_is_missed_when_the_ledger_is_opened(forger, statement, error):
    if "x" in statement:
        statement = statement.replace("'x'", "'x' || name")
    forger.edit(statement)
    with pytest.raises(LedgerCorruptError, match=error):
        forger.place.opened()


def test_the_seal_of_another_ledger_does_not_fit(forger, tmp_path):
    (tmp_path / "other").mkdir()
    other = home("sqlite", tmp_path / "other")
    filled(other)
    with other.opened() as ledger:
        seal = ledger._store.end().seal
    forger.edit(f"UPDATE {{}}head SET seal = '{seal}'")
    with pytest.raises(LedgerCorruptError, match="sealed with the key"):
        forger.place.opened()


def test_a_file_that_is_made_one_of_an_older_version_is_not_upgraded(tmp_path):
    """Who may write the file may also give it the tables of a version that sealed nothing."""
    place = home("sqlite", tmp_path)
    filled(place)
    with closing(sqlite3.connect(place.location, isolation_level=None)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name NOT LIKE 'record%'")
        for (name,) in names.fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for table in ("pointer", "snapshot", "head"):
            connection.execute(f"DROP TABLE {table}")
    with pytest.raises(LedgerCorruptError, match=r"has no seals.*sfumato ledger migrate --unsealed"):
        place.opened()


@pytest.mark.parametrize("part", range(30))
def test_a_flipped_bit_in_the_schema_or_in_an_index_is_corruption(tmp_path, part):
    place = home("sqlite", tmp_path)
    filled(place)
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        names = [name.encode() for (name,) in connection.execute("SELECT name FROM pointer")]
    schema = content.index(b"CREATE TABLE record"), content.index(b"append-only")
    places = [*range(schema[0], schema[1], 17), *(content.index(name) + 3 for name in names)]
    at = places[part * len(places) // 30]
    content[at] ^= 1 << part % 5
    path.write_bytes(content)
    refused(place)


def test_an_empty_ledger_of_another_key_is_no_fresh_budget(forger, tmp_path):
    (tmp_path / "other").mkdir()
    other = home("sqlite", tmp_path / "other")
    other.opened().close()
    with other.opened() as ledger:
        seal = ledger._store.end().seal
    forger.rewritten([], "DELETE FROM {}snapshot", "DELETE FROM {}pointer", f"UPDATE {{}}head SET seal = '{seal}'")
    refused(forger.place)


def test_what_the_seal_says_is_what_there_is(forger):
    with forger.place.opened() as ledger:
        end, length = ledger._store.end(), len(ledger)
    document = json.loads(end.seal.partition(" ")[2])
    assert (document["length"], document["head"]) == (length, end.chain.head) == (end.chain.length, end.chain.head)
    assert document["pointers"] == 4 * 3


def test_a_copy_with_its_key_is_the_same_ledger(tmp_path):
    place = home("sqlite", tmp_path)
    filled(place)
    (tmp_path / "copy").mkdir()
    for file in tmp_path.glob("ledger.db*"):
        shutil.copy(file, tmp_path / "copy")
    with home("sqlite", tmp_path / "copy").opened() as ledger:
        ledger.open_account(people())
        assert ledger.spent("people") == PureDP("0.3")
