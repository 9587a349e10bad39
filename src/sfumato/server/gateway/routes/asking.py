"""Routes of queries: estimate, try on made-up rows, ask, and what stored answers say."""

import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from math import isfinite
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Response
from starlette.responses import JSONResponse

from sfumato.errors import NotFoundError
from sfumato.noise.entropy import random_bytes
from sfumato.privacy.codec import Json, encode_budget
from sfumato.query.statistics.estimates import Forecast
from sfumato.server.gateway.access import Anybody, Caller, Guarded, IdempotencyKey, account_for
from sfumato.server.gateway.answering import Ask, AskRequest, asked_in, rows_in
from sfumato.server.gateway.desks import Errand
from sfumato.server.gateway.fitting import estimate_of
from sfumato.server.gateway.problems import documented
from sfumato.server.identity.people import Action
from sfumato.session.account import AccountView
from sfumato.session.asking.batch import Batch
from sfumato.session.dry_run import as_made_up, dry_run_desk
from sfumato.session.releases.documents import encode_release

router = APIRouter(prefix="/v1/datasets/{dataset}", tags=["queries"], route_class=Guarded)
questions_router = APIRouter(prefix="/v1/questions", tags=["queries"], route_class=Guarded)

Prefer = Annotated[
    str | None,
    Header(max_length=200, description="respond-async, or wait=N: for how many seconds to wait for the answer."),
]

_WAIT: Final = re.compile(r"wait=(\d{1,6})")


@router.post("/estimate")
def estimate(dataset: str, ask: Ask, who: Anybody) -> dict[str, Any]:
    """Cost and error of a query, and how it would be answered; or what a fit costs. Nothing is read or spent."""
    with who.doing(Action.ESTIMATE, dataset), _view(who, dataset) as view:
        if ask.fit is not None:
            return estimate_of(ask.fit, rows_in(ask, ask.fit, view, who.gateway.curator.limits), who.gateway.planner)
        asked = asked_in(ask, view, who.gateway.curator.limits)
        stated: dict[str, Any] = {"epsilon": asked.epsilon(), "delta": ask.delta, "mechanism": asked.law}
        shown: dict[str, Any] = {"confidence": ask.confidence, "size": ask.size}
        if asked.is_batch:
            batch = Batch(asked.questions)
            cost, text = batch.cost(**stated), batch.explain(**stated)
            errors = batch.error(**stated, **shown)
        else:
            (question,) = asked.questions
            cost, text = question.cost(**stated), question.explain(**stated)
            errors = (question.error(**stated, **shown),)
        return {
            "cost": encode_budget(cost), "epsilon": str(stated["epsilon"]), "explain": text,
            "errors": [[_forecast(one) for one in own] for own in errors],
        }  # fmt: skip


@router.post("/dry-run")
def dry_run(dataset: str, ask: Ask, who: Anybody) -> dict[str, Any]:
    """The answer to a query on rows that are made up from the policy; no data is read and nothing is spent."""
    with who.doing(Action.ESTIMATE, dataset), who.gateway.places.taken(who.principal.name):
        served = who.gateway.datasets.served(dataset)
        desk = dry_run_desk(served.planning)
        with desk.ledger:
            view = AccountView(desk, served.relations)
            releases = asked_in(ask, view, who.gateway.curator.limits).release()
        return {"releases": [encode_release(as_made_up(one)) for one in releases], "made_up": True}


@router.post(
    "/ask",
    responses={
        202: {"description": "It takes long, or was asked for so: the answer will be where Location says."},
        **documented(402),
    },
)  # fmt: skip
def ask_query(
    dataset: str, ask: Ask, who: Anybody, idempotency_key: IdempotencyKey = None, prefer: Prefer = None
) -> Response:  # fmt: skip
    """The answer to a query, or a fitted model, charged before data is read; a stored answer costs nothing."""
    with who.doing(Action.ASK, dataset) as doing:
        gateway, principal = who.gateway, who.principal
        asking = AskRequest(
            dataset=dataset, account=account_for(principal, dataset), person=principal.name,
            key=f"{principal.name}:{idempotency_key or random_bytes(16).hex()}", ask=ask,
        )  # fmt: skip
        shown = gateway.shown.find(asking) or gateway.waiting.answered(asking, seconds=_seconds(prefer))
        if shown is not None:
            doing.query_hash, doing.target = shown.query_hash, shown.ids[0]
            return shown.response()
        waits = doing.target = gateway.waiting.keep(asking, principal.key)
        return JSONResponse(
            {"id": waits, "stage": "waiting"}, 202, {"Location": f"/v1/questions/{waits}", "Retry-After": "1"}
        )


@router.post("/from-releases")
def from_releases(dataset: str, ask: Ask, who: Anybody) -> dict[str, Any]:
    """What the account's stored answers say of a query, at no cost."""
    with who.doing(Action.READ_OWN_RELEASES, dataset), _view(who, dataset) as view:
        asked = asked_in(ask, view, who.gateway.curator.limits)
        found = [question.from_releases(confidence=ask.confidence) for question in asked.questions]
        return {"releases": list(map(encode_release, found))}


@questions_router.get("/{question}")
def question(question: str, who: Anybody) -> Response:
    """How far a query is that took long: its answer, or why it has none, once that is known."""
    asking = who.gateway.waiting.kept(question, who.principal.name)
    if asking is None:
        raise who.refused(Action.ASK, "question", question)
    with who.doing(Action.ASK, asking.dataset, target=question):
        if asking.account != who.principal.account(asking.dataset):
            raise NotFoundError("question", question)
        stage = who.gateway.waiting.stage(asking)
        document: dict[str, Any] = {"id": question, "stage": stage.name}
        if stage.shown is not None:
            body = stage.shown.body.removeprefix(b"{")
            return Response(b'{"stage": "answered", ' + body, media_type="application/json")
        if stage.problem is not None:
            document["problem"] = stage.problem
        return JSONResponse(document)


def _seconds(prefer: str | None) -> float | None:
    """For how long whoever asks will wait, if they say so."""
    if prefer is None:
        return None
    wait = _WAIT.search(prefer)
    if wait is not None:
        return float(wait[1])
    return 0.0 if "respond-async" in prefer else None


@contextmanager
def _view(who: Caller, dataset: str) -> Iterator[AccountView]:
    """The dataset as whoever asks may ask it, where nothing is charged; planning takes a place all the same."""
    gateway = who.gateway
    with gateway.places.taken(who.principal.name), closing(gateway.datasets.line(dataset)) as line:
        served = gateway.datasets.served(dataset)
        yield gateway.datasets.view(served, account_for(who.principal, dataset), Errand(line))


def _forecast(one: Forecast) -> Mapping[str, Json]:
    width = one.half_width
    return {
        "column": one.column, "half_width": width if isfinite(width) else "infinite", "assumption": one.assumption
    }  # fmt: skip
