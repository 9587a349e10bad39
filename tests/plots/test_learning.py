"""Accuracy over ε: means, error bars and lines to compare with."""

import numpy as np
import pytest
from tests.plots.reading import legend_texts, spans

from sfumato.errors import ParameterError
from sfumato.plots.learning import accuracy_over_epsilon

RUNS = {"forest": [[0.9, 0.92], [0.8, 0.84, 0.82]], "bayes": [[0.7, 0.7], [0.6, 0.6]]}


def test_each_model_has_its_means_in_the_order_of_epsilon():
    (axes,) = accuracy_over_epsilon([10, 0.1], RUNS, majority=0.75, best="0.95").axes
    assert axes.get_title(loc="left") == "At ε = 10, forest is right for 91.0%"
    assert axes.containers[0].lines[0].get_xdata().tolist() == [0.1, 10]
    assert axes.containers[0].lines[0].get_ydata() == pytest.approx([0.82, 0.91])
    assert sorted(legend_texts(axes)) == ["bayes", "forest", "most frequent class", "without privacy"]
    assert axes.get_xscale() == "log"


def test_bars_are_two_standard_errors_of_the_mean():
    (axes,) = accuracy_over_epsilon([1, 10], {"forest": [[0.8, 0.84, 0.82], [0.9]]}).axes
    (low, high), alone = spans(axes)
    assert (low, high) == pytest.approx((0.82 - 0.04 / np.sqrt(3), 0.82 + 0.04 / np.sqrt(3)))
    assert alone == (0.9, 0.9)


@pytest.mark.parametrize(
    ("epsilons", "runs", "lines"),
    [
        ([], RUNS, {}),
        ([0, 1], RUNS, {}),
        ([1, 2, 3], RUNS, {}),
        ([1, 2], {}, {}),
        ([1, 2], 3, {}),
        ([1, 2], {"a": [[0.5], []]}, {}),
        ([1, 2], {"a": [0.5, 0.6]}, {}),
        ([1, 2], {"a": [[0.5], [1.5]]}, {}),
        ([1, 2], {"a": [[0.5], [float("nan")]]}, {}),
        ([1, 2], RUNS, {"majority": "x"}),
        ([1, 2], RUNS, {"best": float("inf")}),
        ([1, 2], RUNS, {"title": 3}),
    ],
)
def test_what_cannot_be_drawn_is_refused(epsilons, runs, lines):
    with pytest.raises(ParameterError):
        accuracy_over_epsilon(epsilons, runs, **lines)
