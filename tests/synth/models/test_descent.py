import numpy as np
import pytest

from sfumato.synth.models.descent import SearchPoint, minimized

GENERATOR = np.random.default_rng(1)
ROOTS = GENERATOR.normal(size=(60, 30)) * np.geomspace(1, 30, 30)
MATRIX = ROOTS.T @ ROOTS / 60
TARGET = GENERATOR.normal(size=30)


def bowl(at):
    gradient = MATRIX @ (at - TARGET)
    value = float((at - TARGET) @ gradient) / 2
    return SearchPoint(at=at, value=value, gradient=gradient, curvature=np.diag(MATRIX), gap=value)


def steep(at):
    """log cosh, which is flat far out: whole steps overshoot."""
    gradient = np.tanh(at)
    curvature = np.maximum(1 - gradient**2, 1e-3)
    return SearchPoint(at=at, value=float(np.logaddexp(at, -at).sum()), gradient=gradient, curvature=curvature,
                 gap=float(gradient @ gradient))  # fmt: skip


def test_the_minimum_of_a_quadratic_is_found():
    point, steps = minimized(bowl, np.zeros(30), gap=1e-18, max_iterations=500)
    assert np.allclose(point.at, TARGET, atol=1e-6)
    assert steps < 150


def test_steps_that_overshoot_are_shortened():
    point, _ = minimized(steep, np.array([5.0, -3.0]), gap=1e-20, max_iterations=200)
    assert np.allclose(point.at, 0, atol=1e-9)


def test_the_search_ends_where_the_gap_is_small_enough():
    assert minimized(bowl, TARGET, gap=0.0, max_iterations=5)[1] == 0
    loose, few = minimized(bowl, np.zeros(30), gap=1.0, max_iterations=500)
    _, many = minimized(bowl, np.zeros(30), gap=1e-9, max_iterations=500)
    assert loose.gap <= 1.0
    assert few < many


def test_the_search_ends_after_so_many_iterations():
    assert minimized(bowl, np.zeros(30), gap=0.0, max_iterations=3)[1] == 3


def test_values_only_fall():
    values = [minimized(bowl, np.zeros(30), gap=0.0, max_iterations=count)[0].value for count in range(12)]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("gap", [-1.0, 0.0])
def test_a_gap_that_is_never_reached_ends_where_rounding_is_all_that_is_left(gap):
    point, _ = minimized(steep, np.array([1.0]), gap=gap, max_iterations=10_000)
    assert abs(point.at[0]) < 1e-7
