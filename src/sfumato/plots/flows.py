"""Pictures of flows: blocks colored by who comes from there, lines as wide as flows are, and errors by distance."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import column, listed, of_kind
from sfumato.plots.maps import frame
from sfumato.plots.panels import BLUE, GREY, INK, LIGHT, ORANGE, new_figure, quiet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Corners = Sequence[Sequence[float]]
"""Longitude and latitude of the corners of an outline, or of both ends of a line."""

_NARROW, _WIDE = 0.3, 5.0  # points
OWNER_ONLY: Final = "owner only:\nbeside the exact flows"


def flows_on_map(
    outlines: Sequence[Corners],
    *,
    values: Sequence[float],
    lines: Sequence[Corners] = (),
    flows: Sequence[float] = (),
    label: str = "workers",
    title: str,
    caption: str = "",
    errors: Mapping[str, float] | None = None,
) -> "Figure":
    """A map of blocks colored by a number, below lines as wide as the flows along them.

    Args:
        outlines: The corners of each block, in degrees.
        values: The number of each block, 0 or more; 0 has no color.
        lines: Both ends of each flow.
        flows: How many go along each line.
        label: What the numbers are.
        title: The finding.
        caption: A line below, such as the guarantee.
        errors: Total variation distances from exact flows by the name of a band, for a small panel beside. It is for
            the owner of the data, or for made-up people, and says so.

    Raises:
        ParameterError: Lists differ in length or hold something else, there is no block, or matplotlib is missing.

    Example:
        >>> block = [(0, 0), (1, 0), (1, 1), (0, 1)]
        >>> figure = flows_on_map([block], values=[3], lines=[[(0, 0), (1, 1)]], flows=[3], title="One block")
        >>> len(figure.axes)
        2
    """
    shapes, ways = _corners(outlines, "outlines"), _corners(lines, "lines")
    numbers, many = column(values, "values"), column(flows, "flows")
    for name, drawn, sizes in (("values", shapes, numbers), ("flows", ways, many)):
        if len(drawn) != len(sizes) or not (np.isfinite(sizes) & (sizes >= 0)).all():
            raise ParameterError(name, f"{len(sizes)} of them", "must be one of at least 0 for each that is drawn")
    if not shapes:
        raise ParameterError("outlines", "an empty list", "must have at least one block")
    for name, written in (("label", label), ("caption", caption)):
        of_kind(written, name, str, "text")
    errors = of_kind({} if errors is None else errors, "errors", Mapping, "distances by the name of a band")
    figure, (axes,) = new_figure(title, x_label="longitude (degrees)", y_label="latitude (degrees)")
    from matplotlib.collections import LineCollection, PolyCollection  # after `new_figure` has said what is missing

    figure.set_size_inches(11 if errors else 8, 6.4)
    colored, largest = np.flatnonzero(numbers), max(1.0, many.max(initial=1))
    axes.add_collection(PolyCollection(shapes, facecolors="none", edgecolors=LIGHT, lw=0.6))
    blocks = PolyCollection([shapes[at] for at in colored], cmap="YlGnBu", edgecolors="white", lw=0.4)
    blocks.set_array(numbers[colored])
    blocks.set_clim(0, max(1.0, numbers.max()))
    axes.add_collection(blocks)
    widths = _NARROW + (_WIDE - _NARROW) * many / largest
    axes.add_collection(LineCollection(ways, colors=ORANGE, linewidths=widths, alpha=0.75, capstyle="round"))
    places = np.concatenate(shapes)
    frame(axes, places.min(axis=0).tolist(), places.max(axis=0).tolist(), edge=0.03)
    if errors:
        _beside(figure, axes, errors)
    figure.colorbar(blocks, ax=axes, label=label, shrink=0.6)
    figure.text(0.01, 0.01, caption, color=GREY, fontsize=8, parse_math=False)
    figure.set_layout_engine("constrained", rect=(0, 0.04, 1, 0.96))
    return figure


def _beside(figure: "Figure", axes: Any, errors: Mapping[str, float]) -> None:
    """A small panel of errors by distance beside the map, which says for whom it is."""
    grid = figure.add_gridspec(2, 2, width_ratios=(3, 1))
    axes.set_subplotspec(grid[:, 0])
    panel = figure.add_subplot(grid[0, 1])
    quiet(panel)
    panel.bar(range(len(errors)), column(list(errors.values()), "errors"), color=BLUE, width=0.7)
    panel.set_xticks(range(len(errors)), list(errors), rotation=30, ha="right", fontsize=8)
    panel.set_title(OWNER_ONLY, loc="left", color=INK, fontsize=9, parse_math=False)
    panel.set_ylabel("total variation distance", color=INK, fontsize=9)


def _corners(lines: Sequence[Corners], name: str) -> list[Any]:
    """Longitudes and latitudes of each line as an array."""
    found = []
    for line in listed(lines, name, of="lines"):
        try:
            corners = np.array([[float(one) for one in corner[:2]] for corner in line])
        except (TypeError, ValueError, IndexError, OverflowError):
            raise ParameterError(name, type(line).__name__, "must be lists of longitude and latitude") from None
        if corners.ndim != 2 or corners.shape[1] != 2 or not np.isfinite(corners).all():  # noqa: PLR2004 # both degrees
            raise ParameterError(name, "a line", "must be lists of longitude and latitude, of two corners or more")
        found.append(corners)
    return found
