"""Charts of releases: counts and other values with their intervals."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import column, listed
from sfumato.numeric.rationals import probability
from sfumato.plots.panels import BLUE, GREY, INK, LIGHT, Numbers, legend, new_figure, numbers, same_length

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MAX_LABEL_CHARACTERS: Final = 95  # that fit side by side; beyond, labels are turned
_BAR_WIDTH, _MIN_BARS_ACROSS = 0.7, 6  # one bar alone does not fill the picture


def histogram(
    labels: Sequence[str],
    true_counts: Numbers | None,
    private_counts: Numbers,
    errors: Numbers,
    *,
    title: str | None = None,
    x_label: str = "",
    confidence: float = 0.95,
) -> "Figure":
    """True and private counts side by side, the private ones with their intervals.

    Args:
        labels: The name of each bar.
        true_counts: Exact counts of public or made-up data; None for private data.
        private_counts: Released counts, which may be negative.
        errors: The half-width of the interval of each private count, in people.
        title: The title; None states how many counts exceed their error.
        x_label: The quantity of the labels, with its unit.
        confidence: The confidence of the intervals, for the legend.

    Raises:
        ParameterError: Lengths differ, something is no number, there is no bar, or matplotlib is missing.

    Example:
        >>> figure = histogram(["17–23", "24–31"], None, [12, -3], [5, 5])
    """
    names = listed(labels, "labels", of="texts")
    private, reach = numbers(private_counts=private_counts, errors=errors)
    same_length(labels=names, private_counts=private)
    if (reach < 0).any():
        raise ParameterError("errors", errors, "must be 0 or more")
    level = float(probability(confidence, "confidence"))
    clear = int(np.sum(np.abs(private) > reach))
    finding = f"{clear} of {len(private)} private counts exceed their {100 * level:g}% error"
    figure, (axes,) = new_figure(finding if title is None else title, x_label=x_label, y_label="number of people")
    places, width = np.arange(len(names)), 0.4
    if true_counts is None:
        shift, width = 0.0, _BAR_WIDTH
    else:
        true = column(true_counts, "true_counts")
        same_length(labels=names, true_counts=true)
        shift = width / 2
        axes.bar(places - shift, true, width, color=LIGHT, edgecolor=GREY, linewidth=0.8, label="true")
    axes.bar(places + shift, private, width, color=BLUE, label="private")
    interval = f"{100 * level:g}% interval"
    axes.errorbar(places + shift, private, reach, fmt="none", ecolor=INK, elinewidth=1.2, capsize=3, label=interval)
    _name_bars(axes, names)
    legend(axes)
    return figure


def bars(
    labels: Sequence[str],
    values: Numbers,
    lows: Numbers,
    highs: Numbers,
    *,
    title: str = "Private release",
    x_label: str = "",
    y_label: str = "value",
) -> "Figure":
    """Released values as bars with their intervals.

    Args:
        labels: The name of each bar.
        values: Released values.
        lows: The lower bound of each interval, at most the value.
        highs: The upper bound of each interval, at least the value.
        title: The title of the chart.
        x_label: The quantity of the labels.
        y_label: The quantity of the values, with its unit.

    Raises:
        ParameterError: Lengths differ, something is no number, there is no bar, an interval misses its value, or
            matplotlib is missing.

    Example:
        >>> figure = bars(["people"], [6472], [6442], [6502])
    """
    names = listed(labels, "labels", of="texts")
    heights, low, high = numbers(values=values, lows=lows, highs=highs)
    same_length(labels=names, values=heights)
    figure, (axes,) = new_figure(title, x_label=x_label, y_label=y_label)
    places = np.arange(len(names))
    reach = np.array([heights - low, high - heights])
    if not (reach >= 0).all():
        raise ParameterError("lows, highs", "intervals", "must contain their values")
    axes.bar(places, heights, _BAR_WIDTH, color=BLUE)
    axes.errorbar(places, heights, reach, fmt="none", ecolor=INK, elinewidth=1.2, capsize=4)
    _name_bars(axes, names)
    return figure


def _name_bars(axes: "Axes", labels: Sequence[str]) -> None:
    """Labels under bars, rotated where they would overlap, and a line at 0, because private counts may be negative."""
    turned = sum(len(str(label)) + 2 for label in labels) > _MAX_LABEL_CHARACTERS
    axes.set_xticks(range(len(labels)), [str(label) for label in labels])
    axes.tick_params(axis="x", length=0, rotation=35 if turned else 0)
    for text in axes.get_xticklabels():
        text.set(horizontalalignment="right" if turned else "center", rotation_mode="anchor" if turned else "default")
    across = max(len(labels), _MIN_BARS_ACROSS)
    axes.set_xlim((len(labels) - 1 - across) / 2, (len(labels) - 1 + across) / 2)
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.yaxis.set_major_formatter("{x:,.10g}")
