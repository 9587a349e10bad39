"""A ledger or a database that is missing, older, changed or ahead of the clock is told, and nothing is upgraded."""

import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import update
from tests.ledger.stories import release
from tests.server.identity.databases import KINDS, Clock, location
from tests.server.operations.small import small
from tests.server.work.curators import curator_file

from sfumato.errors import LedgerCorruptError
from sfumato.ledger.core.windows import MICROSECONDS
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import open_ledger, place_of
from sfumato.local import DirectEncoding, save_protocol
from sfumato.server.config import load_curator
from sfumato.server.identity.collections import Collections
from sfumato.server.identity.database import Database
from sfumato.server.identity.people import Directory
from sfumato.server.identity.tables import COLLECTIONS
from sfumato.server.operations import stores
from sfumato.server.operations.findings import Level
from sfumato.server.operations.stores import examine_database, examine_ledger, revisions


@pytest.fixture
def server(tmp_path):
    with small(tmp_path) as made:
        made.ask(10)
        yield made


def ledger_of(server, *, is_deep=False):
    return {one.subject: one for one in examine_ledger(server.curator, is_deep=is_deep)}


def database_of(curator):
    return {one.subject: one for one in examine_database(curator)}


def test_a_ledger_in_order_is_fine(server):
    for is_deep, seen in ((False, "--deep verifies each"), (True, "each verified; head ")):
        found = ledger_of(server, is_deep=is_deep)
        assert {one.level for one in found.values()} == {Level.FINE}
        assert seen in found["ledger"].seen


def test_a_ledger_that_is_not_there_yet_and_one_that_is_gone(tmp_path):
    curator = load_curator(curator_file(tmp_path))
    (one,) = examine_ledger(curator, is_deep=False)
    assert (one.level, one.seen) == (Level.ADVICE, "does not exist yet")
    assert not (tmp_path / "ledger.db").exists()
    open_ledger(curator.ledger).close()
    (tmp_path / "ledger.db").unlink()
    (one,) = examine_ledger(curator, is_deep=False)
    assert (one.level, "restore.md" in one.fix) == (Level.FAILURE, True)


def test_a_ledger_older_than_its_checkpoint_is_not_opened(server):
    place_of(server.curator.ledger).checkpoint().path.unlink()
    with pytest.raises(LedgerCorruptError):
        ledger_of(server)


def test_a_clock_behind_the_ledger_is_a_failure(server, monkeypatch):
    monkeypatch.setattr(Ledger, "ahead", lambda _: 90 * MICROSECONDS)
    found = ledger_of(server)["clock"]
    assert (found.level, "90 s later" in found.seen) == (Level.FAILURE, True)


def test_accounts_that_are_suspended_missing_or_have_another_budget_are_told(server):
    ledger = server.session.desk.ledger
    ledger.suspend_account(ledger.reserve("people", **release("0.1"), question="q"))
    content = server.config.read_text().replace("epsilon = 1000", "epsilon = 999")
    server.config.write_text(content + '\n[datasets.other]\npolicy = "people.toml"\nbudget = { epsilon = 1 }\n')
    found = [
        (one.subject, one.level)
        for one in examine_ledger(load_curator(server.config), is_deep=False)
        if one.subject.startswith("account")
    ]
    assert found == [
        ("account people", Level.FAILURE), ("account people", Level.ADVICE), ("account other", Level.ADVICE)
    ]  # fmt: skip


def test_a_database_in_order_is_fine_and_its_people_are_looked_at(server):
    found = database_of(server.curator)
    assert (found["database"].level, found["log of acts"].level) == (Level.FINE, Level.FINE)
    assert {"admins", "owners of people", "API keys", "time of answers of people"} <= set(found)


def test_a_log_of_acts_that_was_changed_is_a_failure(server):
    with closing(sqlite3.connect(server.folder / "state" / "server.db")) as connection, connection:
        connection.execute("DROP TRIGGER act_has_no_update")
        connection.execute("UPDATE act SET person = 'mallory'")
    found = database_of(server.curator)["log of acts"]
    assert (found.level, found.seen) == (Level.FAILURE, "act 1 is not as it was written, or is missing")


def test_a_database_that_is_missing_is_not_made_and_an_older_one_not_upgraded(tmp_path):
    curator = load_curator(curator_file(tmp_path))
    assert database_of(curator)["database"].seen == "does not exist yet"
    assert not (tmp_path / "state" / "server.db").exists()
    with closing(sqlite3.connect(tmp_path / "state" / "server.db")) as connection:
        connection.execute("CREATE TABLE other (x)")
    (one,) = examine_database(curator)
    assert (one.level, "revision none" in one.seen) == (Level.WARNING, True)
    with closing(sqlite3.connect(tmp_path / "state" / "server.db")) as connection:
        assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("other",)]


def test_a_secret_that_is_missing_is_told_and_no_other_is_made(server):
    server.curator.secret.unlink()
    found = database_of(server.curator)["API keys"]
    assert (found.level, "none works" in found.seen) == (Level.FAILURE, True)
    assert not server.curator.secret.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_the_revision_of_a_database_is_read_without_changing_it(kind, tmp_path):
    where = location(kind, tmp_path)
    assert revisions(where)[0] is None
    Database(where).close()
    found, newest = revisions(where)
    assert found == newest is not None


def test_a_database_that_cannot_be_reached_is_told():
    with pytest.raises(OSError, match="the database cannot be read"):
        revisions("postgresql://nobody@127.0.0.1:1/people?connect_timeout=1")


# Collections

ORACLE = DirectEncoding(["tea", "coffee"], epsilon=1)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=KINDS)
def counting(request, tmp_path, clock):
    opened = Database(location(request.param, tmp_path), now=clock)
    Directory(opened).add("ann")
    yield opened
    opened.close()


@pytest.fixture
def declared(tmp_path):
    """A curator of one collection."""

    def made(protocol=ORACLE, readers='"ann"', name="drinks"):
        save_protocol(protocol, tmp_path / "drinks.json")
        file = tmp_path / "curator.toml"
        file.write_text(f'[collections.{name}]\nprotocol = "drinks.json"\nreaders = [{readers}]\n', "utf-8")
        return load_curator(file)

    return made


def send(counting, curator, day="2026-11-27"):
    (collection,) = curator.collections.values()
    reports = [bytes(collection.protocol.client().report("tea"))]
    Collections(counting).receive(collection, reports, batch=f"{day}.sixteen-at-least", body=b"")


def examined(curator, counting):
    return [(one.subject, one.level, one.seen, one.fix) for one in stores._collections(curator, counting)]


def test_counts_in_order_are_fine(declared, counting):
    curator = declared()
    send(counting, curator)
    assert examined(curator, counting) == [("collection drinks", Level.FINE, "protocol: direct; reports: 1", "")]


def test_another_protocol_than_that_of_the_counts_is_a_failure(declared, counting):
    send(counting, declared())
    ((subject, level, seen, fix),) = examined(declared(DirectEncoding(["tea", "coffee"], epsilon=2)), counting)
    assert (subject, level) == ("collection drinks", Level.FAILURE)
    assert "put the file back" in seen
    assert fix == "docs/how-to/server/collections.md"


def test_damaged_counts_are_a_failure(declared, counting):
    curator = declared()
    send(counting, curator)
    with counting.writing() as connection:
        connection.execute(update(COLLECTIONS).values(snapshot=b"x" * 80))
    ((_, level, seen, fix),) = examined(curator, counting)
    assert (level, "damaged" in seen, "restore.md" in fix) == (Level.FAILURE, True, True)


def test_readers_who_are_missing_are_told(declared, counting):
    found = examined(declared(readers='"ann", "bob"'), counting)
    assert [(level, seen) for _, level, seen, _ in found[1:]] == [
        (Level.WARNING, "its readers bob are no people of this server")
    ]
    found = examined(declared(readers=""), counting)
    assert [(level, seen) for _, level, seen, _ in found[1:]] == [(Level.ADVICE, "nobody may read its estimates")]


def test_counts_without_a_collection_are_told_and_stay(declared, counting):
    send(counting, declared())
    renamed = declared(name="others")
    found = examined(renamed, counting)
    assert found[1] == (
        "collection drinks", Level.ADVICE, "has counts, but is not in the curator's file",
        "declare it again, or delete its counts: sfumato curator remove-collection drinks",
    )  # fmt: skip
    assert Collections(counting).names() == ("drinks",)


def test_a_clock_that_was_ahead_is_a_failure(declared, counting, clock):
    curator = declared()
    clock.wait(100 * 86_400)
    send(counting, curator, day="2027-03-07")
    clock.wait(-100 * 86_400)
    subject, level, seen, _ = examined(curator, counting)[1]
    assert (subject, level) == ("days of batches", Level.FAILURE)
    assert "before 2027-02-05 are refused" in seen
