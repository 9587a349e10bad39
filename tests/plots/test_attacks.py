import numpy as np
import pytest
from tests.plots.reading import legend_texts, spans

from sfumato.errors import ParameterError
from sfumato.plots.attacks import distances_over_reports, roc_curves, success_curve, unicity_curves


def drawn(places, successes, **more):
    limits = [(success - 0.1, success + 0.1) for success in successes]
    (axes,) = success_curve(places, successes, limits=limits, baseline=[0.5] * len(places), **more).axes
    return axes


def test_wide_ranges_are_drawn_in_powers_of_ten():
    assert drawn([0.1, 10], [0.5, 0.9]).get_xscale() == "log"
    assert drawn([1, 2], [0.5, 0.9]).get_xscale() == "linear"
    assert drawn([0, 100], [0.5, 0.9]).get_xscale() == "linear"


def test_limits_are_bars_and_shares_are_percents():
    axes = drawn([1, 2], [0.5, 0.8], allowed=[0.7, 0.9])
    (bars,) = axes.containers[0].lines[2]
    low, high = bars.get_segments()[1][:, 1]
    assert (low, high) == pytest.approx((0.7, 0.9))
    assert axes.yaxis.get_major_formatter()(0.5) == "50%"


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ParameterError, match="allowed"):
        drawn([1, 2], [0.5, 0.9], allowed=[0.7])


POINTS = {"an hour": [1, 2, 4], "a day": [1, 2]}
SHARES = {"an hour": [0.2, 0.7, 0.95], "a day": [0.1, 0.3]}
LIMITS = {"an hour": [(0.1, 0.3), (0.6, 0.8), (0.9, 1)], "a day": [(0, 0.2), (0.2, 0.5)]}


def test_each_resolution_is_a_curve_with_its_limits():
    (axes,) = unicity_curves(POINTS, SHARES, limits=LIMITS, title="phones").axes
    assert legend_texts(axes) == ["an hour", "a day"]
    assert axes.containers[0].lines[0].get_ydata().tolist() == SHARES["an hour"]
    assert spans(axes) == [pytest.approx(limits) for limits in LIMITS["a day"]]
    assert axes.get_xticks().tolist() == [1, 2, 4]
    assert axes.get_title(loc="left") == "phones"


def test_there_are_more_curves_than_colors():
    many = {f"{hours} hours": [1] for hours in range(9)}
    (axes,) = unicity_curves(many, many, limits={name: [(0, 1)] for name in many}).axes
    assert len(axes.containers) == 9


@pytest.mark.parametrize(
    ("points", "shares"), [({}, {}), (POINTS, {"an hour": [0.2]}), (POINTS, SHARES | {"a day": [0.1]})]
)
def test_nothing_and_what_does_not_belong_together_are_refused(points, shares):
    with pytest.raises(ParameterError):
        unicity_curves(points, shares, limits=LIMITS if points else {})


def test_a_line_for_each_device_and_a_title_that_says_what_is_given_away():
    figure = distances_over_reports([1, 100], {"fresh": [300, 30], "remembered": [290, 290]})
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.get_lines()] == ["fresh", "remembered"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    text = axes.get_title(loc="left")
    assert "30 m" in text
    assert "290 m" in text


@pytest.mark.parametrize(
    ("reports", "distances"),
    [
        ([1], {"a": [1, 2]}),
        ([0], {"a": [1]}),
        ([1], {"a": [0]}),
        ([1], {}),
        ([1], 5),
        ([], {"a": []}),
        ([1], {"a": ["x"]}),
    ],
)
def test_what_cannot_be_drawn_is_refused(reports, distances):
    with pytest.raises(ParameterError):
        distances_over_reports(reports, distances)


CURVES = {"loss": ([0, 0.02, 1], [0, 0.3, 1]), "canaries": ([0, 0.005, 0.5, 1], [0, 0.25, 0.5, 1])}


def test_rates_are_drawn_in_powers_of_ten_beside_what_is_allowed():
    (axes,) = roc_curves(CURVES, epsilon=1, delta=0.01).axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert legend_texts(axes) == ["loss", "canaries", "ε = 1 allows", "blind guessing"]
    limit = axes.lines[2]
    false, true = np.asarray(limit.get_xdata()), np.asarray(limit.get_ydata())
    most = np.minimum(np.exp(1) * false + 0.01, 1 - (0.99 - false) * np.exp(-1))
    assert true == pytest.approx(np.minimum(most, 1))
    assert axes.get_title(loc="left") == "At 1% false positives, canaries finds 25.0% of rows that were seen"
    assert axes.get_xlim()[0] < 0.005


def test_without_a_claim_nothing_is_allowed():
    (axes,) = roc_curves(CURVES, title="mine").axes
    assert legend_texts(axes) == ["loss", "canaries", "blind guessing"]
    assert axes.get_title(loc="left") == "mine"


@pytest.mark.parametrize(
    ("curves", "claim"),
    [({}, {}), ({"x": ([0, 2], [0, 1])}, {}), ({"x": ([0, 1], [0])}, {}), (CURVES, {"epsilon": -1}),
     (CURVES, {"epsilon": 1, "delta": 2}), (CURVES, {"epsilon": "x"})],
    ids=["none", "above 1", "lengths", "below 0", "delta", "text"],
)  # fmt: skip
def test_rates_and_claims_have_their_ranges(curves, claim):
    with pytest.raises(ParameterError):
        roc_curves(curves, **claim)
