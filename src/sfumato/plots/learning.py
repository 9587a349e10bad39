"""Charts of models: how accurate they are over ε."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind
from sfumato.numeric.rationals import Number
from sfumato.plots.panels import GREY, INK, PALETTE, Numbers, by_name, drawable, legend, new_figure, numbers, state

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def accuracy_over_epsilon(
    epsilons: Numbers,
    runs_by_name: Mapping[str, Sequence[Numbers]],
    *,
    majority: Number | None = None,
    best: Number | None = None,
    title: str | None = None,
) -> "Figure":
    """The mean accuracy of one or more models over ε, with error bars of two standard errors of the mean.

    Args:
        epsilons: Values of ε, above 0.
        runs_by_name: For each model and each ε the accuracies of its runs, from 0 to 1. One run has no error bar.
        majority: The share of the most frequent class, as a line.
        best: The accuracy without privacy, as a line.
        title: The title; None states which model is most accurate at the largest ε.

    Raises:
        ParameterError: Lengths differ, something is out of range, there is nothing to draw, or matplotlib is missing.

    Example:
        >>> figure = accuracy_over_epsilon([0.1, 1], {"logistic": [[0.80, 0.82], [0.84, 0.85]]}, majority=0.76)
    """
    (across,) = numbers(epsilons=epsilons, are_finite=True)
    if across.min() <= 0:
        raise ParameterError("epsilons", "some", "must be above 0")
    order = np.argsort(across, kind="stable")
    drawn = {}
    for name, given in by_name(runs_by_name, "runs_by_name", of="the accuracies at each ε").items():
        runs = [numbers(runs_by_name=one, are_finite=True)[0] for one in listed(given, "runs_by_name", of="lists")]
        if len(runs) != len(across):
            raise ParameterError("runs_by_name", f"{len(runs)} lists", f"must have a list for each of {len(across)} ε")
        if any(one.min() < 0 or one.max() > 1 for one in runs):
            raise ParameterError("runs_by_name", "some", "must be accuracies from 0 to 1")
        errors = [2 * float(np.std(one, ddof=1)) / sqrt(len(one)) if len(one) > 1 else 0.0 for one in runs]
        drawn[name] = np.array([[float(one.mean()) for one in runs], errors])[:, order]
    lines = {"most frequent class": (majority, ":", GREY), "without privacy": (best, "--", INK)}
    marked = {label: (drawable(at, label), dash, ink) for label, (at, dash, ink) in lines.items() if at is not None}
    text = None if title is None else of_kind(title, "title", str, "text")
    figure, (axes,) = new_figure("", x_label="ε", y_label="accuracy, mean ± two standard errors")
    first = max(drawn, key=lambda name: float(drawn[name][0, -1]))
    finding = f"At ε = {across.max():g}, {first} is right for {drawn[first][0, -1]:.1%}"
    state(axes, finding if text is None else text)
    for (name, (means, errors)), color in zip(drawn.items(), cycle(PALETTE), strict=False):
        axes.errorbar(
            across[order], means, yerr=errors, color=color, marker="o", markersize=4, linewidth=1.8, elinewidth=1.2,
            capsize=4, label=str(name),
        )  # fmt: skip
    for label, (at, dash, ink) in marked.items():
        axes.axhline(at, color=ink, linestyle=dash, linewidth=1.2, label=label)
    axes.set_xscale("log")
    axes.set_xticks(sorted(set(across.tolist())), minor=False)
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:.1%}")
    legend(axes, place="beside")
    return figure
