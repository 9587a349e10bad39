"""Local hashing: the published variances, candidates, texts, and what a pool of functions costs."""

from math import exp

import numpy as np
import pytest

from sfumato.errors import ParameterError
from sfumato.local import Domain, LocalHashing, PooledHashing
from sfumato.local.frequency.hashing import pool_keys


@pytest.mark.parametrize(("epsilon", "expected"), [("0.5", 15.82), (1, 3.692), (2, 0.7246), (4, 0.07602)])
def test_the_published_variances(epsilon, expected):
    for kind in (LocalHashing, PooledHashing):
        assert kind(1024, epsilon=epsilon).variance(reports=1) == pytest.approx(expected, rel=4e-4)


@pytest.mark.parametrize("epsilon", ["0.5", 1, 2, 4, 20])
def test_the_probabilities_are_those_of_the_formula_to_a_billionth_of_a_cell(epsilon):
    oracle = LocalHashing(100_000, epsilon=epsilon)
    cells = oracle.family.cells
    assert cells == min(round(exp(float(epsilon))) + 1, 4096)
    p, q = oracle.support_probabilities
    assert float(p) == pytest.approx(exp(float(epsilon)) / (exp(float(epsilon)) + cells - 1))
    assert 0 <= float(q * cells - 1) < 1e-9


def test_a_text_is_estimated_among_candidates():
    oracle = LocalHashing(Domain.texts(), epsilon=4)
    assert oracle.payload_bytes == 17
    with pytest.raises(ParameterError, match="candidates"):
        oracle.aggregator()
    collected = oracle.aggregator(["tea", "coffee", "beer"])
    other = oracle.aggregator(["tea", "coffee", "beer"])
    people = 4000
    collected.add(oracle.client().report_many(["tea"] * (people // 2)))
    other.add(oracle.client().report_many(["coffee"] * (people // 4) + ["wine"] * (people // 4)))
    collected.merge(other)
    found = collected.estimate()
    assert found.values == ("tea", "coffee", "beer")
    for fraction, truth in zip(found.fractions, (0.5, 0.25, 0.0), strict=True):
        assert abs(fraction - truth) < 6 * (oracle.variance(reports=people) + 0.0003) ** 0.5
    assert collected.estimate(["beer", "tea"]).fractions.tolist() == found.fractions[[2, 0]].tolist()
    assert found.project().fractions.sum() <= 1 + 1e-12
    with pytest.raises(ParameterError, match="candidates"):
        collected.estimate(["wine"])


def test_counts_of_other_candidates_are_refused():
    oracle = LocalHashing(10, epsilon=1)
    first, second = oracle.aggregator([1, 2]), oracle.aggregator([1, 3])
    with pytest.raises(ParameterError, match="of the same protocol"):
        first.merge(second)
    with pytest.raises(ParameterError, match="snapshot"):
        first.restore(second.snapshot())
    assert len(first.restore(oracle.aggregator([1, 2]).snapshot())) == 0


@pytest.mark.parametrize("candidates", [[], [1, 1], [10], ["x"]])
def test_wrong_candidates_are_refused(candidates):
    with pytest.raises(ParameterError, match="candidates"):
        LocalHashing(10, epsilon=1).aggregator(candidates)


def test_candidates_have_the_counts_that_all_values_have():
    oracle = LocalHashing(50, epsilon=1)
    reports = oracle.client().report_many(np.arange(5000) % 50)
    whole, part = oracle.aggregator(), oracle.aggregator([40, 3, 41])
    whole.add(reports)
    part.add(reports)
    assert part.counts.tolist() == whole.counts[[40, 3, 41]].tolist()


@pytest.mark.parametrize("kind", [LocalHashing, PooledHashing])
def test_texts_of_more_bits_than_the_functions_take_are_refused(kind):
    with pytest.raises(ParameterError, match="32 bits"):
        kind(Domain.texts(33), epsilon=1)


@pytest.mark.parametrize("pool", [0, 1, 65_537, 2.5])
def test_another_pool_is_refused(pool):
    with pytest.raises(ParameterError, match="pool"):
        PooledHashing(10, epsilon=1, pool=pool)


def test_a_pool_whose_counters_fill_the_memory_is_refused():
    assert PooledHashing(10, epsilon=100).cells == 1 << 24
    with pytest.raises(ParameterError, match=r"pool.* must be at most 4,096 at this ε"):
        PooledHashing(10, epsilon=100, pool=4_097)


def test_a_pool_counts_what_its_functions_say():
    oracle = PooledHashing(20, epsilon=1, pool=7)
    reports = oracle.client().report_many(np.arange(2000) % 20)
    collected = oracle.aggregator()
    collected.add(reports)
    chosen, told = reports.payloads[:, 0].astype(int), reports.payloads[:, 1]
    keys = pool_keys(7, 32)[chosen]
    expected = [int((oracle.family.cell_of(keys, np.full(2000, value)) == told).sum()) for value in range(20)]
    assert collected.estimate().supports.counts.tolist() == expected


def test_the_functions_of_a_pool_never_change():
    assert pool_keys(2, 32).tolist() == [[3716043379, 602698983], [1524778358, 2812391483]]


def test_what_a_pool_adds_to_the_variance_is_seen_without_noise():
    """Nearly no noise, half of the people with one value: other values are off by the collisions alone."""
    oracle = PooledHashing(2000, epsilon=8, pool=100)
    collected = oracle.aggregator()
    collected.add(oracle.client().report_many(np.repeat([0, 1], 200_000)))
    found = collected.estimate()
    off = found.fractions[2:]
    cells = oracle.family.cells
    stated = 0.5 / ((cells - 1) * 100)
    assert found.standard_errors[5] ** 2 >= stated
    assert 0.5 < np.mean(off**2) / (stated + oracle.variance(reports=400_000)) < 1.5
    assert np.mean((found.low[2:] <= 0) & (found.high[2:] >= 0)) > 0.9


def test_what_is_not_among_the_candidates_may_share_their_cells():
    oracle = PooledHashing(2000, epsilon=8, pool=100)
    collected = oracle.aggregator()
    collected.add(oracle.client().report_many(np.zeros(50_000, dtype=np.int64)))
    error = collected.estimate([5, 6]).standard_errors[0]
    assert error**2 == pytest.approx(oracle.variance(reports=50_000) + 1 / ((oracle.family.cells - 1) * 100), rel=0.3)


def test_without_a_pool_half_of_the_people_add_nothing_to_others():
    oracle = LocalHashing(300, epsilon=5)
    collected = oracle.aggregator()
    collected.add(oracle.client().report_many(np.repeat([0, 1], 20_000)))
    off = collected.estimate().fractions[2:]
    assert 0.6 < np.mean(off**2) / oracle.variance(reports=40_000) < 1.5
