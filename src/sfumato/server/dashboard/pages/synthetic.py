"""Pages of synthetic data: rows of a model beside private answers: what was measured, and what the visitor was shown.

Nothing exact is at hand here, so nothing exact is shown.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from itertools import product
from typing import Any, Final

from fastapi import APIRouter, Response

from sfumato.errors import UnavailableError
from sfumato.privacy.codec import encode_guarantee
from sfumato.server.dashboard.visits import Here, Page, whole
from sfumato.server.gateway.routes import synthetic
from sfumato.server.gateway.routes.synthetic import OwnAnswer
from sfumato.synth.published import PublishedMarginal, PublishedSynthetic, PublishedValue

router = APIRouter(route_class=Page, include_in_schema=False)

_MOST_ANSWERS: Final = 2
_MOST_DRAWN: Final = 40
_MOST_ROWS: Final = 500
_MOST_NAMED: Final = 3


@router.get("/synthetic")
def everything(visit: Here) -> Response:
    """The synthetic data of this server."""
    return visit.page("synthetic_tables.html", tables=synthetic.tables(visit.who))


@router.get("/synthetic/{name}")
def one(name: str, visit: Here, counts: str = "") -> Response:
    """One of the marginals of synthetic data, by its number, beside private answers."""
    shown: dict[str, Any] = {"name": name, "found": None}
    try:
        found = synthetic.saved(visit.who, name)
    except UnavailableError:
        return visit.page("synthetic.html", **shown)
    place = whole(counts, len(found.marginals) - 1) or 0
    marginal = found.marginals[place]
    answers = synthetic.own_answers(visit.who, name, marginal, most=_MOST_ANSWERS)
    listed = rows(found, marginal, answers)
    shown |= {
        "found": found, "place": place, "marginal": marginal, "answers": answers, "rows": listed[:_MOST_ROWS],
        "left": len(listed[_MOST_ROWS:]), "chart": beside(listed),
        "cost": encode_guarantee(found.guarantee),
    }  # fmt: skip
    return visit.page("synthetic.html", **shown)


def rows(
    found: PublishedSynthetic, marginal: PublishedMarginal, answers: Sequence[OwnAnswer]
) -> list[dict[str, Any]]:  # fmt: skip
    """What a table shows: for each combination of values the rows of the model, what was measured, and what was asked.

    Where an answer says nothing of a combination there is None: it was not asked, or is one with missing values, which
    are in no group of an answer.

    Args:
        found: The synthetic data.
        marginal: Which counts of it.
        answers: What the visitor was shown of the same counts.
    """
    listed = []
    cells, places = found.values_of(marginal), product(*marginal.places)
    for cell, at, made, measured in zip(cells, places, marginal.synthetic, marginal.measured, strict=True):
        group = tuple(own[0] for own in cell) if all(len(own) == 1 for own in cell) else (None,)
        asked = [None if None in group else _figures(answer, group) for answer in answers]
        noisy = (measured, measured - marginal.half_width, measured + marginal.half_width)
        labels = [_label(own, place) for own, place in zip(cell, at, strict=True)]
        listed.append({"labels": labels, "synthetic": made, "measured": noisy, "answers": asked})
    return listed


def beside(listed: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """What the chart shows: for each combination the rows of the model, and private answers with their intervals.

    None where there is one combination, which is no picture.

    Example:
        >>> row = {"labels": ["f", "ill"], "synthetic": 12.5, "measured": (11, 8, 14), "answers": [None]}
        >>> beside([row, row])["points"][0]
        ['f · ill', 12.5, [(11, 8, 14), None]]
    """
    if len(listed) < 2:  # noqa: PLR2004 # no picture
        return None
    points = [
        [" · ".join(row["labels"]), row["synthetic"], [row["measured"], *row["answers"]]]
        for row in listed[:_MOST_DRAWN]
    ]  # fmt: skip
    return {"kind": "beside", "points": points}


def _figures(answer: OwnAnswer, group: tuple[PublishedValue, ...]) -> tuple[float, float, float] | None:
    """The value and the interval of a group of an answer; None if it is not there."""
    one = answer.counts.get(group)
    if one is not None:
        with suppress(TypeError, ValueError, OverflowError):
            value, low, high = map(float, (one.value, one.low, one.high))
            if math.isfinite(value) and math.isfinite(low) and math.isfinite(high):
                return value, low, high
    return None


def _label(values: Sequence[PublishedValue], places: Sequence[int]) -> str:
    """What values that are counted together are called: neighboring bins one range, and of others the first ones.

    Example:
        >>> _label([(0.0, 9.0), (10.0, 19.0)], [0, 1]), _label([None], [4]), _label(["a", "b", "c", "d"], [0, 2, 3, 4])
        ('0 – 19', 'NULL', 'a, b, c + 1')
    """
    ends = [value for value in values if isinstance(value, tuple)]
    if len(ends) == len(values) == places[-1] - places[0] + 1:
        return f"{ends[0][0]:.10g} – {ends[-1][1]:.10g}"
    texts = [
        "NULL" if value is None else f"{value[0]:.10g} – {value[1]:.10g}" if isinstance(value, tuple) else str(value)
        for value in values[:_MOST_NAMED]
    ]  # fmt: skip
    more = f" + {len(values) - _MOST_NAMED}" if len(values) > _MOST_NAMED else ""
    return ", ".join(texts) + more
