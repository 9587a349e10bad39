"""Words: distances rounded up are exact, and a metric."""

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.geo.metrics.exponential import MetricExponential
from sfumato.geo.metrics.finite import FiniteMetric
from sfumato.geo.metrics.words import WordMetric

DRINKS = WordMetric(["tea", "coffee", "rain"], [[0, 0], [3, 4], [30, 40]], step=1, unknown="rain")


def test_distances_are_rounded_up_exactly():
    draws = np.random.default_rng(8)
    vectors = draws.integers(-(2**20), 2**20, (40, 3))
    metric = WordMetric([f"w{i}" for i in range(40)], vectors, step=1, unknown="w0")
    for index in range(40):
        for other, steps in enumerate(metric.steps_from(index).tolist()):
            square = sum((int(a) - int(b)) ** 2 for a, b in zip(vectors[index], vectors[other], strict=True))
            root = isqrt(square)
            assert steps == (0 if other == index else max(1, root + (root * root < square)))


def test_what_is_rounded_up_is_a_metric():
    vectors = np.random.default_rng(9).normal(0, 1, (60, 5))
    words = [f"w{i}" for i in range(60)]
    metric = WordMetric(words, vectors, step="0.1", unknown="w0")
    table = [metric.steps_from(index).tolist() for index in range(60)]
    assert len(FiniteMetric(words, table, unit="step")) == 60
    apart = np.linalg.norm(vectors[0] - vectors[1])
    assert abs(table[0][1] * 0.1 - apart) < 0.1 + 0.1 * 5**0.5


def test_equal_vectors_are_a_step_apart():
    metric = WordMetric(["a", "b"], [[1.0], [1.0]], step="0.5", unknown="a")
    assert metric.steps_from(0).tolist() == [0, 1]
    assert (metric.step, metric.unit) == (Fraction(1, 2), "embedding distance")


@pytest.mark.parametrize("word", ["milk", None, 5, ["tea"], ""])
def test_words_that_are_not_known_count_as_one_that_is(word):
    assert DRINKS.point(DRINKS.index(word)) == "rain"


def test_near_words_are_reported_more_often():
    assert MetricExponential(DRINKS, epsilon="0.5").probabilities("tea").argsort().tolist() == [2, 1, 0]
    assert MetricExponential(DRINKS, epsilon=1).release("tea") in DRINKS.words


@pytest.mark.parametrize(
    ("change", "message"),
    [({"words": []}, "words"), ({"words": ["a", "a", "b"]}, "different"), ({"words": [1, 2, 3]}, "words"),
     ({"vectors": [[1], [2]]}, "vectors"), ({"vectors": [1, 2, 3]}, "vectors"),
     ({"vectors": [[1], [np.nan], [2]]}, "vectors"),
     ({"step": 0}, "step"), ({"step": "1e-9"}, "2\\^25"),
     ({"unknown": "milk"}, "unknown"), ({"unknown": None}, "unknown")],
)  # fmt: skip
def test_what_is_out_of_range_is_refused(change, message):
    given = {"words": ["a", "b", "c"], "vectors": [[0], [1], [5]], "step": 1, "unknown": "a"} | change
    with pytest.raises(ParameterError, match=message):
        WordMetric(given.pop("words"), given.pop("vectors"), **given)
