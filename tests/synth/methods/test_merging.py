"""Which values count as one: rare ones, and bins of numbers at noisy quantiles."""

import numpy as np
import pytest

from sfumato.synth.methods.merging import MergingRule, QuantileCut, common_values, merged
from sfumato.synth.models.measured import NoisyMarginal


@pytest.mark.parametrize(("counts", "expected"), [
    ([90, 2, 70, -1], [0, 2, 1, 2]), ([90, 80], [0, 1]), ([1, 2], [0, 0]), ([20, 3], [0, 1]), ([15, 15], [0, 1]),
])  # fmt: skip
def test_rare_values_count_as_one(counts, expected):
    single = NoisyMarginal(["x"], counts, stddev=5)
    numbers = common_values(single)
    assert numbers.tolist() == expected
    together = merged(single, {"x": numbers})
    assert together.counts.sum() == sum(counts)
    assert np.array_equal(together.counts, np.bincount(numbers, weights=counts))


def test_each_column_is_merged_by_its_own_rule():
    singles = {name: NoisyMarginal([name], [50, 1, 2, 60], stddev=5) for name in ("kept", "rare", "cut")}
    rule = MergingRule(kept=frozenset({"kept"}), cuts={"cut": QuantileCut(parts=2, bins=4)})
    found = rule.merging(singles)
    assert {name: own.tolist() for name, own in found.items()} == {
        "kept": [0, 1, 2, 3], "rare": [0, 2, 2, 1], "cut": [0, 0, 0, 1],
    }  # fmt: skip


@pytest.mark.parametrize(("counts", "parts", "expected"), [
    ([10] * 8, 4, [0, 0, 1, 1, 2, 2, 3, 3]), ([10] * 4, 4, [0, 1, 2, 3]), ([10] * 4, 1, [0] * 4),
    ([900, 10, 10, 10, 10], 3, [0, 1, 1, 2, 2]), ([10, 10, 900, 10, 10], 3, [0, 0, 0, 1, 2]), ([0, 0, 0], 3, [0, 0, 0]),
    ([10, 10, 10, 900], 2, [0, 0, 0, 0]), ([40, -3, 2, 40, 1], 2, [0, 0, 0, 1, 1]),
])  # fmt: skip
def test_parts_have_about_as_many_rows(counts, parts, expected):
    """A missing value, the last one, is in no part with others."""
    cut = {"pay": QuantileCut(parts=parts, bins=len(counts))}
    found = [
        MergingRule(cuts=cut).merging({"pay": NoisyMarginal(["pay"], values, stddev=1)})["pay"].tolist()
        for values in (counts, [*counts, 7_000])
    ]
    assert found == [expected, [*expected, max(expected) + 1]]


@pytest.mark.parametrize("seed", range(3))
def test_parts_follow_each_other_whatever_the_noise(seed):
    random = np.random.default_rng(seed)
    for parts in (1, 2, 7, 50):
        single = NoisyMarginal(["pay"], random.normal(3 * seed, 20, size=50), stddev=20)
        numbers = MergingRule(cuts={"pay": QuantileCut(parts=parts, bins=50)}).merging({"pay": single})["pay"]
        assert set(np.diff(numbers)) <= {0, 1}
        assert numbers[0] == 0
        assert numbers[-1] < parts
        assert merged(single, {"pay": numbers}).counts.sum() == pytest.approx(single.counts.sum())


def test_a_merged_count_is_as_noisy_as_the_sum_that_it_is():
    single = NoisyMarginal(["pay"], [1] * 12, stddev=3)
    assert merged(single, {"pay": np.repeat([0, 1, 2], 4)}).stddev == pytest.approx(6)
    assert merged(single, {"pay": np.array([0, 1, *[2] * 10])}).stddev == 3
