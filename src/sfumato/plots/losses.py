"""Charts of guarantees: the privacy loss, errors of an adversary's tests, δ over ε, and beliefs."""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from sfumato.errors import ParameterError
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
    drawable,
    legend,
    mark,
    new_figure,
    numbers,
    percent,
    state,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    title: str | None = None,
) -> "Figure":
    """The distribution of the privacy loss ln(P(y)/Q(y)) for y from P; many losses are collected in bins.

    Args:
        losses: Finite values of the loss.
        probabilities: The probability of each value.
        infinite_mass: The probability of an infinite loss: of an answer that only one of the neighbors can give.
        mean: The mean loss to mark, which is the Kullback-Leibler divergence of P from Q.
        epsilon: The ε to mark; δ covers the losses beyond it.
        title: The title; None states how likely a loss above ε is, if ε is given.

    Raises:
        ParameterError: Lengths differ, something is no number, there is nothing to draw, or matplotlib is missing.

    Example:
        >>> figure = privacy_loss([1.1, -1.1], [0.7, 0.2], infinite_mass=0.1, mean=0.55, epsilon=1)
    """
    at, masses = numbers(losses=losses, probabilities=probabilities, are_finite=True)
    beyond = drawable(infinite_mass, "infinite_mass")
    mean = None if mean is None else drawable(mean, "mean", may_be_infinite=True)
    epsilon = None if epsilon is None else drawable(epsilon, "epsilon", may_be_infinite=True)
    finding = "Distribution of the privacy loss"
    if epsilon is not None:
        finding = (
            f"The privacy loss exceeds ε = {epsilon:.4g} with probability {masses[at > epsilon].sum() + beyond:.2g}"
        )
    figure, (axes,) = new_figure(finding if title is None else title, x_label="privacy loss", y_label="probability")
    places, heights, width = _gathered(at, masses)
    axes.bar(places, heights, width, color=BLUE)
    if beyond > 0:
        reach = places[-1] - places[0]
        end = places[-1] + max(0.1 * reach, 4 * width)
        axes.bar([end], [beyond], max(width, 0.01 * reach), color=RED, label=f"infinite: {beyond:.3g}")
    if mean is not None:
        mark(axes, mean, f"mean {mean:.4g}", GREEN)
    if epsilon is not None:
        mark(axes, epsilon, f"ε = {epsilon:.4g}", ORANGE)
    if axes.get_legend_handles_labels()[0]:
        legend(axes)
    return figure


def trade_off(curves: Curves, *, title: str | None = None) -> "Figure":
    """Type II errors over type I errors of the best tests that tell two neighbors apart.

    Args:
        curves: For each name the type I errors, ascending, and the least type II error at each.
        title: The title; None states the largest advantage of a test.

    Raises:
        ParameterError: There is no curve, lengths differ, something is no number, or matplotlib is missing.

    Example:
        >>> figure = trade_off({"one answer": ([0, 0.25, 1], [1, 0.25, 0])})
    """
    figure, (axes,) = new_figure(
        "" if title is None else title, x_label="type I error (false alarms)", y_label="type II error (misses)"
    )
    advantage = 0.0
    axes.plot([0, 1], [1, 0], color=GREY, linestyle=":", linewidth=1.5, label="nothing is learned")
    for name, color, false_alarms, misses in _colored(curves):
        axes.plot(false_alarms, misses, color=color, linewidth=2.2, label=name)
        advantage = max(advantage, float(np.nanmax(1 - false_alarms - misses)))
        axes.fill_between(false_alarms, misses, 1 - false_alarms, color=color, alpha=0.07, linewidth=0)
    if title is None:
        state(axes, f"No test has an advantage above {advantage:.0%}")
    axes.set(xlim=(0, 1), ylim=(0, 1))
    _in_percents(axes)
    legend(axes, place="upper right")
    return figure


def privacy_profile(curves: Curves, *, delta: float | None = None, title: str | None = None) -> "Figure":
    """The privacy profile: δ over ε, on a log scale, by one or several accountants.

    Args:
        curves: For each name the values of ε, ascending, and the δ at each; a δ of 0 is not drawn.
        delta: A δ to mark.
        title: The title; None states the smallest ε at `delta`, if it is given.

    Raises:
        ParameterError: There is no curve, lengths differ, something is no number, or matplotlib is missing.

    Example:
        >>> figure = privacy_profile({"PLD": ([0, 1, 2], [0.5, 1e-3, 1e-6])}, delta=1e-6)
    """
    marked = None if delta is None else drawable(delta, "delta")
    figure, (axes,) = new_figure("Privacy profile: δ over ε" if title is None else title, x_label="ε", y_label="δ")
    reached = list[tuple[float, str]]()
    for name, color, epsilons, deltas in _colored(curves):
        axes.semilogy(epsilons, np.where(deltas > 0, deltas, np.nan), color=color, linewidth=2.2, label=name)
        reached += (
            [(float(epsilons[deltas <= marked].min()), name)] if marked is not None and (deltas <= marked).any() else []
        )
    if title is None and reached:
        state(axes, f"At δ = {marked:g} the smallest ε is {min(reached)[0]:.3g} ({min(reached)[1]})")
    if marked is not None:
        axes.axhline(marked, color=GREY, linestyle="--", linewidth=1.4, label=f"δ = {marked:g}")
    legend(axes)
    return figure


def risk(epsilons: Values, *, title: str | None = None) -> "Figure":
    """The limits of a belief p in a secret after an answer: p/(p + (1 − p)e^ε) and pe^ε/(1 − p + pe^ε).

    Args:
        epsilons: The ε of one guarantee or several, each 0 or more.
        title: The title; None states the largest change of a 50% belief.

    Raises:
        ParameterError: There is no ε, one is negative or infinite, or matplotlib is missing.

    Example:
        >>> figure = risk([0.1, 1, 3])
    """
    (found,) = numbers(epsilons=epsilons, are_finite=True)
    if (found < 0).any():
        raise ParameterError("epsilons", epsilons, "must be finite values of ε, 0 or more")
    highest = float(_updated(np.array([0.5]), float(found.max()))[0])
    finding = f"At ε = {found.max():g} an answer can raise a 50% belief to at most {highest:.0%}"
    figure, (axes,) = new_figure(
        finding if title is None else title, x_label="belief before the answer", y_label="belief after the answer"
    )
    priors = np.linspace(0, 1, 201)
    for number, epsilon in reversed(list(enumerate(found.tolist()))):
        color = PALETTE[number % len(PALETTE)]
        low, high = _updated(priors, -epsilon), _updated(priors, epsilon)
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
    rest = min(_LEFT_OUT, cumulative[-1] / 4)  # of the little that there is beside an infinite loss
    low, high = np.searchsorted(cumulative, [rest, cumulative[-1] - rest])
    heights, edges = np.histogram(losses, _BINS, (losses[low], losses[high]), weights=probabilities)
    return (edges[:-1] + edges[1:]) / 2, heights, float(edges[1] - edges[0])


def _colored(curves: Curves) -> Iterator[tuple[str, str, Array, Array]]:
    for number, (name, values) in enumerate(by_name(curves, "curves", of="two lists of numbers").items()):
        yield name, PALETTE[number % len(PALETTE)], *curve(values, f"curves[{name!r}]")


def _updated(priors: Array, epsilon: float) -> Array:
    """Beliefs whose odds grow by e^ε."""
    weight = math.exp(-min(abs(epsilon), _STEEPEST))
    others = 1 - priors
    return priors / (priors + others * weight) if epsilon >= 0 else priors * weight / (priors * weight + others)


def _in_percents(axes: "Axes") -> None:
    axes.xaxis.set_major_formatter(percent())
    axes.yaxis.set_major_formatter(percent())
