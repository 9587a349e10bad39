"""A picture of budgets that are spent over time."""

from collections.abc import Mapping
from types import NoneType
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind
from sfumato.plots.panels import (
    GREY,
    PALETTE,
    Array,
    Numbers,
    by_name,
    curve,
    dates,
    drawable,
    legend,
    new_figure,
    percent,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Course: TypeAlias = tuple[Numbers, Numbers]
"""Times, in seconds since 1970 (UTC), and as many amounts."""

_FIRST: Final = -62_135_596_800
_LAST: Final = 253_402_300_799


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
        ParameterError: There are no accounts, lengths differ, something is no number, a time lies outside the years 1
            to 9999, or matplotlib is missing.

    Example:
        >>> figure = burn_down({"ann": ([0, 86_400], [1, 0.5])}, budget=1)
    """
    courses = _courses(by_name(left_by_name, "left_by_name", of="times and amounts"), "left_by_name")
    wanted = "a mapping of names, with times and amounts for each, or None"
    told = of_kind(projected_by_name, "projected_by_name", (Mapping, NoneType), wanted)
    projected = _courses(told or {}, "projected_by_name")
    of_kind(unit, "unit", (str, NoneType), "text, or None")
    whole = None if budget is None else drawable(budget, "budget")
    figure, (axes,) = new_figure(title, y_label="share left" if unit is None else f"{unit} left")
    for number, (name, (times, left)) in enumerate(courses.items()):
        color = PALETTE[number % len(PALETTE)]
        axes.step(times, left, where="post", color=color, linewidth=2.2, label=name)
        if name in projected:
            later, amounts = projected[name]
            axes.plot(later, amounts, color=color, linewidth=1.6, linestyle="--")
    if whole is not None:
        axes.axhline(whole, color=GREY, linestyle=":", linewidth=1.5, label="budget")
    dates(axes)
    axes.set_ylim(0, None)
    if unit is None:
        axes.yaxis.set_major_formatter(percent())
    legend(axes, place="beside", heading="dashed: at this pace" if projected else None)
    return figure


def _courses(given: Mapping[str, Course], name: str) -> dict[str, tuple[NDArray[np.datetime64], Array]]:
    """Times and amounts of each account."""
    found = {}
    for account, course in given.items():
        times, amounts = curve(course, f"{name}[{account!r}]")
        if not ((times >= _FIRST) & (times <= _LAST)).all():
            raise ParameterError(name, course, "must have times in seconds since 1970, of the years 1 to 9999")
        found[account] = (times * 1e6).astype("datetime64[us]"), amounts
    return found
