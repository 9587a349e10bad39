"""Routes of queries: estimate, try on made-up rows, ask, and what stored answers say."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from math import isfinite
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from sfumato.errors import ParameterError
from sfumato.privacy.codec import Json, encode_budget
from sfumato.query.statistics.estimates import Forecast
from sfumato.query.statistics.measurements import Law
from sfumato.server.gateway.access import Anybody, Caller, Doing, Gateway, IdempotencyKey, account_for
from sfumato.server.gateway.problems import Problem
from sfumato.server.identity.acts import Act
from sfumato.server.identity.people import Action
from sfumato.session.asking.batch import Batch
from sfumato.session.asking.question import Question
from sfumato.session.asking.view import AccountView
from sfumato.session.dry_run import as_made_up, dry_run_desk
from sfumato.session.releases.documents import encode_release
from sfumato.session.releases.release import Release
from sfumato.session.wire.questions import decode_question

Number = str | int | float
MOST_QUERIES: Final = 1_000

router = APIRouter(prefix="/v1/datasets/{dataset}", tags=["queries"])


class QueryEntry(BaseModel):
    """One query: SQL, or the text of a frame."""

    model_config = ConfigDict(extra="forbid", strict=True)

    sql: str | None = None
    plan: str | None = None
    parameters: list[Any] | dict[str, Any] = []
    intervals: bool = False


class Ask(QueryEntry):
    """A query or a batch, and what it may cost."""

    queries: Annotated[list[QueryEntry], Field(max_length=MOST_QUERIES)] | None = None
    epsilon: Number | None = None
    delta: Number = 0
    error: dict[str, Number] | None = None
    mechanism: Literal["laplace", "gaussian"] | None = None
    confidence: Number = "0.95"
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody asks, made of a request.

    Attributes:
        questions: One query, or those of a batch.
        is_batch: Whether they are answered together.
        ask: The request.
    """

    questions: tuple[Question, ...]
    is_batch: bool
    ask: Ask

    @property
    def law(self) -> Law | None:
        """The distribution that additive noise must have, if one is asked for."""
        return self.ask.mechanism

    def epsilon(self) -> Number:
        """What it may cost, stated or found from target errors.

        Raises:
            ParameterError: Neither is given, or both.
        """
        ask = self.ask
        if (ask.epsilon is None) == (ask.error is None):
            raise ParameterError("epsilon", ask.epsilon, "give either epsilon or a target in error")
        if ask.epsilon is not None:
            return ask.epsilon
        if self.is_batch:
            raise ParameterError("error", "targets", "are for one query; state the epsilon of a batch")
        return str(
            self.questions[0].epsilon_for(
                ask.error or {}, delta=ask.delta, mechanism=self.law, confidence=ask.confidence, size=ask.size
            )
        )

    def release(self, *, idempotency_key: str | None = None) -> tuple[Release, ...]:
        """The answers, charged."""
        ask, law, epsilon = self.ask, self.law, self.epsilon()
        stated: dict[str, Any] = {
            "epsilon": epsilon, "delta": ask.delta, "mechanism": law, "confidence": ask.confidence, "size": ask.size,
            "idempotency_key": idempotency_key,
        }  # fmt: skip
        return Batch(self.questions).release(**stated) if self.is_batch else (self.questions[0].release(**stated),)


def asked_in(gateway: Gateway, view: AccountView, ask: Ask) -> Asked:
    """The queries of a request.

    Raises:
        ParameterError: It has none, or states a query in several ways.
        SfumatoError: One cannot be answered.
    """
    ways = [name for name in ("sql", "plan", "queries") if getattr(ask, name) is not None]
    if len(ways) != 1:
        raise ParameterError("sql", None, "is missing: give one of sql, plan and queries")
    entries = [ask] if ask.queries is None else ask.queries
    if not entries:
        raise ParameterError("queries", [], "must be at least one")
    questions = tuple(_question(gateway, view, entry) for entry in entries)
    return Asked(questions, is_batch=ask.queries is not None, ask=ask)


def _question(gateway: Gateway, view: AccountView, entry: QueryEntry) -> Question:
    if (entry.sql is None) == (entry.plan is None):
        raise ParameterError("sql", None, "is missing: a query has either sql or plan")
    if entry.plan is not None:
        if entry.parameters or entry.intervals:
            raise ParameterError("parameters", "…", "and intervals belong to sql; a plan has them inside")
        return view.question(decode_question(entry.plan, view.policy))
    most = gateway.curator.limits.sql_characters
    if len(entry.sql or "") > most:
        raise ParameterError("sql", "…", f"must have at most {most:,} characters")
    return view.query(entry.sql or "", parameters=entry.parameters, intervals=entry.intervals)


@router.post("/estimate")
def estimate(dataset: str, ask: Ask, who: Anybody) -> dict[str, Any]:
    """Cost and error of a query, and how it would be answered; no data is read and nothing is spent."""
    with who.doing(Action.ESTIMATE, dataset) as doing, _view(who, dataset, doing) as view:
        asked = asked_in(who.gateway, view, ask)
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
    with who.doing(Action.ESTIMATE, dataset) as doing, who.gateway.places.taken(doing.principal.key):
        served = who.gateway.datasets.served(dataset)
        desk = dry_run_desk(served.planning)
        with desk.ledger:
            releases = asked_in(who.gateway, AccountView(desk, served.relations), ask).release()
        return {"releases": [encode_release(as_made_up(one)) for one in releases], "made_up": True}


@router.post("/ask", responses={402: {"model": Problem}, 409: {"model": Problem}})
def ask_query(
    dataset: str,
    ask: Ask,
    who: Anybody,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """The answer to a query, which is charged before data is read; a stored answer costs nothing."""
    with who.doing(Action.ASK, dataset) as doing, who.gateway.places.taken(doing.principal.key):
        with _view(who, dataset, doing) as view:
            asked = asked_in(who.gateway, view, ask)
            releases = asked.release(idempotency_key=_own(doing, idempotency_key))
        return answer(who.gateway, dataset, doing, asked, releases)


@router.post("/from-releases")
def from_releases(dataset: str, ask: Ask, who: Anybody) -> dict[str, Any]:
    """What the account's stored answers say of a query, at no cost."""
    with who.doing(Action.READ_OWN_RELEASES, dataset) as doing, _view(who, dataset, doing) as view:
        asked = asked_in(who.gateway, view, ask)
        found = [question.from_releases(confidence=ask.confidence) for question in asked.questions]
        return {"releases": list(map(encode_release, found))}


def answer(
    gateway: Gateway, dataset: str, doing: Doing, asked: Asked, releases: tuple[Release, ...]
) -> Response:  # fmt: skip
    """The response with some releases: the very bytes that were shown first, whenever they are asked for again."""
    account = account_for(doing.principal, dataset)
    doing.query_hash = releases[0].receipt.plan_hash
    kept = [
        gateway.releases.keep(
            json.dumps(encode_release(replace(release, reused=False)), ensure_ascii=False).encode(),
            dataset=dataset, account=account, principal=doing.principal.name,
            question_hash=release.receipt.plan_hash, shown_key=_shown_key(release, question, asked.ask, place),
        )
        for place, (release, question) in enumerate(zip(releases, asked.questions, strict=True))
    ]  # fmt: skip
    doing.target = kept[0].id
    names = json.dumps([one.id for one in kept]).encode()
    body = b'{"ids": ' + names + b', "releases": [' + b", ".join(one.document for one in kept) + b"]}"
    is_reused = all(one.reused for one in releases)
    headers = {"Sfumato-Reused": str(is_reused).lower(), "Location": f"/v1/releases/{kept[0].id}"}
    return Response(body, media_type="application/json", headers=headers)


def _shown_key(release: Release, question: Question, ask: Ask, place: int) -> str:
    """What two shown answers have in common that are the same, byte for byte."""
    parts: Json = [release.receipt.request, question.text, str(ask.confidence), ask.size, place]
    return sha256(json.dumps(parts).encode()).hexdigest()


def _own(doing: Doing, idempotency_key: str | None) -> str | None:
    """The key as one of whoever sent it: nobody's keys are of use to others."""
    return None if idempotency_key is None else f"{doing.principal.name}:{idempotency_key}"


@contextmanager
def _view(who: Caller, dataset: str, doing: Doing) -> Iterator[AccountView]:
    """The dataset as whoever asks may ask it, with a way to the worker that is open no longer than this."""
    gateway = who.gateway

    def told(doublings: int) -> None:
        if doublings:
            gateway.acts.record(Act(person="", action=Action.OVERRUN, dataset=dataset), wait=False)

    with closing(gateway.datasets.line(dataset)) as line:
        yield gateway.datasets.view(dataset, account_for(doing.principal, dataset), line, told)


def _forecast(one: Forecast) -> Mapping[str, Json]:
    width = one.half_width
    return {
        "column": one.column, "half_width": width if isfinite(width) else "infinite", "assumption": one.assumption
    }  # fmt: skip
