"""What gateways and the worker say to each other: sealed with the ledger's key; errors say no more than they may."""

import threading
from contextlib import contextmanager
from multiprocessing.connection import Listener

import pytest

from sfumato.errors import (
    BusyError,
    EngineError,
    FailedOnRowsError,
    LedgerCorruptError,
    LedgerError,
    NotPrivateError,
    ParameterError,
    ReservationError,
    TicketError,
    UnavailableError,
)
from sfumato.ledger.keeping.key import fresh_key
from sfumato.server.work.channel import RETRY_AFTER, Line, failure, opened, read, sealed, written
from sfumato.version import __version__

CANARY = "canary-1414213562"


# Messages


def test_a_sealed_message_crosses_as_it_is():
    key = fresh_key()
    message = read(written(sealed(key, "run", "people", 'é "quoted" \ud800\n')))
    assert opened(message, key) == ("run", ("people", 'é "quoted" \ud800\n'))


@pytest.mark.parametrize(
    "change",
    [
        {"purpose": "publish"},
        {"parts": ["a", "bc"]},
        {"parts": ["abc"]},
        {"parts": []},
        {"seal": "0" * 64},
        {"seal": "é"},
    ],
    ids=str,
)
def test_a_message_that_was_changed_is_refused(change):
    key = fresh_key()
    with pytest.raises(TicketError, match="must be made with the key"):
        opened(sealed(key, "run", "ab", "c") | change, key)


@pytest.mark.parametrize("change", [{"purpose": 1}, {"parts": "ab"}, {"parts": ["a", 1]}, {"seal": None}], ids=str)
def test_a_message_of_other_types_is_refused(change):
    key = fresh_key()
    with pytest.raises(TicketError, match="must have a purpose, parts and a seal"):
        opened(sealed(key, "run", "ab") | change, key)


def test_a_message_to_the_worker_is_no_other_thing_that_the_key_seals():
    key = fresh_key()
    message = sealed(key, "run", "people")
    assert message["seal"] != key.seal("run", "people")


# Errors


@contextmanager
def answering(tmp_path, *answers):
    """A line to somebody who gives these answers, one after the other, or waits for an event; then they are gone."""
    place = tmp_path / "worker.sock"
    heard = []
    with Listener(str(place), family="AF_UNIX") as listener:

        def answer():
            with listener.accept() as connection:
                for one in answers:
                    heard.append(connection.recv_bytes())
                    if isinstance(one, threading.Event):
                        one.wait()
                    said = {"waited": True} if isinstance(one, threading.Event) else one
                    connection.send_bytes(said if isinstance(said, bytes) else written(said))

        thread = threading.Thread(target=answer)
        thread.start()
        line = Line(place, "people", patience=0)
        try:
            yield line, heard
        finally:
            line.close()
            thread.join()


CROSSES = [
    UnavailableError(), EngineError("duckdb", "connected"), TicketError("seal", "must be right"),
    ReservationError("abc", "taken over"), LedgerError("ledger.db", "is locked"),
]  # fmt: skip


@pytest.mark.parametrize("error", CROSSES, ids=lambda one: type(one).__name__)
def test_an_error_is_raised_where_somebody_waits_for_it(tmp_path, error):
    with answering(tmp_path, {"in": True}, failure(error)) as (line, _):
        with pytest.raises(type(error)) as raised:
            line.run({})
        assert (type(raised.value), str(raised.value)) == (type(error), str(error))


@pytest.mark.parametrize(
    "error",
    [
        FailedOnRowsError("duckdb", CANARY, CANARY),
        ParameterError("x", CANARY, CANARY),
        NotPrivateError("x", CANARY, ""),
    ],
    ids=lambda one: type(one).__name__,
)
def test_of_other_errors_only_that_there_is_no_answer_crosses(error):
    assert failure(error) == {"failed": "UnavailableError"}


def test_errors_of_ledgers_cross_as_such():
    assert failure(LedgerCorruptError(3)) == failure(LedgerError("entry 3", LedgerCorruptError(3).requirement))


# Lines


def test_a_line_enters_once_and_says_which_dataset(tmp_path):
    with answering(tmp_path, {"in": True}, {"answered": True}, {"answered": True}) as (line, heard):
        line.enter()
        line.enter()
        assert line.run({"one": 1}) == line.run({"two": 2}) == {"answered": True}
    assert heard == [written({"enter": "people", "version": __version__}), written({"one": 1}), written({"two": 2})]


def test_a_worker_of_another_version_lets_nobody_in_and_nothing_is_charged(tmp_path):
    with answering(tmp_path, {"renewed": True}) as (line, _), pytest.raises(BusyError, match="nothing was charged"):
        line.enter()


def test_a_worker_that_is_gone_before_it_gives_a_place_is_asked_again(tmp_path):
    place = tmp_path / "worker.sock"
    with Listener(str(place), family="AF_UNIX") as listener:

        def listen():
            listener.accept().close()
            with listener.accept() as connection:
                connection.recv_bytes()
                connection.send_bytes(written({"in": True}))

        thread = threading.Thread(target=listen)
        thread.start()
        line = Line(place, "people", patience=60)
        line.enter()
        line.close()
        thread.join()


def test_whoever_waits_for_an_answer_does_something_meanwhile(tmp_path):
    is_enough, calls = threading.Event(), []

    def meanwhile():
        calls.append(len(calls))
        if len(calls) == 3:
            is_enough.set()

    with answering(tmp_path, {"in": True}, is_enough) as (line, _):
        assert line.run({}, meanwhile=meanwhile, every=0.01) == {"waited": True}
    assert len(calls) >= 3


def test_a_full_queue_is_busy_and_says_when_to_try_again(tmp_path):
    with answering(tmp_path, {"busy": True}) as (line, _):
        with pytest.raises(BusyError) as raised:
            line.enter()
        assert raised.value.retry_after == RETRY_AFTER


@pytest.mark.parametrize("answer", [{"closed": True}, {}, {"in": 1}], ids=str)
def test_a_dataset_that_is_not_open_is_unavailable(tmp_path, answer):
    with answering(tmp_path, answer) as (line, _), pytest.raises(UnavailableError):
        line.enter()


def test_a_worker_that_is_gone_is_unavailable(tmp_path):
    with answering(tmp_path, {"in": True}) as (line, _), pytest.raises(UnavailableError):
        line.run({})


def test_a_worker_that_answers_nonsense_has_refused(tmp_path):
    with answering(tmp_path, {"in": True}, b"nonsense") as (line, _), pytest.raises(TicketError):
        line.run({})


def test_a_worker_that_is_not_there_is_waited_for_a_while(tmp_path):
    line = Line(tmp_path / "worker.sock", "people", patience=0.2)
    begun = threading.Event()

    def listen():
        begun.wait(0.1)
        with Listener(str(tmp_path / "worker.sock"), family="AF_UNIX") as listener, listener.accept() as connection:
            connection.recv_bytes()
            connection.send_bytes(written({"in": True}))

    with pytest.raises(UnavailableError):
        Line(tmp_path / "none.sock", "people", patience=0.05).enter()
    thread = threading.Thread(target=listen)
    thread.start()
    line.enter()
    line.close()
    thread.join()
