"""Pictures of unicity: how many people a number of points tells apart, at several resolutions."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from sfumato.errors import ParameterError
from sfumato.plots.panels import PALETTE, Numbers, by_name, legend, new_figure, numbers, pairs, percent, same_length

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def unicity_curves(
    points: Mapping[str, Numbers],
    shares: Mapping[str, Numbers],
    *,
    limits: Mapping[str, Sequence[tuple[float, float]]],
    title: str = "Unicity",
) -> "Figure":
    """One curve a resolution: the share of people told apart, with its limits, over the number of known points.

    Args:
        points: Numbers of points on the horizontal axis, by the name of the resolution.
        shares: Of people told apart, in the same order.
        limits: Of each share, the lower and the upper one.
        title: Above the picture.

    Raises:
        ParameterError: Names or lengths differ, something is no number, there is nothing to draw, or matplotlib is
            missing.

    Example:
        >>> figure = unicity_curves({"an hour": [1, 2]}, {"an hour": [0.3, 0.7]}, limits={"an hour": [(0, 1)] * 2})
    """
    for parameter, given in (("points", points), ("shares", shares), ("limits", limits)):
        by_name(given, parameter, of="a list")
    if not points.keys() == shares.keys() == limits.keys():
        raise ParameterError("shares", tuple(shares), "must have the resolutions of points and limits, at least one")
    figure, (axes,) = new_figure(title, x_label="known points", y_label="people told apart")
    every: set[float] = set()
    for name, color in zip(points, cycle(PALETTE), strict=False):
        (places,), ends = numbers(points=points[name], are_finite=True), pairs(limits[name], "limits")
        (told_apart,) = numbers(shares=shares[name])
        same_length(points=places, shares=told_apart, limits=ends)
        every.update(places.tolist())
        apart = np.abs(ends.T - told_apart)
        axes.errorbar(
            places, told_apart, yerr=apart, color=color, marker="o", capsize=3, linewidth=2, label=name
        )  # fmt: skip
    axes.set_xticks(sorted(every))
    axes.set_ylim(0, 1.03)
    axes.yaxis.set_major_formatter(percent())
    legend(axes, place="beside")
    return figure
