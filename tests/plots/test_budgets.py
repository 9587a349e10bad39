import math

import numpy as np
import pytest
from tests.plots.reading import legend_texts

from sfumato import plots
from sfumato.errors import ParameterError


def test_composition_names_each_standard_deviation():
    generator = np.random.default_rng(5)
    samples = {"F1": generator.normal(0, 14, 4_000), "F3": generator.normal(0, 4.7, 4_000)}
    (axes,) = plots.composition(samples).axes
    assert legend_texts(axes) == [f"{name}: σ = {np.std(values):.3g}" for name, values in samples.items()]


def test_bins_hold_as_many_whole_numbers_each():
    (axes,) = plots.composition({"uniform": list(range(100)) * 10}).axes
    inner = axes.patches[0].get_data().values[1:-1]
    assert np.ptp(inner) == pytest.approx(0)


def test_composition_draws_outputs_that_lie_close_together():
    (axes,) = plots.composition({"mean": np.linspace(0.1, 0.2, 500)}).axes
    assert len(axes.patches[0].get_data().values) == 40


def test_group_privacy_grows_with_the_group_and_marks_its_limits():
    upper, lower = plots.group_privacy(0.1, [1, 10, 100, 1_000]).axes
    assert upper.lines[0].get_ydata().tolist() == pytest.approx([0.1, 1, 10, 100])
    assert lower.lines[0].get_ydata()[1] == pytest.approx(math.e / (1 + math.e))
    assert legend_texts(upper) == ["k = 1/ε", "k = 100/ε"]
    assert [line.get_xdata()[0] for line in lower.lines[1:]] == pytest.approx([10, 1_000])


def test_group_privacy_of_a_huge_group_is_certainty_without_overflow():
    _, lower = plots.group_privacy(1, [1, 1_000_000]).axes
    assert lower.lines[0].get_ydata()[-1] == 1


def test_fair_coins_let_an_adversary_believe_three_quarters():
    figure = plots.survey_tradeoff([math.log(3), 2], [0.1, 0.07], sampling_error=0.049, marks={"fair coins": 1.0986})
    upper, lower = figure.axes
    assert lower.lines[0].get_ydata()[0] == pytest.approx(0.75)
    assert upper.lines[0].get_ydata().tolist() == pytest.approx([10, 7])
    assert legend_texts(upper) == ["estimate from noisy answers", "if all answer truthfully", "fair coins, ε = 1.1"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: plots.composition({}),
        lambda: plots.composition({"F1": [1.0]}),
        lambda: plots.group_privacy(0, [1]),
        lambda: plots.group_privacy(math.inf, [1]),
        lambda: plots.group_privacy(1, []),
        lambda: plots.group_privacy(1, [0.5, 2]),
        lambda: plots.survey_tradeoff([1, 2], [0.1]),
    ],
)
def test_numbers_that_make_no_picture_are_refused(call):
    with pytest.raises(ParameterError):
        call()


DAY = 86_400


def test_what_is_left_is_drawn_in_steps_under_its_name():
    (axes,) = plots.burn_down({"ann": ([0, DAY, 2 * DAY], [1, 0.5, 0.5]), "bob": ([0], [2])}, budget=2).axes
    assert axes.lines[0].get_drawstyle() == "steps-post"
    assert axes.lines[0].get_ydata().tolist() == [1, 0.5, 0.5]
    assert axes.lines[0].get_xdata().astype("datetime64[D]").astype(str).tolist()[1] == "1970-01-02"
    assert legend_texts(axes) == ["ann", "bob", "budget"]
    assert axes.get_ylabel() == "remaining ε"
    assert axes.get_ylim()[0] == 0


def test_how_it_goes_on_is_dashed_in_the_same_color():
    (axes,) = plots.burn_down({"ann": ([0, DAY], [1, 0.5])}, projected_by_name={"ann": ([DAY, 2 * DAY], [0.5, 0])}).axes
    steps, dashed = axes.lines
    assert (dashed.get_linestyle(), dashed.get_color()) == ("--", steps.get_color())
    assert axes.get_legend().get_title().get_text() == "dashed: at this pace"


def test_shares_are_percents():
    figure = plots.burn_down({"ann": ([0, DAY], [1, 0.5])}, unit=None, budget=1)
    figure.canvas.draw()
    assert "100%" in [label.get_text() for label in figure.axes[0].get_yticklabels()]


@pytest.mark.parametrize(
    "call",
    [
        lambda: plots.burn_down({}),
        lambda: plots.burn_down({"ann": ([], [])}),
        lambda: plots.burn_down({"ann": ([0, 1], [1])}),
        lambda: plots.burn_down({"ann": ([0], [1])}, projected_by_name={"ann": ([0, 1], [1])}),
    ],
)
def test_numbers_that_make_no_burn_down_are_refused(call):
    with pytest.raises(ParameterError):
        call()


def test_a_time_after_the_year_9999_is_refused():
    with pytest.raises(ParameterError, match="years 1 to 9999"):
        plots.burn_down({"ann": ([1e15], [1])})
