"""Charts of the local model: estimated fractions, variances over ε, what is detected, and what devices spend."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import share
from sfumato.plots.panels import (
    BLUE,
    GREY,
    ORANGE,
    PALETTE,
    Numbers,
    by_name,
    drawable,
    legend,
    mark,
    new_figure,
    numbers,
    pairs,
    percent,
    same_length,
    state,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def fractions_found(
    truths: Numbers,
    estimates: Numbers,
    *,
    limits: Sequence[tuple[float, float]],
    confidence: float = 0.95,
    title: str | None = None,
) -> "Figure":
    """Estimated fractions of people, each with its interval, beside the true ones; the most frequent value first.

    Args:
        truths: The true fraction of each value.
        estimates: The estimated fraction of each value.
        limits: The interval of each estimate.
        confidence: Of the intervals, for the legend.
        title: The title; None states how many intervals hold the truth.

    Raises:
        ParameterError: Lengths differ, something is no number, there is nothing to draw, or matplotlib is missing.

    Example:
        >>> figure = fractions_found([0.6, 0.4], [0.58, 0.45], limits=[(0.5, 0.66), (0.41, 0.49)])
    """
    true, found = numbers(truths=truths, estimates=estimates, are_finite=True)
    ends, level = pairs(limits, "limits"), share(confidence, "confidence")
    same_length(truths=true, limits=ends)
    order = np.argsort(-true, kind="stable")
    held = int(((ends[:, 0] <= true) & (true <= ends[:, 1])).sum())
    finding = f"{held} of {len(true)} intervals hold the true fraction"
    figure, (axes,) = new_figure(
        finding if title is None else title, x_label="values, the most frequent first", y_label="fraction of people"
    )
    ranks = np.arange(1, len(true) + 1)
    axes.errorbar(
        ranks,
        found[order],
        yerr=np.abs(ends[order].T - found[order]),
        color=BLUE,
        marker="o",
        markersize=3,
        linestyle="none",
        elinewidth=1,
        label=f"estimate, with {level:.0%} interval",
    )
    axes.plot(ranks, true[order], color=ORANGE, linewidth=2, label="true fraction")
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.set_xlim(0.5, len(true) + 0.5)
    axes.yaxis.set_major_formatter(percent())
    legend(axes)
    return figure


def variances_over_epsilon(
    epsilons: Numbers,
    variance_by_name: Mapping[str, Numbers],
    *,
    y_label: str = "variance of one estimate × reports",
    title: str | None = None,
) -> "Figure":
    """The variance of several protocols over ε, on scales of powers of ten.

    Args:
        epsilons: Values of ε, above 0.
        variance_by_name: For each protocol, its variance at each ε, above 0.
        y_label: The quantity on the vertical axis.
        title: The title; None states which protocol has the least variance at the largest ε.

    Raises:
        ParameterError: Lengths differ, something is no number above 0, there is nothing to draw, or matplotlib is
            missing.

    Example:
        >>> figure = variances_over_epsilon([0.5, 1], {"direct": [2432, 347], "optimized": [15.7, 3.68]})
    """
    curves = by_name(variance_by_name, "variance_by_name", of="variances")
    (across,) = numbers(epsilons=epsilons, are_finite=True)
    drawn = {
        name: numbers(epsilons=across, variance_by_name=variances, are_finite=True)[1]
        for name, variances in curves.items()
    }
    if across.min() <= 0 or any(variances.min() <= 0 for variances in drawn.values()):
        raise ParameterError("variance_by_name", "some", "must hold variances above 0, at values of ε above 0")
    last = int(np.argmax(across))
    least = min(drawn, key=lambda name: float(drawn[name][last]))
    figure, (axes,) = new_figure("", x_label="ε of one report", y_label=y_label)
    state(axes, f"At ε = {across[last]:g}, {least} has the least variance" if title is None else title)
    order = np.argsort(across)
    for (name, variances), color, dashes in zip(drawn.items(), cycle(PALETTE), _DASHES * len(drawn), strict=False):
        axes.loglog(across[order], variances[order], color=color, linestyle=dashes, linewidth=2, label=name)
    shown = [tick for tick in _TICKS if across.min() <= tick <= across.max()]
    axes.set_xticks(shown or sorted(set(across.tolist())), minor=False)
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter("{x:g}")
    legend(axes, place="beside")
    return figure


def detection_curve(
    frequencies: Numbers, detected: Numbers, *, threshold: float | None = None, title: str | None = None
) -> "Figure":
    """How often a text is detected, over how many people hold it.

    Args:
        frequencies: The true fraction of people who hold each text, above 0.
        detected: For each of them, the share of collections in which it was detected, from 0 to 1.
        threshold: A fraction to mark, such as that of `detection_frequency`.
        title: The title; None states from which fraction on texts are detected in 90% of the collections.

    Raises:
        ParameterError: Lengths differ, something is out of range, there is nothing to draw, or matplotlib is missing.

    Example:
        >>> figure = detection_curve([0.001, 0.01, 0.02], [0, 0.4, 1], threshold=0.0138)
    """
    held, share = numbers(frequencies=frequencies, detected=detected, are_finite=True)
    if held.min() <= 0 or share.min() < 0 or share.max() > 1:
        raise ParameterError("detected", "some", "must be shares from 0 to 1, of frequencies above 0")
    order = np.argsort(held, kind="stable")
    held, share = held[order], share[order]
    missed = held[share < _OFTEN]
    always = held[held > (missed[-1] if len(missed) else 0)]
    finding = (
        f"Texts are detected from {always[0]:.2%} of the people on" if len(always) else "No text is always detected"
    )
    figure, (axes,) = new_figure(
        finding if title is None else title,
        x_label="fraction of people who hold a text",
        y_label="share of collections that detect it",
    )
    axes.semilogx(held, share, color=BLUE, marker="o", markersize=4, linewidth=1.5, label="share of collections")
    if threshold is not None:
        marked = drawable(threshold, "threshold")
        mark(axes, marked, f"detection frequency, {marked:.2%}", ORANGE)
    axes.set_ylim(-0.03, 1.03)
    axes.xaxis.set_major_formatter(lambda place, _: f"{100 * place:g}%")
    axes.yaxis.set_major_formatter(percent())
    legend(axes, place="upper left")
    return figure


def device_costs(days: Numbers, spent_by_name: Mapping[str, Numbers], *, title: str | None = None) -> "Figure":
    """What devices have spent after so many days, on scales of powers of ten.

    Args:
        days: Numbers of days, above 0.
        spent_by_name: For each way to collect, the ε spent by each of these days, above 0.
        title: The title; None states the largest and the smallest ε at the end.

    Raises:
        ParameterError: Lengths differ, something is no number above 0, there is nothing to draw, or matplotlib is
            missing.

    Example:
        >>> figure = device_costs([1, 365], {"16 a day": [16, 5840], "with a budget": [1, 50]})
    """
    curves = by_name(spent_by_name, "spent_by_name", of="what was spent")
    (across,) = numbers(days=days, are_finite=True)
    drawn = {name: numbers(days=across, spent_by_name=spent, are_finite=True)[1] for name, spent in curves.items()}
    if across.min() <= 0 or any(spent.min() <= 0 for spent in drawn.values()):
        raise ParameterError("spent_by_name", "some", "must hold an ε above 0, at days above 0")
    order = np.argsort(across)
    ends = [float(spent[order[-1]]) for spent in drawn.values()]
    finding = f"After {across.max():,.0f} days ε is {min(ends):,.3g} to {max(ends):,.3g}"
    figure, (axes,) = new_figure(
        finding if title is None else title, x_label="days of use", y_label="ε spent by one device"
    )
    for (name, spent), color, dashes in zip(drawn.items(), cycle(PALETTE), _DASHES * len(drawn), strict=False):
        axes.loglog(across[order], spent[order], color=color, linestyle=dashes, linewidth=2, label=name)
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.yaxis.set_major_formatter("{x:,g}")
    legend(axes, place="beside")
    return figure


_OFTEN = 0.9
_TICKS = tuple(digit * 10.0**power for power in range(-6, 3) for digit in (1, 2, 5))
_DASHES = ("-",) * len(PALETTE) + tuple((1.5 * place, (1.5, 3.0)) for place in range(len(PALETTE)))
"""Colors come twice, the second time dashed. Dashes of one line lie in the gaps of the next, where they coincide."""
