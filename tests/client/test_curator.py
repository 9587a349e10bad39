"""Addresses that give a key away are refused; what is lost is sent again under one key; and nothing shows the key."""

import logging
import pickle
import subprocess
import sys
import traceback

import httpx
import pytest
from fastapi import Response
from fastapi.responses import JSONResponse
from tests.client.curator import TOKEN, problem

import sfumato as sf
from sfumato.client import curator
from sfumato.client.asked import Inquiry
from sfumato.client.curator import RemoteCurator, address_of
from sfumato.client.problems import LONGEST_PAUSE, TRIES
from sfumato.client.tokens import Token
from sfumato.errors import BudgetExceededError, CuratorError, ParameterError, UnavailableError


class BusyError(Exception):
    """A stand-in for the server's own."""


SQL = "SELECT COUNT(*) AS n FROM people"


def awaited(times):
    """What a server says that still works on an answer."""
    return [JSONResponse({"id": "x", "stage": "waiting"}, 202) for _ in range(times)]


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://Curator.Example.org/", "https://curator.example.org"),
        ("https://example.org:8443/curator/", "https://example.org:8443/curator"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("http://127.0.0.2:1", "http://127.0.0.2:1"),
        ("http://[::1]:80", "http://[::1]:80"),
    ],
)
def test_an_address_has_one_form(url, address):
    assert address_of(url) == address


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org", "http://localhost.example.org", "http://10.0.0.1", "ftp://example.org", "example.org",
        "https://", "https://ann:swordfish@example.org", "https://example.org/?a=1", "https://example.org/#a",
        "https://exa mple.org", "https://example.org:port", "https://[::1", "https://exämple.org", "", None, 7,
        b"https:",
        "https://example.org\\@localhost", "https://example.org\n",
    ],
)  # fmt: skip
def test_an_address_that_is_none_or_gives_a_key_away_is_refused(url):
    with pytest.raises(ParameterError) as told:
        address_of(url)
    assert "swordfish" not in str(told.value)


def test_who_says_so_may_send_a_key_in_the_open():
    assert address_of("http://example.org", insecure=True) == "http://example.org"


def test_what_is_lost_on_its_way_is_sent_again_under_one_key(served):
    app, url = served
    with sf.connect(url, token=TOKEN) as session:
        app.state.asked.clear()
        app.state.waiting = [Response(status_code=502), problem(BusyError(), 503, headers={"Retry-After": "0"})]
        release = session.sql(SQL, epsilon=1)
        assert not release.reused
        keys = [headers["idempotency-key"] for _, _, headers in app.state.asked]
        assert len(keys) == 3
        assert len(set(keys)) == 1
        assert session.spent == sf.PureDP(1)


def test_what_takes_long_is_asked_for_again_under_one_key(served):
    """A lost answer between two that say to wait is one more try."""
    app, url = served
    with sf.connect(url, token=TOKEN) as session:
        app.state.asked.clear()
        app.state.waiting = [*awaited(5), Response(status_code=502), *awaited(2)]
        release = session.sql(SQL, epsilon=1)
        assert not release.reused
        keys = [headers["idempotency-key"] for _, _, headers in app.state.asked]
        assert (len(keys), len(set(keys))) == (9, 1)
        app.state.waiting = awaited(1)
        assert len(session.batch([SQL, f"{SQL} WHERE age > 30"], epsilon=1)) == 2


def test_a_server_is_asked_again_when_it_says(served, monkeypatch):
    paused = []
    monkeypatch.setattr(curator.time, "sleep", paused.append)
    app, url = served
    with sf.connect(url, token=TOKEN) as session:
        app.state.waiting = [
            JSONResponse({"id": "x"}, 202, {"Retry-After": said}) for said in ("1", "0", "soon", "99999")
        ]  # fmt: skip
        session.sql(SQL, epsilon=1)
    assert paused == [1, 0, 0, LONGEST_PAUSE]


def test_what_takes_longer_than_anybody_waits_says_its_key(served, monkeypatch):
    monkeypatch.setattr(curator, "_MOST_WAITS", 2)
    app, url = served
    with sf.connect(url, token=TOKEN) as session:
        app.state.waiting = awaited(3)
        with pytest.raises(CuratorError, match="takes long; ask again with idempotency_key='monday'"):
            session.query(SQL).release(epsilon=1, idempotency_key="monday")
        assert session.query(SQL).release(epsilon=1, idempotency_key="monday").records()
        assert session.spent == sf.PureDP(1)


def test_an_answer_that_is_lost_is_not_charged_twice(served, monkeypatch):
    """It was charged and released, and nobody heard of it: the same key gives the same answer, as one's own."""
    _, url = served
    with sf.connect(url, token=TOKEN) as session:
        real, lost = httpx.Client.request, []

        def losing(self, *arguments, **named):
            response = real(self, *arguments, **named)
            if named["url"].endswith("/ask") and not lost:
                lost.append(response)
                raise httpx.ReadError("the line was cut")
            return response

        monkeypatch.setattr(httpx.Client, "request", losing)
        release = session.sql(SQL, epsilon=1)
        assert lost
        assert release.records()[0]["n"] == lost[0].json()["releases"][0]["estimates"][0][0][0]
        assert session.spent == sf.PureDP(1)


def test_a_refusal_is_not_asked_again(served):
    app, url = served
    with sf.connect(url, token=TOKEN) as session:
        app.state.asked.clear()
        with pytest.raises(BudgetExceededError) as told:
            session.sql(SQL, epsilon=100)
        assert told.value.requested == sf.PureDP(100)
        app.state.waiting = [problem(UnavailableError(), 503, headers={"Retry-After": "1"})]
        with pytest.raises(UnavailableError):
            session.sql(SQL, epsilon=1)
        assert len(app.state.asked) == 2


def test_a_server_that_is_away_is_said_with_the_key_to_ask_again():
    away = RemoteCurator("http://127.0.0.1:9", Token(TOKEN))
    with pytest.raises(CuratorError, match="idempotency_key='monday'") as told:
        away.send(Inquiry.sql("people", SQL).release({"epsilon": 1}, "monday"))
    assert told.value.status is None
    assert told.value.__context__ is None
    away.close()


def test_tries_have_an_end(served):
    app, url = served
    with sf.connect(url, token=TOKEN) as session:
        app.state.asked.clear()
        app.state.waiting = [Response(status_code=502) for _ in range(2 * TRIES)]
        with pytest.raises(CuratorError, match="502"):
            session.sql(SQL, epsilon=1)
        assert len(app.state.asked) == TRIES


def test_nothing_shows_the_key(served, caplog):
    app, url = served
    caplog.set_level(logging.DEBUG)
    told = []
    with sf.connect(url, token=TOKEN) as session:
        told += [repr(session), repr(session._curator), str(vars(session)), repr(session.query(SQL))]
        told += [str(vars(session._curator)), str(vars(session._curator._client))]
        for waiting in ([Response(status_code=500)], [Response(b"x" * 9, media_type="application/json")]):
            app.state.waiting = waiting
            with pytest.raises(CuratorError) as error:
                session.sql(SQL, epsilon=1)
            told += [str(error.value), repr(error.value), "".join(traceback.format_exception(error.value))]
        with pytest.raises(TypeError):
            pickle.dumps(session._curator)
    with pytest.raises(sf.errors.SfumatoError) as error:
        sf.connect("http://127.0.0.1:9", token=TOKEN)
    told += ["".join(traceback.format_exception(error.value)), str(vars(error.value)), caplog.text]
    assert TOKEN not in "".join(told)


def test_a_wrong_key_is_said_once(served):
    app, url = served
    with pytest.raises(sf.errors.SfumatoError, match="no valid API key"):
        sf.connect(url, token="sfk_other")  # noqa: S106 # of nobody
    assert len(app.state.asked) == 1


def test_a_server_that_leads_elsewhere_is_not_followed(served):
    """It could lead to another machine, which the key is not for."""
    app, url = served
    app.state.waiting = [Response(status_code=307, headers={"Location": f"{url}/v1/datasets"})]
    with pytest.raises(CuratorError, match="307"):
        sf.connect(url, token=TOKEN)
    assert len(app.state.asked) == 1


@pytest.mark.parametrize("body", [b"", b"[]", b"7", b'{"releases": 3}', b'{"releases": [{"version": 1}]}'])
def test_an_answer_that_is_none_is_said(served, body):
    app, url = served
    with sf.connect(url, token=TOKEN) as session:
        app.state.waiting = [Response(body, media_type="application/json")]
        with pytest.raises((CuratorError, ParameterError)):
            session.sql(SQL, epsilon=1)


def test_without_the_extra_one_hears_what_to_install():
    program = "import sys; sys.modules['httpx'] = None; import sfumato as sf; sf.connect"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "ParameterError: client = 'httpx': is not installed; run: pip install httpx" in done.stderr
