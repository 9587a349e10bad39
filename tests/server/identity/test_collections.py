"""Reports are counted once each, in both databases, by however many gateways; the tables hold nothing else of them."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, text, update
from tests.server.identity.databases import KINDS, location

from sfumato.errors import DatabaseError
from sfumato.local import DirectEncoding, OptimizedUnaryEncoding
from sfumato.server.config import Collection
from sfumato.server.identity.collections import Collections, Received
from sfumato.server.identity.database import Database
from sfumato.server.identity.tables import BATCHES, COLLECTIONS, METADATA

ORACLE = DirectEncoding(3, epsilon=1)
VOTES = Collection("votes", ORACLE, is_public=False, readers=frozenset())
ID = "0123456789abcdef"


def reports(*values, oracle=ORACLE):
    return [bytes(report) for report in oracle.client().report_many(values)]


@pytest.fixture
def kept(database):
    return Collections(database)


def send(kept, given, batch=ID, collection=VOTES, **options):
    return kept.receive(collection, given, batch=batch, body=b"".join(given), **options)


def test_a_batch_counts_once_however_often_it_comes(kept):
    batch = reports(0, 1, 2)
    assert send(kept, batch) == Received(3, 0)
    counts = kept.counted(VOTES).counts.tolist()
    assert [send(kept, batch) for _ in range(3)] == [Received(3, 0, is_repeated=True)] * 3
    assert kept.counted(VOTES).counts.tolist() == counts
    assert sum(counts) == len(kept.counted(VOTES)) == 3


def test_another_batch_under_the_same_id_is_not_counted(kept):
    send(kept, [ORACLE.client().report(0).__bytes__()])
    assert send(kept, reports(0, 1)) is None
    assert len(kept.counted(VOTES)) == 1


def test_ids_are_of_their_sender_collection_and_protocol(kept):
    other = Collection("others", ORACLE, is_public=False, readers=frozenset())
    batch = reports(1)
    answers = [send(kept, batch), send(kept, batch, sender="ann"), send(kept, batch, sender="bob")]
    answers.append(send(kept, batch, collection=other))
    assert answers == [Received(1, 0)] * 4
    assert (len(kept.counted(VOTES)), len(kept.counted(other))) == (3, 1)


def test_what_is_no_report_is_refused_alone_and_fills_no_table(kept, database):
    assert send(kept, [b"", b"x" * 900_000, *reports(2), bytes(6)]) == Received(1, 3)
    assert send(kept, [b"nonsense"], batch="another batch of nothing") == Received(0, 1)
    with database.reading() as connection:
        assert len(connection.execute(select(BATCHES)).all()) == 1


def test_another_protocol_begins_anew_and_leaves_the_counts_before(kept):
    renewed = Collection("votes", OptimizedUnaryEncoding(3, epsilon=1), is_public=False, readers=frozenset())
    send(kept, reports(0, 1))
    assert send(kept, reports(0, oracle=renewed.protocol), collection=renewed) == Received(1, 0)
    assert (len(kept.counted(VOTES)), len(kept.counted(renewed))) == (2, 1)


def test_if_counts_cannot_be_written_the_batch_is_not_known(kept, monkeypatch):
    """State and id are one transaction: what was not acknowledged can be sent again."""
    batch = reports(0, 1)
    with monkeypatch.context() as broken:
        broken.setattr(type(ORACLE.aggregator()), "merge", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            send(kept, batch)
    assert send(kept, batch) == Received(2, 0)
    assert len(kept.counted(VOTES)) == 2


def test_the_tables_hold_hashes_and_counts_alone(kept, database):
    """No report, id, sender or moment."""
    given = reports(1, 2)
    send(kept, given, sender="ann-of-delft")
    with database.reading() as connection:
        rows = [
            row
            for name in ("collection", "collection_batch")
            for row in connection.execute(METADATA.tables[name].select())
        ]
    content = " ".join(repr(tuple(row)) for row in rows)
    assert ID not in content
    assert "delft" not in content
    assert not any(report in value for row in rows for value in row if isinstance(value, bytes) for report in given)
    assert {column.name for column in BATCHES.c} == {"id", "digest", "accepted", "refused"}
    assert {column.name for column in COLLECTIONS.c} == {"name", "protocol", "snapshot"}


def test_damaged_counts_are_an_error_of_the_database(kept, database):
    send(kept, reports(1))
    with database.writing() as connection:
        connection.execute(update(COLLECTIONS).values(snapshot=b"x" * 80))
    with pytest.raises(DatabaseError, match="damaged counts"):
        kept.counted(VOTES)
    with pytest.raises(DatabaseError, match="damaged counts"):
        send(kept, reports(1), batch="another batch of it")


@pytest.mark.parametrize("kind", KINDS)
def test_gateways_that_count_at_once_lose_nothing_and_double_nothing(kind, tmp_path):
    place = location(kind, tmp_path)
    databases = [Database(place) for _ in range(3)]
    batches = [(f"batch number {number:04}", reports(*[number % 3] * 5)) for number in range(12)]

    def run(number):
        return [send(Collections(databases[number]), given, batch=name).is_repeated for name, given in batches]

    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(run, range(3)))
    assert len(Collections(databases[0]).counted(VOTES)) == 60
    assert [sum(own) for own in zip(*answers, strict=True)] == [2] * 12
    with databases[0].reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM collection_batch")).scalar_one() == 12
    for database in databases:
        database.close()
