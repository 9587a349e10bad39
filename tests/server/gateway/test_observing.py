"""What operators see holds nothing of rows, of queries, of keys, and no name of a person."""

import asyncio
import json
import logging
import subprocess
import sys

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.server.running import CANARY

from sfumato.server.config import LimitsEntry
from sfumato.server.gateway import observing
from sfumato.server.gateway.limits import Places
from sfumato.server.gateway.observing import JsonLines, Metrics, Observed
from sfumato.server.work.channel import RENEWED_AFTER

CONSTANT, KEY, NAME, PATH = "canary_constant", "canary_key", "canary_field", "canary_path"
VISITS = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 1}
SQL = [
    f"SELECT COUNT(*) AS n FROM clinic WHERE town = '{CONSTANT}'",
    f"SELECT age, '{CONSTANT}' FROM clinic",
    f"ALTER SESSION SET x = '{CONSTANT}'",
    f"CREATE FUNCTION {CONSTANT}() AS 'x'",
    f"SELECT CAST('{CONSTANT}' AS INTEGER) FROM clinic",
    f"SELECT '{CONSTANT}",
    f"COPY clinic TO '/tmp/{CONSTANT}'",
    f"SELECT COUNT(*) AS n FROM read_csv('/{CONSTANT}')",
    f"SELECT SUM(CASE WHEN town = '{CONSTANT}' THEN 1 ELSE 0 END) AS n FROM clinic",
]  # fmt: skip


@pytest.fixture
def spans(monkeypatch):
    provider, kept = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(observing, "_TRACER", provider.get_tracer("sfumato"))
    yield kept
    provider.shutdown()


def lines(caplog):
    return "\n".join(JsonLines().format(record) for record in caplog.records)


@pytest.mark.essential
def test_51_75_no_log_no_metric_and_no_span_holds_a_canary(strict, caplog, capfd, spans, monkeypatch):
    """Catalogue 51, 54, 75: of rows, constants, keys, names of fields, paths and people."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(logging.getLogger("httpx"), "disabled", True)  # the client, which is the analyst's own
    monkeypatch.setattr(logging.getLogger("httpcore"), "propagate", False)
    beside = strict()
    monkeypatch.setattr(beside.gateway.people, "people", lambda: {}[CONSTANT])
    answers = []
    with beside.client("ann") as ann, beside.client("admin") as admin, beside.client(token=KEY) as nobody:
        for sql in SQL:
            for path in ("/estimate", "/dry-run", "/ask", "/from-releases"):
                body = {"sql": sql} | ({} if path == "/from-releases" else {"epsilon": "0.01"})
                answers.append(
                    ann.post(f"/datasets/clinic{path}", json=body, headers={"Idempotency-Key": KEY + sql[:40]})
                )
        answers += [
            ann.post("/datasets/clinic/ask", json={"sql": "x", NAME: 1}), ann.get(f"/{PATH}"), nobody.get("/me"),
            ann.get(f"/datasets/{PATH}"), ann.request(PATH.upper(), "/me"), ann.get("/me", headers={PATH: PATH}),
            admin.get("/people"), ann.post("/datasets/visits/ask", json=VISITS),
        ]  # fmt: skip
        shown = admin.get("/metrics").text
    assert {answer.status_code for answer in answers} == {200, 401, 404, 405, 422, 500}
    written = capfd.readouterr()
    described = json.dumps([json.loads(span.to_json()) for span in spans.get_finished_spans()])
    texts = {
        "the log": lines(caplog), "the streams": written.out + written.err, "the metrics": shown, "spans": described,
        "acts": str(beside.acts()[-200:]),
    }  # fmt: skip
    assert "request" in texts["the log"]
    assert "/v1/datasets/{dataset}/ask" in described
    for where, text in texts.items():
        for canary in (CONSTANT, KEY, NAME, PATH, PATH.upper(), CANARY, beside.keys["ann"], "sfk_"):
            assert canary not in text or (where, canary) == ("acts", PATH), (where, canary)
        if where != "acts":
            assert '"ann"' not in text, where
    assert not any(CANARY in answer.text for answer in answers)


def test_51_the_ledger_holds_no_row_and_no_constant_that_was_refused(beside, curator):
    """Catalogue 51: a receipt holds the query as its author wrote it; what is refused is nowhere."""
    with beside.client("ann") as ann:
        assert ann.post("/datasets/clinic/ask", json={"sql": SQL[1], "epsilon": 1}).status_code == 422
    entries = (curator.folder / "ledger.db").read_bytes() + (curator.folder / "ledger.db-wal").read_bytes()
    assert CANARY.encode() not in entries
    assert f"SELECT age, '{CONSTANT}'".encode() not in entries


def test_a_line_is_json_and_of_an_exception_it_names_the_class():
    try:
        {}[CANARY]
    except KeyError:
        record = logging.LogRecord("x", logging.ERROR, __file__, 1, "it failed", (), sys.exc_info())
    record.facts = {"route": "/v1/me"}
    line = JsonLines().format(record)
    assert json.loads(line)["exception"] == "KeyError"
    assert json.loads(line)["route"] == "/v1/me"
    assert CANARY not in line


def test_metrics_count_by_route_status_and_class_of_error(strict):
    beside = strict()
    with beside.client("ann") as ann, beside.client("admin") as admin:
        ann.get("/me")
        ann.get("/people")
        text = admin.get("/metrics").text
    assert 'sfumato_requests_total{method="GET",route="/v1/me",status="200"} 1.0' in text
    assert 'sfumato_problems_total{error="ForbiddenError"} 1.0' in text
    assert "sfumato_queries_under_way 0.0" in text


def test_metrics_of_two_gateways_do_not_meet():
    first, second = (Metrics(Places(LimitsEntry())) for _ in range(2))
    first.requests.labels("/v1/me", "GET", "200").inc()
    assert b"/v1/me" in first.text()
    assert b"/v1/me" not in second.text()


def test_logs_go_to_the_error_stream_as_lines():
    program = (
        "import logging; from sfumato.server.gateway.observing import log_in_json; log_in_json('info');"
        "logging.getLogger('x').info('a %s', 'b'); logging.getLogger('uvicorn.error').info('no')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert [json.loads(line)["text"] for line in done.stderr.splitlines()] == ["a b"]


@pytest.mark.parametrize("has_begun", [False, True])
def test_what_is_cancelled_as_the_server_ends_may_be_asked_again(has_begun):
    """uvicorn cancels what takes too long, and would say that it is a defect."""
    sent = []

    async def app(_, __, send):
        if has_begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise asyncio.CancelledError

    async def send(message):
        sent.append(message)

    async def ask():
        scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
        await Observed(app, Metrics(Places(LimitsEntry())))(scope, send, send)

    if has_begun:
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(ask())
        assert len(sent) == 1
    else:
        asyncio.run(ask())
        assert sent[0]["status"] == 503
        assert (b"retry-after", str(RENEWED_AFTER).encode()) in sent[0]["headers"]


def test_a_span_says_no_more_than_route_method_and_status(strict, spans):
    beside = strict()
    with beside.client("ann") as ann:
        ann.get("/datasets/clinic")
        ann.get("/nothing")
    found = {span.name: dict(span.attributes) for span in spans.get_finished_spans()}
    assert found == {
        f"GET {route}": {"http.request.method": "GET", "http.route": route, "http.response.status_code": status}
        for route, status in (("/v1/datasets/{dataset}", 200), ("unknown", 404))
    }
    assert trace.get_current_span().get_span_context().is_valid is False
