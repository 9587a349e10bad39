"""Devices send reports, each is counted or refused by itself, and readers see what they say of the people."""

import gzip
import json
import time
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from tests.server.gateway.interface import MATRIX, address
from tests.server.running import PROTOCOLS

from sfumato.errors import PolicyError
from sfumato.local import DirectEncoding
from sfumato.server.config import load_curator
from sfumato.server.gateway.access import Gateway
from sfumato.server.gateway.routes.collections import BINARY, COST, LINES
from sfumato.server.identity.database import Database

DRINKS, VOTES = PROTOCOLS["drinks"], PROTOCOLS["votes"]
TEN_MEGABYTES = 10_000_000
WRONG = "sfk_wrong"


@pytest.fixture
def batch():
    """A new id of a batch each time."""
    return lambda: {"Idempotency-Key": new_id()}


def new_id(days=0):
    """The id of a new batch, of today or of another day."""
    return f"{datetime.now(UTC) + timedelta(days):%Y-%m-%d}.batch-{time.perf_counter_ns()}-of-these-tests"


def binary(protocol, values):
    return b"".join(map(bytes, protocol.client().report_many(values)))


def post(client, name, body, headers, *, kind=BINARY):
    return client.post(f"/collections/{name}/reports", content=body, headers={"Content-Type": kind, **headers})


def count(client, name):
    return client.get(f"/collections/{name}").json()["reports"]


def test_reports_are_counted_in_both_forms(beside, batch):
    lines = "".join(f'{{"report": "{report.to_text()}"}}\n' for report in DRINKS.client().report_many(["tea"] * 3))
    with beside.client("cem") as cem:
        before = count(cem, "drinks")
        answers = [
            post(cem, "drinks", binary(DRINKS, ["tea", "water"]), batch()),
            post(cem, "drinks", lines, batch(), kind=f"{LINES}; charset=utf-8"),
            post(cem, "drinks", b"", batch()),
            post(cem, "drinks", b"", batch(), kind=LINES),
        ]
        assert [answer.json() for answer in answers] == [
            {"accepted": number, "refused": 0, "repeated": False} for number in (2, 3, 0, 0)
        ]
        assert count(cem, "drinks") == before + 5


def test_a_batch_that_is_sent_again_counts_once_and_another_under_its_id_is_refused(beside, batch):
    headers, body = batch(), binary(DRINKS, ["tea", "tea"])
    with beside.client("cem") as cem:
        before = count(cem, "drinks")
        answers = [post(cem, "drinks", body, headers) for _ in range(3)]
        assert [answer.json()["repeated"] for answer in answers] == [False, True, True]
        other = post(cem, "drinks", body + body, headers)
        assert (other.status_code, other.json()["error"]) == (409, "BatchUsedError")
        assert count(cem, "drinks") == before + 2


def test_a_hostile_report_is_refused_alone(beside, batch):
    """Of a wrong length, of a cohort that there is none of, not a number, of another protocol, or very long."""
    good = [report.to_text() for report in VOTES.client().report_many(["yes"] * 4)]
    (report,) = VOTES.client().report_many(["yes"])
    foreign = bytearray(bytes(report))
    foreign[5] = 200  # of four cohorts
    hostile = [
        b'{"report": NaN}', b'{"report": 1e999}', b'{"report": null}', b'{"report": ["AQ=="]}', b"{", b"", b"\xff\xfe",
        b'{"report": "AQ=="}', b'{"report": -1}', b"[" * 5_000, json.dumps({"report": good[0]}).encode("utf-16"),
        f'{{"report": "{good[0]}", "report": "{good[1]}"}}'.encode(), f'{{"report": "{good[0]}="}}'.encode(),
        json.dumps({"report": b64encode(b"\2" + bytes(report)[1:]).decode()}).encode(),
        json.dumps({"report": "A" * 700_000}).encode(),
        json.dumps({"report": type(report).from_bytes(bytes(foreign)).to_text()}).encode(),
        json.dumps({"report": DRINKS.client().report("tea").to_text()}).encode(),
    ]  # fmt: skip
    lines = [json.dumps({"report": each}).encode() for each in good]
    body = b"\n".join([*lines[:2], *hostile, *lines[2:]])
    with beside.client() as nobody:
        before = count(nobody, "votes")
        answer = post(nobody, "votes", body, batch(), kind=LINES)
        assert answer.json() == {"accepted": 4, "refused": len(hostile), "repeated": False}
        too_large = post(nobody, "votes", b"x" * TEN_MEGABYTES, batch())
        assert too_large.status_code == 413
        assert count(nobody, "votes") == before + 4


@pytest.mark.parametrize(
    ("body", "kind", "name"),
    [(b"x", BINARY, "body"), (b"{}", "application/json", "Content-Type"), (b"", "text/plain", "Content-Type")],
)
def test_a_body_whose_reports_cannot_be_told_apart_is_refused_whole(beside, batch, body, kind, name):
    with beside.client("cem") as cem:
        answer = post(cem, "drinks", body, batch(), kind=kind)
    assert (answer.status_code, answer.json()["fields"]["name"]) == (422, name)


def test_a_batch_needs_an_id_of_the_last_days(beside):
    body = binary(DRINKS, ["tea"])
    with beside.client("cem") as cem:
        shown = cem.get("/collections/drinks").json()
        for wrong in ("short", new_id()[11:], new_id(-31), new_id(2)):
            answer = post(cem, "drinks", body, {"Idempotency-Key": wrong})
            assert answer.status_code == 422
            assert f"from {shown['first_day']} to {shown['last_day']}" in answer.json()["detail"]
        assert [post(cem, "drinks", body, {"Idempotency-Key": new_id(days)}).status_code for days in (-30, 1)] == [
            200
        ] * 2
        for headers in ({}, {"Idempotency-Key": "x" * 201}):
            assert post(cem, "drinks", body, headers).status_code == 422


def test_a_collection_says_what_a_report_costs(beside):
    with beside.client("ann") as ann, beside.client() as nobody:
        listed = {each["name"]: each for each in ann.get("/collections").json()}
        shown = nobody.get("/collections/votes").json()
    assert set(listed) == {"drinks", "votes"}
    assert shown["protocol"] == VOTES.to_json()
    assert shown["cost"] == COST
    assert 0 <= shown["epsilon"] - VOTES.realized_epsilon < 1e-9
    assert shown["report_bytes"] == len(bytes(VOTES.client().report("yes")))
    assert (listed["votes"]["may_read_estimates"], shown["may_read_estimates"]) == (True, False)


def test_readers_see_estimates_and_nobody_else_does(beside, batch):
    with beside.client("ann") as ann, beside.client("cem") as cem, beside.client() as nobody:
        post(nobody, "votes", binary(VOTES, ["yes"] * 50), batch())
        answer = ann.get("/collections/votes/estimate", params={"candidate": ["yes", "no"], "confidence": "0.9"}).json()
        assert (answer["collection"], answer["confidence"]) == ("votes", "0.9")
        assert answer["reports"] >= 50
        assert len(answer["estimates"]) == 2
        post(cem, "drinks", binary(DRINKS, ["tea"] * 50), batch())
        drinks = ann.get("/collections/drinks/estimate").json()
        assert [row["value"] for row in drinks["estimates"]] == ["tea", "coffee", "water"]
        assert cem.get("/collections/votes/estimate").status_code == 403
        assert nobody.get("/collections/votes/estimate").status_code == 401
        for wrong in ({"confidence": "2"}, {"candidate": "wine"}):
            assert ann.get("/collections/drinks/estimate", params=wrong).status_code == 422
        assert ann.get("/collections/nothing/estimate").status_code == 404


def test_a_key_for_reports_does_nothing_else(beside, batch):
    """No other route and no estimate, though its person is an owner, an analyst and a reader, or an admin."""
    of_admins = [route for route in MATRIX if route[1] in {"/v1/people", "/v1/acts", "/v1/metrics", "/v1/keys"}]
    for person, routes in (("both", MATRIX), ("admin", of_admins)):
        token = beside.gateway.keys.make(person, name="a device", scopes=["report"]).token
        with beside.client(token=token) as device:
            for method, path in routes:
                if not path.endswith("/reports"):
                    answer = device.request(method, address(path), json=MATRIX[method, path][1])
                    assert answer.status_code in {403, 404}, (person, method, path, answer.text)
            assert post(device, "drinks", binary(DRINKS, ["tea"]), batch()).json()["accepted"] == 1


def test_a_batch_of_another_key_is_another_batch(beside):
    """Nobody takes the ids of others, nor hears whether they are taken."""
    headers, body = {"Idempotency-Key": new_id()}, binary(VOTES, ["yes"])
    with beside.client("cem") as cem, beside.client("bob") as bob, beside.client() as nobody:
        answers = [post(client, "votes", body + more, headers) for client, more in
                   ((cem, b""), (bob, body), (nobody, b""))]  # fmt: skip
    assert [answer.json() for answer in answers] == [
        {"accepted": number, "refused": 0, "repeated": False} for number in (1, 2, 1)
    ]


def test_a_device_whose_address_changes_sends_the_same_batch(beside):
    headers, body = {"Idempotency-Key": new_id()}, binary(VOTES, ["yes"])
    answers = []
    for own in ("127.0.0.1", "127.0.0.2"):
        with beside.client(transport=httpx.HTTPTransport(local_address=own)) as nobody:
            answers.append(post(nobody, "votes", body, headers).json()["repeated"])
    assert answers == [False, True]


def test_equal_batches_at_once_count_once(beside):
    headers, body = {"Idempotency-Key": new_id()}, binary(DRINKS, ["tea"] * 9)
    with beside.client("cem") as cem, ThreadPoolExecutor(8) as pool:
        before = count(cem, "drinks")
        answers = [one.json() for one in pool.map(lambda _: post(cem, "drinks", body, headers), range(8))]
        assert [answer["accepted"] for answer in answers] == [9] * 8
        assert sum(not answer["repeated"] for answer in answers) == 1
        assert count(cem, "drinks") == before + 9


def test_a_bomb_is_not_unpacked(beside, batch):
    bomb = gzip.compress(b"\n" * TEN_MEGABYTES)
    with beside.client("cem") as cem:
        for encoding in ("gzip", "identity", "br, gzip"):
            answer = post(cem, "drinks", bomb, {**batch(), "Content-Encoding": encoding}, kind=LINES)
            assert (answer.status_code, answer.json()["fields"]["name"]) == (422, "Content-Encoding")
        before = count(cem, "drinks")
        assert post(cem, "drinks", bomb, batch(), kind=LINES).json()["accepted"] == 0
        assert count(cem, "drinks") == before


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b"\n" * 900_000, LINES), (b"{}\n" * 11, LINES), (b"x\n" * 10 + b"x", LINES), (bytes(66), BINARY)],
    ids=["newlines", "lines", "no last newline", "binary"],
)  # fmt: skip
def test_a_batch_with_too_many_reports_is_refused_before_any_is_read(strict, batch, body, kind):
    """A megabyte of newlines would take seconds."""
    with strict(batch_reports=10).client("cem") as cem:
        answer = post(cem, "drinks", body, batch(), kind=kind)
        assert (answer.status_code, "at most 10; send several batches" in answer.text) == (422, True)
        for fits, form in ((b"{}\n" * 10, LINES), (bytes(60), BINARY)):
            assert post(cem, "drinks", fits, batch(), kind=form).json()["refused"] == 10


def test_reports_are_limited_by_the_minute_for_each_person_and_each_address(strict, batch):
    gateway = strict(reports_per_minute=10)
    seven = binary(VOTES, ["yes"] * 7)
    with gateway.client("cem") as cem, gateway.client("bob") as bob, gateway.client() as nobody:
        for client in (cem, bob, nobody):
            answers = [
                post(client, "votes", body, batch()) for body in (seven, seven, seven[: len(seven) // 7 * 3], b"")
            ]
            assert [answer.status_code for answer in answers] == [200, 429, 200, 200]
            assert answers[1].headers["Retry-After"] == "60"
        assert post(cem, "votes", binary(VOTES, ["yes"] * 11), batch()).status_code == 422


def test_a_gateway_does_not_start_over_counts_of_another_protocol(beside, batch, curator):
    with beside.client("cem") as cem:
        post(cem, "drinks", binary(DRINKS, ["tea"]), batch())
    changed = load_curator(curator.config)
    other = replace(changed.collections["drinks"], protocol=DirectEncoding(["tea", "coffee", "water"], epsilon=2))
    changed.collections["drinks"] = other
    with closing(Database(changed.database)) as database, pytest.raises(PolicyError, match="must stay as it was"):
        Gateway(changed, beside.gateway.ledger, database)


def test_who_may_send_is_what_the_file_says(beside, batch):
    """Without a key to a public collection alone; a key that is wrong, or may not send, is refused at any."""
    read_only = beside.gateway.keys.make("ann", name="no reports", scopes=["read"]).token
    with beside.client() as nobody, beside.client(token=read_only) as reader, beside.client(token=WRONG) as wrong:
        for client, statuses in ((nobody, (200, 401)), (reader, (403, 403)), (wrong, (401, 401))):
            found = tuple(post(client, name, b"", batch()).status_code for name in ("votes", "drinks"))
            assert found == statuses
        assert nobody.get("/collections").status_code == 401
        assert nobody.get("/collections/nothing").status_code == 401


def test_whoever_has_no_key_is_limited_by_address_which_is_kept_nowhere(strict, batch, caplog, curator):
    caplog.set_level("DEBUG")
    gateway, address = strict(requests_per_minute=3), "127.77.7.7"
    with gateway.client(transport=httpx.HTTPTransport(local_address=address)) as nobody:
        answers = [post(nobody, "votes", binary(VOTES, ["no"]), batch()).status_code for _ in range(5)]
    assert answers == [200] * 3 + [429] * 2
    lines = [record for record in caplog.records if record.name.startswith("sfumato")]
    assert lines
    assert address not in " ".join(f"{record.getMessage()} {vars(record)}" for record in lines)
    gateway.acts()
    state = curator.curator.state
    assert not any(address.encode() in file.read_bytes() for file in state.glob("server.db*"))


def test_metrics_count_reports_and_hold_none(beside, batch):
    with beside.client("cem") as cem, beside.client("admin") as admin:
        headers, body = batch(), binary(DRINKS, ["tea"] * 7)
        for _ in range(2):
            post(cem, "drinks", body, headers)
        text = admin.get("/metrics").text
    (line,) = [
        each
        for each in text.splitlines()
        if each.startswith('sfumato_reports_total{collection="drinks",outcome="accepted"')
    ]
    assert float(line.split()[-1]) % 1 == 0
    assert "tea" not in text


# Pages of other sites

SHOP = "https://shop.example"
ASKING = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type,idempotency-key"}
ALLOWED = "access-control-allow-origin"


def test_browsers_hear_that_pages_of_listed_origins_may_send(beside):
    with beside.client() as browser:
        answer = browser.options("/collections/votes/reports", headers={"Origin": SHOP, **ASKING})
        assert (answer.status_code, answer.headers[ALLOWED]) == (200, SHOP)
        assert "POST" in answer.headers["access-control-allow-methods"]
        allowed = answer.headers["access-control-allow-headers"].lower()
        assert {"authorization", "content-type", "idempotency-key"} <= set(allowed.split(", "))
        assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        ("/collections/votes/reports", "https://other.example"), ("/collections/votes/reports", "null"),
        ("/collections/votes/reports", f"{SHOP}:8443"), ("/collections/votes/reports", f"{SHOP}.evil.example"),
        ("/collections/votes/estimate", SHOP), ("/collections", SHOP), ("/collections/drinks/reports", "null"),
        ("/datasets/clinic/ask", SHOP), ("/me", SHOP),
    ],
)  # fmt: skip
def test_browsers_hear_of_no_other_page_and_no_other_route(beside, batch, path, origin):
    with beside.client("ann") as browser:
        asked = browser.options(path, headers={"Origin": origin, **ASKING})
        sent = browser.post(path, content=b"", headers={"Origin": origin, "Content-Type": BINARY, **batch()})
    assert ALLOWED not in asked.headers
    assert ALLOWED not in sent.headers


def test_a_page_can_read_that_it_is_counted_and_why_it_is_refused(beside, batch):
    body, shop = binary(VOTES, ["yes"]), {"Origin": SHOP}
    with beside.client() as page:
        answers = [
            post(page, "votes", body, {**batch(), **shop}), post(page, "votes", b"x", {**batch(), **shop}),
            post(page, "votes", b"x" * TEN_MEGABYTES, {**batch(), **shop}),
            page.get("/collections/votes", headers=shop),
        ]  # fmt: skip
    assert [answer.status_code for answer in answers] == [200, 422, 413, 200]
    assert {answer.headers[ALLOWED] for answer in answers} == {SHOP}
    assert {answer.headers["access-control-expose-headers"] for answer in answers} == {"Retry-After"}
    assert {answer.headers["vary"] for answer in answers} == {"Origin"}
