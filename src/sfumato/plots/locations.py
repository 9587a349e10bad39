"""Charts of locations: what the mean of reports gives away, with a memory and without."""

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING

from sfumato.errors import ParameterError
from sfumato.plots.panels import PALETTE, Numbers, by_name, legend, new_figure, numbers, same_length, state

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def distances_over_reports(
    reports: Numbers, distance_by_name: Mapping[str, Numbers], *, title: str | None = None
) -> "Figure":
    """The distance of the mean of reports from the place that was reported, over their number, on powers of ten.

    Args:
        reports: Numbers of reports, above 0.
        distance_by_name: For each device, the distance in meters at each number, above 0.
        title: The title; None states how near each device lets an attacker come.

    Raises:
        ParameterError: Lengths differ, something is no number above 0, there is nothing to draw, or matplotlib is
            missing.

    Example:
        >>> figure = distances_over_reports([1, 100], {"fresh": [300, 30], "remembered": [300, 300]})
    """
    curves = by_name(distance_by_name, "distance_by_name", of="distances")
    (across,) = numbers(reports=reports, are_finite=True)
    drawn = {
        name: numbers(reports=across, distance_by_name=distances, are_finite=True)[1]
        for name, distances in curves.items()
    }
    same_length(reports=across, **{f"distance_by_name of {name}": found for name, found in drawn.items()})
    if not drawn or min(across) <= 0 or min(float(found.min()) for found in drawn.values()) <= 0:
        raise ParameterError("distance_by_name", tuple(drawn), "must be numbers above 0, of at least one device")
    figure, (axes,) = new_figure(
        "" if title is None else title,
        x_label="number of reports from one place",
        y_label="meters between their mean and the place",
    )
    for (name, found), color in zip(drawn.items(), cycle(PALETTE), strict=False):
        axes.plot(across, found, color=color, marker="o", linewidth=2, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    if title is None:
        last = int(across.argmax())
        ends = "; ".join(f"{name}: {found[last]:,.0f} m" for name, found in drawn.items())
        state(axes, f"What {across[last]:,.0f} reports give away, {ends}")
    legend(axes)
    return figure
