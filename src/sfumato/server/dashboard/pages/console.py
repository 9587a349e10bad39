"""The console: a query beside the schema, with its cost and its error before anything is spent."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from fastapi import APIRouter, Response

from sfumato.errors import AccessError, ParameterError, SfumatoError
from sfumato.noise.entropy import random_bytes
from sfumato.query.sql.parsing import FUNCTIONS
from sfumato.server.dashboard.pages.home import account_of
from sfumato.server.dashboard.pages.results import shown_release
from sfumato.server.dashboard.rendering import main_number, share
from sfumato.server.dashboard.visits import Here, Page, Visit, built, whole
from sfumato.server.gateway.answering import Ask
from sfumato.server.gateway.routes import accounts, asking, datasets
from sfumato.server.identity.people import Action

router = APIRouter(route_class=Page, include_in_schema=False)

STEPS: Final = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5")
"""The ε of each place of the slider."""

KEYWORDS: Final = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "JOIN", "LEFT JOIN", "ON", "USING", "AND", "OR", "NOT",
    "BETWEEN", "IN", "IS NULL", "LIKE", "CASE", "WHEN", "THEN", "ELSE", "END", "AS", "DISTINCT", "LIMIT", "WITH",
    "OVER", "PARTITION BY", "UNION ALL", "DATE", "INTERVAL", "ASC", "DESC",
)  # fmt: skip
"""Words that are suggested beside the names of the schema and of functions."""

_FIRST_STEP: Final = 3
_MUCH: Final = 0.2
"""A query that costs more of what remains is confirmed."""

_ACCEPTED: Final = 202


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the form of the console says.

    Attributes:
        text: One query in SQL, or several that end in semicolons.
        way: ``slider``, ``epsilon`` or ``error``.
        step: The place of the slider.
        epsilon: A cost, as text.
        target: An error, as text.
        column: Whose error; the first column's if empty.
        key: The idempotency key of this form: sent twice, it is charged once.
    """

    text: str
    way: str
    step: int
    epsilon: str
    target: str
    column: str
    key: str

    @property
    def queries(self) -> list[str]:
        """The queries, without the semicolons at the ends of lines that part them."""
        parts = "\n".join(line.rstrip() for line in self.text.splitlines()).split(";\n")
        return [part.strip().rstrip(";").strip() for part in parts if part.strip().rstrip(";").strip()]


@router.get("/datasets/{dataset}/query")
def console(dataset: str, visit: Here, sql: str = "") -> Response:
    """The form, with an example for whoever has none."""
    facts = datasets.dataset(dataset, visit.who)
    text = sql or visit.request.query_params.get("sql", "") or _example(facts)
    return _page(visit, dataset, replace(_wanted(visit), text=text))


@router.post("/datasets/{dataset}/query")
def send(dataset: str, visit: Here) -> Response:
    """Estimate, try, or run what the form says; without a script the whole page comes back."""
    wanted, action = _wanted(visit), visit.form.get("action", "estimate")
    if action == "run":
        return _run(visit, dataset, wanted)
    outcome: dict[str, Any] = {"problem": None, "estimate": None, "dry": None}
    try:
        if action == "dry-run":
            dry = asking.dry_run(dataset, _ask(visit, dataset, wanted), visit.who)
            outcome["dry"] = list(map(shown_release, dry["releases"]))
        outcome["estimate"] = _estimate(visit, dataset, wanted)
    except SfumatoError as error:
        outcome["problem"] = str(error)
    if visit.is_partial:
        return visit.page("parts/estimate.html", dataset=dataset, wanted=wanted, **outcome)
    return _page(visit, dataset, wanted, **outcome)


def _run(visit: Visit, dataset: str, wanted: Wanted) -> Response:
    """Answer, once a large cost was confirmed; the form comes back with what is wrong with it."""
    try:
        estimate = _estimate(visit, dataset, wanted)
        if not estimate["is_too_much"] and estimate["share"] > _MUCH and visit.form.get("confirmed") != "yes":
            return visit.page("confirm.html", dataset=dataset, wanted=wanted, estimate=estimate)
        answer = asking.ask_query(
            dataset, _ask(visit, dataset, wanted, epsilon=estimate["epsilon"]), visit.who, wanted.key, None
        )
    except AccessError:
        raise
    except SfumatoError as error:
        return _page(visit, dataset, wanted, problem=str(error))
    body = json.loads(bytes(answer.body))
    if answer.status_code == _ACCEPTED:
        return visit.to(f"/questions/{body['id']}")
    return visit.to(_answers(body["ids"], is_reused=answer.headers.get("sfumato-reused") == "true"))


@router.get("/questions/{question}")
def question(question: str, visit: Here) -> Response:
    """How far a query is that takes long; the page looks again by itself."""
    body = json.loads(bytes(asking.question(question, visit.who).body))
    if body["stage"] == "answered":
        return visit.to(_answers(body["ids"], is_reused=False))
    return visit.page("waiting.html", stage=body["stage"], failed=body.get("problem", {}).get("detail"))


def _answers(ids: list[str], *, is_reused: bool) -> str:
    place = f"/releases/{ids[0]}" if len(ids) == 1 else f"/releases/batch?ids={','.join(ids)}"
    return f"{place}{'&' if '?' in place else '?'}reused=true" if is_reused else place


def _page(visit: Visit, dataset: str, wanted: Wanted, **outcome: Any) -> Response:
    facts = datasets.dataset(dataset, visit.who)
    own = [account_of(visit, dataset, one) for one in accounts.accounts(dataset, visit.who)
           if one["name"] == facts["account"]]  # fmt: skip
    may_ask = visit.who.principal.may(Action.ESTIMATE, dataset)
    shown = {"problem": None, "estimate": None, "dry": None} | outcome
    if may_ask and not any(shown.values()) and wanted.text:
        try:
            shown["estimate"] = _estimate(visit, dataset, wanted)
        except SfumatoError as error:
            shown["problem"] = str(error)
    return visit.page(
        "console.html", dataset=dataset, facts=facts, wanted=wanted, steps=STEPS, accounts=own, may_ask=may_ask,
        status=422 if outcome.get("problem") else 200, words=words_of, written=written,
        **shown,
    )  # fmt: skip


def words_of(facts: dict[str, Any], kinds: Mapping[str, str]) -> list[tuple[str, str]]:
    """What is suggested while somebody writes a query, each with what it is: what is theirs first.

    Args:
        facts: What is public of the dataset.
        kinds: What tables, functions and keywords are called.
    """
    found: dict[str, str] = {}
    for table in facts["tables"]:
        for column in table["columns"]:
            found.setdefault(written(column["name"]), f"{table['name']} · {column['type']}")
    for name in (*(table["name"] for table in facts["tables"]), *facts["views"]):
        found.setdefault(written(name), kinds["table"])
    functions = (f"{name}(" for name in sorted(FUNCTIONS))
    for kind, others in (("function", functions), ("keyword", KEYWORDS)):
        found = found | {word: kinds[kind] for word in others if word not in found}
    return list(found.items())


def written(name: str) -> str:
    """A name as a query has it: in quotes where it would mean another one without."""
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*", name) else '"' + name.replace('"', '""') + '"'


def _wanted(visit: Visit) -> Wanted:
    form, way = visit.form, visit.form.get("way", "slider")
    step = whole(form.get("step", ""), len(STEPS) - 1)
    return Wanted(
        text=form.get("sql", ""), way=way if way in {"slider", "epsilon", "error"} else "slider",
        step=_FIRST_STEP if step is None else step,
        epsilon=form.get("epsilon", "").strip() or "0.1", target=form.get("target", "").strip(),
        column=form.get("column", "").strip(), key=form.get("key", "")[:100] or random_bytes(16).hex(),
    )  # fmt: skip


def _ask(visit: Visit, dataset: str, wanted: Wanted, *, epsilon: str | None = None) -> Ask:
    """The request that the form means; for a target error its column is looked up first."""
    queries = wanted.queries
    stated: dict[str, Any] = {"sql": queries[0] if queries else ""}
    if len(queries) > 1:
        stated = {"queries": [{"sql": one} for one in queries]}
    if wanted.way == "error" and epsilon is None:
        if not wanted.target:
            raise ParameterError("target", "", "is missing: say how large the error may be, such as 25")
        column = wanted.column
        if not column:
            first = asking.estimate(dataset, built(Ask, **stated, epsilon="1"), visit.who)
            column = str(first["errors"][0][0]["column"])
        return built(Ask, **stated, error={column: wanted.target})
    return built(Ask, **stated, epsilon=epsilon or (wanted.epsilon if wanted.way == "epsilon" else STEPS[wanted.step]))


def _estimate(visit: Visit, dataset: str, wanted: Wanted) -> dict[str, Any]:
    """What the query would cost and tell, and what part of the remaining budget that is."""
    found = asking.estimate(dataset, _ask(visit, dataset, wanted), visit.who)
    (own,) = (
        one for one in accounts.accounts(dataset, visit.who) if one["name"] == visit.who.principal.account(dataset)
    )
    remaining = own["remaining"]
    is_too_much = main_number(found["cost"])[1] > main_number(remaining)[1]
    return found | {"remaining": remaining, "share": share(found["cost"], remaining), "is_too_much": is_too_much}


def _example(facts: dict[str, Any]) -> str:
    """A query that every dataset of this schema can answer."""
    table = facts["tables"][0]
    source, keys = written(table["name"]), [written(one["name"]) for one in table["columns"] if one["values"]]
    if not keys:
        return f"SELECT COUNT(*) AS n FROM {source}"
    return f"SELECT {keys[0]}, COUNT(*) AS n\nFROM {source}\nGROUP BY {keys[0]}"
