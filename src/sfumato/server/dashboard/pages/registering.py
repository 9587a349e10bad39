"""The page for owners who register a dataset: it ends in a policy file, with its errors and a dry run beside it.

Nothing on it reads data. The unit has no default, bounds are asked for with where they come from, and what was read
from the data is refused. An operator puts the file beside the data, and names it in the curator's file.
"""

import json
import math
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, Response

from sfumato.errors import ForbiddenError, ParameterError, SfumatoError
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.numeric.rationals import exact
from sfumato.query.policy.file import load_policy
from sfumato.query.policy.policy import Policy
from sfumato.server.dashboard.pages.results import shown_release
from sfumato.server.dashboard.visits import Here, Page, Visit, whole
from sfumato.server.identity.people import Action, Role
from sfumato.session.account import AccountView
from sfumato.session.asking.planning import Planning
from sfumato.session.asking.view import relations_of
from sfumato.session.dry_run import as_made_up, dry_run_desk
from sfumato.session.releases.documents import encode_release

router = APIRouter(route_class=Page, include_in_schema=False)

PRESETS: Final = {"strict": "0.5", "standard": "2", "exploratory": "8"}
"""Budgets that owners choose from, as ε."""

TYPES: Final = ("integer", "float", "text", "boolean", "date")
ORIGINS: Final = ("law", "experts", "documents", "data")
"""Where bounds may come from; the last one is refused."""

_ROWS: Final = 5
_MOST_ROWS: Final = 60
_MOST_COUNTED: Final = 10**12
_PARTS: Final = 10
_PLAIN: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What somebody typed of one column."""

    name: str
    type: str
    low: str
    high: str
    values: str


@router.get("/register")
def form(visit: Here) -> Response:
    """The empty form."""
    _require(visit)
    return visit.page("register.html", **_shown(visit, None))


@router.post("/register")
def preview(visit: Here) -> Response:
    """The policy that the form declares, how exact answers would be, and a dry run; or what is wrong with it."""
    _require(visit)
    action = visit.form.get("action", "preview")
    if action == "more":
        return visit.page("register.html", **_shown(visit, None))
    try:
        text = policy_text(visit)
        if action == "download":
            headers = {"Content-Disposition": f'attachment; filename="{_file_name(visit)}.toml"'}
            return Response(text, media_type="application/toml; charset=utf-8", headers=headers)
        tried = _tried(_policy(text), visit)
    except SfumatoError as error:
        return visit.page("register.html", status=422, **_shown(visit, None, problem=str(error)))
    return visit.page("register.html", **_shown(visit, {"policy": text, "curator": _curator_text(visit), **tried}))


def policy_text(visit: Visit) -> str:
    """The policy file that the form declares.

    Raises:
        ParameterError: Something is missing, or was read from the data.
    """
    form, unit = visit.form, visit.form.get("unit", "")
    if unit not in {"row", "column"}:
        raise ParameterError("unit", unit, "is missing: say whose rows these are. There is no default for it")
    owner = "row" if unit == "row" else _needed(visit, "unit_column")
    relation = "replace_one" if form.get("count_is_public") == "yes" else "add_or_remove_one"
    lines = [
        f"dataset = {_text(_needed(visit, 'dataset'))}", 'version = "1"', "", "[unit]",
        f"name = {_text(_needed(visit, 'unit_name'))}", f'neighboring_relation = "{relation}"', "",
        f"[tables.{_text(_needed(visit, 'table'))}]", f"source = {_text(_needed(visit, 'source'))}",
        f"unit = {_text(owner)}",
    ]  # fmt: skip
    if unit == "column":
        lines.append(f"max_rows_per_unit = {_count(visit, 'max_rows')}")
    columns = [one for one in _columns(visit) if one.name]
    if not columns:
        raise ParameterError("columns", "", "must be at least one: analysts can ask about declared columns alone")
    if any(one.low or one.high or one.values for one in columns) and form.get("origin") not in ORIGINS[:-1]:
        raise ParameterError(
            "origin", form.get("origin", ""),
            "must be public knowledge: bounds or values that were read from the data reveal its extremes",
        )  # fmt: skip
    for one in columns:
        lines += ["", f"[tables.{_text(_needed(visit, 'table'))}.columns.{_text(one.name)}]", *_facts(one)]
    return "\n".join(lines) + "\n"


def _facts(one: Typed) -> Iterator[str]:
    """The lines of one column."""
    yield f"type = {_text(one.type if one.type in TYPES else 'text')}"
    if one.low or one.high:
        yield f"bounds = [{_value(one, one.low)}, {_value(one, one.high)}]"
    values = [value.strip() for value in one.values.split(",") if value.strip()]
    if values:
        yield f"values = [{', '.join(_value(one, value) for value in values)}]"


def _value(one: Typed, value: str) -> str:
    """A value as TOML has it."""
    if one.type in {"integer", "float"}:
        if not _PLAIN.fullmatch(value):
            raise ParameterError(one.name, value, "must have numbers as bounds and values, such as 0 and 120")
        return value
    if one.type == "date":
        if not _DAY.fullmatch(value):
            raise ParameterError(one.name, value, "must have days as bounds and values, such as 2026-01-31")
        return value
    return _text(value)


def _text(value: str) -> str:
    """A text as TOML has it."""
    return json.dumps(value).replace("\x7f", "\\u007f")


def _columns(visit: Visit) -> list[Typed]:
    typed = whole(visit.form.get("rows", ""), _MOST_ROWS)
    rows = _ROWS if typed is None else typed
    rows += _ROWS if visit.form.get("action") == "more" else 0
    return [
        Typed(
            **{name: visit.form.get(f"{name}{row}", "").strip() for name in ("name", "low", "high", "values")},
            type=visit.form.get(f"type{row}", "text"),
        )
        for row in range(min(rows, _MOST_ROWS))
    ]  # fmt: skip


def _policy(text: str) -> Policy:
    """The policy as any other is read; no source is opened."""
    with tempfile.TemporaryDirectory(prefix="sfumato-policy-") as folder:
        file = Path(folder) / "policy.toml"
        file.write_text(text, "utf-8")
        return load_policy(file)


def _tried(policy: Policy, visit: Visit) -> dict[str, Any]:
    """A few queries with their errors at a tenth of the budget, and their answers from made-up rows."""
    epsilon, tried = str(exact(_budget(visit), "budget") / _PARTS), []
    planning = Planning(policy=policy, ledger=Ledger(MemoryStore()), account=policy.dataset)
    for sql in _queries(policy):
        desk = dry_run_desk(planning)
        with desk.ledger:
            question = AccountView(desk, relations_of(policy)).query(sql)
            errors = question.error(epsilon=epsilon, size=_count(visit, "declared_rows"))
            release = as_made_up(question.release(epsilon=epsilon))
        tried.append(
            {
                "sql": sql, "answer": shown_release(encode_release(release)),
                "errors": [
                    {"column": one.column, "half_width": one.half_width, "assumption": one.assumption} for one in errors
                ],
            }
        )  # fmt: skip
    return {"tried": tried, "epsilon": float(exact(epsilon, "epsilon")), "parts": _PARTS}


def _queries(policy: Policy) -> Iterator[str]:
    """Queries that this policy can answer: a count, one by group, and a mean."""
    ((name, table),) = policy.tables.items()
    source = _quoted(name)
    yield f"SELECT COUNT(*) AS n FROM {source}"
    keys = [column for column, facts in table.columns.items() if facts.values]
    if keys:
        yield f"SELECT {_quoted(keys[0])}, COUNT(*) AS n FROM {source} GROUP BY {_quoted(keys[0])}"
    numbers = [
        column for column, facts in table.columns.items()
        if facts.lower is not None and facts.kind.value in {"integer", "float"}
    ]  # fmt: skip
    if numbers:
        yield f"SELECT AVG({_quoted(numbers[0])}) AS mean FROM {source}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _curator_text(visit: Visit) -> str:
    """What an operator adds to the curator's file."""
    return "\n".join(
        [
            f"[datasets.{_text(_needed(visit, 'dataset'))}]", f"policy = {_text(_file_name(visit) + '.toml')}",
            f"budget = {{ epsilon = {_text(_budget(visit))} }}",
            f"declared_rows = {_count(visit, 'declared_rows')}", "",
        ]
    )  # fmt: skip


def _file_name(visit: Visit) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", _needed(visit, "dataset"))[:60] or "policy"


def _budget(visit: Visit) -> str:
    return PRESETS.get(visit.form.get("preset", ""), PRESETS["standard"])


def _needed(visit: Visit, name: str) -> str:
    value = visit.form.get(name, "").strip()
    if not value:
        raise ParameterError(name, "", "is missing")
    return value


def _count(visit: Visit, name: str) -> int:
    value = _needed(visit, name)
    count = whole(value, _MOST_COUNTED)
    if not count:
        requirement = f"must be a whole number from 1 to {_MOST_COUNTED:,}, from public knowledge"
        raise ParameterError(name, value[:30], requirement)
    return count


def _require(visit: Visit) -> None:
    """Let owners and admins alone see the form, which needs no other right: it reads and changes nothing.

    Raises:
        ForbiddenError: They are neither.
    """
    with visit.who.doing(Action.READ_SELF, target="register") as doing:
        is_owner = any(grant.role is Role.OWNER for grant in doing.principal.grants)
        if not is_owner and not doing.principal.is_platform_admin:
            raise ForbiddenError("register a dataset", "it needs the role owner or platform admin")


def _shown(visit: Visit, outcome: dict[str, Any] | None, *, problem: str | None = None) -> dict[str, Any]:
    guesses = {name: 100 / (1 + math.exp(-float(epsilon))) for name, epsilon in PRESETS.items()}
    return {
        "given": visit.form, "columns": _columns(visit), "types": TYPES, "origins": ORIGINS, "presets": PRESETS,
        "guesses": guesses, "outcome": outcome, "problem": problem,
    }  # fmt: skip
