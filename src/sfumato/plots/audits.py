"""Charts of audits: bounds beside a claim, outputs on two neighbors, and p-values beside their level."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import share
from sfumato.plots.panels import (
    BLUE,
    GREY,
    ORANGE,
    PALETTE,
    RED,
    Numbers,
    by_name,
    drawable,
    legend,
    new_figure,
    numbers,
    pairs,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Values: TypeAlias = Numbers | NDArray[np.float64]

_BINS: Final = 60
_FEW: Final = 40  # different values, which get a bar each
_SMALLEST: Final = 1e-30  # smaller p-values are drawn here
_CUT: Final = 0.001  # of all outputs, on each side, beyond the histogram


def lower_bounds(bounds: Mapping[str, Sequence[tuple[int, float]]], *, claimed: float, title: str) -> "Figure":
    """The lower bound on ε of each test beside the claim; a test that proved nothing is drawn at 0.

    Args:
        bounds: For each tester the number of each test and its lower bound on ε.
        claimed: The claimed ε.
        title: The title of the chart.

    Raises:
        ParameterError: There is nothing to draw, a parameter is something else, or matplotlib is missing.

    Example:
        >>> figure = lower_bounds({"event search": [(1, 0.5), (2, 1.5)]}, claimed=1, title="Bounds")
    """
    tests = {str(tester): pairs(found, "bounds") for tester, found in by_name(bounds, "bounds", of="tests").items()}
    if not any(map(len, tests.values())):
        raise ParameterError("bounds", (), "must hold at least one test")
    claim = drawable(claimed, "claimed")
    figure, (axes,) = new_figure(title, x_label="number of the test", y_label="lower bound on ε")
    markers = "osD^vP"
    for at, (tester, found) in enumerate(tests.items()):
        axes.plot(
            found[:, 0], np.maximum(found[:, 1], 0.0), markers[at % len(markers)], color=PALETTE[at % len(PALETTE)],
            alpha=0.85, label=tester.replace("$", r"\$"),  # a dollar sign of a name is not a formula
        )  # fmt: skip
    axes.axhline(claim, color=RED, linestyle="--", linewidth=1.6, label="the claim")
    axes.set_ylim(bottom=min(-0.05 * claim, -0.02))
    _whole_numbers(axes)
    legend(axes, place="beside")
    return figure


def p_values(values: Numbers, *, level: float, title: str) -> "Figure":
    """p-values by the number of their test, on a log scale, beside the level below which a test fails.

    Args:
        values: The p-values of tests 1, 2 and so on, from 0 to 1.
        level: The significance of each test, between 0 and 1.
        title: The title of the chart.

    Raises:
        ParameterError: There are none, one lies outside, or matplotlib is missing.

    Example:
        >>> figure = p_values([0.03, 0.6], level=1e-6, title="Laws")
    """
    (found,), level = numbers(values=values), share(level, "level")
    if not ((found >= 0) & (found <= 1)).all():
        raise ParameterError("values", values, "must be p-values, from 0 to 1")
    figure, (axes,) = new_figure(title, x_label="number of the test", y_label="p-value")
    heights = np.maximum(found, _SMALLEST)
    axes.semilogy(np.arange(1, len(heights) + 1), heights, "o", color=BLUE, label="a test")
    axes.axhline(level, color=RED, linestyle="--", linewidth=1.6, label="fails below")
    axes.set_ylim(min(float(heights.min()), level) / 10, 3)
    _whole_numbers(axes)
    legend(axes, place="beside")
    return figure


def outputs_of_both(here: Values, there: Values, *, title: str, x_label: str = "output") -> "Figure":
    """The share of runs with each output, on a database and on its neighbor.

    If there are many different numbers, the farthest 0.1% on each side are not drawn.

    Args:
        here: Outputs on the database, finite numbers.
        there: Outputs on the neighbor.
        title: The title of the chart.
        x_label: The quantity of the outputs, with its unit.

    Raises:
        ParameterError: One of both has no outputs or something that is no finite number, or matplotlib is missing.

    Example:
        >>> figure = outputs_of_both([0, 1, 1], [1, 2, 2], title="Outputs")
    """
    (first,), (second,) = numbers(here=here, are_finite=True), numbers(there=there, are_finite=True)
    figure, (axes,) = new_figure(title, x_label=x_label, y_label="share of runs")
    both = np.concatenate([first, second])
    different = np.unique(both)
    if len(different) <= _FEW:
        width = float(np.diff(different).min()) * 0.4 if len(different) > 1 else 0.4
        _bars(axes, different, [np.mean(side[:, None] == different, axis=0) for side in (first, second)], width)
    else:
        low, high = (float(np.quantile(both, level)) for level in (_CUT, 1 - _CUT))
        edges = np.linspace(low, high, _BINS + 1)
        for side, color, label in ((first, BLUE, "the database"), (second, ORANGE, "its neighbor")):
            shares = np.histogram(side, edges)[0] / len(side)
            axes.stairs(shares, edges, color=color, label=label, linewidth=1.8)
            axes.stairs(shares, edges, color=color, alpha=0.2, fill=True)
    legend(axes, place="beside")
    return figure


def words_of_both(shares: Mapping[str, tuple[float, float]], *, title: str) -> "Figure":
    """The share of runs with each text, on a database and on its neighbor.

    Args:
        shares: For each text, the shares of runs on the two databases; texts are drawn as they are.
        title: The title of the chart.

    Raises:
        ParameterError: There are none, something is no share, or matplotlib is missing.

    Example:
        >>> figure = words_of_both({"yes": (0.7, 0.5), "no": (0.3, 0.5)}, title="Outputs")
    """
    both = pairs(list(by_name(shares, "shares", of="two shares").values()), "shares")
    figure, (axes,) = new_figure(title, x_label="share of runs")
    places = np.arange(len(shares))
    for side, color, label in ((0, BLUE, "the database"), (1, ORANGE, "its neighbor")):
        axes.barh(places + 0.4 * side - 0.2, both[:, side], 0.4, color=color, label=label)
    axes.set_yticks(places, list(map(str, shares)))
    for text in axes.get_yticklabels():
        text.set_parse_math(False)  # a dollar sign of an output is not a formula
    axes.invert_yaxis()
    axes.grid(axis="x", color=GREY, linewidth=0.3)
    legend(axes, place="beside")
    return figure


def _bars(axes: "Axes", places: NDArray[np.float64], shares: Sequence[Values], width: float) -> None:
    axes.bar(places - width / 2, shares[0], width, color=BLUE, label="the database")
    axes.bar(places + width / 2, shares[1], width, color=ORANGE, label="its neighbor")


def _whole_numbers(axes: "Axes") -> None:
    axes.locator_params(axis="x", integer=True)
