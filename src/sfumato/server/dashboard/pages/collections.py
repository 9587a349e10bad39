"""Pages of collections: what devices send, what a report costs its person, and estimates that grow with the reports.

The page of a collection looks again by itself, so that readers see intervals shrink while devices send.
"""

import math
from fractions import Fraction
from typing import Any, Final

from fastapi import APIRouter, Response

from sfumato.errors import ParameterError
from sfumato.server.dashboard.visits import Here, Page, Visit
from sfumato.server.gateway.routes import collections

router = APIRouter(route_class=Page, include_in_schema=False)

_MOST_SHOWN: Final = 200
"""Rows of a page; programs ask for the others."""

_MOST_DRAWN: Final = 60
_ENDS: Final = ("low", "high")
_LABELS: Final = frozenset({"value", "attribute"})
_COLUMNS: Final = _LABELS | {
    "fraction", "standard_error", *_ENDS, "p_value", "is_detected", "number", "mean"
}  # fmt: skip
"""Columns that have a heading in each language."""

_DECIMALS, _MOST_DECIMALS = 4, 8
_PARTS_OF_EPSILON: Final = 10_000


@router.get("/collections")
def everything(visit: Here) -> Response:
    """The collections of this server."""
    listed = [each | {"epsilon": epsilon_text(each["epsilon"])} for each in collections.collections(visit.who)]
    return visit.page("collections.html", collections=listed)


@router.get("/collections/{collection}")
def one(collection: str, visit: Here, values: str = "", still: str = "") -> Response:
    """One collection; for its readers with estimates, of all values or of those on the lines of a text."""
    shown = collections.collection(collection, visit.who)
    rows, why = _rows(visit, shown, values)
    return visit.page(
        "collection.html", one=shown, epsilon=epsilon_text(shown["epsilon"]), table=table(rows[:_MOST_SHOWN]),
        left=len(rows[_MOST_SHOWN:]), growth=growth(rows, shown["reports"]), chart=intervals(rows), why=why,
        values=values, still=bool(still),
    )  # fmt: skip


def epsilon_text(epsilon: float) -> str:
    """ε with four decimals at most, rounded up: nobody reads of a smaller cost than there is.

    Example:
        >>> epsilon_text(1.07431), epsilon_text(1.0), epsilon_text(0.99999)
        ('1.0744', '1', '1')
    """
    return f"{math.ceil(Fraction(epsilon) * _PARTS_OF_EPSILON) / _PARTS_OF_EPSILON:.4f}".rstrip("0").rstrip(".")


def table(rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Rows of estimates as texts of columns, all with as many decimals as the smallest standard error is known to.

    Example:
        >>> shown = table([{"value": "tea", "fraction": 0.25, "standard_error": 0.0123, "is_detected": True}])
        >>> [column["name"] for column in shown["columns"]], shown["rows"]
        (['value', 'fraction', 'standard_error', 'is_detected'], [['tea', '0.250', '0.012', True]])
    """
    if not rows:
        return None
    errors = [row["standard_error"] for row in rows if row.get("standard_error")]
    decimals = min(max(1 - math.floor(math.log10(min(errors))), 0), _MOST_DECIMALS) if errors else _DECIMALS

    def cell(name: str, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, float):
            return value
        if name == "p_value":
            return f"{value:.{_DECIMALS}f}" if value >= 10**-_DECIMALS else f"< {10**-_DECIMALS:.{_DECIMALS}f}"
        return f"{value:,.{decimals}f}".replace(",", "\u202f").replace("-", "−")

    columns = [{"name": name, "is_known": name in _COLUMNS, "is_number": name not in _LABELS} for name in rows[0]]
    return {"columns": columns, "rows": [[cell(name, value) for name, value in row.items()] for row in rows]}


def growth(rows: list[dict[str, Any]], reports: int) -> dict[str, Any] | None:
    """How wide the widest interval is, and what it would be with four times as many reports; None without intervals.

    Example:
        >>> growth([{"low": 0.0, "high": 0.5}, {"low": 0.25, "high": 0.5}], 100)
        {'now': 0.25, 'then': 0.125, 'reports': 400}
    """
    known = _with_intervals(rows)
    if not known:
        return None
    widest = max(row["high"] - row["low"] for row in known) / 2
    return {"now": widest, "then": widest / 2, "reports": 4 * reports}


def intervals(rows: list[dict[str, Any]]) -> dict[str, Any] | None:
    """What the chart of estimates shows: a point and an interval for each; None where that would be no picture.

    Example:
        >>> rows = [{"value": name, "fraction": 0.5, "low": 0.25, "high": 0.75} for name in ("tea", "coffee")]
        >>> intervals(rows)["points"][0]
        ['tea', 0.5, 0.25, 0.75, False]
    """
    known = _with_intervals(rows)
    if not 1 < len(known) <= _MOST_DRAWN:
        return None
    name, measured, *_ = known[0]
    points = [[str(row[name]), row[measured], *(row[end] for end in _ENDS), False] for row in known]
    return {"kind": "intervals", "name": measured, "points": points}


def _with_intervals(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those with two ends: texts that always set the same bits have none."""
    return [row for row in rows if all(row.get(end) is not None for end in _ENDS)]


def _rows(visit: Visit, shown: dict[str, Any], values: str) -> tuple[list[dict[str, Any]], str]:
    """The estimates of a collection; and if there are none, why."""
    candidates = [line.strip() for line in values.splitlines() if line.strip()]
    if not shown["may_read_estimates"]:
        return [], "no_reader"
    if not shown["reports"]:
        return [], "no_reports"
    try:
        found = collections.estimate(shown["name"], visit.who, candidates or None, "0.95")
    except ParameterError:
        return [], "wrong_values" if candidates else "no_values"
    rows: list[dict[str, Any]] = found["estimates"]
    return rows, "" if rows else "no_values"
