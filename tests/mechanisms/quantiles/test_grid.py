"""Public grids: which points they have, and which point a value counts as."""

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.mechanisms.quantiles.grid import ValueGrid
from sfumato.privacy.secret import Secret


def grid(lower, upper, resolution=1):
    return ValueGrid(Fraction(lower), Fraction(upper), Fraction(resolution))


@pytest.mark.parametrize(
    ("lower", "upper", "resolution", "points"),
    [
        (0, 3, 1, range(4)),
        ("0.5", "3.5", 1, range(1, 4)),
        ("-3.5", "-0.5", 1, range(-3, 0)),
        (-1, 1, "0.4", range(-2, 3)),
        (2, 2, 1, [2]),
    ],
)
def test_the_points_are_the_multiples_between_the_bounds(lower, upper, resolution, points):
    found = grid(lower, upper, resolution)
    assert (found.first, found.last, len(found)) == (min(points), max(points), len(points))


@pytest.mark.parametrize("resolution", [1, "1/2", "0.3", 7])
@pytest.mark.parametrize("kind", [list, np.array, lambda values: np.array(values, dtype=np.int8), Secret])
def test_whole_numbers_go_to_the_nearest_point_whatever_holds_them(kind, resolution):
    values, found = list(range(-20, 21)), grid(-10, 10, resolution)
    steps = found.steps(kind(values)).tolist()
    for value, step in zip(values, steps, strict=True):
        inside = min(max(Fraction(value), found.first * found.resolution), found.last * found.resolution)
        assert found.first <= step <= found.last
        assert abs(step * found.resolution - inside) <= found.resolution / 2


def test_what_is_no_real_number_has_its_point():
    assert grid(-4, 4).steps([nan, None, inf, -inf]).tolist() == [0, 0, 4, -4]
    assert grid(2, 4).steps(np.array([nan, inf, -inf])).tolist() == [2, 4, 2]


def test_no_value_has_no_point():
    assert grid(0, 1).steps([]).tolist() == []


@pytest.mark.parametrize(("lower", "upper", "resolution"), [(1, 0, 1), ("0.1", "0.9", 1), (0, 2**60 + 1, 1)])
def test_a_grid_without_points_or_with_too_many_is_refused(lower, upper, resolution):
    with pytest.raises(ParameterError):
        grid(lower, upper, resolution)


def test_the_largest_grid_is_whole_numbers_of_64_bits():
    steps = grid(-(2**60), 2**60).steps(np.array([-(2**63), 0, 2**63 - 1]))
    assert (steps.dtype, steps.tolist()) == (np.int64, [-(2**60), 0, 2**60])
