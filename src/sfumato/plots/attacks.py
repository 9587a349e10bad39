"""Pictures of attacks: how often they are right, over ε or over the size of noise."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sfumato.numeric.arguments import column
from sfumato.plots.panels import BLUE, GREY, RED, Numbers, legend, new_figure, numbers, pairs, percent, same_length

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def success_curve(
    places: Numbers,
    successes: Numbers,
    *,
    limits: Sequence[tuple[float, float]],
    baseline: Numbers,
    allowed: Numbers | None = None,
    x_label: str = "ε in all",
    title: str = "Success of an attack",
) -> "Figure":
    """Success of one attack with its limits, beside blind guessing and what a guarantee allows.

    Args:
        places: Numbers on the horizontal axis, rising; drawn in powers of ten if they span more than a factor of 20.
        successes: Shares of right guesses.
        limits: Of each share, the lower and the upper one.
        baseline: What blind guessing reaches.
        allowed: The most that the guarantee allows.
        x_label: What the places are.
        title: Above the picture.

    Raises:
        ParameterError: Lengths differ, something is no number, there is nothing to draw, or matplotlib is missing.

    Example:
        >>> figure = success_curve([0.1, 1], [0.5, 0.7], limits=[(0.4, 0.6), (0.6, 0.8)], baseline=[0.5, 0.5])
    """
    at, measured, guessed = numbers(places=places, successes=successes, baseline=baseline)
    ends = pairs(limits, "limits")
    most = at if allowed is None else column(allowed, "allowed")
    same_length(places=at, limits=ends, allowed=most)
    figure, (axes,) = new_figure(title, x_label=x_label, y_label="right guesses")
    if min(at) > 0 and max(at) > 20 * min(at):
        axes.set_xscale("log")
    axes.errorbar(
        at, measured, yerr=np.abs(ends.T - measured), color=BLUE, marker="o", capsize=3, linewidth=2, label="measured"
    )
    if allowed is not None:
        axes.plot(at, most, color=RED, linestyle="--", linewidth=1.6, label="the guarantee allows")
    axes.plot(at, guessed, color=GREY, linestyle=":", linewidth=1.6, label="blind guessing")
    axes.set_ylim(0, 1.03)
    axes.yaxis.set_major_formatter(percent())
    legend(axes, place="beside")
    return figure
