"""Charts of released numbers over dates, numbers, bins or names: one panel, or small multiples with one scale.

A number that was not released is a gap, never 0. A number without a bound on its error has no interval.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind, one_of
from sfumato.plots.panels import BLUE, GREY, INK, Array, dates, drawable, new_grid, numbers, same_length

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Figures: TypeAlias = Sequence[float | None]
Places: TypeAlias = Sequence[str] | Sequence[float] | Sequence[date]
Form: TypeAlias = Literal["bars", "series", "bins"]

MOST_PANELS: Final = 24
_BAR_WIDTH, _MIN_BARS_ACROSS = 0.7, 6  # one bar alone does not fill the picture
_INCHES: Final = 8.0
_LETTERS_AN_INCH: Final = 13.0
_MARGIN: Final = 0.5  # inches beside each panel
_MOST_NAMES: Final = 30  # under turned bars, in all panels side by side
_MOST_MARKS: Final = 40  # of a series, which is a line alone where there are more


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Released numbers in the order of their places, with their intervals; None where there is none.

    Raises:
        ParameterError: Lengths differ, something is no number, or an interval misses its number.

    Example:
        >>> Measured(values=[7, None], lows=[5, None], highs=[9, None]).values
        [7, None]
    """

    values: Figures
    lows: Figures
    highs: Figures

    def __post_init__(self) -> None:
        values, lows, highs = self.arrays()
        if (lows > values).any() or (values > highs).any():
            raise ParameterError("lows, highs", "intervals", "must contain their values")

    def arrays(self) -> tuple[Array, Array, Array]:
        """Values, lows and highs; NaN where there is none."""
        values, lows, highs = numbers(values=self.values, lows=self.lows, highs=self.highs)
        return values, lows, highs


def small_multiples(
    panels: Mapping[str, Measured],
    places: Places,
    *,
    form: Form = "bars",
    title: str = "Private release",
    x_label: str = "",
    y_label: str = "value",
    caption: str = "",
) -> "Figure":
    """Released numbers over the same places, a panel for each name, all in one scale.

    ``"bars"`` stand over names, each with its interval. A ``"series"`` is a line over dates or numbers with the band of
    its intervals, broken where a place is missing. ``"bins"`` touch at their edges, of which there is one more than
    numbers; bins of different widths are drawn equally wide, because the area of a bar would else be misread.

    Args:
        panels: The numbers of each panel, by its name; a single panel needs no name.
        places: A name, a date or a number for each value; or the edges of bins, ascending.
        form: The form of the chart.
        title: The title of the chart.
        x_label: The quantity of the places, with its unit.
        y_label: The quantity of the values, with its unit.
        caption: Text below the chart, e.g. the confidence of the intervals.

    Raises:
        ParameterError: There are no panels or too many, lengths differ, places are no such places, or matplotlib is
            missing.

    Example:
        >>> wards = {
        ...     "A": Measured(values=[7, 9], lows=[5, 7], highs=[9, 11]),
        ...     "B": Measured(values=[4, None], lows=[2, None], highs=[6, None]),
        ... }
        >>> figure = small_multiples(wards, ["morning", "evening"], x_label="shift", y_label="visits")
    """
    one_of(form, "form", ("bars", "series", "bins"))
    if not 0 < len(of_kind(panels, "panels", Mapping, "a mapping of names, with a Measured for each")) <= MOST_PANELS:
        raise ParameterError("panels", len(panels), f"must be from 1 to {MOST_PANELS}; draw fewer")
    there = _there(places, form)
    for measured in panels.values():
        of_kind(measured, "panels", Measured, "a mapping of names, with a Measured for each")
        same_length(places=there[1:] if form == "bins" else there, values=measured.arrays()[0])
    names = list(panels)
    figure, grid = new_grid(title, names=names, x_label=x_label, y_label=y_label, caption=caption)
    inches = _INCHES / min(len(panels), 3) - _MARGIN
    for axes, measured in zip(grid, panels.values(), strict=True):
        match form:
            case "bars":
                _bars(axes, there, measured, inches)
            case "bins":
                _bins(axes, there, measured, inches)
            case "series":
                _series(axes, there, measured, inches)
        if form != "series" or axes.get_ylim()[0] < 0:
            axes.axhline(0, color=GREY, linewidth=0.8)
        axes.yaxis.set_major_formatter("{x:,.10g}")
    return figure


def one_number(
    value: float,
    low: float | None,
    high: float | None,
    *,
    text: str,
    title: str = "Private release",
    x_label: str = "",
    caption: str = "",
) -> "Figure":
    """One released number on a line of numbers, with its interval.

    Args:
        value: The number.
        low: The lower bound of its interval; None if its error has no bound.
        high: The upper bound of its interval.
        text: The number as text, with its error.
        title: The title of the chart.
        x_label: The quantity, with its unit.
        caption: Text below the chart.

    Raises:
        ParameterError: The interval misses the number, something is no number, or matplotlib is missing.

    Example:
        >>> figure = one_number(6472, 6442, 6502, text="6,472 ± 30", x_label="people")
    """
    value = drawable(value, "value")
    low, high = None if low is None else drawable(low, "low"), None if high is None else drawable(high, "high")
    of_kind(text, "text", str, "text")
    ends = (low, high) if low is not None and high is not None else None
    Measured(values=[value], lows=[low if ends else None], highs=[high if ends else None])
    figure, (axes,) = new_grid(title, names=[""], x_label=x_label, caption=caption)
    figure.set_size_inches(8, 2.4)
    if ends is not None:
        axes.plot(ends, (0, 0), color=BLUE, linewidth=10, alpha=0.25, solid_capstyle="butt")
        for end in ends:
            axes.plot((end, end), (-0.12, 0.12), color=BLUE, linewidth=1.6)
    axes.plot([value], [0], "o", color=BLUE, markersize=10)
    axes.annotate(
        text, (value, 0), (0, 16), textcoords="offset points", ha="center", color=INK, fontsize=15,
        fontweight="bold", parse_math=False,
    )  # fmt: skip
    reach = max((abs(end - value) for end in ends or ()), default=0.0) or abs(value) / 2 or 1.0
    axes.set(xlim=(value - 2 * reach, value + 2 * reach), ylim=(-0.5, 1), yticks=[])
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False)
    axes.xaxis.set_major_formatter("{x:,.10g}")
    axes.locator_params(axis="x", nbins=7)
    return figure


def _there(places: Places, form: Form) -> Any:
    """Where numbers are drawn: names for bars, numbers for bins, and numbers or times for a series."""
    given = listed(places, "places", of="names, dates or numbers")
    if form == "bars":
        return [str(place) for place in given]
    if form == "series" and given and isinstance(given[0], date):
        for place in given:
            of_kind(place, "places", date, "dates, or numbers")
        return given
    return numbers(places=given, are_finite=True)[0].tolist()


def _bars(axes: "Axes", names: Sequence[str], measured: Measured, inches: float) -> None:
    places = np.arange(len(names), dtype=float)
    values, _, _ = measured.arrays()
    axes.bar(places, np.nan_to_num(values), _BAR_WIDTH, color=BLUE)
    _intervals(axes, places, measured)
    across = max(len(names), _MIN_BARS_ACROSS)
    turned = max(map(len, names)) + 1.5 > _LETTERS_AN_INCH * inches / across
    step = -(-len(names) // max(int(_MOST_NAMES * inches / _INCHES), 1)) if turned else 1
    axes.set_xticks(places[::step], names[::step])
    axes.tick_params(axis="x", length=0, rotation=35 if turned else 0)
    for label in axes.get_xticklabels():
        label.set(horizontalalignment="right" if turned else "center", rotation_mode="anchor" if turned else "default")
        label.set_parse_math(False)
    axes.set_xlim((len(names) - 1 - across) / 2, (len(names) - 1 + across) / 2)


def _bins(axes: "Axes", edges: Sequence[float], measured: Measured, inches: float) -> None:
    widths = np.diff(edges)
    if (widths <= 0).any():
        raise ParameterError("places", "edges", "must ascend")
    is_even = bool(np.allclose(widths, widths[0]))
    shown = np.asarray(edges, float) if is_even else np.arange(len(edges), dtype=float)
    middles = (shown[:-1] + shown[1:]) / 2
    values, _, _ = measured.arrays()
    axes.bar(middles, np.nan_to_num(values), np.diff(shown), color=BLUE, edgecolor="white", linewidth=1.2)
    _intervals(axes, middles, measured)
    texts = [f"{edge:,.6g}" for edge in edges]
    most = max(int(_LETTERS_AN_INCH * inches / (max(map(len, texts)) + 2)), 2)
    step = -(-len(edges) // most)
    axes.set_xticks(shown[::step], texts[::step])
    axes.set_xlim(shown[0], shown[-1])


def _series(axes: "Axes", places: Sequence[Any], measured: Measured, inches: float) -> None:
    is_time = isinstance(places[0], date)
    at = np.asarray(places, dtype="datetime64[us]").astype(np.int64) if is_time else np.asarray(places)
    order = np.argsort(at.astype(float), kind="stable")
    columns = [column[order] for column in measured.arrays()]
    at, (values, lows, highs) = _broken(at.astype(float)[order], columns)
    shown = np.array(at, dtype="int64").astype("datetime64[us]") if is_time else at
    axes.fill_between(shown, lows, highs, color=BLUE, alpha=0.2, linewidth=0)
    marker = "o" if len(places) <= _MOST_MARKS else ""
    axes.plot(shown, values, color=BLUE, linewidth=1.8, marker=marker, markersize=4)
    alone = np.isfinite(values) & ~np.isfinite(np.r_[np.nan, values[:-1]]) & ~np.isfinite(np.r_[values[1:], np.nan])
    axes.plot(shown[alone], values[alone], "o", color=BLUE, markersize=4)
    axes.errorbar(
        shown[alone], values[alone], np.abs([values[alone] - lows[alone], highs[alone] - values[alone]]), fmt="none",
        ecolor=BLUE, alpha=0.4, elinewidth=4,
    )  # fmt: skip
    if is_time:
        dates(axes, most=max(int(inches), 3))
    else:
        axes.xaxis.set_major_formatter("{x:,.10g}")
        if all(float(place).is_integer() for place in places):
            axes.locator_params(axis="x", integer=True)


def _broken(at: Array, columns: Sequence[Array]) -> tuple[Array, list[Array]]:
    """With a gap wherever more time passes than between most of the others: what is not there is not known."""
    steps = np.diff(at)
    usual = float(np.median(steps)) if len(steps) else 0.0
    gaps = [place + 1 for place, step in enumerate(steps) if step > 1.5 * usual]
    middles = [(first + second) / 2 for place, (first, second) in enumerate(pairwise(at)) if place + 1 in gaps]
    return np.insert(at, gaps, middles), [np.insert(column, gaps, math.nan) for column in columns]


def _intervals(axes: "Axes", places: Array, measured: Measured) -> None:
    values, lows, highs = measured.arrays()
    there = np.isfinite(values) & np.isfinite(lows) & np.isfinite(highs)
    reach = np.array([values - lows, highs - values])[:, there]
    axes.errorbar(
        places[there], values[there], reach, fmt="none", ecolor=INK, elinewidth=1.2,
        capsize=4 if len(places) <= _MOST_MARKS else 0,
    )  # fmt: skip
