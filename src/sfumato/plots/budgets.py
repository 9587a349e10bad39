"""Pictures of what a budget buys and what it protects from."""

import math
from collections.abc import Mapping
from types import NoneType
from typing import TYPE_CHECKING, Final

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
    Numbers,
    by_name,
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


def composition(
    samples_by_name: Mapping[str, Numbers], *, title: str = "Outputs of several releases", x_label: str = "output"
) -> "Figure":
    """Histograms of the outputs of several mechanisms, one over the other, with their standard deviations.

    The picture shows the middle 99% of all outputs, so that a few far ones do not press the rest together.

    Args:
        samples_by_name: Simulated outputs of each mechanism, at least two each.
        title: Above the picture.
        x_label: What the outputs are, with their unit.

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
        raise ParameterError("samples_by_name", len(found), "must have names, with two samples or more each")
    figure, (axes,) = new_figure(title, x_label=x_label, y_label="density")
    together = np.concatenate(list(found.values()))
    edges = _edges(*np.quantile(together, (0.005, 0.995)))
    for number, (name, samples) in enumerate(found.items()):
        color, label = PALETTE[number % len(PALETTE)], f"{name}: σ = {np.std(samples):.3g}"
        heights = np.histogram(samples, edges)[0] / (len(samples) * np.diff(edges))
        axes.stairs(heights, edges, fill=True, color=color, alpha=0.15)
        axes.stairs(heights, edges, color=color, linewidth=1.8, label=label)
    axes.set_ylim(0, None)
    legend(axes, heading="σ: standard deviation")
    return figure


def group_privacy(epsilon: float, sizes: Numbers, *, title: str | None = None) -> "Figure":
    """How protection fades for a group of k people: the odds e^(kε), and what an adversary can come to believe.

    The lower panel is e^(kε) / (1 + e^(kε)): the most that an adversary who thought a secret of the whole group as
    likely as not can believe after the release. The marks are k = 1/ε, up to which the promise means something, and
    k = 100/ε, where it means almost nothing.

    Args:
        epsilon: The guarantee for one person, above 0.
        sizes: Group sizes k to draw, each at least 1.
        title: Above the picture.

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
        raise ParameterError("sizes", sizes, "must hold group sizes of at least 1")
    figure, (upper, lower) = new_figure(title or f"Group privacy at ε = {epsilon:g} for one person", panels=2)
    upper.loglog(k, k * epsilon, color=BLUE, linewidth=2.2)
    upper.set_ylabel("ε of the group, kε\n(odds move by e$^{kε}$)")
    lower.semilogx(k, _posterior(k * epsilon), color=BLUE, linewidth=2.2)
    lower.set(
        ylabel="adversary's belief,\nstarting from 50%", xlabel="people who share the secret, k", ylim=(0.45, 1.05)
    )
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
    title: str = "A survey by randomized response",
) -> "Figure":
    """Utility and privacy against ε: the error of the estimate above, what an answer gives away below.

    The lower panel is e^ε / (1 + e^ε): the most that an adversary who thought one person's "yes" as likely as not can
    believe after seeing that person's answer.

    Args:
        epsilons: Guarantees, above 0.
        errors: Standard error of the estimated fraction at each, as a fraction.
        sampling_error: Standard error if everybody told the truth: the floor that no ε goes below.
        marks: Named values of ε, say {"fair coins": 1.0986}.
        title: Above the picture.

    Raises:
        ParameterError: Lengths differ, something is no number, or matplotlib is missing.

    Example:
        >>> figure = survey_tradeoff([0.5, 1, 2], [0.2, 0.1, 0.07], sampling_error=0.05, marks={"fair coins": 1.0986})
    """
    across, up = numbers(epsilons=epsilons, errors=errors)
    told = of_kind(marks, "marks", (Mapping, NoneType), "a mapping of names to values of ε, or None") or {}
    named = {name: drawable(epsilon, "marks") for name, epsilon in told.items()}
    floor = None if sampling_error is None else drawable(sampling_error, "sampling_error")
    figure, (upper, lower) = new_figure(title, panels=2)
    upper.plot(across, 100 * up, color=BLUE, linewidth=2.2, label="estimate from noisy answers")
    upper.set(ylabel="standard error,\npercentage points", ylim=(0, None))
    if floor is not None:
        upper.axhline(100 * floor, color=GREY, linestyle=":", linewidth=1.5, label="if all told the truth")
    lower.plot(across, _posterior(across), color=ORANGE, linewidth=2.2)
    lower.set(ylabel="adversary's belief,\nstarting from 50%", xlabel="ε of one answer", ylim=(0.45, 1.05))
    lower.yaxis.set_major_formatter(percent())
    for panel in (upper, lower):
        for name, epsilon in named.items():
            mark(panel, epsilon, f"{name}, ε = {epsilon:.3g}", GREEN)
    legend(upper)
    return figure


def _edges(low: float, high: float) -> NDArray[np.float64]:
    """Edges of about 40 bins: of a whole width, a quarter off the whole numbers, if that many whole numbers are there.

    So each bin holds as many of the whole (and half) outputs that lattice noise gives, and no bin sticks out.
    """
    width = round((high - low) / 40)
    if width < 1:
        return np.linspace(low, high, 41)
    return np.arange(math.floor(low) - 0.25, high + width, float(width))


def _posterior(epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
    """e^ε / (1 + e^ε), in a form that cannot overflow."""
    belief: NDArray[np.float64] = (1 + np.tanh(epsilon / 2)) / 2
    return belief
