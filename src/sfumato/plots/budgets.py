"""Charts of budgets: how noise adds up, what ε protects from, and what remains over time."""

import math
from collections.abc import Mapping
from types import NoneType
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind
from sfumato.plots.panels import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALETTE,
    RED,
    Array,
    Numbers,
    by_name,
    curve,
    dates,
    drawable,
    legend,
    mark,
    new_figure,
    numbers,
    percent,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SMALLEST_EPSILON: Final = 1e-290

Course: TypeAlias = tuple[Numbers, Numbers]
"""Times, in seconds since 1970 (UTC), and as many amounts."""

_FIRST: Final = -62_135_596_800
_LAST: Final = 253_402_300_799


def composition(
    samples_by_name: Mapping[str, Numbers], *, title: str | None = None, x_label: str = "output"
) -> "Figure":
    """Histograms of the outputs of several mechanisms on one axis, with their standard deviations.

    The chart shows the middle 99% of all outputs.

    Args:
        samples_by_name: Simulated outputs of each mechanism, at least two each.
        title: The title; None compares the standard deviations.
        x_label: The quantity of the outputs, with its unit.

    Raises:
        ParameterError: There are no samples, one is no finite number, or matplotlib is missing.

    Example:
        >>> figure = composition({"one release": [1, 2, 4], "three": [-3, 5, 9]})
    """
    found = {
        name: numbers(samples_by_name=samples, are_finite=True)[0]
        for name, samples in by_name(samples_by_name, "samples_by_name", of="two samples or more").items()
    }
    if min(map(len, found.values())) <= 1:
        raise ParameterError("samples_by_name", len(found), "must have at least two samples for each name")
    spreads = {name: float(np.std(samples)) for name, samples in found.items()}
    low, high = min(spreads, key=spreads.__getitem__), max(spreads, key=spreads.__getitem__)
    finding = f"Standard deviation σ: {spreads[low]:.3g} ({low}) to {spreads[high]:.3g} ({high})"
    figure, (axes,) = new_figure(finding if title is None else title, x_label=x_label, y_label="probability density")
    together = np.concatenate(list(found.values()))
    edges = _edges(*np.quantile(together, (0.005, 0.995)))
    for number, (name, samples) in enumerate(found.items()):
        color, label = PALETTE[number % len(PALETTE)], f"{name}: σ = {spreads[name]:.3g}"
        heights = np.histogram(samples, edges)[0] / (len(samples) * np.diff(edges))
        axes.stairs(heights, edges, fill=True, color=color, alpha=0.15)
        axes.stairs(heights, edges, color=color, linewidth=1.8, label=label)
    axes.set_ylim(0, None)
    legend(axes, heading="σ: standard deviation")
    return figure


def _edges(low: float, high: float) -> NDArray[np.float64]:
    """Edges of about 40 bins: of a whole width, a quarter off the whole numbers, if that many whole numbers are there.

    So each bin holds as many of the whole (and half) outputs that lattice noise gives, and no bin sticks out.
    """
    width = round((high - low) / 40)
    if width < 1:
        return np.linspace(low, high, 41)
    return np.arange(math.floor(low) - 0.25, high + width, float(width))


def group_privacy(epsilon: float, sizes: Numbers, *, title: str | None = None) -> "Figure":
    """How protection fades for a group of k people: the odds e^(kε), and what an adversary can come to believe.

    The lower panel is e^(kε) / (1 + e^(kε)): the largest belief in a secret of the whole group after the release, for
    an adversary who started at 50%. The marks are k = 1/ε, up to which the guarantee means something, and k = 100/ε,
    where it means almost nothing.

    Args:
        epsilon: The guarantee for one person, above 0.
        sizes: Group sizes k to draw, each at least 1.
        title: The title; None states the group size that is hardly protected.

    Raises:
        ParameterError: epsilon or a size is out of range, or matplotlib is missing.

    Example:
        >>> figure = group_privacy(0.1, [1, 10, 100])
    """
    of_kind(title, "title", (str, NoneType), "text, or None")
    epsilon = drawable(epsilon, "epsilon")
    if epsilon < _SMALLEST_EPSILON:
        raise ParameterError("epsilon", epsilon, f"must be above 0, and at least {_SMALLEST_EPSILON}")
    (given,) = numbers(sizes=sizes, are_finite=True)
    k = np.unique(given)
    if k[0] < 1:
        raise ParameterError("sizes", sizes, "must be group sizes of at least 1")
    figure, (upper, lower) = new_figure(
        title or f"At ε = {epsilon:g} per person, groups of {100 / epsilon:,.0f} people have almost no protection",
        panels=2,
    )
    upper.loglog(k, k * epsilon, color=BLUE, linewidth=2.2)
    upper.set_ylabel("ε of the group, kε\n(odds change by e$^{kε}$)")
    lower.semilogx(k, _posterior(k * epsilon), color=BLUE, linewidth=2.2)
    lower.set(ylabel="adversary's belief,\nstarting from 50%", xlabel="group size k (people)", ylim=(0.45, 1.05))
    lower.yaxis.set_major_formatter(percent())
    upper.yaxis.set_major_formatter("{x:,g}")
    lower.xaxis.set_major_formatter("{x:,.0f}")
    for panel in (upper, lower):
        mark(panel, 1 / epsilon, "k = 1/ε", GREEN)
        mark(panel, 100 / epsilon, "k = 100/ε", RED)
    legend(upper, place="upper left")
    return figure


def survey_tradeoff(
    epsilons: Numbers,
    errors: Numbers,
    *,
    sampling_error: float | None = None,
    marks: Mapping[str, float] | None = None,
    title: str = "Smaller ε protects each answer, but increases the error of the estimate",
) -> "Figure":
    """Error and privacy of a survey over ε: the standard error above, what an answer reveals below.

    The lower panel is e^ε / (1 + e^ε): the largest belief in one person's "yes" after seeing that person's answer, for
    an adversary who started at 50%.

    Args:
        epsilons: Values of ε, above 0.
        errors: The standard error of the estimated fraction at each ε, as a fraction.
        sampling_error: The standard error if everybody answers truthfully, which no ε goes below.
        marks: Named values of ε to mark, e.g. {"fair coins": 1.0986}.
        title: The title of the chart.

    Raises:
        ParameterError: Lengths differ, something is no number, or matplotlib is missing.

    Example:
        >>> figure = survey_tradeoff([0.5, 1, 2], [0.2, 0.1, 0.07], sampling_error=0.05, marks={"fair coins": 1.0986})
    """
    across, up = numbers(epsilons=epsilons, errors=errors)
    given = of_kind(marks, "marks", (Mapping, NoneType), "a mapping of names to values of ε, or None") or {}
    named = {name: drawable(epsilon, "marks") for name, epsilon in given.items()}
    floor = None if sampling_error is None else drawable(sampling_error, "sampling_error")
    figure, (upper, lower) = new_figure(title, panels=2)
    upper.plot(across, 100 * up, color=BLUE, linewidth=2.2, label="estimate from noisy answers")
    upper.set(ylabel="standard error,\npercentage points", ylim=(0, None))
    if floor is not None:
        upper.axhline(100 * floor, color=GREY, linestyle=":", linewidth=1.5, label="if all answer truthfully")
    lower.plot(across, _posterior(across), color=ORANGE, linewidth=2.2)
    lower.set(ylabel="adversary's belief,\nstarting from 50%", xlabel="ε of one answer", ylim=(0.45, 1.05))
    lower.yaxis.set_major_formatter(percent())
    for panel in (upper, lower):
        for name, epsilon in named.items():
            mark(panel, epsilon, f"{name}, ε = {epsilon:.3g}", GREEN)
    legend(upper)
    return figure


def _posterior(epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
    """e^ε / (1 + e^ε), in a form that cannot overflow."""
    belief: NDArray[np.float64] = (1 + np.tanh(epsilon / 2)) / 2
    return belief


def burn_down(
    left_by_name: Mapping[str, Course],
    *,
    projected_by_name: Mapping[str, Course] | None = None,
    budget: float | None = None,
    unit: str | None = "ε",
    title: str | None = None,
) -> "Figure":
    """The remaining budget of accounts over time, in steps; projections are dashed.

    Args:
        left_by_name: For each account, times and the amounts that remained from then on.
        projected_by_name: For some accounts, the projected times and amounts, as a straight line.
        budget: The whole budget, drawn as a line.
        unit: The unit of the amounts; None for shares of a budget, shown in percent.
        title: The title; None states the account with the least remaining.

    Raises:
        ParameterError: There are no accounts, lengths differ, something is no number, a time lies outside the years 1
            to 9999, or matplotlib is missing.

    Example:
        >>> figure = burn_down({"ann": ([0, 86_400], [1, 0.5])}, budget=1)
    """
    courses = _courses(by_name(left_by_name, "left_by_name", of="times and amounts"), "left_by_name")
    wanted = "a mapping of names, with times and amounts for each, or None"
    given = of_kind(projected_by_name, "projected_by_name", (Mapping, NoneType), wanted)
    projected = _courses(given or {}, "projected_by_name")
    of_kind(unit, "unit", (str, NoneType), "text, or None")
    whole = None if budget is None else drawable(budget, "budget")
    least, remaining = min(((name, float(left[-1])) for name, (_, left) in courses.items()), key=lambda pair: pair[1])
    amount = f"{remaining:.0%} of its budget" if unit is None else f"{unit} {remaining:.3g}"
    finding = f"{least} has {amount} remaining" + (", the least" if len(courses) > 1 else "")
    y_label = "remaining share of the budget" if unit is None else f"remaining {unit}"
    figure, (axes,) = new_figure(finding if title is None else title, x_label="time (UTC)", y_label=y_label)
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
    """The times and amounts of each account, checked."""
    found = {}
    for account, course in given.items():
        times, amounts = curve(course, f"{name}[{account!r}]")
        if not ((times >= _FIRST) & (times <= _LAST)).all():
            raise ParameterError(name, course, "must have times in seconds since 1970, of the years 1 to 9999")
        found[account] = (times * 1e6).astype("datetime64[us]"), amounts
    return found
