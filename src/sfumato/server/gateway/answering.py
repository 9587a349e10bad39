"""Answers to requests: a query is made of a request, asked, and what is shown of its answer is kept byte for byte."""

import json
from collections import OrderedDict
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from threading import Lock
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from sfumato.errors import ParameterError, UnavailableError
from sfumato.ledger.core.reservations import Asked
from sfumato.ledger.ledger import Ledger
from sfumato.query.statistics.measurements import Law
from sfumato.server.config import LimitsEntry
from sfumato.server.gateway.desks import Datasets, Errand, RepublishedError, Served
from sfumato.server.gateway.fitting import FitEntry, model_document, planned_for, training_set_of
from sfumato.server.gateway.planners import Planner
from sfumato.server.identity.acts import Act, ActLog
from sfumato.server.identity.people import Action
from sfumato.server.identity.releases import ReleaseRegistry
from sfumato.session.account import AccountView
from sfumato.session.asking.batch import Batch
from sfumato.session.asking.question import Question
from sfumato.session.asking.shown import CONFIDENCE, asked_by, checked_confidence
from sfumato.session.asking.training_set import TrainingSet
from sfumato.session.releases.documents import encode_release
from sfumato.session.releases.release import Release
from sfumato.session.wire.questions import decode_question

Number = str | int | float
MOST_QUERIES: Final = 50
"""Of a batch: planning it takes time with the cube of their number, and a minute for a hundred."""

MOST_COLUMNS: Final = 200
"""Of all queries of a request: planning a thousand takes nine seconds, which nobody pays for."""

_MOST_VERSIONS: Final = 5
"""How often a query is planned anew while its owner publishes versions."""

_MOST_KEPT: Final = 10_000
_MOST_BYTES: Final = 2**25


class QueryEntry(BaseModel):
    """One query: SQL, or the text of a frame."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    sql: str | None = None
    plan: str | None = None
    parameters: list[Any] | dict[str, Any] = []
    intervals: bool = False


class Ask(QueryEntry):
    """A query or a batch, and what it may cost; or a model to be fitted to the rows of a query."""

    queries: Annotated[list[QueryEntry], Field(max_length=MOST_QUERIES)] | None = None
    fit: FitEntry | None = None
    epsilon: Number | None = None
    delta: Number = 0
    error: dict[str, Number] | None = None
    mechanism: Literal["laplace", "gaussian"] | None = None
    confidence: Number = "0.95"
    size: int | None = None


@dataclass(frozen=True, slots=True)
class AskedQueries:
    """The queries of a request.

    Attributes:
        questions: One query, or those of a batch.
        ask: The request.
    """

    questions: tuple[Question, ...]
    ask: Ask

    @property
    def is_batch(self) -> bool:
        """Whether they are answered together."""
        return self.ask.queries is not None

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
        ask = self.ask
        stated: dict[str, Any] = {
            "epsilon": self.epsilon(), "delta": ask.delta, "mechanism": self.law, "confidence": ask.confidence,
            "size": ask.size, "idempotency_key": idempotency_key,
        }  # fmt: skip
        return Batch(self.questions).release(**stated) if self.is_batch else (self.questions[0].release(**stated),)


def asked_in(ask: Ask, view: AccountView, limits: LimitsEntry) -> AskedQueries:
    """The queries of a request.

    Raises:
        ParameterError: It has none, or states a query in several ways.
        SfumatoError: One cannot be answered.
    """
    if ask.fit is not None:
        raise ParameterError("fit", ask.fit.estimator, "can be estimated and asked for; it has no other answers")
    ways = [name for name in ("sql", "plan", "queries") if getattr(ask, name) is not None]
    if len(ways) != 1:
        raise ParameterError("sql", None, "is missing: give one of sql, plan and queries")
    entries = [ask] if ask.queries is None else ask.queries
    if not entries:
        raise ParameterError("queries", [], "must be at least one")
    questions = tuple(_question(entry, view, limits) for entry in entries)
    columns = sum(len(question.relation.child.statistics) for question in questions)
    if columns > MOST_COLUMNS:
        raise ParameterError(
            "sql", f"{columns} columns", f"must have at most {MOST_COLUMNS} columns in all, to be planned here"
        )
    return AskedQueries(questions, ask)


_OF_QUERIES: Final = ("parameters", "intervals", "queries", "epsilon", "delta", "error", "mechanism", "size")
"""What a request for a fit does not have: the estimator's arguments say what it costs."""


def rows_in(ask: Ask, fit: FitEntry, view: AccountView, limits: LimitsEntry) -> TrainingSet:
    """The rows that the fit of a request is for.

    Raises:
        ParameterError: There are none, or the request says more than belongs to a fit.
        SfumatoError: They cannot be taken for one.
    """
    stated = [name for name in _OF_QUERIES if getattr(ask, name) != Ask.model_fields[name].default]
    if stated:
        requirement = "is of queries; the cost of a fit is in the arguments of its estimator"
        raise ParameterError(stated[0], getattr(ask, stated[0]), requirement)
    if (ask.sql is None) == (ask.plan is None):
        raise ParameterError("sql", None, "is missing: a fit has either sql or plan")
    _check_length(ask.sql, limits)
    return training_set_of(fit, view, sql=ask.sql, plan=ask.plan)


def _check_length(sql: str | None, limits: LimitsEntry) -> None:
    if len(sql or "") > limits.sql_characters:
        raise ParameterError("sql", "…", f"must have at most {limits.sql_characters:,} characters")


def _question(entry: QueryEntry, view: AccountView, limits: LimitsEntry) -> Question:
    if (entry.sql is None) == (entry.plan is None):
        raise ParameterError("sql", None, "is missing: a query has either sql or plan")
    if entry.plan is not None:
        if entry.parameters or entry.intervals:
            raise ParameterError("parameters", "…", "and intervals belong to sql; a plan has them inside")
        return view.question(decode_question(entry.plan, view.policy))
    _check_length(entry.sql, limits)
    return view.query(entry.sql or "", parameters=entry.parameters, intervals=entry.intervals)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRequest:
    """A request for an answer.

    Attributes:
        dataset: What is asked.
        account: What is charged.
        person: Who asks.
        key: Under which idempotency key, with the name of whoever asks: nobody's keys are of use to others.
        ask: What is asked.
    """

    dataset: str
    account: str
    person: str
    key: str
    ask: Ask


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An answer as it is shown.

    Attributes:
        ids: The names of the releases.
        body: Their documents: the same bytes whenever they are asked for again.
        query_hash: The hash of what was asked.
        sent: The hash of all that was sent under an idempotency key.
        is_reused: Whether nothing was charged.
    """

    ids: tuple[str, ...]
    body: bytes = field(repr=False)
    query_hash: str
    sent: str
    is_reused: bool

    def response(self) -> Response:
        """The response that shows it."""
        headers = {"Sfumato-Reused": str(self.is_reused).lower(), "Location": f"/v1/releases/{self.ids[0]}"}
        return Response(self.body, media_type="application/json", headers=headers)


class Answers:
    """Asks queries, and keeps what was shown.

    What an account was shown for the very same request is at hand, so that it is shown again without planning.

    Args:
        datasets: The datasets.
        ledger: Where spending and answers are kept.
        releases: Where documents are kept.
        acts: Where owners are told of answers that took longer than their time class.
        limits: What a request may take.
        planner: Plans fits.
    """

    def __init__(
        self, datasets: Datasets, ledger: Ledger, releases: ReleaseRegistry, acts: ActLog, limits: LimitsEntry,
        planner: Planner,
    ) -> None:  # fmt: skip
        self._datasets, self._ledger, self._releases, self._acts = datasets, ledger, releases, acts
        self._limits, self._planner = limits, planner
        self._known: OrderedDict[str, Shown] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def find(self, asking: AskRequest) -> Shown | None:
        """What the account was shown for the same request, of the same version of data and policy.

        Raises:
            ReservationError: The idempotency key was used for something else.
        """
        name = _name(asking, self._datasets.served(asking.dataset))
        with self._lock:
            shown = self._known.get(name)
            if shown is None:
                return None
            self._known.move_to_end(name)
        self._ledger.asked_before(Asked(principal=asking.account, idempotency_key=asking.key, body=shown.sent))
        return shown

    def answer(self, asking: AskRequest) -> Shown:
        """Ask, and keep what is to be shown before anybody sees it.

        Raises:
            SfumatoError: It cannot be answered.
        """
        for _ in range(_MOST_VERSIONS):
            with suppress(RepublishedError):
                return self._answered(asking)
        raise UnavailableError

    def _answered(self, asking: AskRequest) -> Shown:
        served = self._datasets.served(asking.dataset)
        with closing(self._datasets.line(asking.dataset)) as line:
            errand = Errand(line)
            view = self._datasets.view(served, asking.account, errand)
            if asking.ask.fit is not None:
                shown = self._fitted(asking, asking.ask.fit, view, errand)
            else:
                asked = asked_in(asking.ask, view, self._limits)
                shown = self._kept(asking, asked, asked.release(idempotency_key=asking.key), errand)
        if errand.doublings:
            self._acts.record(Act(person="", action=Action.OVERRUN, dataset=asking.dataset), wait=False)
        self._remember(_name(asking, served), replace(shown, is_reused=True))
        return shown

    def _fitted(self, asking: AskRequest, entry: FitEntry, view: AccountView, errand: Errand) -> Shown:
        """The model of a fit, charged, and kept as answers are."""
        rows = rows_in(asking.ask, entry, view, self._limits)
        found = rows.fit(planned_for(entry, rows, self._planner), idempotency_key=asking.key)
        document, receipt = model_document(found, entry), found.receipt
        key = sha256(json.dumps([receipt.request, rows.text, "fit"]).encode()).hexdigest()
        kept = self._releases.keep(
            document, dataset=asking.dataset, account=asking.account, principal=asking.person,
            question_hash=receipt.plan_hash, shown_key=key,
        )  # fmt: skip
        sent = ""
        if errand.prepared is not None:
            sent = asked_by(rows.desk, asking.key, errand.prepared, CONFIDENCE).body
        body = b'{"ids": ' + json.dumps([kept.id]).encode() + b', "models": [' + kept.document + b"]}"
        return Shown(ids=(kept.id,), body=body, query_hash=receipt.plan_hash, sent=sent, is_reused=found.reused)

    def _kept(self, asking: AskRequest, asked: AskedQueries, releases: tuple[Release, ...], errand: Errand) -> Shown:
        kept = [
            self._releases.keep(
                json.dumps(encode_release(replace(release, reused=False)), ensure_ascii=False).encode(),
                dataset=asking.dataset, account=asking.account, principal=asking.person,
                question_hash=release.receipt.plan_hash,
                shown_key=shown_key(
                    release.receipt.request, question.text, confidence=str(asking.ask.confidence),
                    size=asking.ask.size, place=place,
                ),
            )
            for place, (release, question) in enumerate(zip(releases, asked.questions, strict=True))
        ]  # fmt: skip
        ids = tuple(one.id for one in kept)
        documents = b", ".join(one.document for one in kept)
        sent = ""
        if errand.prepared is not None:
            share = checked_confidence(asking.ask.confidence)
            sent = asked_by(asked.questions[0].desk, asking.key, errand.prepared, share).body
        return Shown(
            ids=ids, body=b'{"ids": ' + json.dumps(ids).encode() + b', "releases": [' + documents + b"]}",
            query_hash=releases[0].receipt.plan_hash, sent=sent, is_reused=all(one.reused for one in releases),
        )  # fmt: skip

    def _remember(self, name: str, shown: Shown) -> None:
        with self._lock:
            if name not in self._known:
                self._known[name] = shown
                self._bytes += len(shown.body)
            while len(self._known) > _MOST_KEPT or self._bytes > _MOST_BYTES:
                _, oldest = self._known.popitem(last=False)
                self._bytes -= len(oldest.body)


def _name(asking: AskRequest, served: Served) -> str:
    """What two requests have in common to which the same bytes are the answer."""
    written = json.dumps([asking.account, served.stamp.hex(), asking.ask.model_dump()], sort_keys=True, default=str)
    return sha256(written.encode()).hexdigest()


def shown_key(request: str, text: str, *, confidence: str, size: int | None = None, place: int = 0) -> str:
    """What two shown answers have in common that are the same, byte for byte.

    Args:
        request: The id of what was charged.
        text: The query whose answer is shown; the one that was charged may have shown the same answer otherwise.
        confidence: Of intervals.
        size: Of what means are assumed to cover.
        place: In a batch.
    """
    return sha256(json.dumps([request, text, confidence, size, place]).encode()).hexdigest()
