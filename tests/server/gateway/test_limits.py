"""What one request, one person and all together may take; whoever takes more is told when to try again."""

import socket
import time
from contextlib import ExitStack, suppress
from threading import Barrier, Event, Thread

import pytest
from tests.server.running import COUNT

from sfumato.errors import BusyError
from sfumato.server.config import LimitsEntry
from sfumato.server.gateway.limits import Places, RequestRates
from sfumato.server.gateway.problems import TooFastError

ASK = {"sql": COUNT, "epsilon": "0.001"}


def test_63_each_key_may_ask_so_often_whatever_it_asks(strict):
    """Catalogue 63: also what fails and what costs nothing counts; another key is not slowed."""
    beside = strict(requests_per_minute=6)
    with beside.client("ann") as ann, beside.client("bob") as bob:
        wanted = [
            ("POST", "/datasets/clinic/estimate", ASK), ("POST", "/datasets/clinic/dry-run", ASK), ("GET", "/me", None),
            ("GET", "/people", None), ("GET", "/datasets/nowhere", None), ("POST", "/datasets/clinic/ask", {"sql": 3}),
            ("POST", "/datasets/clinic/ask", ASK),
        ]  # fmt: skip
        answers = [ann.request(method, path, json=body) for method, path, body in wanted]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 403, 404, 422, 429]
        assert bob.get("/me").status_code == 200
    assert (answers[-1].json()["error"], answers[-1].headers["Retry-After"]) == ("TooFastError", "60")


def test_63_a_person_with_many_keys_may_ask_no_more_often(strict):
    """Everybody can make keys for themselves, so limits of keys would be none."""
    beside = strict(requests_per_minute=5, concurrent_per_person=1)
    with beside.client("ann") as ann:
        made = [ann.post("/keys", json={"name": "another"}) for _ in range(3)]
    places = beside.gateway.places
    places.take("ann")
    seen = []
    for one in made:
        with beside.client() as other:
            signed = {"Authorization": f"Bearer {one.json()['token']}"}
            seen.append(other.post("/datasets/clinic/ask", json=ASK, headers=signed))
    places.give_back("ann")
    assert [(one.json()["error"], one.headers["Retry-After"]) for one in seen] == [
        ("TooFastError", "2"), ("TooFastError", "2"), ("TooFastError", "60"),
    ]  # fmt: skip
    with beside.client("bob") as bob:
        assert bob.get("/me").status_code == 200


def test_63_another_format_takes_a_place(strict, beside):
    """It starts a process: a hundred requests for one would keep all threads, and nobody could even sign in."""
    with beside.client("ann") as ann:
        kept = ann.post("/datasets/clinic/ask", json=ASK).json()["ids"][0]
    busy = strict(concurrent_per_person=1)
    with busy.client("ann") as ann, busy.gateway.places.taken("ann"):
        found = [ann.get(f"/releases/{kept}?format={form}").status_code for form in ("json", "csv", "arrow", "parquet")]
    assert found == [200, 429, 429, 429]


def test_63_an_address_may_fail_so_often_and_whoever_has_a_key_is_not_locked_out(strict):
    """Catalogue 63: of addresses; the doors that need no key count too."""
    beside = strict(requests_per_minute=4)
    with beside.client() as nobody, beside.client("cem") as cem:
        assert [nobody.get("/me").status_code for _ in range(3)] == [401] * 3
        assert [nobody.get("/ready").status_code for _ in range(2)] == [200, 429]
        assert nobody.get("/me").status_code == 429
        assert nobody.get("/health").status_code == 200
        assert cem.get("/me").status_code == 200


def test_a_minute_later_it_may_ask_again(monkeypatch):
    rates, now = RequestRates(LimitsEntry(requests_per_minute=2)), time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    rates.hit("key")
    rates.hit("key")
    rates.hit("another")
    with pytest.raises(TooFastError):
        rates.hit("key")
    monkeypatch.setattr(time, "time", lambda: now + 61)
    rates.hit("key")


def test_a_key_and_all_together_have_so_many_under_way():
    places = Places(LimitsEntry(concurrent_per_person=2, concurrent=3))
    with places.taken("a"), places.taken("a"):
        with pytest.raises(TooFastError, match="one person"), places.taken("a"):
            raise AssertionError
        with places.taken("b"), pytest.raises(BusyError, match="queries at once") as full:
            places.take("c")
        assert full.type is BusyError
        assert places.count() == 2
    assert places.count() == 0
    with pytest.raises(ZeroDivisionError), places.taken("a"):
        raise ZeroDivisionError
    assert places.count() == 0


def test_places_are_taken_by_one_of_those_who_come_at_once():
    places, start, inside = Places(LimitsEntry(concurrent_per_person=3, concurrent=100)), Barrier(16), []

    def take():
        start.wait()
        try:
            places.take("a")
            inside.append(1)
        except TooFastError:
            pass

    threads = [Thread(target=take) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(inside), places.count()) == (3, 3)


def test_too_many_queries_at_once_are_told_so_and_nothing_is_charged(strict, monkeypatch, fresh):
    beside, goes_on = strict(concurrent_per_person=1, concurrent=2, seconds_to_answer=0), Event()
    answer = beside.gateway.shown.answer
    monkeypatch.setattr(beside.gateway.shown, "answer", lambda asked: (goes_on.wait(20), answer(asked))[1])
    with ExitStack() as opened:
        ann, bob, both = (opened.enter_context(beside.client(person)) for person in ("ann", "bob", "bob"))
        spent = [ann.get("/datasets/clinic/accounts/ann").json()["spent"]]
        first, second = (
            one.post("/datasets/clinic/ask", json={"sql": fresh(), "epsilon": "0.5"}) for one in (ann, bob)
        )
        assert [first.status_code, second.status_code] == [202, 202]
        for path in ("/ask", "/estimate", "/dry-run"):
            more = ann.post(f"/datasets/clinic{path}", json={"sql": fresh(), "epsilon": "0.5"})
            assert (more.status_code, more.headers["Retry-After"]) == (429, "2"), path
        spent.append(ann.get("/datasets/clinic/accounts/ann").json()["spent"])
        beside.gateway.places._limits = LimitsEntry(concurrent_per_person=9, concurrent=2)
        full = both.post("/datasets/clinic/ask", json={"sql": fresh(), "epsilon": "0.5"})
        assert (full.status_code, full.json()["error"], full.headers["Retry-After"]) == (503, "BusyError", "2")
        goes_on.set()
        assert spent[0] == spent[1]


def test_62_a_thousand_idle_connections_keep_nobody_out(strict):
    """Catalogue 62: connections that say nothing end by themselves, and others are served meanwhile."""
    beside = strict(seconds_to_send=1.5)
    with ExitStack() as opened:
        idle = [opened.enter_context(socket.create_connection(beside.address, timeout=10)) for _ in range(250)]
        for one in idle[::2]:
            one.sendall(b"GET /v1/me HTTP/1.1\r\nX-Slow")
        with beside.client("cem") as cem:
            began = time.monotonic()
            assert cem.get("/me").status_code == 200
            assert time.monotonic() - began < 1
        for one in idle:
            with suppress(ConnectionResetError):
                assert one.recv(1_000) == b""


def test_62_a_head_that_comes_byte_after_byte_ends_and_one_that_is_whole_does_not(strict):
    """Catalogue 62: slowloris in the head."""
    beside, began = strict(seconds_to_send=0.5), time.monotonic()
    with socket.create_connection(beside.address, timeout=10) as slow:
        ended = False
        while not ended and time.monotonic() - began < 8:
            try:
                slow.sendall(b"X")
                time.sleep(0.1)
            except OSError:
                ended = True
    assert ended
    with beside.client("cem") as cem:
        assert [cem.get("/me").status_code for _ in range(3)] == [200] * 3


def test_a_request_that_is_sent_behind_another_is_not_cut_off_while_it_is_answered(strict, monkeypatch):
    """Time runs while a head is expected, not while an answer is."""
    beside = strict(seconds_to_send=0.2)
    beside.server.config.timeout_keep_alive = 0.1
    people = beside.gateway.people.people
    monkeypatch.setattr(beside.gateway.people, "people", lambda: (time.sleep(0.7), people())[1])
    request = f"GET /v1/{{}} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {beside.keys['admin']}\r\n"
    with socket.create_connection(beside.address, timeout=15) as connection:
        both = request.format("me") + "\r\n" + request.format("people") + "Connection: close\r\n\r\n"
        connection.sendall(both.encode())
        said = b""
        while more := connection.recv(65_536):
            said += more
    assert said.count(b"HTTP/1.1 200 ") == 2


def test_a_connection_that_is_accepted_as_the_server_ends_has_one_response(strict, monkeypatch):
    """What uvicorn tells connections, it tells those that there are; one that comes in that moment would ask on."""
    beside = strict()

    async def does_not_end_yet(_):
        return False

    with monkeypatch.context() as patched, socket.create_connection(beside.address, timeout=10) as connection:
        patched.setattr(beside.server, "on_tick", does_not_end_yet)
        for is_ending in (False, True):
            patched.setattr(beside.server, "should_exit", is_ending)
            connection.sendall(b"GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
            said = b""
            while not said.endswith(b"}"):
                said += connection.recv(65_536)
            assert said.startswith(b"HTTP/1.1 200 ")
        while connection.recv(65_536):
            pass
