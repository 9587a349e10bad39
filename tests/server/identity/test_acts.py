"""Acts are chained, written in groups, by several processes at once, and hold nothing but names and hashes."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from threading import Event

import pytest
from sqlalchemy import text
from tests.server.identity.databases import KINDS, location

from sfumato.errors import DatabaseError, ParameterError
from sfumato.server.identity import acts
from sfumato.server.identity.acts import GENESIS, Act, ActChain, ActLog, ActOutcome
from sfumato.server.identity.database import Database
from sfumato.server.identity.people import Action

ASKED = Act(person="ann", action=Action.ASK, dataset="adult", target="adult/ann", query_hash="ab" * 32)
REFUSED = Act(person="", action=Action.SIGN_IN, target="0123456789abcdef", outcome=ActOutcome.REFUSED)


@pytest.fixture
def log(database):
    made = ActLog(database)
    yield made
    made.close()


@pytest.fixture
def in_file(in_a_file):
    made = ActLog(in_a_file)
    yield made
    made.close()


def test_acts_are_read_as_they_were_written(log, clock):
    log.record(ASKED)
    clock.wait(1.5)
    log.record(REFUSED)
    first, second = log.read()
    assert (first.number, first.act, second.number, second.act) == (1, ASKED, 2, REFUSED)
    assert (first.previous, second.previous) == (GENESIS, first.hash)
    assert (second.at - first.at).total_seconds() == 1.5
    assert log.verify() == ActChain(length=2, head=second.hash)


def test_the_hash_of_an_act_is_that_of_its_words_and_of_the_hash_before(in_file):
    in_file.record(ASKED)
    in_file.record(REFUSED)
    _, second = in_file.read()
    content = (
        '{"action":"sign_in","at":"2026-11-27T00:00:00.000000Z","dataset":"","number":2,"outcome":"refused","person":"",'
        '"query_hash":"","target":"0123456789abcdef"}'
    )
    assert second.hash == sha256(f"{second.previous}{content}".encode()).hexdigest()


def test_an_empty_log_verifies(log):
    assert log.read() == ()
    assert log.verify() == ActChain(length=0, head=GENESIS)


def test_acts_are_filtered_and_come_in_pages(in_file):
    acts = [Act(person=person, action=action, dataset=dataset) for person, action, dataset in [
        ("ann", Action.ASK, "adult"), ("bob", Action.ASK, "visits"), ("ann", Action.READ_SELF, ""),
        ("ann", Action.ASK, "e"),
    ]]  # fmt: skip
    for act in acts:
        in_file.record(act)
    for filters, numbers in [
        ({}, [1, 2, 3, 4]), ({"after": 2}, [3, 4]), ({"limit": 3}, [1, 2, 3]), ({"after": 1, "limit": 1}, [2]),
        ({"person": "ann"}, [1, 3, 4]), ({"datasets": ["adult", "e"]}, [1, 4]), ({"datasets": []}, []),
        ({"action": Action.READ_SELF}, [3]), ({"person": "ann", "action": Action.ASK, "datasets": ["e"]}, [4]),
    ]:  # fmt: skip
        assert [written.number for written in in_file.read(**filters)] == numbers, filters


def counted(database, monkeypatch):
    """A list that grows by one with each transaction that writes."""
    begun = []
    whole = database.writing

    @contextmanager
    def writing():
        begun.append(1)
        with whole() as connection:
            yield connection

    monkeypatch.setattr(database, "writing", writing)
    return begun


def test_acts_that_come_together_are_written_together(in_file, in_a_file, monkeypatch):
    begun, may_write, whole = counted(in_a_file, monkeypatch), Event(), ActLog._write_group
    monkeypatch.setattr(ActLog, "_write_group", lambda log: may_write.wait(10) and whole(log))
    for _ in range(300):
        in_file.record(ASKED, wait=False)
    may_write.set()
    in_file.record(ASKED)
    assert len(begun) <= 3
    assert in_file.verify().length == 301


def test_acts_that_nobody_waits_for_become_one_group_and_who_waits_ends_it(in_file, in_a_file, monkeypatch):
    begun = counted(in_a_file, monkeypatch)
    monkeypatch.setattr(acts, "_GATHERING", 60.0)
    for _ in range(20):
        in_file.record(ASKED, wait=False)
    assert len(begun) == 0
    in_file.record(ASKED)
    assert len(begun) == 1
    assert in_file.verify().length == 21


def test_who_does_not_wait_is_written_by_the_end(in_a_file):
    log = ActLog(in_a_file)
    for _ in range(1_200):
        log.record(ASKED, wait=False)
    log.close()
    assert log.verify().length == 1_200


def failing(database, monkeypatch):
    """The database refuses to write while the event is set."""
    is_full, whole = Event(), database.writing
    is_full.set()

    @contextmanager
    def writing():
        if is_full.is_set():
            raise DatabaseError("people.db", "is full")
        with whole() as connection:
            yield connection

    monkeypatch.setattr(database, "writing", writing)
    return is_full


def test_who_waits_learns_that_it_could_not_be_written_and_others_are_written_later(in_file, in_a_file, monkeypatch):
    is_full = failing(in_a_file, monkeypatch)
    in_file.record(ASKED, wait=False)
    with pytest.raises(DatabaseError, match="takes no acts; see that it can be written"):
        in_file.record(REFUSED)
    is_full.clear()
    in_file.record(REFUSED)
    assert [written.act for written in in_file.read()] == [ASKED, REFUSED]


def test_too_many_acts_that_cannot_be_written_are_refused(in_file, in_a_file, monkeypatch):
    is_full = failing(in_a_file, monkeypatch)
    monkeypatch.setattr("sfumato.server.identity.acts._BACKLOG", 5)
    for _ in range(5):
        in_file.record(ASKED, wait=False)
    with pytest.raises(DatabaseError, match="takes no acts"):
        in_file.record(ASKED, wait=False)
    is_full.clear()
    in_file.close()
    assert in_file.verify().length == 5


def test_who_waits_is_told_of_any_failure_and_the_next_act_is_written(in_file, monkeypatch):
    whole, failures = Database.lock, [True]

    def lock(*arguments):
        if failures:
            failures.clear()
            raise SystemExit
        whole(*arguments)

    monkeypatch.setattr(Database, "lock", lock)
    with pytest.raises(DatabaseError, match="takes no acts"):
        in_file.record(ASKED)
    in_file.record(REFUSED)
    assert [written.act for written in in_file.read()] == [REFUSED]


def append_many(where, person):
    database = Database(where)
    log = ActLog(database)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: log.record(Act(person=person, action=Action.ASK, target=f"{n}")), range(40)))
    log.close()
    database.close()


@pytest.mark.parametrize("kind", KINDS)
def test_processes_that_write_at_once_make_one_chain(kind, tmp_path):
    where = location(kind, tmp_path)
    database = Database(where)
    spawned = multiprocessing.get_context("spawn")
    processes = [spawned.Process(target=append_many, args=(where, person)) for person in ("ann", "bob")]
    for process in processes:
        process.start()
    append_many(where, "eve")
    for process in processes:
        process.join()
    log = ActLog(database)
    assert [process.exitcode for process in processes] == [0, 0]
    assert log.verify().length == 120
    acts = log.read(limit=1_000)
    assert {(written.act.person, int(written.act.target)) for written in acts} == {
        (person, n) for person in ("ann", "bob", "eve") for n in range(40)
    }
    database.close()


CHANGES = {
    "another person": ("UPDATE act SET person = 'bob' WHERE number = 2", 2),
    "another outcome": ("UPDATE act SET outcome = 'failed' WHERE number = 3", 3),
    "another moment": ("UPDATE act SET at = '2026-01-01T00:00:00.000000Z' WHERE number = 1", 1),
    "another hash": (f"UPDATE act SET hash = '{'1' * 64}' WHERE number = 3", 3),
    "another past": (f"UPDATE act SET previous = '{'1' * 64}' WHERE number = 2", 2),
    "one is gone": ("DELETE FROM act WHERE number = 2", 2),
    "the first is gone": ("DELETE FROM act WHERE number = 1", 1),
    "another order": ("UPDATE act SET number = number + 10 WHERE number > 1", 2),
    "no change": ("DELETE FROM act WHERE number = 99", None),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_by_who_took_the_triggers_away_is_found(in_file, in_a_file, change):
    statement, broken = CHANGES[change]
    for _ in range(4):
        in_file.record(ASKED)
    with in_a_file.writing() as connection:
        for word in ("update", "delete"):
            connection.execute(text(f"DROP TRIGGER act_has_no_{word}"))
        connection.execute(text(statement))
    found = in_file.verify()
    assert (found.broken, found.length) == (broken, 4 if broken is None else broken - 1)


def test_what_was_noted_elsewhere_shows_that_the_end_is_gone_or_all_was_written_anew(in_a_file, tmp_path, clock):
    log = ActLog(in_a_file)
    for _ in range(3):
        log.record(ASKED)
    noted = log.verify()
    assert log.verify(length=noted.length, head=noted.head) == noted
    log.record(ASKED)
    assert log.verify(length=noted.length, head=noted.head).broken is None
    log.close()
    other = Database(location("sqlite", tmp_path), now=clock)
    anew = ActLog(other)
    for _ in range(2):
        anew.record(ASKED)
    assert anew.verify(length=noted.length, head=noted.head).broken == 3
    anew.record(REFUSED)
    assert anew.verify().broken is None
    assert anew.verify(length=noted.length, head=noted.head).broken == 3
    anew.close()
    other.close()


@pytest.mark.parametrize("field", ["person", "dataset", "target", "query_hash"])
@pytest.mark.parametrize(
    "value",
    [
        "SELECT COUNT(*) FROM adult WHERE name = 'canary'", "name='canary'", "two words", "a,b", '"x"', "x\n",
        "x" * 201,
        f"sfk_{'0' * 16}_{'1' * 64}", f"x.sfk_{'0' * 16}_{'1' * 64}", "SELECT(1)",
    ],
)  # fmt: skip
def test_no_query_no_key_and_no_value_stands_in_an_act(field, value):
    with pytest.raises(ParameterError, match="is not shown") as refused:
        Act(**{"person": "ann", "action": Action.ASK, field: value})
    assert "canary" not in str(refused.value)
    assert "1111" not in str(refused.value)


def test_only_hashes_in_hex_are_hashes():
    for text_of_a_hash in ("ann", "0x12", "AB" * 32, "ab" * 65, "1234567"):
        with pytest.raises(ParameterError, match="query_hash"):
            Act(person="ann", action=Action.ASK, query_hash=text_of_a_hash)


@pytest.mark.parametrize("words", [{"action": "drop_everything"}, {"outcome": "perhaps"}])
def test_what_happened_is_a_word_of_a_list(words):
    with pytest.raises(ParameterError, match="must be one of"):
        Act(**{"person": "ann", "action": Action.ASK} | words)
