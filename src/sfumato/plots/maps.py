"""Pictures of maps: cells by their longitude and latitude, colored by a value, below the lines of roads."""

from collections.abc import Mapping, Sequence
from math import cos, radians
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind, real
from sfumato.numeric.rationals import flag
from sfumato.plots.panels import GREY, INK, LIGHT, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Corners = Sequence[tuple[float, float]]
"""Longitude and latitude of the corners of a ring, or of the points of a line."""

_FLATTEST: Final = 0.1  # of a degree of longitude beside one of latitude
_COLORS: Final = "viridis_r"
_ROAD: Final = 0.6  # points wide


def colored_cells(
    cells: Sequence[Sequence[Sequence[Corners]]], *, values: Sequence[float | None], is_noise: Sequence[bool],
    lines: Sequence[Corners] = (), title: str, label: str, caption: str = "",
) -> "Figure":  # fmt: skip
    """A map of cells; those whose value lies within its noise have no color.

    Args:
        cells: For each cell its polygons: of each its outline, then its holes, in degrees.
        values: For each cell its value, or None.
        is_noise: For each cell whether the error may be as large as the value.
        lines: Lines that are drawn above, such as roads.
        title: The finding.
        label: What the values are.
        caption: A line below, such as the guarantee.

    Raises:
        ParameterError: Lists differ in length, there is no cell, or matplotlib is missing.

    Example:
        >>> square = [[[(0, 0), (1, 0), (1, 1), (0, 1)]]]
        >>> figure = colored_cells([square], values=[3], is_noise=[False], title="One cell", label="count")
        >>> len(figure.axes)
        2
    """
    shapes = [[_rings(polygon, "cells") for polygon in _parts(cell, "cells")] for cell in _parts(cells, "cells")]
    numbers = [None if one is None else real(one, "values", is_finite=True) for one in listed(values, "values")]
    noisy, roads = [flag(one, "is_noise") for one in listed(is_noise, "is_noise")], _rings(lines, "lines")
    for name, written in (("label", label), ("caption", caption)):
        of_kind(written, name, str, "text")
    if not shapes or not len(shapes) == len(numbers) == len(noisy):
        raise ParameterError("values", f"{len(numbers)} of them", "must be one for each cell, of at least one cell")
    figure, axes = _canvas(title, caption)
    from matplotlib.collections import LineCollection, PathCollection  # after `_canvas` has said what is missing

    paths = [_path(cell) for cell in shapes]
    clear = [place for place, one in enumerate(numbers) if one is not None and not noisy[place]]
    faint = sorted(set(range(len(shapes))) - set(clear))
    axes.add_collection(PathCollection([paths[one] for one in faint], facecolors="none", edgecolors=LIGHT, lw=0.4))
    drawn = PathCollection([paths[one] for one in clear], cmap=_COLORS, edgecolors="face", lw=0.3)
    drawn.set_array(np.array([numbers[one] for one in clear], dtype=np.float64))
    axes.add_collection(drawn)
    axes.add_collection(LineCollection(roads, colors=INK, lw=_ROAD, alpha=0.6))
    points = [corner for cell in shapes for polygon in cell for ring in polygon for corner in ring]
    _finish(figure, axes, points, drawn if clear else None, label)
    return figure


def outlines_of(collection: Mapping[str, Any]) -> list[Corners]:
    """The lines of a GeoJSON FeatureCollection; features of other geometries are left out.

    Example:
        >>> outlines_of({"features": [{"geometry": {"type": "LineString", "coordinates": [[0, 0], [1, 1]]}}]})
        [[[0, 0], [1, 1]]]
    """
    found: list[Corners] = []
    for feature in collection.get("features", ()):
        geometry = feature["geometry"]
        match geometry["type"]:
            case "LineString":
                found.append(geometry["coordinates"])
            case "MultiLineString":
                found += geometry["coordinates"]
            case _:
                pass
    return found


def _parts(value: Any, name: str) -> tuple[Any, ...]:
    """What a list holds, at least one part of it."""
    parts = listed(value, name, of="polygons")
    if not parts:
        raise ParameterError(name, "an empty list", "must have at least one part")
    return parts


def _rings(rings: Any, name: str) -> list[list[tuple[float, float]]]:
    """Rings or lines as pairs of numbers."""
    try:
        return [[(float(across), float(up)) for across, up in ring] for ring in listed(rings, name, of="lines")]
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(name, type(rings).__name__, "must be lists of longitude and latitude") from None


def _canvas(title: str, caption: str) -> "tuple[Figure, Axes]":
    figure, (axes,) = new_figure(title, x_label="longitude (degrees)", y_label="latitude (degrees)")
    figure.set_size_inches(8, 6.4)
    if caption:
        axes.annotate(
            caption, (0, -0.16), xycoords="axes fraction", color=GREY, fontsize=8, parse_math=False, va="top"
        )  # fmt: skip
    return figure, axes


def frame(axes: "Axes", low: Sequence[float], high: Sequence[float], *, edge: float = 0.0) -> None:
    """Axes from one longitude and latitude to another, of equal meters in the middle.

    Args:
        axes: Where a map is drawn.
        low: The least longitude and latitude.
        high: The greatest.
        edge: What is left around them, as a share of the width and of the height.
    """
    wide = [edge * (most - least) + (1e-6 if edge else 0) for least, most in zip(low, high, strict=True)]
    axes.set(xlim=(low[0] - wide[0], high[0] + wide[0]), ylim=(low[1] - wide[1], high[1] + wide[1]))
    axes.set_aspect(1 / max(cos(radians((low[1] + high[1]) / 2)), _FLATTEST))
    axes.ticklabel_format(useOffset=False)
    axes.grid(visible=False)


def _finish(figure: "Figure", axes: "Axes", points: Sequence[tuple[float, float]], drawn: Any, label: str) -> None:
    """Axes of equal meters in the middle of the map, and a scale of colors."""
    longitudes, latitudes = zip(*points, strict=True)
    frame(axes, (min(longitudes), min(latitudes)), (max(longitudes), max(latitudes)))
    if drawn is not None:
        figure.colorbar(drawn, ax=axes, label=label, shrink=0.8)


def _path(polygons: Sequence[Sequence[Corners]]) -> Any:
    """One path of all rings of a cell, so that holes stay empty."""
    from matplotlib.path import Path

    points: list[tuple[float, float]] = []
    codes: list[Any] = []
    for ring in (ring for polygon in polygons for ring in polygon):
        points += [*((across, up) for across, up in ring), (ring[0][0], ring[0][1])]
        codes += [Path.MOVETO, *[Path.LINETO] * (len(ring) - 1), Path.CLOSEPOLY]
    return Path(points, codes)
