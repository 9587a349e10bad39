import pytest

from sfumato.errors import ParameterError
from sfumato.plots.attacks import success_curve


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
