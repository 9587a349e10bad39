"""Charts of frequent itemsets: what was counted and what was made, beside exact counts where those are public."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind, real
from sfumato.plots.panels import (
    BLUE,
    GREY,
    INK,
    LIGHT,
    ORANGE,
    PALETTE,
    Numbers,
    legend,
    new_figure,
    numbers,
    same_length,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKS: Final = "osDv^"
_HEIGHT: Final = 0.26  # inches of one set


def itemset_counts(
    itemsets: Sequence[str],
    series: Mapping[str, Numbers],
    *,
    exact: Numbers | None = None,
    margins: Mapping[str, float] | None = None,
    floor: float | None = None,
    title: str = "Frequent sets of items",
    x_label: str = "number of people",
    exact_label: str = "exact, for the owner alone",
) -> "Figure":
    """How many have each set of items, by several methods: one line a set, the first at the top.

    Args:
        itemsets: The name of each set.
        series: For each method, by name, its counts of all sets.
        exact: Exact counts of public or made-up data; None for private data.
        margins: For some methods the half-width of their intervals.
        floor: Counts below it drown in noise; they are shaded.
        title: The title.
        x_label: What is counted.
        exact_label: What the legend calls exact counts.

    Raises:
        ParameterError: Lengths differ, something is no number, there is no set, or matplotlib is missing.

    Example:
        >>> figure = itemset_counts(["tea", "tea, milk"], {"counted": [12, 9]}, margins={"counted": 3}, floor=3)
    """
    names = listed(itemsets, "itemsets", of="texts")
    shown = dict(of_kind(series, "series", Mapping, "counts by the name of a method"))
    if not names or not shown or len(shown) > len(_MARKS):
        raise ParameterError("series", f"{len(shown)} methods", f"must be 1 to {len(_MARKS)}, of at least one set")
    widths = dict(of_kind({} if margins is None else margins, "margins", Mapping, "numbers by the name of a method"))
    if not set(widths) <= set(shown):
        raise ParameterError("margins", list(widths), "must be of methods in series")
    figure, (axes,) = new_figure(title, x_label=x_label)
    figure.set_size_inches(8, 1.6 + _HEIGHT * len(names))
    axes.grid(visible=False)
    places = range(len(names))
    if exact is not None:
        (true,) = numbers(exact=exact)
        same_length(itemsets=names, exact=true)
        axes.barh(places, true, 0.7, color=LIGHT, edgecolor=GREY, linewidth=0.8, label=str(exact_label))
    colors: list[Any] = [BLUE, ORANGE, *PALETTE[2:]]
    for (name, counts), mark, color in zip(shown.items(), _MARKS, colors, strict=False):
        (values,) = numbers(series=counts)
        same_length(itemsets=names, series=values)
        if name in widths:
            reach = real(widths[name], "margins", least=0, is_finite=True)
            axes.errorbar(values, places, xerr=reach, fmt="none", ecolor=INK, elinewidth=1.2, capsize=3)
        axes.plot(values, places, mark, color=color, markersize=5, label=name)
    if floor is not None:
        end = real(floor, "floor", least=0, is_finite=True)
        axes.axvspan(0, end, color=GREY, alpha=0.25, linewidth=0, label="drowns in noise")
    axes.set_yticks(list(places), [str(name) for name in names], parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)
    legend(axes)
    return figure
