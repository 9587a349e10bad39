"""Charts of additive models: what each feature adds to a score, a panel a feature, all in one scale."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind
from sfumato.plots.measured import MOST_PANELS
from sfumato.plots.panels import BLUE, GREY, INK, PALETTE, Array, by_name, legend, new_figure, numbers, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Effects: TypeAlias = Mapping[str, Mapping[str, Sequence[float] | Array]]
"""By feature, and by the name of a line: what each bin or value adds."""

_ACROSS: Final = 3
_MOST_NAMES: Final = 12
_MOST_LETTERS: Final = 12


def feature_effects(
    effects: Effects,
    places: Mapping[str, Sequence[str] | Sequence[float]],
    *,
    title: str = "What each feature adds",
    y_label: str = "added to the score",
    caption: str = "",
) -> "Figure":
    """What each feature of an additive model adds to a score: steps over bins of numbers, bars over values.

    Args:
        effects: For each feature its lines by name, each with a number a bin or value; one line needs no name.
        places: For each feature the edges of its bins, ascending, one more than there are bins; or its values as text.
        title: The title of the chart.
        y_label: The quantity of the numbers.
        caption: Text below the chart.

    Raises:
        ParameterError: There are no features or too many, lengths differ, edges do not ascend, or matplotlib is
            missing.

    Example:
        >>> figure = feature_effects(
        ...     {"age": {"": [-1, 0, 1]}, "sport": {"": [0.5, -0.5]}},
        ...     {"age": [0, 30, 60, 90], "sport": ["Football", "Tennis"]},
        ... )
    """
    if len(by_name(effects, "effects", of="lines")) > MOST_PANELS:
        raise ParameterError("effects", len(effects), f"must have from 1 to {MOST_PANELS} features; draw fewer")
    of_kind(places, "places", Mapping, "a mapping of features, with edges or values for each")
    of_kind(y_label, "y_label", str, "text")
    of_kind(caption, "caption", str, "text")
    panels = {name: _checked(name, lines, places) for name, lines in effects.items()}
    figure, first = new_figure("")
    figure.delaxes(first[0])
    across = min(len(panels), _ACROSS)
    down = -(-len(panels) // across)
    figure.set_size_inches(8, 1.6 + 2.4 * down)
    grid = figure.subplots(down, across, sharey=True, squeeze=False).flat
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    for at, (axes, (name, (where, lines))) in enumerate(zip(grid, panels.items(), strict=False)):
        quiet(axes)
        axes.axhline(0, color=GREY, linewidth=0.8)
        axes.set_title(str(name), loc="left", color=INK, fontsize=10, parse_math=False)
        axes.set_ylabel("" if at % across else y_label, color=INK, parse_math=False)
        _drawn(axes, where, lines)
    if len(next(iter(panels.values()))[1]) > 1:
        legend(grid[0])
    figure.suptitle(
        of_kind(title, "title", str, "text"), x=0.01, ha="left", color=INK, fontweight="bold", parse_math=False
    )
    if caption:
        figure.supxlabel(caption, x=0.01, ha="left", color=GREY, fontsize=8, parse_math=False)
    return figure


def _checked(name: str, lines: Any, places: Mapping[str, Any]) -> tuple[list[str] | Array, dict[str, Array]]:
    """The places and the lines of one feature."""
    if name not in places:
        raise ParameterError("places", list(places), f"must have edges or values for {name!r}")
    given = listed(places[name], "places", of="edges or values")
    where = list(given) if all(isinstance(one, str) for one in given) else numbers(places=given, are_finite=True)[0]
    found = {
        str(label): numbers(effects=values, are_finite=True)[0]
        for label, values in by_name(lines, "effects", of="a list of numbers").items()
    }
    wanted = len(where) if isinstance(where, list) else len(where) - 1
    if any(len(values) != wanted for values in found.values()) or wanted < 1:
        raise ParameterError("effects", name, f"must have {wanted} numbers in each line, one a bin or value")
    if not isinstance(where, list) and (np.diff(where) <= 0).any():
        raise ParameterError("places", name, "must have edges that ascend")
    return where, found


def _drawn(axes: "Axes", where: list[str] | Array, lines: dict[str, Array]) -> None:
    for place, (label, values) in enumerate(lines.items()):
        color = PALETTE[place % len(PALETTE)] if len(lines) > 1 else BLUE
        if not isinstance(where, list):
            axes.stairs(values, where, baseline=None, color=color, linewidth=1.6, label=label)
            continue
        width = 0.8 / len(lines)
        axes.bar(np.arange(len(where)) + (place + 0.5) * width - 0.4, values, width, color=color, label=label)
    if isinstance(where, list):
        step = -(-len(where) // _MOST_NAMES)
        short = [one if len(one) <= _MOST_LETTERS else f"{one[: _MOST_LETTERS - 1]}…" for one in where]
        axes.set_xticks(range(0, len(where), step), short[::step], rotation=60, ha="right", fontsize=7)
        for one in axes.get_xticklabels():
            one.set_parse_math(False)
    else:
        axes.xaxis.set_major_formatter("{x:,.10g}")
        axes.locator_params(axis="x", nbins=4)
