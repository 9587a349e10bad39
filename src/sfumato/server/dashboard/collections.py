"""Pages of collections: what devices send, what a report costs its person, and estimates that grow with the reports.

The page of a collection looks again by itself, so that readers see intervals shrink while devices send.
"""

from typing import Any, Final

from fastapi import APIRouter, Response

from sfumato.errors import ParameterError
from sfumato.server.dashboard.visits import Here, Page, Visit
from sfumato.server.gateway import collections

router = APIRouter(route_class=Page, include_in_schema=False)

_MOST_SHOWN: Final = 200
"""Rows of a page; programs ask for the others."""

_MOST_DRAWN: Final = 60
_ENDS: Final = ("low", "high")


@router.get("/collections")
def everything(visit: Here) -> Response:
    """The collections of this server."""
    return visit.page("collections.html", collections=collections.collections(visit.who))


@router.get("/collections/{collection}")
def one(collection: str, visit: Here, values: str = "") -> Response:
    """One collection; for its readers with estimates, of all values or of those on the lines of a text."""
    shown = collections.collection(collection, visit.who)
    rows = _rows(visit, collection, values) if shown["may_read_estimates"] and shown["reports"] else []
    return visit.page("collection.html", one=shown, rows=rows[:_MOST_SHOWN], chart=intervals(rows), values=values)


def intervals(rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """What the chart of estimates shows: a point and an interval for each; None where that would be no picture.

    Example:
        >>> rows = [{"value": name, "fraction": 0.5, "low": 0.25, "high": 0.75} for name in ("tea", "coffee")]
        >>> intervals(rows)["points"][0]
        ['tea', 0.5, 0.25, 0.75, False]
    """
    if not 1 < len(rows) <= _MOST_DRAWN or not set(_ENDS) <= set(rows[0]):
        return None
    name, measured, *_ = rows[0]
    points = [[str(row[name]), row[measured], *(row[end] for end in _ENDS), False] for row in rows]
    return {"kind": "intervals", "name": measured, "points": points}


def _rows(visit: Visit, collection: str, values: str) -> list[dict[str, Any]]:
    """The estimates of a collection; none if there can be none, such as of any text without a value."""
    candidates = [line.strip() for line in values.splitlines() if line.strip()]
    try:
        found: list[dict[str, Any]] = collections.estimate(collection, visit.who, candidates or None, "0.95")[
            "estimates"
        ]
    except ParameterError:
        return []
    return found
