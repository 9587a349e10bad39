import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.plots.audits import lower_bounds, outputs_of_both, p_values, words_of_both


def test_bounds_are_points_by_tester_and_the_claim_is_a_line():
    found = {"one": [(1, 0.5), (3, -float("inf"))], "two": [(2, 1.5)]}
    (axes,) = lower_bounds(found, claimed=1.0, title="Bounds").axes
    first, second, claim = axes.lines
    assert (list(first.get_xdata()), list(first.get_ydata())) == ([1, 3], [0.5, 0.0])
    assert list(second.get_ydata()) == [1.5]
    assert list(claim.get_ydata()) == [1.0, 1.0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two", "the claim"]
    assert axes.get_ylim()[0] < 0


def test_p_values_of_zero_are_drawn_at_the_bottom():
    (axes,) = p_values([0.0, 0.3], level=1e-6, title="Laws").axes
    assert axes.get_yscale() == "log"
    heights = axes.lines[0].get_ydata()
    assert heights[1] == 0.3
    assert 0 < axes.get_ylim()[0] < heights[0] < 1e-6


def test_few_different_outputs_are_bars_of_shares():
    (axes,) = outputs_of_both([0, 0, 1, 2], [1, 1], title="Outputs").axes
    assert [bar.get_height() for bar in axes.containers[0]] == [0.5, 0.25, 0.25]
    assert [bar.get_height() for bar in axes.containers[1]] == [0, 1, 0]


def test_many_are_a_histogram_without_the_farthest():
    here = np.concatenate([np.linspace(0, 1, 10_000), [1e9]])
    (axes,) = outputs_of_both(here, here, title="Outputs").axes
    assert axes.get_xlim()[1] < 2
    assert axes.patches[0].get_data().values.sum() == pytest.approx(0.998, abs=2e-3)


def test_one_output_is_one_bar():
    (axes,) = outputs_of_both([7], [7], title="Outputs").axes
    assert [bar.get_height() for bar in axes.patches] == [1, 1]


def test_texts_are_drawn_as_they_are():
    figure = words_of_both({"$\\frac{": (0.5, 0.0), "<b>": (0.5, 1.0)}, title="Outputs")
    figure.canvas.draw()
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["$\\frac{", "<b>"]
    assert [bar.get_width() for bar in axes.patches] == [0.5, 0.5, 0.0, 1.0]


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("bounds", lambda: lower_bounds({"one": []}, claimed=1.0, title="")),
        ("values", lambda: p_values([], level=0.1, title="")),
        ("here", lambda: outputs_of_both([], [1], title="")),
        ("there", lambda: outputs_of_both([1], [], title="")),
        ("shares", lambda: words_of_both({}, title="")),
    ],
)
def test_nothing_to_draw_is_refused_by_name(name, draw):
    with pytest.raises(ParameterError, match=name):
        draw()


def test_a_dollar_sign_in_the_name_of_a_tester_is_no_formula():
    figure = lower_bounds({r"of $\frac{": [(1, 0.5)]}, claimed=1.0, title="Bounds")
    figure.canvas.draw()
