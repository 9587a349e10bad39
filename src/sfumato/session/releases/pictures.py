"""Which picture an answer makes: a number, bars, a series over time, bins of a histogram; panels for further keys."""

from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.plots.measured import MOST_PANELS, Form, Measured, one_number, small_multiples
from sfumato.query.model.kinds import NUMBERS, TIMES
from sfumato.query.statistics.estimates import NOTHING, AnswerValue
from sfumato.query.values.cells import Cell
from sfumato.session.releases.release import Release, shown_estimate

_MOST_BARS: Final = 30  # over numbers, of which more are a series
_BETWEEN: Final = " · "


def picture(release: Release, statistic: str | None) -> Any:
    """A matplotlib figure of one statistic of an answer, or of a histogram by its name.

    Raises:
        ParameterError: There is no such statistic, it holds no numbers, or there are too many groups for panels.
    """
    name = release.statistics[0] if statistic is None else statistic
    for histogram in release.histograms:
        if name == histogram.name or (statistic is None and name in histogram.columns):
            return _histogram(release, histogram.columns, histogram.edges, histogram.value)
    estimates = release[name]
    _require_numbers(name, estimates)
    if not release.keys and len(estimates) == 1:
        return _number(release, name, estimates[0])
    return _over_keys(release, name, estimates)


def _number(release: Release, name: str, estimate: AnswerValue) -> Any:
    text = shown_estimate(estimate)
    return one_number(
        estimate.value, estimate.low, estimate.high, text=text, title=name, caption=_caption(release, [estimate])
    )  # fmt: skip


def _histogram(release: Release, columns: Sequence[str], edges: Sequence[Any], value: str) -> Any:
    rows = [[row[release.statistics.index(column)] for column in columns] for row in release.estimates]
    every = [estimate for row in rows for estimate in row]
    _require_numbers(columns[0], every)
    names = [_BETWEEN.join(map(_text, group)) for group in release.groups]
    _require_few(names, ", ".join(release.keys))
    widths = {second - first for first, second in pairwise(edges)}
    are_times = isinstance(edges[0], date)  # which are named, as bins between them are seldom of one width
    places: list[Any] = [f"{a} to {b}" for a, b in pairwise(edges)] if are_times else [float(edge) for edge in edges]
    return small_multiples(
        {name: _measured(row) for name, row in zip(names, rows, strict=True)}, places,
        form="bars" if are_times else "bins", title=_title(f"Histogram of {value}", release.keys), y_label="count",
        caption=_caption(release, every),
        x_label=value if len(widths) == 1 or are_times else f"{value} (bins of different widths, drawn equally wide)",
    )  # fmt: skip


def _over_keys(release: Release, name: str, estimates: Sequence[AnswerValue]) -> Any:
    across = _across(release)
    rows: dict[tuple[str, Cell], AnswerValue] = {}
    for group, estimate in zip(release.groups, estimates, strict=True):
        others = _BETWEEN.join(_text(key) for place, key in enumerate(group) if place != across)
        rows[others, group[across]] = estimate
    if len(rows) < len(estimates):  # keys that tell the groups apart were left out of the answer
        rows = {("", f"{number}. {_BETWEEN.join(map(_text, group))}"): estimate
                for number, (group, estimate) in enumerate(zip(release.groups, estimates, strict=True), 1)}  # fmt: skip
        form: Form = "bars"
    else:
        kind, count = release.kinds[across], len({place for _, place in rows})
        form = "series" if kind in TIMES or (kind in NUMBERS and count > _MOST_BARS) else "bars"
    places = list(dict.fromkeys(place for _, place in rows if form == "bars" or place is not None))
    panels = list(dict.fromkeys(panel for panel, _ in rows))
    further = tuple(key for place, key in enumerate(release.keys) if place != across)
    _require_few(panels, ", ".join(further))
    shown: list[Any] = [_text(place) for place in places] if form == "bars" else places
    drawn = [estimate for (_, place), estimate in rows.items() if form == "bars" or place is not None]
    missing = "" if len(drawn) == len(rows) else f"; where {release.keys[across]} is NULL is not drawn"
    return small_multiples(
        {panel: _measured([rows.get((panel, place), NOTHING) for place in places]) for panel in panels}, shown,
        form=form, title=_title(name, (release.keys[across], *further)), x_label=release.keys[across], y_label=name,
        caption=_caption(release, drawn, is_whole=len(drawn) == len(panels) * len(places)) + missing,
    )  # fmt: skip


def _across(release: Release) -> int:
    """Which key goes along the bottom: a time, else many numbers, else the one with the most values."""

    def weight(place: int) -> tuple[bool, bool, int]:
        values = {group[place] for group in release.groups}
        kind = release.kinds[place]
        return kind in TIMES, kind in NUMBERS and len(values) > _MOST_BARS, len(values)

    return max(range(len(release.keys)), key=weight)


def _measured(estimates: Sequence[AnswerValue]) -> Measured:
    return Measured(
        values=[one.value for one in estimates], lows=[_end(one, one.low) for one in estimates],
        highs=[_end(one, one.high) for one in estimates],
    )  # fmt: skip


def _end(estimate: AnswerValue, end: float | None) -> float | None:
    """An end of an interval; None where the value is none, or the other end is not known."""
    return None if None in (estimate.value, estimate.low, estimate.high) else end


def _title(name: str, keys: Sequence[str]) -> str:
    return f"{name} by {' and '.join(keys)}" if keys else name


def _caption(release: Release, estimates: Sequence[AnswerValue], *, is_whole: bool = True) -> str:
    """What intervals are, what the answer cost, and what is not there."""
    told = [f"{release.confidence:.0%} intervals", str(release.receipt.guarantee)]
    values = [one for one in estimates if one.value is not None]
    if any(one.low is None or one.high is None for one in values):
        told.append("where none is drawn, the error is not known")
    if len(values) < len(estimates) or not is_whole:
        told.append("what was not released is a gap")
    return "; ".join(told)


def _require_numbers(name: str, estimates: Sequence[AnswerValue]) -> None:
    values = [one.value for one in estimates if one.value is not None]
    if not values:
        raise ParameterError("statistic", name, "contains nothing to draw; release it with an ε above 0")
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        raise ParameterError("statistic", name, "contains no numbers; name a statistic that does")


def _require_few(panels: Sequence[str], keys: str) -> None:
    if len(panels) > MOST_PANELS:
        requirement = f"has {len(panels)} groups, and at most {MOST_PANELS} panels are drawn; query a part of them"
        raise ParameterError("keys", keys, requirement)


def _text(key: Cell) -> str:
    return "NULL" if key is None else str(key)
