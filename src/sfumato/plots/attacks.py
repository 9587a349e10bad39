"""Charts of attacks: success over ε or the noise scale, points of traces, and homes found by many reports."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import column
from sfumato.numeric.rationals import Number
from sfumato.plots.panels import (
    BLUE,
    GREY,
    INK,
    PALETTE,
    RED,
    Array,
    Numbers,
    by_name,
    curve,
    drawable,
    legend,
    new_figure,
    numbers,
    pairs,
    percent,
    same_length,
    state,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOW_RATE: Final = 0.01
_STEEPEST: Final = 700.0  # beyond it the limit stays where it is


def success_curve(
    places: Numbers,
    successes: Numbers,
    *,
    limits: Sequence[tuple[float, float]],
    baseline: Numbers,
    allowed: Numbers | None = None,
    x_label: str = "total ε",
    title: str | None = None,
) -> "Figure":
    """The success of one attack with its intervals, beside blind guessing and what a guarantee allows.

    Args:
        places: Numbers on the horizontal axis, ascending; on a log scale if they span more than a factor of 20.
        successes: The share of right guesses at each place.
        limits: The interval of each share.
        baseline: The share that blind guessing reaches.
        allowed: The largest share that the guarantee allows.
        x_label: The quantity on the horizontal axis, with its unit.
        title: The title; None states the largest success.

    Raises:
        ParameterError: Lengths differ, something is no number, there is nothing to draw, or matplotlib is missing.

    Example:
        >>> figure = success_curve([0.1, 1], [0.5, 0.7], limits=[(0.4, 0.6), (0.6, 0.8)], baseline=[0.5, 0.5])
    """
    at, measured, guessed = numbers(places=places, successes=successes, baseline=baseline)
    ends = pairs(limits, "limits")
    most = at if allowed is None else column(allowed, "allowed")
    same_length(places=at, limits=ends, allowed=most)
    best = int(np.argmax(measured))
    finding = (
        f"{measured[best]:.0%} of guesses right at {x_label} = {at[best]:g}, {guessed[best]:.0%} by blind guessing"
    )
    figure, (axes,) = new_figure(finding if title is None else title, x_label=x_label, y_label="share of right guesses")
    if min(at) > 0 and max(at) > 20 * min(at):
        axes.set_xscale("log")
    axes.errorbar(
        at,
        measured,
        yerr=np.abs(ends.T - measured),
        color=BLUE,
        marker="o",
        capsize=3,
        linewidth=2,
        label="measured, with interval",
    )
    if allowed is not None:
        axes.plot(at, most, color=RED, linestyle="--", linewidth=1.6, label="the guarantee allows")
    axes.plot(at, guessed, color=GREY, linestyle=":", linewidth=1.6, label="blind guessing")
    axes.set_ylim(0, 1.03)
    axes.yaxis.set_major_formatter(percent())
    legend(axes, place="beside")
    return figure


def unicity_curves(
    points: Mapping[str, Numbers],
    shares: Mapping[str, Numbers],
    *,
    limits: Mapping[str, Sequence[tuple[float, float]]],
    title: str | None = None,
) -> "Figure":
    """The share of people identified, with intervals, over the number of known points: a curve per resolution.

    Args:
        points: Numbers of known points, by the name of the resolution.
        shares: The share of people identified by each number of points.
        limits: The interval of each share.
        title: The title; None states the largest share.

    Raises:
        ParameterError: Names or lengths differ, something is no number, there is nothing to draw, or matplotlib is
            missing.

    Example:
        >>> figure = unicity_curves({"an hour": [1, 2]}, {"an hour": [0.3, 0.7]}, limits={"an hour": [(0, 1)] * 2})
    """
    for parameter, given in (("points", points), ("shares", shares), ("limits", limits)):
        by_name(given, parameter, of="a list")
    if not points.keys() == shares.keys() == limits.keys():
        raise ParameterError(
            "shares", tuple(shares), "must have the same resolutions as points and limits, at least one"
        )
    figure, (axes,) = new_figure(
        "" if title is None else title, x_label="number of known points", y_label="share of people identified"
    )
    every, best = set[float](), (-1.0, "")
    for name, color in zip(points, cycle(PALETTE), strict=False):
        (places,), ends = numbers(points=points[name], are_finite=True), pairs(limits[name], "limits")
        (told_apart,) = numbers(shares=shares[name])
        same_length(points=places, shares=told_apart, limits=ends)
        every.update(places.tolist())
        place = int(np.argmax(told_apart))
        best = max(best, (told_apart[place], f"{places[place]:g} known points, resolution {name}"))
        apart = np.abs(ends.T - told_apart)
        axes.errorbar(
            places, told_apart, yerr=apart, color=color, marker="o", capsize=3, linewidth=2, label=name
        )  # fmt: skip
    if title is None:
        state(axes, f"{best[0]:.0%} of people are identified by {best[1]}")
    axes.set_xticks(sorted(every))
    axes.set_ylim(0, 1.03)
    axes.yaxis.set_major_formatter(percent())
    legend(axes, place="beside")
    return figure


def distances_over_reports(
    reports: Numbers, distance_by_name: Mapping[str, Numbers], *, title: str | None = None
) -> "Figure":
    """The distance of the mean of reports from the place that was reported, over their number, on powers of ten.

    Args:
        reports: Numbers of reports, above 0.
        distance_by_name: For each device, the distance in meters at each number, above 0.
        title: The title; None states how near each device lets an attacker come.

    Raises:
        ParameterError: Lengths differ, something is no number above 0, there is nothing to draw, or matplotlib is
            missing.

    Example:
        >>> figure = distances_over_reports([1, 100], {"fresh": [300, 30], "remembered": [300, 300]})
    """
    curves = by_name(distance_by_name, "distance_by_name", of="distances")
    (across,) = numbers(reports=reports, are_finite=True)
    drawn = {
        name: numbers(reports=across, distance_by_name=distances, are_finite=True)[1]
        for name, distances in curves.items()
    }
    same_length(reports=across, **{f"distance_by_name of {name}": found for name, found in drawn.items()})
    if not drawn or min(across) <= 0 or min(float(found.min()) for found in drawn.values()) <= 0:
        raise ParameterError("distance_by_name", tuple(drawn), "must be numbers above 0, of at least one device")
    figure, (axes,) = new_figure(
        "" if title is None else title,
        x_label="number of reports from one place",
        y_label="meters between their mean and the place",
    )
    for (name, found), color in zip(drawn.items(), cycle(PALETTE), strict=False):
        axes.plot(across, found, color=color, marker="o", linewidth=2, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    if title is None:
        last = int(across.argmax())
        ends = "; ".join(f"{name}: {found[last]:,.0f} m" for name, found in drawn.items())
        state(axes, f"What {across[last]:,.0f} reports give away, {ends}")
    legend(axes)
    return figure


def roc_curves(
    curves: Mapping[str, tuple[Numbers | Array, Numbers | Array]],
    *,
    epsilon: Number | None = None,
    delta: Number = 0,
    title: str | None = None,
) -> "Figure":
    """True over false positive rates of membership tests, both on powers of ten, beside the most that (ε, δ) allows.

    That is min(e^ε·f + δ, 1 − e^−ε·(1 − δ − f)) for a false positive rate f [KOV15].

    Args:
        curves: For each test its false positive rates, ascending, and the true positive rate at each.
        epsilon: The claimed ε; None draws no limit.
        delta: The claimed δ.
        title: The title; None states the largest true positive rate at no more than 1% false ones.

    Raises:
        ParameterError: Lengths differ, something is out of range, there is nothing to draw, or matplotlib is missing.

    Example:
        >>> figure = roc_curves({"loss": ([0, 0.1, 1], [0, 0.3, 1])}, epsilon=1)
    """
    given = {name: curve(one, "curves") for name, one in by_name(curves, "curves", of="two lists of rates").items()}
    if not given or any(not ((rates >= 0) & (rates <= 1)).all() for one in given.values() for rates in one):
        raise ParameterError("curves", tuple(given), "must hold rates from 0 to 1, of at least one test")
    steepest = None if epsilon is None else drawable(epsilon, "epsilon")
    leak = drawable(delta, "delta")
    if (steepest is not None and steepest < 0) or not 0 <= leak <= 1:
        raise ParameterError("epsilon", (epsilon, delta), "must be at least 0, and delta from 0 to 1")
    lowest = min([float(false[false > 0].min()) for false, _ in given.values() if (false > 0).any()], default=_LOW_RATE)
    left = min(lowest, _LOW_RATE) / 2
    figure, (axes,) = new_figure(
        "" if title is None else title, x_label="false positive rate", y_label="true positive rate"
    )
    best, across = (-1.0, ""), np.geomspace(left, 1, 200)
    for (name, (false, true)), color in zip(given.items(), cycle(PALETTE), strict=False):
        axes.step(np.maximum(false, left), np.maximum(true, left), where="post", color=color, linewidth=2, label=name)
        best = max(best, (float(true[false <= _LOW_RATE].max(initial=0.0)), str(name)))
    if steepest is not None:
        power = np.exp(min(steepest, _STEEPEST))
        most = np.minimum(power * across + leak, 1 - (1 - leak - across) / power)
        axes.plot(across, np.clip(most, left, 1), color=INK, linestyle="--", label=f"ε = {steepest:g} allows")
    axes.plot(across, across, color=GREY, linestyle=":", linewidth=1.6, label="blind guessing")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set(xlim=(left, 1), ylim=(left, 1.05))
    if title is None:
        state(axes, f"At {_LOW_RATE:.0%} false positives, {best[1]} finds {best[0]:.1%} of rows that were seen")
    legend(axes, place="beside")
    return figure
