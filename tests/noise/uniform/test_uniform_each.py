"""Uniform integers, each below a bound of its own."""

import numpy as np
import pytest
from tests.laws import SAMPLES, assert_law, assert_not_law, cdf_of

from sfumato.errors import ParameterError
from sfumato.noise.uniform.uniform_each import uniform_below_each


def uniform(n):
    return cdf_of(np.full(n, 1 / n))


@pytest.mark.statistical
@pytest.mark.parametrize("dtype", [np.int64, object])
@pytest.mark.parametrize("bound", [2, 3, 64, 65, 1000])
def test_each_is_uniform_below_its_bound(bound, dtype):
    bounds = np.full(2 * SAMPLES, 5).astype(dtype)
    bounds[::2] = bound
    draws = uniform_below_each(bounds)
    assert_law(draws[::2], uniform(bound))
    assert_law(draws[1::2], uniform(5))
    assert_not_law(draws[::2], uniform(bound + 1) if bound < 64 else uniform(bound * 11 // 10))


def test_a_draw_stays_below_its_bound_up_to_the_largest():
    bounds = np.array([1, 2, 3, 2**40, 2**62, 2**63 - 1] * 100)
    draws = uniform_below_each(bounds)
    assert ((draws >= 0) & (draws < bounds)).all()


def test_bounds_beyond_64_bits_are_reached():
    assert max(uniform_below_each(np.array([2**100] * 100, dtype=object))) > 2**90


def test_without_bounds_there_is_no_draw():
    assert uniform_below_each(np.array([], dtype=np.int64)).tolist() == []


def test_a_bound_below_one_is_refused():
    with pytest.raises(ParameterError, match="bounds"):
        uniform_below_each(np.array([3, 0]))
