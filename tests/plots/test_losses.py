import math

import numpy as np
import pytest
from tests.plots.reading import heights, legend_texts

from sfumato import plots
from sfumato.errors import ParameterError


def lines(axes):
    """Of the curves that have a name, by it."""
    return {line.get_label(): line for line in axes.lines}


def test_a_few_losses_have_a_bar_each_and_the_infinite_one_lies_beyond():
    (axes,) = plots.privacy_loss([1.1, -1.1], [0.7, 0.2], infinite_mass=0.1, mean=0.5, epsilon=1).axes
    assert heights(axes, 0) == [0.2, 0.7]
    assert heights(axes, 1) == [0.1]
    assert axes.containers[1].patches[0].get_x() > 1.1
    assert legend_texts(axes) == ["mean 0.5", "ε = 1", "infinite: 0.1"]


def test_many_losses_are_gathered_and_keep_their_probability_and_mean():
    losses = np.linspace(-10, 10, 20_001)
    weights = np.exp(-((losses - 1) ** 2) / 2)
    (axes,) = plots.privacy_loss(losses, weights / weights.sum()).axes
    bars = axes.containers[0].patches
    assert len(bars) == 100
    assert sum(heights(axes, 0)) == pytest.approx(1, abs=1e-6)
    middles = [bar.get_x() + bar.get_width() / 2 for bar in bars]
    assert np.dot(middles, heights(axes, 0)) == pytest.approx(1, abs=0.01)
    assert axes.get_legend() is None


def test_one_loss_alone_is_drawn():
    (axes,) = plots.privacy_loss([0], [1]).axes
    assert heights(axes, 0) == [1]


def test_a_trade_off_is_drawn_with_the_line_of_blind_guesses():
    (axes,) = plots.trade_off({"pure": ([0, 0.25, 1], [1, 0.25, 0]), "none": ([0, 1], [0, 0])}).axes
    assert legend_texts(axes) == ["nothing is learned", "pure", "none"]
    assert lines(axes)["pure"].get_ydata().tolist() == [1, 0.25, 0]
    assert (lines(axes)["nothing is learned"].get_xdata()[0], lines(axes)["nothing is learned"].get_ydata()[0]) == (
        0,
        1,
    )


def test_a_profile_has_a_log_scale_and_leaves_zeros_out():
    (axes,) = plots.privacy_profile({"PLD": ([0, 1, 2], [0.5, 1e-6, 0])}, delta=1e-6).axes
    assert axes.get_yscale() == "log"
    assert legend_texts(axes) == ["PLD", "δ = 1e-06"]
    assert np.isnan(lines(axes)["PLD"].get_ydata()).tolist() == [False, False, True]


def test_beliefs_end_where_the_odds_moved_by_e_to_the_epsilon():
    (axes,) = plots.risk([math.log(3), 1000]).axes
    high, low = (line for line in axes.lines if line.get_color() == lines(axes)["ε = 1.09861"].get_color())
    middle = 100
    assert high.get_xdata()[middle] == 0.5
    assert (high.get_ydata()[middle], low.get_ydata()[middle]) == pytest.approx((0.75, 0.25))
    assert all(np.isfinite(line.get_ydata()).all() for line in axes.lines)


@pytest.mark.parametrize(
    "call",
    [
        lambda: plots.privacy_loss([], []),
        lambda: plots.privacy_loss([1], [0.5, 0.5]),
        lambda: plots.trade_off({}),
        lambda: plots.trade_off({"one": ([0, 1], [1])}),
        lambda: plots.privacy_profile({"one": ([], [])}),
        lambda: plots.risk([]),
        lambda: plots.risk([-1]),
        lambda: plots.risk([math.inf]),
    ],
)
def test_numbers_that_make_no_picture_are_refused(call):
    with pytest.raises(ParameterError):
        call()


def test_the_little_that_lies_beside_an_infinite_loss_is_drawn():
    (axes,) = plots.privacy_loss(np.linspace(0, 1, 200), np.full(200, 1e-12), infinite_mass=1, mean=math.inf).axes
    assert sum(heights(axes, 0)) > 0
