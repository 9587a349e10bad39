"""A real server on a real socket that speaks the interface, over a session of made-up people; and one that fails."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated

import pyarrow as pa
import uvicorn
from fastapi import FastAPI, Header, Request, Response
from tests.server.gateway.planned import PlannerHere

import sfumato as sf
from sfumato.errors import ParameterError, SfumatoError
from sfumato.ledger.labels import label_of
from sfumato.privacy.codec import encode_budget
from sfumato.query.printing.describe import described
from sfumato.server.gateway.fitting import FitEntry, estimate_of, model_document, planned_for, training_set_of
from sfumato.session.asking.batch import Batch
from sfumato.session.asking.question import Question
from sfumato.session.dry_run import as_made_up, dry_run_desk
from sfumato.session.releases.documents import encode_release
from sfumato.session.wire.questions import decode_question, encode_relations

TOKEN = "sfk_" + "4ca55e77e" * 5
"""Nothing may show it."""

ROWS = pa.table({"age": [n % 80 for n in range(200)], "sex": ["f" if n % 3 else "m" for n in range(200)]})
COLUMNS = {"age": sf.integer(0, 100), "sex": sf.text(values=["f", "m"])}


def opened():
    """A session of people, and an analyst's account of it."""
    session = sf.open(ROWS, name="people", columns=COLUMNS, budget=sf.PureDP(10), engine="reference")
    return session, session.open_account("ann", budget=sf.PureDP(3))


def problem(error, status, *, headers=None, **fields):
    """The problem document of an error."""
    own = {name: value if isinstance(value, int | str) else str(value) for name, value in vars(error).items()}
    own |= {name: encode_budget(value) for name, value in vars(error).items() if isinstance(value, sf.PureDP)}
    document = {"status": status, "detail": str(error), "error": type(error).__name__, "fields": own | fields}
    return Response(json.dumps(document), status_code=status, media_type="application/problem+json", headers=headers)


STATUS = {"BudgetExceededError": 402, "ReservationError": 409}


def rows_of(body, view):
    """What a request says of a fit, and the rows that it is for."""
    entry = FitEntry(**body["fit"])
    return entry, training_set_of(entry, view, sql=body.get("sql"), plan=body.get("plan"))


def fitted(body, view, key):
    """A model, charged."""
    entry, rows = rows_of(body, view)
    found = rows.fit(planned_for(entry, rows, PlannerHere()), idempotency_key=key)
    headers = {"Sfumato-Reused": str(found.reused).lower()}
    return Response(b'{"models": [' + model_document(found, entry) + b"]}", headers=headers)


def application(session, view):  # noqa: C901 # one function for each route
    """What answers as the gateway does."""
    app, shown = FastAPI(), {}
    app.state.asked, app.state.waiting = [], []

    @app.middleware("http")
    async def checked(request: Request, call_next):
        app.state.asked.append((request.method, request.url.path, dict(request.headers)))
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            document = {"status": 401, "detail": "no valid API key", "error": "NotAuthenticatedError", "fields": {}}
            return Response(json.dumps(document), status_code=401, media_type="application/problem+json")
        if app.state.waiting:
            return app.state.waiting.pop(0)
        try:
            return await call_next(request)
        except SfumatoError as error:
            return problem(error, STATUS.get(type(error).__name__, 422))

    @app.get("/v1/datasets")
    def datasets():
        return [
            {"name": "people", "roles": ["analyst"], "privacy_unit": "row", "policy_version": "1", "data_version": "1"}
        ]

    @app.get("/v1/datasets/people")
    def dataset():
        return {"name": "people", "account": view.account_name}

    @app.get("/v1/datasets/people/relations")
    def relations():
        return {"relations": encode_relations(view._tables)}

    @app.get("/v1/datasets/people/label")
    def label():
        return label_of(view._desk.ledger, "people").to_dict()

    @app.get("/v1/datasets/people/accounts")
    def accounts():
        return [
            {
                "name": one.account_name, "budget": encode_budget(one.budget), "spent": encode_budget(one.spent),
                "remaining": encode_budget(one.remaining), "window": None, "state": "open",
            }
            for one in (session, view)
        ]  # fmt: skip

    def read(body, of=view):
        entries = body.get("queries", [body])
        return [
            of.query(one["sql"], parameters=one.get("parameters", ()), intervals=one.get("intervals", False))
            if "sql" in one
            else asked_by(of, decode_question(one["plan"], of.policy))
            for one in entries
        ]

    def asked_by(of, question):
        return Question(relation=question, text=described(question), desk=of._desk)

    def terms(body, *names):
        return {name: body[name] for name in names if name in body}

    @app.post("/v1/datasets/people/estimate")
    def estimate(body: dict):
        if "fit" in body:
            return estimate_of(*rows_of(body, view), PlannerHere())
        asked, own = read(body), terms(body, "delta", "mechanism")
        own["epsilon"] = body.get("epsilon") or str(
            asked[0].epsilon_for(body["error"], **terms(body, "delta", "mechanism", "confidence", "size"))
        )
        of = Batch(asked) if "queries" in body else asked[0]
        errors = [of.error(**own)] if of is asked[0] else of.error(**own)
        return {
            "cost": encode_budget(of.cost(**own)), "epsilon": str(own["epsilon"]), "explain": of.explain(**own),
            "errors": [[{name: getattr(one, name) for name in ("column", "half_width", "assumption")} for one in each]
                       for each in errors],
        }  # fmt: skip

    def answered(body, key=None, of=view):
        asked = read(body, of)
        own = terms(body, "epsilon", "delta", "mechanism", "confidence", "size")
        if "queries" in body:
            return Batch(asked).release(idempotency_key=key, **own)
        return (asked[0].release(idempotency_key=key, **own, **terms(body, "error")),)

    @app.post("/v1/datasets/people/ask")
    def ask(body: dict, idempotency_key: Annotated[str, Header()]):
        if "fit" in body:
            return fitted(body, view, idempotency_key)
        found = answered(body, idempotency_key)
        for one in found:
            shown.setdefault(str(len(shown)), one)
        headers = {"Sfumato-Reused": str(all(one.reused for one in found)).lower()}
        documents = [encode_release(replace(one, reused=False)) for one in found]
        return Response(json.dumps({"releases": documents}), headers=headers, media_type="application/json")

    @app.post("/v1/datasets/people/dry-run")
    def dry_run(body: dict):
        desk = dry_run_desk(view._desk)
        with desk.ledger:
            of = type(view)(desk, view._tables)
            return {"releases": [encode_release(as_made_up(one)) for one in answered(body, of=of)], "made_up": True}

    @app.post("/v1/datasets/people/from-releases")
    def from_releases(body: dict):
        return {"releases": [encode_release(one.from_releases(**terms(body, "confidence"))) for one in read(body)]}

    @app.get("/v1/releases")
    def releases(after: str = "-1"):
        return [
            {"id": name, "at": "2026-11-27T07:00:00", "question": one.receipt.question}
            for name, one in shown.items()
            if int(name) > int(after)
        ]

    @app.get("/v1/releases/{name}")
    def release(name: str):
        if name not in shown:
            raise ParameterError("release", name, "must be one of yours")
        return encode_release(replace(shown[name], reused=False))

    return app


@contextmanager
def serving(app) -> Iterator[str]:
    """The address at which an application is served meanwhile."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
