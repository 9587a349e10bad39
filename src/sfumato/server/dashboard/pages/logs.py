"""The page of the log of acts: what people did, whether the log is as it was written, and the log as a file."""

import csv
from collections.abc import Callable
from io import StringIO
from typing import Any, Final

from fastapi import APIRouter, Response

from sfumato.server.dashboard.visits import Here, Page, Visit
from sfumato.server.gateway.routes import people
from sfumato.server.identity.people import Action

router = APIRouter(route_class=Page, include_in_schema=False)

_PAGE: Final = 100
_MOST: Final = 1_000
_FIELDS: Final = ("number", "at", "person", "action", "dataset", "target", "outcome", "query_hash", "hash")
_READS: Final = ("read_", "estimate")
_FORMULAS: Final = tuple("=+-@")


@router.get("/log")
def log(
    visit: Here, dataset: str = "", person: str = "", action: str = "", before: int = 0, reads: str = ""
) -> Response:  # fmt: skip
    """Acts, the latest first, with the state of their chain; what was only read is left out unless asked for."""
    names, principal = visit.gateway.curator.datasets, visit.who.principal
    readable = [name for name in names if principal.may(Action.READ_ACTS, name)]
    if not readable and not principal.may(Action.READ_ACTS):
        return visit.page("log.html", readable=readable, chain=None, acts=[], asked={}, older=None, actions=[])
    chain = people.verify_acts(visit.who)
    end = min(before, chain["length"] + 1) if before > 0 else chain["length"] + 1

    def is_wanted(act: dict[str, Any]) -> bool:
        is_shown = reads or action or not act["action"].startswith(_READS)
        return bool(is_shown) and (not person or act["person"] == person) and (not action or act["action"] == action)

    found, first = _latest(visit, dataset if dataset in readable else None, end, is_wanted)
    asked = {"dataset": dataset, "person": person, "action": action, "reads": reads}
    return visit.page(
        "log.html", readable=readable, chain=chain, acts=found, actions=list(map(str, Action)), asked=asked,
        older=first if first > 1 else None,
    )  # fmt: skip


@router.get("/log/acts.csv")
def export(visit: Here) -> Response:
    """All acts that one may read, as a file."""
    out = StringIO(newline="")
    writer, after = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC), 0
    writer.writerow(_FIELDS)
    while page := people.acts(visit.who, after=after, limit=_MOST, dataset=None):
        for act in page:
            texts = (str(act[name]) for name in _FIELDS)
            writer.writerow([f"'{text}" if text.startswith(_FORMULAS) else text for text in texts])
        after = page[-1]["number"]
    headers = {"Content-Disposition": 'attachment; filename="acts.csv"'}
    return Response(out.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


def _latest(
    visit: Visit, dataset: str | None, end: int, is_wanted: Callable[[dict[str, Any]], bool]
) -> tuple[list[dict[str, Any]], int]:
    """The last acts before a number, the latest first, and the number from which on they were looked for."""
    first, found = end, list[dict[str, Any]]()
    while first > 1 and len(found) < _PAGE:
        last, first = first, max(1, first - _MOST)
        found = [act for act in _between(visit, dataset, first, last) if is_wanted(act)] + found
    if len(found) > _PAGE:
        found = found[-_PAGE:]
        first = int(found[0]["number"])
    return found[::-1], first


def _between(visit: Visit, dataset: str | None, first: int, end: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after = first - 1
    while page := people.acts(visit.who, after=after, limit=_MOST, dataset=dataset):
        found += [act for act in page if act["number"] < end]
        after = page[-1]["number"]
        if after >= end - 1:
            break
    return found
