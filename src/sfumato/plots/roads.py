"""Pictures of roads: segments by their longitude and latitude, colored by speed and as wide as traffic is dense."""

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.plots.maps import frame
from sfumato.plots.panels import GREY, INK, LIGHT, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Line = Sequence[Sequence[float]]
"""The longitude and latitude of each corner, in degrees."""

_NARROW, _WIDE = 1.2, 8.0  # points
_HIDDEN, _WATER = 0.8, 9.0


def speeds_on_roads(
    lines: Sequence[Line],
    *,
    speeds: Sequence[float | None],
    counts: Sequence[float | None],
    water: Sequence[Line] = (),
    title: str,
    caption: str = "",
) -> "Figure":
    """A map of roads: color is the mean speed, width grows with the count; gray and thin are those not shown.

    Args:
        lines: The corners of each segment.
        speeds: Kilometers an hour on each segment, or None where nothing is shown.
        counts: The number of passages on each segment, or None.
        water: Lines below the roads, such as a river.
        title: The finding.
        caption: A line below, such as the guarantee.

    Raises:
        ParameterError: Lists differ in length or hold something else, there is nothing to draw, a line has fewer than
            two corners, or matplotlib is missing.

    Example:
        >>> lines = [[(0, 0), (0, 1)], [(0, 1), (1, 1)]]
        >>> figure = speeds_on_roads(lines, speeds=[30, None], counts=[9, None], title="Two roads")
        >>> len(figure.axes)
        2
    """
    drawn, below = _corners(lines, "lines"), _corners(water, "water")
    fast, many = _numbers(speeds, "speeds"), _numbers(counts, "counts")
    if not drawn or not len(drawn) == len(fast) == len(many):
        raise ParameterError("speeds", f"{len(fast)} of them", "must be one for each line, of at least one line")
    figure, (axes,) = new_figure(title, x_label="longitude (degrees)", y_label="latitude (degrees)")
    from matplotlib.collections import LineCollection  # after `new_figure` has said what is missing

    shown = [at for at, pair in enumerate(zip(fast, many, strict=True)) if None not in pair]
    hidden = sorted(set(range(len(drawn))) - set(shown))
    axes.add_collection(LineCollection(below, colors=LIGHT, linewidths=_WATER, capstyle="round"))
    axes.add_collection(LineCollection([drawn[at] for at in hidden], colors=GREY, linewidths=_HIDDEN))
    passages = np.array([many[at] for at in shown], dtype=np.float64)
    widths = _NARROW + (_WIDE - _NARROW) * np.sqrt(np.maximum(passages, 0) / max(1.0, passages.max(initial=1)))
    roads = LineCollection([drawn[at] for at in shown], cmap="viridis", linewidths=widths, capstyle="round")
    roads.set_array(np.array([fast[at] for at in shown], dtype=np.float64))
    axes.add_collection(roads)
    places = np.concatenate(drawn)
    frame(axes, places.min(axis=0).tolist(), places.max(axis=0).tolist(), edge=0.03)
    axes.tick_params(axis="x", rotation=30)
    figure.set_size_inches(8, 7)
    if shown:
        figure.colorbar(roads, ax=axes, label="mean speed (km/h)", shrink=0.7)
    note = "width: number of passages; thin and gray: too few to be shown"
    figure.text(0.01, 0.01, f"{note}\n{caption}".strip(), color=INK, fontsize=8, parse_math=False)
    figure.set_layout_engine("constrained", rect=(0, 0.06, 1, 0.94))
    return figure


def _corners(lines: Sequence[Line], name: str) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    """Longitudes and latitudes of each line as an array."""
    found = []
    for line in listed(lines, name, of="lines"):
        try:
            corners = np.asarray(line, dtype=np.float64)[:, :2]
        except (TypeError, ValueError, IndexError):
            corners = np.empty((0, 0))
        if corners.shape[:1] < (2,) or corners.shape[1] != 2 or not np.isfinite(corners).all():  # noqa: PLR2004 # two corners of two degrees
            raise ParameterError(name, type(line), "must be lines of two or more corners: longitude and latitude")
        found.append(corners)
    return found


def _numbers(values: Sequence[float | None], name: str) -> tuple[float | None, ...]:
    found = listed(values, name)
    if not all(one is None or isinstance(one, Real) for one in found):
        raise ParameterError(name, "of something else", "must be numbers, or None where nothing is shown")
    return found
