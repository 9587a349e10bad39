"""Subset selection: the published sizes and variances, and that sets of one size are alike however they are drawn."""

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA
from tests.sizes import FULL_SIZE

from sfumato.local import SubsetSelection

PEOPLE = 100_000 if FULL_SIZE else 30_000


@pytest.mark.parametrize(
    ("epsilon", "size", "expected"), [("0.5", 387, 15.64), (1, 275, 3.674), (2, 122, 0.7207), (4, 18, 0.07391)]
)
def test_the_published_sizes_and_variances(epsilon, size, expected):
    oracle = SubsetSelection(1024, epsilon=epsilon)
    assert oracle.size == size
    assert oracle.variance(reports=1) == pytest.approx(expected, rel=6e-4)


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", ["0.1", "1.5"])
def test_every_pair_of_values_is_in_as_many_sets_as_the_formula_says(epsilon):
    """Of 60 values: 28 are drawn by coins, 11 by steps."""
    oracle = SubsetSelection(60, epsilon=epsilon)
    bits = np.unpackbits(oracle.client().report_many(np.full(PEOPLE, 7)).payloads, axis=1)[:, :60].astype(np.int64)
    assert set(bits.sum(axis=1).tolist()) == {oracle.size}
    p, q = map(float, oracle.support_probabilities)
    size = oracle.size
    together = bits.T @ bits
    other_pair = p * (size - 1) * (size - 2) / (59 * 58) + (1 - p) * size * (size - 1) / (59 * 58)
    for first, second, expected in (
        (7, 7, p), (0, 0, q), (59, 59, q), (7, 8, p * (size - 1) / 59), (6, 7, p * (size - 1) / 59),
        (0, 1, other_pair), (0, 59, other_pair), (8, 30, other_pair),
    ):  # fmt: skip
        assert binomtest(int(together[first, second]), PEOPLE, expected).pvalue >= ALPHA
    others = np.delete(np.diagonal(together), 7)
    assert ((others - PEOPLE * q) ** 2).sum() / (PEOPLE * q * (1 - q)) < 59 + 6 * (2 * 59) ** 0.5


@pytest.mark.parametrize(
    ("size", "epsilon", "expected"), [(2, 1, 1), (3, 50, 1), (10, "0.000001", 5), (11, "0.000001", 5)]
)
def test_the_size_is_one_at_least_and_half_at_most(size, epsilon, expected):
    oracle = SubsetSelection(size, epsilon=epsilon)
    assert oracle.size == expected
    reports = oracle.client().report_many(np.zeros(50, dtype=np.int64))
    assert oracle.are_valid(reports.payloads).all()


@pytest.mark.parametrize("draw", ["_sets_by_steps", "_sets_by_coins"])
def test_whether_the_truth_is_in_a_set_is_never_changed(draw):
    oracle, held = SubsetSelection(60, epsilon="0.1"), np.arange(6000) % 60
    has_truth = np.arange(6000) % 7 < 3
    bits = getattr(oracle, draw)(held, has_truth)
    assert (bits[np.arange(6000), held] == has_truth).all()
    assert (bits.sum(axis=1) == oracle.size).all()
