"""Pictures of privacy itself: the privacy loss, errors of an adversary's tests, δ over ε, and beliefs."""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.plots.panels import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALETTE,
    RED,
    Numbers,
    legend,
    mark,
    new_figure,
    percent,
    same_length,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array: TypeAlias = NDArray[np.float64]
Values: TypeAlias = Numbers | Array
Curves: TypeAlias = Mapping[str, tuple[Values, Values]]

_MOST_LINES: Final = 150  # as many losses are drawn one by one
_BINS: Final = 100
_STEEPEST: Final = 700.0  # beyond it the picture stays the same, and e^-ε is 0
_LEFT_OUT: Final = 1e-7  # of the probability, on each side


def privacy_loss(
    losses: Values,
    probabilities: Values,
    *,
    infinite_mass: float = 0.0,
    mean: float | None = None,
    epsilon: float | None = None,
    title: str = "Privacy loss",
) -> "Figure":
    """The law of the privacy loss ln(P(y)/Q(y)), y drawn from P; many losses are gathered in bins.

    Args:
        losses: Finite values of the loss.
        probabilities: Of each of them.
        infinite_mass: The probability of an infinite loss: of an answer that only one of the neighbours can give.
        mean: Of the loss, the Kullback-Leibler divergence of P from Q; marked.
        epsilon: Marked too; what lies beyond it is what δ pays for.
        title: Above the picture.

    Raises:
        ParameterError: Lengths differ, there is nothing to draw, or matplotlib is missing.
    """
    same_length(losses=losses, probabilities=probabilities)
    figure, (axes,) = new_figure(title, x_label="privacy loss", y_label="probability")
    places, heights, width = _gathered(np.asarray(losses, float), np.asarray(probabilities, float))
    axes.bar(places, heights, width, color=BLUE)
    if infinite_mass > 0:
        reach = places[-1] - places[0]
        end = places[-1] + max(0.1 * reach, 4 * width)
        axes.bar([end], [infinite_mass], max(width, 0.01 * reach), color=RED, label=f"infinite: {infinite_mass:.3g}")
    if mean is not None:
        mark(axes, mean, f"mean {mean:.4g}", GREEN)
    if epsilon is not None:
        mark(axes, epsilon, f"ε = {epsilon:.4g}", ORANGE)
    if axes.get_legend_handles_labels()[0]:
        legend(axes)
    return figure


def trade_off(curves: Curves, *, title: str = "What an adversary's test can reach") -> "Figure":
    """Type II errors over type I errors of the best tests that tell two neighbours apart.

    Args:
        curves: For each name the type I errors, growing, and the least type II error at each.
        title: Above the picture.

    Raises:
        ParameterError: There is no curve, lengths differ, or matplotlib is missing.
    """
    figure, (axes,) = new_figure(title, x_label="type I error: false alarms", y_label="type II error: missed")
    axes.plot([0, 1], [1, 0], color=GREY, linestyle=":", linewidth=1.5, label="nothing is learned")
    for name, color, false_alarms, misses in _colored(curves):
        axes.plot(false_alarms, misses, color=color, linewidth=2.2, label=name)
        axes.fill_between(false_alarms, misses, 1 - false_alarms, color=color, alpha=0.07, linewidth=0)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    _in_percents(axes)
    legend(axes, place="upper right")
    return figure


def privacy_profile(curves: Curves, *, delta: float | None = None, title: str = "Privacy profile") -> "Figure":
    """δ over ε, on a log scale, by one or several accountants.

    Args:
        curves: For each name the values of ε, growing, and the δ at each; a δ of 0 is left out.
        delta: Marked, if stated.
        title: Above the picture.

    Raises:
        ParameterError: There is no curve, lengths differ, or matplotlib is missing.
    """
    figure, (axes,) = new_figure(title, x_label="ε", y_label="δ")
    for name, color, epsilons, deltas in _colored(curves):
        axes.semilogy(epsilons, np.where(deltas > 0, deltas, np.nan), color=color, linewidth=2.2, label=name)
    if delta is not None:
        axes.axhline(delta, color=GREY, linestyle="--", linewidth=1.4, label=f"δ = {delta:g}")
    legend(axes)
    return figure


def risk(epsilons: Values, *, title: str = "What can be believed of one person after an answer") -> "Figure":
    """Between which limits a belief p in a secret can end: p/(p + (1 − p)e^ε) and pe^ε/(1 − p + pe^ε).

    Args:
        epsilons: Of one guarantee or several, each 0 or more.
        title: Above the picture.

    Raises:
        ParameterError: There is no ε, one is negative or infinite, or matplotlib is missing.
    """
    if not len(epsilons) or not all(0 <= epsilon < math.inf for epsilon in epsilons):
        raise ParameterError("epsilons", len(epsilons), "must hold values of ε that are finite and 0 or more")
    figure, (axes,) = new_figure(title, x_label="belief before the answer", y_label="belief after it")
    priors = np.linspace(0, 1, 201)
    for number, epsilon in reversed(list(enumerate(epsilons))):
        color = PALETTE[number % len(PALETTE)]
        low, high = _moved(priors, -epsilon), _moved(priors, epsilon)
        axes.fill_between(priors, low, high, color=color, alpha=0.18, linewidth=0)
        axes.plot(priors, high, color=color, linewidth=2, label=f"ε = {epsilon:g}")
        axes.plot(priors, low, color=color, linewidth=2)
    axes.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.5, label="without the answer")
    axes.set(xlim=(0, 1), ylim=(0, 1))
    _in_percents(axes)
    legend(axes, place="beside")
    return figure


def _gathered(losses: Array, probabilities: Array) -> tuple[Array, Array, float]:
    """Places, heights and width of bars: one for each of a few losses, else bins without the farthest tails."""
    order = np.argsort(losses)
    losses, probabilities = losses[order], probabilities[order]
    if losses.size <= _MOST_LINES:
        return losses, probabilities, float(np.ptp(losses)) / 150 or 0.1
    cumulative = np.cumsum(probabilities)
    low, high = np.searchsorted(cumulative, [_LEFT_OUT, cumulative[-1] - _LEFT_OUT])
    heights, edges = np.histogram(losses, _BINS, (losses[low], losses[high]), weights=probabilities)
    return (edges[:-1] + edges[1:]) / 2, heights, float(edges[1] - edges[0])


def _colored(curves: Curves) -> Iterator[tuple[str, str, Array, Array]]:
    if not curves:
        raise ParameterError("curves", 0, "must name at least one curve")
    for number, (name, (across, up)) in enumerate(curves.items()):
        same_length(**{f"curves[{name!r}]": across, "its other values": up})
        yield name, PALETTE[number % len(PALETTE)], np.asarray(across, float), np.asarray(up, float)


def _moved(priors: Array, epsilon: float) -> Array:
    """Beliefs whose odds grow by e^ε."""
    weight = math.exp(-min(abs(epsilon), _STEEPEST))
    others = 1 - priors
    return priors / (priors + others * weight) if epsilon >= 0 else priors * weight / (priors * weight + others)


def _in_percents(axes: "Axes") -> None:
    axes.xaxis.set_major_formatter(percent())
    axes.yaxis.set_major_formatter(percent())
