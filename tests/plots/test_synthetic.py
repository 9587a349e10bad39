"""Charts of synthetic rows."""

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.plots.synthetic import distances_of_pairs, nearness_over_epsilon, scores_beside, shares_by_column

RUNS = {"mst": [[0.08, 0.07], [0.05]], "aim": [[0.05], [0.03]]}


def test_shares_are_lines_for_each_source_in_a_panel_for_each_column():
    values = {"sex": ["f", "m"], "age": [f"{number} years and more" for number in range(12)]}
    shares = {source: {"sex": [0.4, 0.6], "age": np.full(12, 1 / 12)} for source in ("real", "synthetic")}
    figure = shares_by_column(values, shares, title="Shares of $1")
    one, two = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in (one, two)] == ["sex", "age"]
    assert one.patches[0].get_data().values.tolist() == [0.4, 0.6]
    assert [text.get_text() for text in one.get_xticklabels()] == ["f", "m"]
    assert len(two.get_xticks()) == 3
    assert figure.legends[0].get_texts()[1].get_text() == "synthetic"
    with pytest.raises(ParameterError):
        shares_by_column(values, {"real": {"sex": [1.0], "age": [1.0]}}, title="")
    with pytest.raises(ParameterError):
        shares_by_column({}, shares, title="")


def test_pairs_are_a_triangle_with_its_numbers():
    figure = distances_of_pairs(["age", "sex"], [[0.1, 0.25], [0.25, 0]], title="Pairs")
    axes = figure.axes[0]
    assert axes.collections[0].get_array().mask.tolist() == [[False, True], [False, False]]
    assert not axes.images
    assert [text.get_text() for text in axes.texts] == [".10", ".25", ".00"]
    many = [f"column {number}" for number in range(20)]
    assert not distances_of_pairs(many, np.zeros((20, 20)), title="Pairs").axes[0].texts
    with pytest.raises(ParameterError):
        distances_of_pairs(["age"], [[0.1, 0.2]], title="Pairs")
    with pytest.raises(ParameterError):
        distances_of_pairs([], [], title="Pairs")


def test_scores_are_bars_beside_each_other_with_marks():
    figure = scores_beside(
        ["one", "two"], {"real": [0.5, float("nan")], "synthetic": [0.25, 0.125]}, title="Scores", y_label="AUC",
        marks_by_source={"real": [0.75, 0.5], "synthetic": [0.5, 0.5]},
    )  # fmt: skip
    (axes,) = figure.axes
    assert [bar.get_height() for bar in axes.patches][::2] == [0.5, 0.25]
    assert [text.get_text() for text in axes.texts] == [".750", ".500", ".500", ".500"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["largest", "real", "synthetic"]
    with pytest.raises(ParameterError):
        scores_beside(["one"], {"real": [0.5, 0.5]}, title="Scores", y_label="AUC")


def test_nearness_is_drawn_over_epsilon_beside_the_floor():
    figure = nearness_over_epsilon([3, 1], RUNS, {"mst": [[0.8], [0.9]]}, floor=(0.015, 0.92))
    far, area = figure.axes
    assert far.get_title(loc="left") == "At ε = 3, aim is nearest: 0.050"
    assert far.get_xscale() == area.get_xscale() == "log"
    assert {"mst", "aim", "bootstrap of real rows"} == {text.get_text() for text in far.get_legend().get_texts()}
    drawn = [
        line.get_ydata().tolist() for line in far.lines if len(line.get_ydata()) == 2 and line.get_label()[0] == "_"
    ]
    assert [0.05, 0.075] in [[round(one, 9) for one in line] for line in drawn]
    assert (
        nearness_over_epsilon([1], {"mst": [[0.1]]}, {"mst": [[0.8]]}, floor=(0, 1), title="So")
        .axes[0]
        .get_title(loc="left")
        == "So"
    )


@pytest.mark.parametrize(
    "changed",
    [{"epsilons": [0, 1]}, {"epsilons": [1]}, {"distances_by_method": {}}, {"floor": (0.1,)}, {"floor": ("a", 1)},
     {"areas_by_method": {"mst": [[0.8], [1.2]]}}, {"areas_by_method": {"mst": [[0.8], []]}}],
    ids=range(7),
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(changed):
    given = {
        "epsilons": [1, 3], "distances_by_method": RUNS, "areas_by_method": {"mst": [[0.8], [0.9]]}, "floor": (0, 1)
    } | changed  # fmt: skip
    with pytest.raises(ParameterError):
        nearness_over_epsilon(**given)
