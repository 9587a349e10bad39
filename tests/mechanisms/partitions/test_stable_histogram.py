"""The stable histogram: the law of the whole release over neighbouring databases, order, empty and huge counts."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA
from tests.mechanisms.exhaustive import neighbours
from tests.mechanisms.partitions.test_thresholds import dyadic, label, noise_masses
from tests.mechanisms.selections import key_counts, units

from sfumato.accounting.core.finite import smallest_delta
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.mechanisms.partitions.stable_histogram import StableHistogram
from sfumato.mechanisms.partitions.thresholds import GaussianThreshold, LaplaceThreshold
from sfumato.privacy.neighbors import REPLACE_ONE
from sfumato.privacy.secret import Secret

KEYS = "ab"
SMALL = [
    LaplaceThreshold(epsilon=4, delta="0.1", max_groups_per_unit=2, max_rows_per_group_per_unit=1),
    LaplaceThreshold(
        epsilon=4, delta="0.1", neighboring_relation=REPLACE_ONE, max_groups_per_unit=1, max_rows_per_group_per_unit=1
    ),
    GaussianThreshold(epsilon=4, delta="0.2", max_groups_per_unit=2, max_rows_per_group_per_unit=1),
]


def fix_noise(patch, noise):
    """Every sampler gives this noise."""
    for module, sampler in ((laplace, "discrete_laplace"), (gaussian, "discrete_gaussian")):
        patch.setattr(module, sampler, lambda _, size: np.array(noise[:size], dtype=np.int64))


def whole_law(histogram, counts):
    """The chance of each complete answer, order included, from the real `release` and every pair of noises."""
    masses, law = noise_masses(histogram.selection.noise), {}
    present = {key: count for key, count in zip(KEYS, counts, strict=True) if count}
    with pytest.MonkeyPatch.context() as patch:
        for noise in product(masses, repeat=len(present)):
            fix_noise(patch, noise)
            answer = tuple(histogram.release(present).items())
            chance = np.prod([masses[k] for k in noise], initial=Fraction(1))
            law[answer] = law.get(answer, Fraction(0)) + dyadic(chance)
    return law


@pytest.mark.parametrize("selection", SMALL, ids=label)
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon_and_delta(selection):
    histogram = StableHistogram(selection)
    pairs = neighbours(units(KEYS, selection.max_groups_per_unit), selection.neighboring_relation, sizes=range(2))
    changes = {tuple(key_counts(database, KEYS) for database in pair) for pair in pairs}
    laws = {counts: whole_law(histogram, counts) for change in changes for counts in change}
    worst = Fraction(0)
    for first, second in changes:
        answers = list(laws[first] | laws[second])
        vectors = [[laws[counts].get(answer, Fraction(0)) for answer in answers] for counts in (first, second)]
        worst = max(worst, smallest_delta(*vectors, epsilon=selection.epsilon))
    assert selection.delta / 20 < worst <= selection.delta * (1 + Fraction(1, 10**9))


def test_an_answer_is_count_plus_noise_and_never_below_the_threshold(monkeypatch):
    histogram = StableHistogram(
        LaplaceThreshold(epsilon=1, delta="0.01", max_groups_per_unit=1, max_rows_per_group_per_unit=1)
    )
    tau = histogram.selection.threshold
    for noise in product(range(-3, 9), repeat=2):
        fix_noise(monkeypatch, noise)
        sums = {"b": 3 + noise[0], "a": 1 + noise[1]}
        expected = [(key, sums[key]) for key in "ab" if sums[key] >= tau]
        assert list(histogram.release({"b": 3, "a": 1}).items()) == expected


def test_keys_of_nobody_never_appear(monkeypatch):
    fix_noise(monkeypatch, [10**6] * 3)
    histogram = StableHistogram(
        LaplaceThreshold(epsilon=1, delta="1e-6", max_groups_per_unit=1, max_rows_per_group_per_unit=1)
    )
    assert histogram.release(Secret({"a": 0, "b": -1, "c": 1})) == {"c": 10**6 + 1}
    assert histogram.release({}) == {}


def test_the_order_of_keys_does_not_depend_on_the_order_of_the_data():
    histogram, keys = (
        StableHistogram(
            LaplaceThreshold(epsilon=1, delta="1e-6", max_groups_per_unit=1, max_rows_per_group_per_unit=1)
        ),
        [None, 2, 10, "B", "a", ("a", None)],
    )
    for shuffled in (keys[::-1], keys[3:] + keys[:3], keys[1::2] + keys[::2]):
        assert list(histogram.release(dict.fromkeys(shuffled, 10**6))) == keys


@pytest.mark.parametrize("others", [1, 1.0, Decimal(1)], ids=repr)
@pytest.mark.parametrize("first", [True, 1.0, np.int64(1), Decimal("1.00"), Fraction(1)], ids=repr)
def test_a_key_looks_the_same_whoever_came_first(monkeypatch, first, others):
    fix_noise(monkeypatch, [0])
    histogram = StableHistogram(
        LaplaceThreshold(epsilon=1, delta="1e-6", max_groups_per_unit=1, max_rows_per_group_per_unit=1)
    )
    assert repr(histogram.release(Counter([first, *[others] * 1000]))) == "{1: 1001}"
    assert repr(histogram.release(Counter([others] * 1000))) == "{1: 1000}"


def test_keys_that_equal_nothing_are_never_shown():
    histogram = StableHistogram(
        LaplaceThreshold(epsilon=1, delta="1e-6", max_groups_per_unit=1, max_rows_per_group_per_unit=1)
    )
    assert histogram.release({float("nan"): 10**6, np.nan: 10**6, ("a", Decimal("NaN")): 10**6}) == {}


def test_huge_counts_do_not_wrap():
    histogram = StableHistogram(
        GaussianThreshold(epsilon=1, delta="1e-6", max_groups_per_unit=1, max_rows_per_group_per_unit=1)
    )
    answer = histogram.release({"a": 2**63 - 1, "b": 10**30, "c": np.int64(2000)})
    assert all(type(count) is int for count in answer.values())
    assert [abs(answer[key] - exact) < 100 for key, exact in (("a", 2**63 - 1), ("b", 10**30), ("c", 2000))] == [
        True
    ] * 3


@pytest.mark.parametrize("selection", SMALL, ids=label)
def test_event_and_accuracy_are_those_of_selection_and_noise(selection):
    histogram = StableHistogram(selection)
    assert histogram.event == selection.event
    assert histogram.accuracy(0.9) == selection.noise.accuracy(0.9)


@pytest.mark.statistical
def test_keys_of_one_unit_are_shown_as_rarely_as_promised():
    histogram, trials = (
        StableHistogram(LaplaceThreshold(epsilon=1, delta="0.2", max_groups_per_unit=2, max_rows_per_group_per_unit=1)),
        5000,
    )
    shown = sum(bool(histogram.release({"a": 1, "b": 1})) for _ in range(trials))
    chance = 1 - (1 - histogram.selection.keep_probability(1)) ** 2
    assert chance <= 0.2
    assert binomtest(shown, trials, chance).pvalue >= ALPHA
