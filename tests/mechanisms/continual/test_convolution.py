"""Exact convolutions: those of Python integers, at the ends of what is allowed."""

import numpy as np
import pytest

from sfumato.mechanisms.continual.convolution import convolved


def by_definition(factors, columns):
    return np.stack([np.convolve(factors.astype(object), column.astype(object)) for column in columns.T], axis=1)


@pytest.mark.parametrize("seed", range(30))
def test_every_term_is_exact(seed):
    random = np.random.default_rng(seed)
    first, second, numbers = random.integers(1, 200), random.integers(1, 200), random.integers(1, 4)
    one, other = 1 << int(random.integers(1, 61)), 1 << int(random.integers(1, 61))
    factors, columns = random.integers(-one, one + 1, first), random.integers(-other, other + 1, (second, numbers))
    assert convolved(factors, columns).tolist() == by_definition(factors, columns).tolist()


def test_the_largest_of_one_sign_are_exact():
    """All products add up: the largest error that a transform can have."""
    length = 1 << 15
    factors, columns = np.full(length, (1 << 30) - 1), np.full((length, 1), (1 << 16) - 1)
    found = convolved(factors, columns)[:, 0]
    counts = np.minimum(np.arange(1, 2 * length), np.arange(2 * length - 1, 0, -1))
    assert (found == counts * (((1 << 30) - 1) * ((1 << 16) - 1))).all()


def test_what_does_not_fit_is_held_in_python_integers():
    found = convolved(np.array([2**61, 1]), np.array([[2**61], [-1]]))
    assert found.ravel().tolist() == [2**122, 2**61 - 2**61, -1]
    assert convolved(np.array([3]), np.array([[2**100]], dtype=object)).tolist() == [[3 * 2**100]]
    assert convolved(np.zeros(3, dtype=np.int64), np.zeros((2, 1), dtype=np.int64)).ravel().tolist() == [0] * 4
