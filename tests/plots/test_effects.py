"""What each feature adds, as steps and bars."""

import pytest

from sfumato.errors import ParameterError
from sfumato.plots.effects import feature_effects

EFFECTS = {"age": {"": [-1, 0, 2]}, "sport $": {"": [0.5, -0.5]}}
PLACES = {"age": [0, 30, 60, 90], "sport $": ["Football", "a name that is rather long"]}


def test_numbers_are_steps_over_their_bins_and_values_are_bars():
    figure = feature_effects(EFFECTS, PLACES, title="t", y_label="log-odds", caption="ε 1")
    first, second = (axes for axes in figure.axes if axes.get_visible())
    (steps,) = first.patches
    assert steps.get_data().values.tolist() == [-1, 0, 2]
    assert steps.get_data().edges.tolist() == [0, 30, 60, 90]
    assert [bar.get_height() for bar in second.patches] == [0.5, -0.5]
    assert [label.get_text() for label in second.get_xticklabels()] == ["Football", "a name that…"]
    assert (first.get_ylabel(), first.get_ylim()) == ("log-odds", second.get_ylim())


def test_several_lines_have_colors_and_a_legend():
    lines = {"a": {"red": [1, 2], "blue": [2, 1]}, "b": {"red": [0, 1], "blue": [1, 0]}}
    figure = feature_effects(lines, {"a": [0, 1, 2], "b": ["x", "y"]})
    first, second = (axes for axes in figure.axes if axes.get_visible())
    assert [text.get_text() for text in first.get_legend().get_texts()] == ["red", "blue"]
    assert len({patch.get_edgecolor() for patch in first.patches}) == 2
    assert len(second.patches) == 4


def test_many_features_have_rows_of_panels():
    names = [f"x{place}" for place in range(7)]
    figure = feature_effects({name: {"": [1]} for name in names}, {name: [0, 1] for name in names})
    assert [axes.get_title(loc="left") for axes in figure.axes if axes.get_visible()] == names


@pytest.mark.parametrize(
    ("effects", "places"),
    [
        ({}, {}),
        (3, PLACES),
        (EFFECTS, {}),
        (EFFECTS, 3),
        ({"age": {}}, PLACES),
        ({"age": {"": [1, 2]}}, PLACES),
        ({"age": {"": [1, 2, "x"]}}, PLACES),
        ({"age": {"": [1, 2, float("nan")]}}, PLACES),
        ({"age": {"": [1, 2]}}, {"age": [0, 2, 1]}),
        ({"age": {"": []}}, {"age": [0]}),
        ({str(name): {"": [1]} for name in range(25)}, {str(name): [0, 1] for name in range(25)}),
    ],
)
def test_what_cannot_be_drawn_is_refused(effects, places):
    with pytest.raises(ParameterError):
        feature_effects(effects, places)


@pytest.mark.parametrize("name", ["title", "y_label", "caption"])
def test_texts_are_text(name):
    with pytest.raises(ParameterError, match=name):
        feature_effects(EFFECTS, PLACES, **{name: 3})
