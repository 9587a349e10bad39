"""Fits that are asked for by name: what a request says of one, the rows that it is for, and how its model is shown."""

import json
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from sfumato.errors import ParameterError
from sfumato.privacy.codec import Json, encode_budget
from sfumato.query.model.relations import GroupBy
from sfumato.query.planning.questions import Aggregate, Presented
from sfumato.query.python.frame import Frame
from sfumato.query.statistics.counts import CountRows
from sfumato.server.gateway.planners import Planner
from sfumato.session.account import AccountView
from sfumato.session.asking.training_set import FittedModel, TrainingSet
from sfumato.session.training.columns import MAX_CATEGORIES, TrainingColumn
from sfumato.session.training.ordered import FitOrder, OrderedFit, fit_digest, written_json
from sfumato.session.wire.fits import declared_rows, encode_rows
from sfumato.session.wire.questions import decode_question

MOST_COLUMNS: Final = 500
"""How many columns a training set may have here."""

_LONGEST_NAME: Final = 100
_LONGEST_ARGUMENTS: Final = 100_000


class FitEntry(BaseModel):
    """An estimator of `sfumato.learn` by its name, and what it is fitted to beside the rows of the query."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    target: str | None = None
    classes: Annotated[list[str | bool | int], Field(max_length=MAX_CATEGORIES)] | None = None
    estimator: Annotated[str, Field(max_length=_LONGEST_NAME)] | None = None
    arguments: dict[str, Any] = {}
    plan: Annotated[str, Field(max_length=_LONGEST_NAME)] | None = None


def training_set_of(entry: FitEntry, view: AccountView, *, sql: str | None, plan: str | None) -> TrainingSet:
    """The rows that a fit is for; no data is read.

    Args:
        entry: What a request says of the fit.
        view: The dataset, as whoever asks may ask it.
        sql: A SELECT of rows; or None.
        plan: The text of a frame's rows, as a query that counts them; or None.

    Raises:
        ParameterError: There are no such rows, or too many columns.
    """
    rows: Any = sql if plan is None else _frame(decode_question(plan, view.policy), view)
    found = view.training_set(rows, target=entry.target, classes=entry.classes)
    if len(found.columns) > MOST_COLUMNS:
        requirement = f"must be at most {MOST_COLUMNS}, to be fitted here"
        raise ParameterError("columns", len(found.columns), requirement)
    return found


def planned_for(entry: FitEntry, rows: TrainingSet, planner: Planner) -> OrderedFit:
    """The fit that a request asks for, of some rows; nothing is charged.

    Raises:
        ParameterError: It names no estimator, or has arguments that cannot be used; or whoever asks plans it otherwise.
    """
    if entry.estimator is None:
        raise ParameterError("estimator", None, "is missing: name a class of sfumato.learn, such as LogisticRegression")
    order = FitOrder(estimator=entry.estimator, arguments=written_json(entry.arguments))
    if len(order.arguments) > _LONGEST_ARGUMENTS:
        raise ParameterError("arguments", "…", f"must have at most {_LONGEST_ARGUMENTS:,} characters")
    found = planner.plan(order, declared_rows(rows.query, rows.neighboring_relation))
    if entry.plan is not None and entry.plan != fit_digest(found):
        raise ParameterError("plan", entry.plan, "differs from the server's; use the same version of sfumato here")
    return found


def estimate_of(entry: FitEntry, rows: TrainingSet, planner: Planner) -> dict[str, Json]:
    """What is declared of rows; and if an estimator is named, what its fit costs and the hash of its plan."""
    declared = declared_rows(rows.query, rows.neighboring_relation)
    shown: dict[str, Json] = {
        "training": encode_rows(declared), "columns": [_column(one) for one in rows.columns],
        "target": None if rows.target is None else _column(rows.target), "rows_per_unit": rows.rows_per_unit,
    }  # fmt: skip
    if entry.estimator is not None:
        fit = planned_for(entry, rows, planner)
        shown |= {"cost": encode_budget(fit.charge), "method": fit.name, "plan": fit_digest(fit)}
    return shown


def model_document(found: FittedModel, entry: FitEntry) -> bytes:
    """A model as it is shown, and kept."""
    shown = {
        "version": 1, "model": found.model, "receipt": found.receipt.to_dict(), "reused": False,
        "estimator": entry.estimator, "arguments": entry.arguments, "target": entry.target,
    }  # fmt: skip
    return json.dumps(shown, ensure_ascii=False).encode()


def _frame(question: Presented, view: AccountView) -> Frame[Any]:
    """The rows that a question counts, and does nothing else with.

    Raises:
        ParameterError: It does something else.
    """
    counted = question.child
    if question != Presented(Aggregate(GroupBy(counted.child.child), (("rows", CountRows()),), counted.limits)):
        raise ParameterError("plan", "a query", "must count rows, and nothing else, where a model is fitted to them")
    return Frame(counted.child.child, view.question, limits=counted.limits)


def _column(column: TrainingColumn) -> dict[str, Json]:
    """A column as people read it."""
    if column.values is not None:
        return {"name": column.name, "values": [one if isinstance(one, int) else str(one) for one in column.values]}
    return {"name": column.name, "lower": str(column.lower), "upper": str(column.upper), "steps": column.steps}
