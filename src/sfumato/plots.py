"""Pictures of releases, budgets and trade-offs: plain numbers in, a matplotlib figure out.

Figures are made without pyplot, so nothing global changes and no window opens: show one in a notebook by its name, or
`save` it. matplotlib is the extra `plots`. The palette is safe for color-blind readers [OI08].
"""

import math
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

Numbers = Sequence[float]

_BLUE, _ORANGE, _GREEN, _RED, _PURPLE = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7"
_INK, _GREY, _LIGHT = "#333333", "#8C8C8C", "#DDDDDD"
_MAX_LABEL_CHARACTERS: Final = 95  # that fit side by side; beyond, labels are turned
_BAR_WIDTH, _MIN_BARS_ACROSS = 0.7, 6  # one bar alone does not fill the picture
_DOTS_PER_INCH: Final = 150


def histogram(
    labels: Sequence[str],
    true_counts: Numbers | None,
    private_counts: Numbers,
    errors: Numbers,
    *,
    title: str = "Private histogram",
    x_label: str = "",
    confidence: float = 0.95,
) -> "Figure":
    """True and private counts side by side, the private ones with their error bars.

    Args:
        labels: One a bar.
        true_counts: Exact counts of public or made-up data; None for data that has something to hide.
        private_counts: Released counts, which may be negative.
        errors: Half-widths of the intervals around the private counts, in people.
        title: Above the picture.
        x_label: What the labels are, with their unit.
        confidence: Of the intervals, for the legend.

    Raises:
        ParameterError: Lengths differ, there is no bar, or matplotlib is missing.
    """
    _same_length(labels=labels, private_counts=private_counts, errors=errors)
    figure, (axes,) = _figure(title, x_label=x_label, y_label="people")
    places, width = np.arange(len(labels)), 0.4
    if true_counts is None:
        shift, width = 0.0, _BAR_WIDTH
    else:
        _same_length(labels=labels, true_counts=true_counts)
        shift = width / 2
        axes.bar(places - shift, true_counts, width, color=_LIGHT, edgecolor=_GREY, linewidth=0.8, label="true")
    axes.bar(places + shift, private_counts, width, color=_BLUE, label="private")
    interval = f"{100 * confidence:g}% interval"
    axes.errorbar(
        places + shift, private_counts, errors, fmt="none", ecolor=_INK, elinewidth=1.2, capsize=3, label=interval
    )
    _name_bars(axes, labels)
    _legend(axes)
    return figure


def bars(
    labels: Sequence[str],
    values: Numbers,
    lows: Numbers,
    highs: Numbers,
    *,
    title: str = "Private release",
    x_label: str = "",
    y_label: str = "value",
) -> "Figure":
    """Released values as bars with their intervals.

    Args:
        labels: One a bar.
        values: Released values.
        lows: Lower ends of the intervals, at or below the values.
        highs: Upper ends of the intervals, at or above the values.
        title: Above the picture.
        x_label: What the labels are.
        y_label: What the values are, with their unit.

    Raises:
        ParameterError: Lengths differ, there is no bar, an interval misses its value, or matplotlib is missing.
    """
    _same_length(labels=labels, values=values, lows=lows, highs=highs)
    figure, (axes,) = _figure(title, x_label=x_label, y_label=y_label)
    places = np.arange(len(labels))
    reach = np.array([np.subtract(values, lows), np.subtract(highs, values)])
    if not (reach >= 0).all():
        raise ParameterError("lows, highs", "intervals", "must hold their values")
    axes.bar(places, values, _BAR_WIDTH, color=_BLUE)
    axes.errorbar(places, values, reach, fmt="none", ecolor=_INK, elinewidth=1.2, capsize=4)
    _name_bars(axes, labels)
    return figure


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
        ParameterError: There are no samples, or matplotlib is missing.
    """
    if not samples_by_name or min(len(samples) for samples in samples_by_name.values()) <= 1:
        raise ParameterError("samples_by_name", len(samples_by_name), "must have names, with two samples or more each")
    figure, (axes,) = _figure(title, x_label=x_label, y_label="density")
    together = np.concatenate([np.asarray(samples, dtype=float) for samples in samples_by_name.values()])
    edges = _edges(*np.quantile(together, (0.005, 0.995)))
    colors = (_BLUE, _ORANGE, _GREEN, _RED, _PURPLE)
    for number, (name, samples) in enumerate(samples_by_name.items()):
        color, label = colors[number % len(colors)], f"{name}: σ = {np.std(samples):.3g}"
        heights = np.histogram(samples, edges)[0] / (len(samples) * np.diff(edges))
        axes.stairs(heights, edges, fill=True, color=color, alpha=0.15)
        axes.stairs(heights, edges, color=color, linewidth=1.8, label=label)
    axes.set_ylim(0, None)
    _legend(axes, heading="σ: standard deviation")
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
    """
    if not 0 < epsilon < math.inf:
        raise ParameterError("epsilon", epsilon, "must be above 0 and finite")
    k = np.unique(np.asarray(sizes, dtype=float))
    if k.size == 0 or k[0] < 1:
        raise ParameterError("sizes", len(sizes), "must hold group sizes of at least 1")
    figure, (upper, lower) = _figure(title or f"Group privacy at ε = {epsilon:g} for one person", panels=2)
    upper.loglog(k, k * epsilon, color=_BLUE, linewidth=2.2)
    upper.set_ylabel("ε of the group, kε\n(odds move by e$^{kε}$)")
    lower.semilogx(k, _posterior(k * epsilon), color=_BLUE, linewidth=2.2)
    lower.set(
        ylabel="adversary's belief,\nstarting from 50%", xlabel="people who share the secret, k", ylim=(0.45, 1.05)
    )
    lower.yaxis.set_major_formatter(_percent())
    upper.yaxis.set_major_formatter("{x:,g}")
    lower.xaxis.set_major_formatter("{x:,.0f}")
    for panel in (upper, lower):
        _mark(panel, 1 / epsilon, "k = 1/ε", _GREEN)
        _mark(panel, 100 / epsilon, "k = 100/ε", _RED)
    _legend(upper, place="upper left")
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
        ParameterError: Lengths differ, or matplotlib is missing.
    """
    _same_length(epsilons=epsilons, errors=errors)
    figure, (upper, lower) = _figure(title, panels=2)
    upper.plot(epsilons, 100 * np.asarray(errors), color=_BLUE, linewidth=2.2, label="estimate from noisy answers")
    upper.set(ylabel="standard error,\npercentage points", ylim=(0, None))
    if sampling_error is not None:
        upper.axhline(100 * sampling_error, color=_GREY, linestyle=":", linewidth=1.5, label="if all told the truth")
    lower.plot(epsilons, _posterior(np.asarray(epsilons)), color=_ORANGE, linewidth=2.2)
    lower.set(ylabel="adversary's belief,\nstarting from 50%", xlabel="ε of one answer", ylim=(0.45, 1.05))
    lower.yaxis.set_major_formatter(_percent())
    for panel in (upper, lower):
        for name, epsilon in (marks or {}).items():
            _mark(panel, epsilon, f"{name}, ε = {epsilon:.3g}", _GREEN)
    _legend(upper)
    return figure


def save(figure: "Figure", path: str | PathLike[str]) -> Path:
    """Write a figure; the ending of the path (.png, .svg, .pdf) says how. Missing folders are made.

    Raises:
        ParameterError: matplotlib does not write that ending.
    """
    path = Path(path)
    endings = figure.canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".") not in endings:
        raise ParameterError("path", str(path), f"must end in one of {', '.join(sorted(endings))}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=_DOTS_PER_INCH)
    return path


def _figure(title: str, *, panels: int = 1, x_label: str = "", y_label: str = "") -> "tuple[Figure, tuple[Axes, ...]]":
    """An empty figure of one or more panels above each other, with a quiet frame."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ParameterError("matplotlib", None, "is needed for pictures: pip install sfumato[plots]") from None
    figure = Figure(figsize=(8, 4.2 if panels == 1 else 6), layout="constrained")
    rows = figure.subplots(panels, 1, sharex=True, squeeze=False)
    for axes in rows[:, 0]:
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(_GREY)
        axes.grid(axis="y", color=_LIGHT, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.tick_params(color=_GREY, labelcolor=_INK)
    rows[0, 0].set_title(title, loc="left", color=_INK, fontweight="bold", pad=12)
    figure.align_ylabels()
    rows[-1, 0].set(xlabel=x_label, ylabel=y_label)
    return figure, tuple(rows[:, 0])


def _name_bars(axes: "Axes", labels: Sequence[str]) -> None:
    """Labels under bars, turned where they would touch, and a line at 0, as private counts may lie below."""
    turned = sum(len(str(label)) + 2 for label in labels) > _MAX_LABEL_CHARACTERS
    axes.set_xticks(range(len(labels)), [str(label) for label in labels])
    axes.tick_params(axis="x", length=0, rotation=35 if turned else 0)
    for text in axes.get_xticklabels():
        text.set(horizontalalignment="right" if turned else "center", rotation_mode="anchor" if turned else "default")
    across = max(len(labels), _MIN_BARS_ACROSS)
    axes.set_xlim((len(labels) - 1 - across) / 2, (len(labels) - 1 + across) / 2)
    axes.axhline(0, color=_GREY, linewidth=0.8)
    axes.yaxis.set_major_formatter("{x:,.10g}")


def _mark(axes: "Axes", place: float, label: str, color: str) -> None:
    axes.axvline(place, color=color, linestyle="--", linewidth=1.4, label=label)


def _legend(axes: "Axes", *, place: Literal["best", "upper left"] = "best", heading: str | None = None) -> None:
    axes.legend(frameon=False, labelcolor=_INK, loc=place, title=heading, alignment="left")


def _edges(low: float, high: float) -> NDArray[np.float64]:
    """Edges of about 40 bins: of a whole width, a quarter off the whole numbers, if that many whole numbers are there.

    So each bin holds as many of the whole (and half) outputs that lattice noise gives, and no bin sticks out.
    """
    width = round((high - low) / 40)
    if width < 1:
        return np.linspace(low, high, 41)
    return np.arange(math.floor(low) - 0.25, high + width, width)


def _percent() -> "PercentFormatter":
    from matplotlib.ticker import PercentFormatter

    return PercentFormatter(xmax=1, decimals=0)


def _posterior(epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
    """e^ε / (1 + e^ε), in a form that cannot overflow."""
    belief: NDArray[np.float64] = (1 + np.tanh(epsilon / 2)) / 2
    return belief


def _same_length(**columns: Sequence[object]) -> None:
    (first, wanted), *others = ((name, len(column)) for name, column in columns.items())
    if wanted == 0:
        raise ParameterError(first, (), "must not be empty")
    for name, length in others:
        if length != wanted:
            raise ParameterError(name, f"{length} values", f"must have as many values as {first}, {wanted}")
