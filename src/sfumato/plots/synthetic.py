"""Charts of synthetic rows: shares of values, distances of pairs, scores beside each other, and how near over ε."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from math import sqrt
from typing import TYPE_CHECKING, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind
from sfumato.plots.panels import (
    BLUE,
    GREY,
    INK,
    LIGHT,
    ORANGE,
    PALETTE,
    Array,
    Numbers,
    by_name,
    drawable,
    legend,
    new_figure,
    numbers,
    percent,
    quiet,
    same_length,
    state,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ACROSS: Final = 3
_MOST_PANELS: Final = 24
_MOST_NAMED: Final = 7  # values of a column that have their names below
_LONGEST: Final = 12
_SHADES: Final = 12
_MOST_WRITTEN: Final = 16  # columns of a matrix whose cells have their numbers
_SOURCES: Final = (INK, BLUE, ORANGE)
_FILLS: Final = {"synthetic": BLUE, "bootstrap": LIGHT, "independent": GREY, "real": INK}


def shares_by_column(
    values: Mapping[str, Sequence[str]], shares_by_source: Mapping[str, Mapping[str, Numbers]], *, title: str
) -> "Figure":
    """For each column the share of rows that have each of its values, a line for each source.

    Args:
        values: For each column the names of its values; of the first 24.
        shares_by_source: For each source and each column the share of each value.
        title: What the figure shows.

    Raises:
        ParameterError: There is nothing to draw, lengths differ, or matplotlib is missing.

    Example:
        >>> shares = {"real": {"sex": [0.4, 0.6]}, "synthetic": {"sex": [0.5, 0.5]}}
        >>> figure = shares_by_column({"sex": ["f", "m"]}, shares, title="Shares of values")
    """
    names = list(by_name(values, "values", of="its values"))[:_MOST_PANELS]
    sources = by_name(shares_by_source, "shares_by_source", of="shares by column")
    figure, first = new_figure("")
    figure.delaxes(first[0])
    across = min(_ACROSS, len(names))
    down = -(-len(names) // across)
    figure.set_size_inches(9, 1.1 + 1.9 * down)
    grid = figure.subplots(down, across, squeeze=False)
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    for axes, name in zip(grid.flat, names, strict=False):
        quiet(axes)
        axes.set_title(name, loc="left", color=INK, fontsize=10, parse_math=False)
        places = np.arange(len(values[name]) + 1) - 0.5
        for (source, by_column), color in zip(sources.items(), cycle(_SOURCES), strict=False):
            (heights,) = numbers(shares=by_column[name], are_finite=True)
            same_length(values=values[name], shares=heights)
            dash = ":" if color == ORANGE else "-"
            axes.stairs(heights, places, color=color, linestyle=dash, linewidth=1.6, baseline=None, label=source)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(percent())
        _name_values(axes, values[name])
    figure.suptitle(title, x=0.01, horizontalalignment="left", color=INK, fontweight="bold", parse_math=False)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, labelcolor=INK)
    return figure


def _name_values(axes: "Axes", values: Sequence[str]) -> None:
    """The names of a few values, or of the first, the middle and the last one."""
    last = len(values) - 1
    places = list(range(len(values))) if len(values) <= _MOST_NAMED else [0, last // 2, last]
    axes.set_xticks(places)
    shown = [values[place] if len(values[place]) <= _LONGEST else f"{values[place][:_LONGEST]}…" for place in places]
    is_wide = sum(map(len, shown)) > 2 * _LONGEST
    axes.set_xticklabels(
        shown, fontsize=8, parse_math=False, rotation=20 if is_wide else 0, ha="right" if is_wide else "center"
    )


def distances_of_pairs(names: Sequence[str], distances: Sequence[Numbers], *, title: str) -> "Figure":
    """Distances of all pairs of columns as a colored triangle, on the diagonal those of single columns.

    Args:
        names: The columns.
        distances: A row for each column, from 0 to 1; only what is on and below the diagonal is drawn.
        title: What the figure shows.

    Raises:
        ParameterError: There is no column, lengths differ, or matplotlib is missing.

    Example:
        >>> figure = distances_of_pairs(["age", "sex"], [[0.1, 0.2], [0.2, 0.0]], title="TVD of pairs")
    """
    columns = listed(names, "names", of="names of columns")
    rows = [numbers(distances=row)[0] for row in listed(distances, "distances", of="rows")]
    same_length(names=columns, distances=rows)
    for own in rows:
        same_length(names=columns, distances=own)
    table = np.ma.masked_where(np.triu(np.ones((len(rows), len(rows)), dtype=bool), 1), np.stack(rows))
    figure, (axes,) = new_figure("")
    side = min(9.0, 2.6 + 0.42 * len(columns))
    figure.set_size_inches(max(side + 1, 5.5), side)
    state(axes, title)
    top = max(float(table.max()), 0.05)
    from matplotlib import colormaps

    colors = colormaps["Blues"].resampled(_SHADES)  # few shades are drawn as shapes, which pages need no image for
    image = axes.pcolormesh(table, cmap=colors, vmin=0, vmax=top, edgecolors="white", linewidth=1)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    middle = np.arange(len(columns)) + 0.5
    axes.set_xticks(middle, columns, rotation=45, ha="right", parse_math=False, fontsize=8)
    axes.set_yticks(middle, columns, parse_math=False, fontsize=8)
    axes.tick_params(length=0)
    if len(columns) <= _MOST_WRITTEN:
        for row in range(len(columns)):
            for column in range(row + 1):
                number = float(table[row, column])
                ink = "white" if number > 0.6 * top else INK
                axes.text(
                    column + 0.5,
                    row + 0.5,
                    f"{number:.2f}".removeprefix("0"),
                    ha="center",
                    va="center",
                    color=ink,
                    fontsize=7,
                )
    figure.colorbar(image, ax=axes, shrink=0.7, label="total variation distance")
    return figure


def scores_beside(
    groups: Sequence[str],
    scores_by_source: Mapping[str, Numbers],
    *,
    title: str,
    y_label: str,
    marks_by_source: Mapping[str, Numbers] | None = None,
    marked: str = "largest",
    least: float = 0,
) -> "Figure":
    """Bars of scores beside each other, a group for each measure and a color for each source.

    Args:
        groups: The names of the groups.
        scores_by_source: For each source a score in each group.
        title: What the figure shows.
        y_label: What a score is.
        marks_by_source: For each source a second number in each group, as a mark above its bar; None draws none.
        marked: What a mark is.
        least: Where bars begin.

    Raises:
        ParameterError: There is nothing to draw, lengths differ, or matplotlib is missing.

    Example:
        >>> figure = scores_beside(["1 column"], {"synthetic": [0.1]}, title="Distances", y_label="mean TVD")
    """
    names = listed(groups, "groups", of="names")
    figure, (axes,) = new_figure("", y_label=y_label)
    state(axes, title)
    sources = by_name(scores_by_source, "scores_by_source", of="scores")
    width, places = 0.8 / len(sources), np.arange(len(names))
    for place, (source, scores) in enumerate(sources.items()):
        (heights,) = numbers(scores=scores)
        same_length(groups=names, scores=heights)
        at = places + (place - (len(sources) - 1) / 2) * width
        axes.bar(
            at,
            heights - least,
            0.92 * width,
            bottom=least,
            color=_FILLS.get(source, ORANGE),
            edgecolor=GREY,
            linewidth=0.6,
            label=source,
        )
        tops = heights
        if marks_by_source is not None:
            (tops,) = numbers(marks=marks_by_source[source])
            axes.vlines(at, heights, tops, color=GREY, linewidth=1)
            label = marked if place == len(sources) - 1 else None
            axes.plot(at, tops, linestyle="", marker="_", markersize=11, color=INK, label=label)
        for x, height in zip(at, tops, strict=True):
            if np.isfinite(height):
                axes.annotate(
                    f"{height:.3f}".removeprefix("0"), (x, height), (0, 3), textcoords="offset points",
                    ha="center", fontsize=7, color=INK,
                )  # fmt: skip
    axes.set_xticks(places, names, parse_math=False)
    axes.set_ylim(bottom=least)
    legend(axes, place="beside")
    return figure


def nearness_over_epsilon(
    epsilons: Numbers,
    distances_by_method: Mapping[str, Sequence[Numbers]],
    areas_by_method: Mapping[str, Sequence[Numbers]],
    *,
    floor: tuple[float, float],
    title: str | None = None,
) -> "Figure":
    """How near synthetic rows come to a table over ε: distances of pairs, and how well a model predicts that saw them.

    Args:
        epsilons: Values of ε, above 0.
        distances_by_method: For each method and each ε the mean total variation distance of pairs in each run.
        areas_by_method: For each method and each ε the AUC in each run of a model that was trained on synthetic rows.
        floor: Both for a bootstrap of the real rows, as lines.
        title: The title; None states which method is nearest at the largest ε.

    Raises:
        ParameterError: Lengths differ, something is out of range, there is nothing to draw, or matplotlib is missing.

    Example:
        >>> distances, areas = {"mst": [[0.06], [0.05]]}, {"mst": [[0.87], [0.88]]}
        >>> figure = nearness_over_epsilon([1, 3], distances, areas, floor=(0.01, 0.9))
    """
    (across,) = numbers(epsilons=epsilons, are_finite=True)
    if across.min() <= 0:
        raise ParameterError("epsilons", "some", "must be above 0")
    order = np.argsort(across, kind="stable")
    both = listed(floor, "floor", of="a distance and an AUC")
    if len(both) != 2:  # noqa: PLR2004 # one for each panel
        raise ParameterError("floor", floor, "must be a distance and an AUC")
    drawn = [
        _means(across, distances_by_method, "distances_by_method"), _means(across, areas_by_method, "areas_by_method")
    ]  # fmt: skip
    first = min(drawn[0], key=lambda name: float(drawn[0][name][0, order[-1]]))
    finding = f"At ε = {across.max():g}, {first} is nearest: {drawn[0][first][0, order[-1]]:.3f}"
    figure, panels = new_figure("", panels=2, x_label="ε")
    state(panels[0], finding if title is None else of_kind(title, "title", str, "text"))
    for axes, found, line, label in zip(
        panels, drawn, both, ("mean TVD of pairs", "AUC, trained on them"), strict=True
    ):
        for (name, values), color in zip(found.items(), cycle(PALETTE), strict=False):
            means, errors = values[:, order]
            axes.errorbar(
                across[order], means, yerr=errors, color=color, marker="o", markersize=4, linewidth=1.8, elinewidth=1.2,
                capsize=3, label=str(name),
            )  # fmt: skip
        axes.axhline(drawable(line, "floor"), color=INK, linestyle="--", linewidth=1.2, label="bootstrap of real rows")
        axes.set(ylabel=label, xscale="log")
        axes.set_xticks(sorted(set(across.tolist())), minor=False)
        axes.set_xticks([], minor=True)
        axes.xaxis.set_major_formatter("{x:g}")
    panels[0].set_ylim(bottom=0)
    legend(panels[0], place="beside")
    return figure


def _means(across: Array, by_method: Mapping[str, Sequence[Numbers]], name: str) -> dict[str, Array]:
    """For each method the means of its runs, and two standard errors of them."""
    found = {}
    for method, given in by_name(by_method, name, of="the runs at each ε").items():
        runs = [numbers(**{name: one}, are_finite=True)[0] for one in listed(given, name, of="lists")]
        if len(runs) != len(across):
            raise ParameterError(name, f"{len(runs)} lists", f"must have a list for each of {len(across)} ε")
        if any(one.min() < 0 or one.max() > 1 for one in runs):
            raise ParameterError(name, "some", "must be numbers from 0 to 1")
        errors = [2 * float(np.std(one, ddof=1)) / sqrt(len(one)) if len(one) > 1 else 0.0 for one in runs]
        found[method] = np.array([[float(one.mean()) for one in runs], errors])
    return found
