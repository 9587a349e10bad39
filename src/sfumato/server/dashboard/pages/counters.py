"""Pages of counters: a line of noisy sums with its band, which grows while the counter goes on."""

import math
from typing import Any, Final

from fastapi import APIRouter, Response

from sfumato.errors import UnavailableError
from sfumato.privacy.codec import encode_guarantee
from sfumato.server.dashboard.visits import Here, Page
from sfumato.server.gateway.routes import counters
from sfumato.streams.counting.published import PublishedSteps

router = APIRouter(route_class=Page, include_in_schema=False)

_MOST_DRAWN: Final = 500
_MOST_ROWS: Final = 14
_MOST_DECIMALS: Final = 8


@router.get("/counters")
def everything(visit: Here) -> Response:
    """The counters of this server."""
    return visit.page("counters.html", counters=counters.counters(visit.who))


@router.get("/counters/{counter}")
def one(counter: str, visit: Here, label: str = "", still: str = "") -> Response:
    """One counter: its last steps as a line with a band, and as a table."""
    shown: dict[str, Any] = {"name": counter, "still": bool(still), "found": None, "labels": ()}
    try:
        found = counters.published(visit.who, counter, most=_MOST_DRAWN)
    except UnavailableError:
        return visit.page("counter.html", **shown)
    labels = found.labels or ("",)
    place = labels.index(label) if label in labels else 0
    shown |= {
        "found": found, "chart": band(found, place), "rows": rows(found, place), "labels": labels,
        "label": labels[place], "cost": encode_guarantee(found.receipt.guarantee),
    }  # fmt: skip
    return visit.page("counter.html", **shown)


def band(found: PublishedSteps, place: int = 0) -> dict[str, Any] | None:
    """What the chart shows: for each step the end of its period or its number, the sum, and the ends of its interval.

    None where there are fewer than two steps, which are no line.
    """
    if len(found.steps) < 2:  # noqa: PLR2004 # no line
        return None
    points = [
        [one.end or one.step, one.values[place], one.values[place] - one.half_width, one.values[place] + one.half_width]
        for one in found.steps
    ]
    return {"kind": "band", "is_time": bool(found.steps[0].end), "points": points}


def rows(found: PublishedSteps, place: int = 0) -> list[dict[str, Any]]:
    """The last steps, the latest first; sums have as many decimals as their error is known to."""
    last = found.steps[: -_MOST_ROWS - 1 : -1]
    return [
        {
            "step": one.step, "end": one.end[:16].replace("T", " "), "value": _text(one.values[place], one.half_width),
            "error": _text(one.half_width, one.half_width),
        }
        for one in last
    ]  # fmt: skip


def _text(value: float, error: float) -> str:
    """A number with as many decimals as an error of two digits has; a narrow space between thousands.

    Example:
        >>> _text(1234.567, 27.0), _text(-0.1234, 0.0123), _text(5, 0.0)
        ('1\u202f235', '−0.123', '5')
    """
    decimals = min(max(1 - math.floor(math.log10(error)), 0), _MOST_DECIMALS) if error > 0 else 0
    return f"{value:,.{decimals}f}".replace(",", "\u202f").replace("-", "−")
