"""Reports are counted once each, in both databases, by however many gateways; the tables hold nothing else of them."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from threading import Event

import pytest
from sqlalchemy import select, text, update
from tests.ledger.processes import PATIENCE, ended, started
from tests.ledger.processes import wire as ends
from tests.server.identity.databases import KINDS, Clock, location
from tests.server.identity.killing import EACH, ORACLE, VOTES, kill_everywhere

from sfumato.errors import DatabaseError, NotFoundError, ParameterError, PolicyError
from sfumato.local import DirectEncoding, OptimizedUnaryEncoding
from sfumato.server.config import Collection
from sfumato.server.identity.collections import Collections, Received
from sfumato.server.identity.database import Database
from sfumato.server.identity.tables import BATCHES, COLLECTIONS, HORIZON, METADATA

DAY = "2026-11-27"
ID = f"{DAY}.0123456789abcdef"


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
    assert send(kept, [b"nonsense"], batch=f"{DAY}.another-batch-of-nothing") == Received(0, 1)
    with database.reading() as connection:
        assert len(connection.execute(select(BATCHES)).all()) == 1


def test_counts_of_two_protocols_are_never_mixed(kept):
    """Neither in the table nor in an answer: a collection has the protocol that it began with, until it is removed."""
    renewed = Collection("votes", OptimizedUnaryEncoding(3, epsilon=1), is_public=False, readers=frozenset())
    send(kept, reports(0, 1))
    for wanted in (lambda: send(kept, reports(0, oracle=renewed.protocol), collection=renewed, batch=ID + "2"),
                   lambda: kept.counted(renewed)):  # fmt: skip
        with pytest.raises(DatabaseError, match="counts of another protocol"):
            wanted()
    with pytest.raises(PolicyError, match=r"collections\.votes\.protocol.*sfumato curator remove-collection votes"):
        kept.require_protocols([renewed])
    kept.require_protocols([VOTES, replace(renewed, name="others")])
    assert (len(kept.counted(VOTES)), kept.names()) == (2, ("votes",))
    kept.remove("votes")
    assert send(kept, reports(0, oracle=renewed.protocol), collection=renewed) == Received(1, 0)
    assert (len(kept.counted(renewed)), kept.names()) == (1, ("votes",))


def test_protocols_whose_short_fingerprints_agree_are_two(kept, monkeypatch):
    """Reports name four bytes of their protocol; counts are told apart by all of it."""
    twin = Collection("votes", DirectEncoding(3, epsilon=2), is_public=False, readers=frozenset())
    send(kept, reports(0))
    monkeypatch.setattr(type(ORACLE), "fingerprint", ORACLE.fingerprint)
    with pytest.raises(DatabaseError, match="counts of another protocol"):
        kept.counted(twin)


def test_what_is_removed_is_gone_and_its_batches_do_not_come_back(kept):
    batch = reports(0, 1)
    send(kept, batch)
    kept.remove("votes")
    assert len(kept.counted(VOTES)) == 0
    assert send(kept, batch) == Received(2, 0, is_repeated=True)
    assert len(kept.counted(VOTES)) == 0
    with pytest.raises(NotFoundError, match="not found"):
        kept.remove("votes")


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
    """No report, id, sender or moment: of an id there is its day."""
    given = reports(1, 2)
    send(kept, given, sender="ann-of-delft")
    with database.reading() as connection:
        rows = [
            row
            for name in ("collection", "collection_batch", "collection_horizon")
            for row in connection.execute(METADATA.tables[name].select())
        ]
    content = " ".join(repr(tuple(row)) for row in rows)
    assert ID not in content
    assert "delft" not in content
    assert not any(report in value for row in rows for value in row if isinstance(value, bytes) for report in given)
    assert {column.name for column in BATCHES.c} == {"id", "day", "digest", "accepted", "refused"}
    assert {column.name for column in HORIZON.c} == {"first_day"}
    assert {column.name for column in COLLECTIONS.c} == {"name", "protocol", "snapshot"}


def test_damaged_counts_are_an_error_of_the_database(kept, database):
    send(kept, reports(1))
    with database.writing() as connection:
        connection.execute(update(COLLECTIONS).values(snapshot=b"x" * 80))
    with pytest.raises(DatabaseError, match="damaged counts"):
        kept.counted(VOTES)
    with pytest.raises(DatabaseError, match="damaged counts"):
        send(kept, reports(1), batch=f"{DAY}.another-batch-of-it")


@pytest.mark.parametrize("kind", KINDS)
def test_gateways_that_count_at_once_lose_nothing_and_double_nothing(kind, tmp_path):
    place = location(kind, tmp_path)
    databases = [Database(place, now=Clock()) for _ in range(3)]
    batches = [(f"{DAY}.batch-number-{number:04}", reports(*[number % 3] * 5)) for number in range(12)]

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


# What breaks


@pytest.mark.essential
@pytest.mark.parametrize("kind", KINDS)
def test_wherever_a_gateway_is_killed_a_batch_that_is_sent_again_counts_once(kind, tmp_path):
    told, wire = ends()
    process = started(kill_everywhere, location(kind, tmp_path), wire)
    wire.close()
    points = []
    while not points or points[-1][0]:
        assert told.poll(PATIENCE)
        points.append(told.recv())
    assert ended(process) == 0
    assert len(points) > 8
    for number, (_, before, after, again, is_repeated) in enumerate(points):
        assert (before, again) == (EACH * number, EACH * (number + 1))
        assert after == (again if is_repeated else before)
    assert [point[-1] for point in points] == [False] * (len(points) - 2) + [True] * 2


def test_a_full_disk_counts_nothing_and_once_there_is_room_the_batch_counts_once(in_a_file):
    oracle = OptimizedUnaryEncoding(4_096, epsilon=1)
    wide, kept = Collection("wide", oracle, is_public=False, readers=frozenset()), Collections(in_a_file)
    given = reports(*range(5), oracle=oracle)

    def allow(pages):
        with in_a_file.reading() as connection:
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    allow(1)
    with pytest.raises(DatabaseError, match="could not be written"):
        send(kept, given, collection=wide)
    assert len(kept.counted(wide)) == 0
    allow(1_000_000)
    assert send(kept, given, collection=wide) == Received(5, 0)
    assert send(kept, given, collection=wide) == Received(5, 0, is_repeated=True)
    assert len(kept.counted(wide)) == 5


# Days


def day(number):
    return (date(2026, 11, 27) + timedelta(number)).isoformat()


def rows(database):
    with database.reading() as connection:
        return sorted(connection.execute(select(BATCHES.c.day)).scalars())


@pytest.mark.parametrize(
    "batch",
    [
        "", ID[11:], ID[:26], ID + "x" * 200, ID.replace(".", " "), "2026-11-27T" + ID[11:], "26-11-27" + ID[10:],
        "2026-02-30" + ID[10:], "2026-00-01" + ID[10:], ID + "\n", ID + "é", ID + "\udc80", " " + ID,
        "\u0662026-11-27" + ID[10:],
        "2026-W48-5" + ID[10:],
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_id_of_a_batch_is_refused_and_says_what_is(in_a_file, batch):
    with pytest.raises(ParameterError, match="a day in UTC from 2026-10-28 to 2026-11-28, a dot, and 16 to 189"):
        send(Collections(in_a_file), reports(0), batch=batch)


@pytest.mark.parametrize(("number", "is_counted"), [(-31, False), (-30, True), (0, True), (1, True), (2, False)])
def test_a_batch_is_of_the_last_days_or_of_tomorrow(kept, number, is_counted):
    batch = f"{day(number)}.sixteen-at-least"
    if is_counted:
        assert send(kept, reports(0), batch=batch) == Received(1, 0)
        return
    with pytest.raises(ParameterError, match="an older batch is refused"):
        send(kept, reports(0), batch=batch)
    assert len(kept.counted(VOTES)) == 0


def test_old_batches_are_forgotten_and_never_count_again(kept, database, clock):
    """Not even where the clock goes back, or more days are allowed afterwards."""
    old = [(f"{day(0)}.batch-number-{number:04}", reports(0)) for number in range(250)]
    for batch, given in old:
        send(kept, given, batch=batch)
    clock.wait(31 * 86_400)
    for number in range(4):
        send(kept, reports(1), batch=f"{day(31)}.batch-number-{number:04}")
    assert rows(database) == [day(31)] * 4
    clock.wait(-31 * 86_400)
    later = Collections(database, days=3_650)
    for again in (kept, later):
        with pytest.raises(ParameterError, match=f"from {day(1)} to "):
            send(again, old[0][1], batch=old[0][0])
    assert len(later.counted(VOTES)) == 254
    assert later.horizon() == day(1)


def test_few_rows_are_deleted_at_once_and_more_than_are_added(kept, database, clock):
    for number in range(150):
        send(kept, reports(0), batch=f"{day(0)}.batch-number-{number:04}")
    clock.wait(31 * 86_400)
    found = []
    for number in range(3):
        send(kept, reports(1), batch=f"{day(31)}.batch-number-{number:04}")
        found.append(rows(database).count(day(0)))
    assert found == [50, 0, 0]


def test_a_clock_that_is_far_ahead_forgets_nothing_of_whoever_has_the_right_day(kept, clock):
    """Only a batch of its own time moves the horizon, so that an hour with a wrong clock costs an hour."""
    send(kept, reports(0))
    clock.wait(4_000 * 86_400)
    with pytest.raises(ParameterError):
        send(kept, reports(0), batch=ID + "2")
    clock.wait(-4_000 * 86_400)
    assert send(kept, reports(0), batch=ID + "2") == Received(1, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_that_is_forgotten_while_it_comes_again_counts_once(kind, tmp_path):
    """A gateway whose clock is behind has the same batch again, while another one forgets its day."""
    place, behind, ahead = location(kind, tmp_path), Clock(), Clock()
    first, second = Database(place, now=behind), Database(place, now=ahead)
    slow, quick, batch = Collections(first), Collections(second), reports(0)
    send(slow, batch)
    ahead.wait(31 * 86_400)
    reached, go_on = Event(), Event()

    def looked_up(connection, table, **values):
        if table is BATCHES:
            reached.set()
            go_on.wait(5)
        return Database.insert_new(first, connection, table, **values)

    with ThreadPoolExecutor(2) as pool, pytest.MonkeyPatch.context() as patched:
        patched.setattr(first, "insert_new", looked_up)
        again = pool.submit(send, slow, batch)
        reached.wait(5)
        forgets = pool.submit(send, quick, reports(1), f"{day(31)}.sixteen-at-least")
        with suppress(TimeoutError):
            forgets.result(0.3)  # it waits until the other one is done
        go_on.set()
        assert again.result() == Received(1, 0, is_repeated=True)
        assert forgets.result() == Received(1, 0)
    assert len(quick.counted(VOTES)) == 2
    first.close()
    second.close()
