from itertools import permutations

import numpy as np
import pytest
from scipy.special import logsumexp

from sfumato.synth.models.factors import aligned, log_sums, summed

LENGTHS = {"a": 2, "b": 3, "c": 4, "d": 5}


def drawn(columns):
    return np.random.default_rng(1).normal(size=[LENGTHS[name] for name in columns])


@pytest.mark.parametrize("columns", list(permutations("abc")), ids="".join)
def test_arrays_broadcast_over_columns_of_the_same_name(columns):
    values = drawn(columns)
    whole = np.zeros([LENGTHS[name] for name in "dcab"]) + aligned(values, columns, tuple("dcab"))
    letters = "".join(columns)
    assert np.array_equal(whole, np.einsum(f"{letters},d->dcab", values, np.ones(5)))


@pytest.mark.parametrize("target", ["", "b", "ca", "bd", "dcab"])
def test_sums_are_those_of_other_columns_in_the_order_asked_for(target):
    values = drawn("abcd")
    assert np.allclose(summed(values, tuple("abcd"), tuple(target)), np.einsum(f"abcd->{target}", values))


def test_rows_become_shares_and_their_logarithmic_sums():
    rows = 300 * np.random.default_rng(2).normal(size=(7, 9))
    rows[2] = -np.inf
    rows[3, :5] = -np.inf
    expected, shares = logsumexp(rows, axis=1), rows.copy()
    sums = log_sums(shares)
    assert np.allclose(sums, expected, rtol=1e-14)
    assert np.isneginf(sums[2])
    assert not shares[2].any()
    others = np.arange(7) != 2
    assert np.allclose(shares[others], np.exp(rows[others] - expected[others, np.newaxis]), atol=1e-13)
    assert np.array_equal(shares[3, :5], np.zeros(5))


def test_potentials_beyond_floats_neither_overflow_nor_vanish():
    rows = np.array([[1e4, 1e4 + np.log(3)], [-1e5, -1e5]])
    sums = log_sums(rows)
    assert np.allclose(rows, [[0.25, 0.75], [0.5, 0.5]])
    assert np.allclose(sums, [1e4 + np.log(4), -1e5 + np.log(2)])
