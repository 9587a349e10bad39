"""Bodies that lie, are too large, come too slowly, or mean two things."""

import asyncio
import json
import socket
import time

import pytest
from tests.server.running import COUNT

from sfumato.server.gateway.bodies import StrictRequest

JSON = {"Content-Type": "application/json"}
ASK = "/datasets/clinic/estimate"
AMBIGUOUS = {
    "a name twice": b'{"sql": "SELECT 1", "sql": "SELECT 2"}',
    "a name twice inside": b'{"sql": "x", "epsilon": 1, "error": {"n": 1, "n": 2}}',
    "a number that is none": b'{"sql": "x", "epsilon": NaN}',
    "a number without end": b'{"sql": "x", "epsilon": -Infinity}',
    "a number that is too large": b'{"sql": "x", "epsilon": 1e400}',
    "a number of a million digits": b'{"sql": "x", "epsilon": ' + b"9" * 900_000 + b"}",
    "half of a character": b'{"sql": "SELECT \'\\ud800\'", "epsilon": 1}',
    "half of a character as a name": b'{"\\udfff": 1}',
    "no UTF-8": b'{"sql": "\xff\xfe"}',
    "UTF-16": '{"sql": "x"}'.encode("utf-16"),
    "a hundred thousand brackets": b"[" * 100_000 + b"]" * 100_000,
    "a hundred thousand objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a bracket": b"[",
    "a text and more": b'{"sql": "x"} {"sql": "y"}',
}


@pytest.mark.parametrize("body", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_what_means_two_things_or_nothing_is_refused(beside, body):
    with beside.client("ann") as ann:
        answer = ann.post(ASK, content=body, headers=JSON)
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("the body is no JSON that has one meaning")
    assert len(answer.content) < 1_000


NOT_THE_INTERFACE = {
    "nothing": b"", "null": b"null", "a list": b"[]", "a text": b'"SELECT 1"', "a number": b"1",
    "another field": b'{"sql": "x", "epsilon": 1, "is_admin": true}',
    "a truth as a number": b'{"sql": "x", "epsilon": true}', "a text as a truth": b'{"sql": "x", "intervals": "yes"}',
    "a number as a text": b'{"sql": 3}', "too many queries": json.dumps({"queries": [{"sql": "x"}] * 51}).encode(),
}  # fmt: skip


@pytest.mark.parametrize("body", NOT_THE_INTERFACE.values(), ids=NOT_THE_INTERFACE)
def test_what_is_not_of_the_interface_is_refused(beside, body):
    with beside.client("ann") as ann:
        answer = ann.post(ASK, content=body, headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (422, "ParameterError")


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/xml", "multipart/form-data; boundary=x", "text/json", None]
)
def test_what_is_not_called_json_is_not_read_as_such(beside, kind):
    with beside.client("ann") as ann:
        body = json.dumps({"sql": COUNT, "epsilon": 1})
        answer = ann.post(ASK, content=body, headers={} if kind is None else {"Content-Type": kind})
    assert answer.status_code == 422


def test_62_a_body_is_read_up_to_a_size_also_if_it_does_not_say_how_large_it_is(beside):
    """Catalogue 62: a megabyte and one byte."""

    def chunks(number):
        yield from [b" " * 1_000] * number

    with beside.client("ann") as ann:
        stated = ann.post(ASK, content=b" " * 1_000_001, headers=JSON)
        chunked = ann.post(ASK, content=chunks(1_001), headers=JSON)
        fits = ann.post(ASK, content=chunks(1_000), headers=JSON)
    assert [stated.status_code, chunked.status_code, fits.status_code] == [413, 413, 400]
    assert stated.json()["fields"] == {"most": 1_000_000}


def sent(beside, *parts, pause=0.0, seconds=5):
    """What a server says to some bytes, part after part."""
    with socket.create_connection(beside.address, timeout=seconds) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        said = b""
        try:
            while more := connection.recv(65_536):
                said += more
        except (ConnectionResetError, TimeoutError):
            pass
        return said


def head(beside, *lines):
    request = [f"POST /v1{ASK} HTTP/1.1", "Host: x", f"Authorization: Bearer {beside.keys['ann']}", *lines, "", ""]
    return "\r\n".join(request).encode()


def test_62_a_body_that_comes_too_slowly_is_not_waited_for(strict):
    """Catalogue 62: slowloris in the body."""
    beside, began = strict(seconds_to_send=0.4), time.monotonic()
    said = sent(beside, head(beside, "Content-Type: application/json", "Content-Length: 50"), b"{", b" ", pause=0.1)
    assert said.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in said.lower()
    assert time.monotonic() - began < 4


@pytest.mark.parametrize(
    "lines",
    [
        ["Content-Length: 2", "Content-Length: 3"], ["Content-Length: -1"], ["Content-Length: 0x2"],
        ["Content-Length: 1_0"], ["Content-Length: " + "9" * 4_400],
        ["Transfer-Encoding: chunked, chunked"], ["Transfer-Encoding: gzip, chunked"],
        ["Content-Length: 2", "Transfer-Encoding: chunked"], ["Con\x00tent: 1"], ["Folded: a", " b"],
    ],
    ids=repr,
)  # fmt: skip
def test_heads_that_lie_about_the_body_are_refused_or_the_connection_ends(beside, lines):
    said = sent(beside, head(beside, *lines, "Content-Type: application/json"), b"0\r\n\r\nGET /v1/me HTTP/1.1\r\n\r\n")
    assert said.count(b"HTTP/1.1 2") == 0
    assert said.startswith((b"HTTP/1.1 4", b"HTTP/1.1 501"))


def test_a_body_that_has_one_meaning_is_read_as_it_is():
    async def receive():
        return {"type": "http.request", "body": b'{"a": [1, 1.5, "\\u00e9", null, true]}', "more_body": False}

    request = StrictRequest({"type": "http", "headers": []}, receive)
    assert asyncio.run(request.json()) == {"a": [1, 1.5, "é", None, True]}
