"""A picture of budgets that are spent over time."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.plots.panels import GREY, PALETTE, Numbers, dates, legend, new_figure, percent, same_length

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Course: TypeAlias = tuple[Numbers, Numbers]
"""Times, in seconds since 1970 (UTC), and as many amounts."""


def burn_down(
    left_by_name: Mapping[str, Course],
    *,
    projected_by_name: Mapping[str, Course] | None = None,
    budget: float | None = None,
    unit: str | None = "ε",
    title: str = "What is left of the budget",
) -> "Figure":
    """What is left of budgets over time, in steps; how it may go on is dashed.

    Args:
        left_by_name: Of each account from when on how much was left.
        projected_by_name: Of some of them how it goes on, if it does so in a straight line.
        budget: Where a line shows the whole budget.
        unit: Of the amounts; None for shares of a budget, which are shown in percent.
        title: Above the picture.

    Raises:
        ParameterError: There are no accounts, or lengths differ, or matplotlib is missing.
    """
    if not left_by_name:
        raise ParameterError("left_by_name", 0, "must have an account")
    for times, amounts in (*left_by_name.values(), *(projected_by_name or {}).values()):
        same_length(times=times, amounts=amounts)
    figure, (axes,) = new_figure(title, y_label="share left" if unit is None else f"{unit} left")
    for number, (name, (times, left)) in enumerate(left_by_name.items()):
        color = PALETTE[number % len(PALETTE)]
        axes.step(_moments(times), left, where="post", color=color, linewidth=2.2, label=name)
        if name in (projected_by_name or {}):
            later, amounts = (projected_by_name or {})[name]
            axes.plot(_moments(later), amounts, color=color, linewidth=1.6, linestyle="--")
    if budget is not None:
        axes.axhline(budget, color=GREY, linestyle=":", linewidth=1.5, label="budget")
    dates(axes)
    axes.set_ylim(0, None)
    if unit is None:
        axes.yaxis.set_major_formatter(percent())
    legend(axes, place="beside", heading="dashed: at this pace" if projected_by_name else None)
    return figure


def _moments(times: Numbers) -> NDArray[np.datetime64]:
    return (np.asarray(times, dtype=float) * 1e6).astype("datetime64[us]")
