"""Finite metrics: what is none is refused, and distances are whole steps."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.geo.metrics.finite import MOST_POINTS, FiniteMetric, has_constant_normalizer, numbered

RING = [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]]
LINE = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def test_distances_are_multiples_of_a_step():
    metric = FiniteMetric(["a", "b", "c"], [[0, "1/2", 1], ["1/2", 0, 0.75], [1, 0.75, 0]], unit="mile")
    assert metric.step == Fraction(1, 4)
    assert metric.steps_from(1).tolist() == [2, 0, 3]
    assert [metric.point(index) for index in range(len(metric))] == ["a", "b", "c"]


@pytest.mark.parametrize("value", ["d", None, [1], {}, float("nan")])
def test_what_is_no_point_counts_as_the_first(value):
    assert FiniteMetric(["a", "b", "c"], LINE, unit="floor").index(value) == 0


@pytest.mark.parametrize(
    ("distances", "message"),
    [
        ([[0, 1, 3], [1, 0, 1], [3, 1, 0]], "shorter"),
        ([[0, 1, 2], [2, 0, 1], [2, 1, 0]], "directions"),
        ([[0, 0, 1], [0, 0, 1], [1, 1, 0]], "above 0"),
        ([[1, 1, 1], [1, 0, 1], [1, 1, 0]], "above 0"),
        ([[0, 1], [1, 0]], "rows"),
        ([[0, -1, 2], [1, 0, 1], [2, 1, 0]], "distances"),
        ([[0, "x", 2], [1, 0, 1], [2, 1, 0]], "distances"),
        ([[0, 2**41, 1], [2**41, 0, 1], [1, 1, 0]], "2\\^40"),
        ([[0, "1e-30", 1], ["1e-30", 0, 1], [1, 1, 0]], "decimals"),
        (5, "distances"),
    ],
)
def test_what_is_no_metric_is_refused(distances, message):
    with pytest.raises(ParameterError, match=message):
        FiniteMetric(["a", "b", "c"], distances, unit="floor")


def test_every_way_through_a_third_point_is_looked_at():
    """Against all triples, one by one, on random symmetric tables."""
    draws = np.random.default_rng(4)
    seen = set()
    for _ in range(60):
        half = np.triu(draws.integers(1, 4, (4, 4)), 1)
        table = half + half.T
        is_metric = all(
            table[i, k] <= table[i, j] + table[j, k] for i in range(4) for j in range(4) for k in range(4) if i != k
        )
        try:
            FiniteMetric(list("abcd"), table.tolist(), unit="floor")
        except ParameterError:
            assert not is_metric
        else:
            assert is_metric
        seen.add(is_metric)
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("points", "message"), [(["a", "a", "b"], "different"), ([[1], [2], [3]], "values"), ("abc", "list")]
)
def test_points_that_cannot_be_told_apart_are_refused(points, message):
    with pytest.raises(ParameterError, match=message):
        FiniteMetric(points, LINE, unit="floor")


def test_too_many_points_are_refused():
    with pytest.raises(ParameterError, match="points"):
        FiniteMetric(range(MOST_POINTS + 1), [], unit="floor")
    with pytest.raises(ParameterError, match="points"):
        FiniteMetric([], [], unit="floor")


def test_a_ring_looks_alike_from_everywhere_and_a_line_does_not():
    assert has_constant_normalizer(FiniteMetric(list("NESW"), RING, unit="turn"))
    assert not has_constant_normalizer(FiniteMetric(["a", "b", "c"], LINE, unit="floor"))


def test_points_are_numbered_in_order():
    assert numbered(("b", "a"), "points") == {"b": 0, "a": 1}
