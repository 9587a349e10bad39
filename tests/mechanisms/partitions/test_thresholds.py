"""Thresholds on noisy counts: the law of keys and counts together, and thresholds that are as low as they may be."""

from collections import Counter
from copy import copy
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from itertools import product
from math import ceil, exp, inf, nan

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.laws import ALPHA
from tests.mechanisms.exhaustive import neighbours
from tests.mechanisms.selections import delta_of_changes, key_counts, units, worst_delta

from sfumato.accounting.core.finite import smallest_delta
from sfumato.errors import ParameterError
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.mechanisms.partitions.partition_selection import delta_per_key
from sfumato.mechanisms.partitions.thresholds import GaussianThreshold, LaplaceThreshold, StableHistogram
from sfumato.privacy.events import ApproxEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE
from sfumato.privacy.secret import Secret

KEYS = "ab"
OF_ONE = {"max_groups_per_unit": 1, "max_rows_per_group_per_unit": 1}
ROUNDING = Fraction(1, 10**9)  # of masses in floats
SMALL = [
    LaplaceThreshold(epsilon=1, delta="0.05", **OF_ONE),
    LaplaceThreshold(epsilon=1, delta="0.05", max_rows_per_group_per_unit=2, max_groups_per_unit=1),
    LaplaceThreshold(epsilon=2, delta="0.1", max_groups_per_unit=2, max_rows_per_group_per_unit=1),
    LaplaceThreshold(epsilon=3, delta="0.01", max_groups_per_unit=2, max_rows_per_group_per_unit=2),
    LaplaceThreshold(epsilon=2, delta="0.6", max_groups_per_unit=2, max_rows_per_group_per_unit=1),
    LaplaceThreshold(epsilon=2, delta="0.05", neighboring_relation=REPLACE_ONE, **OF_ONE),
    LaplaceThreshold(
        epsilon=4, delta="0.2", max_groups_per_unit=2, neighboring_relation=REPLACE_ONE, max_rows_per_group_per_unit=1
    ),
    GaussianThreshold(epsilon=1, delta="0.05", **OF_ONE),
    GaussianThreshold(epsilon=0, delta="0.3", **OF_ONE),
    GaussianThreshold(epsilon=2, delta="0.02", max_rows_per_group_per_unit=2, max_groups_per_unit=1),
    GaussianThreshold(epsilon=3, delta="0.2", max_groups_per_unit=2, max_rows_per_group_per_unit=1),
    GaussianThreshold(epsilon=3, delta="0.05", neighboring_relation=REPLACE_ONE, **OF_ONE),
]
USUAL = [
    kind(epsilon=epsilon, delta=delta, max_groups_per_unit=groups, max_rows_per_group_per_unit=rows)
    for kind in (LaplaceThreshold, GaussianThreshold)
    for epsilon, delta in [("0.1", "1e-8"), ("1", "1e-6"), ("8", "1e-12")]
    for groups, rows in [(1, 1), (3, 1), (20, 5)]
]


def noise_masses(noise):
    """Every noise that has more than a negligible mass; what lies beyond the window is counted at its ends."""
    if isinstance(noise, laplace.Laplace):
        reach = ceil(22 * noise.scale)
        weights = [exp(-abs(k) / float(noise.scale)) for k in range(-reach, reach + 1)]
    else:
        reach = ceil(7 * noise.stddev)
        weights = [exp(-k * k / (2 * float(noise.stddev) ** 2)) for k in range(-reach, reach + 1)]
    total = sum(Fraction(weight) for weight in weights)
    return {k: Fraction(weight) / total for k, weight in zip(range(-reach, reach + 1), weights, strict=True)}


def dyadic(chance):
    """The same number with a short denominator, a little lower."""
    return Fraction(int(chance * 2**100), 2**100)


def label(selection):
    """A short name of a case."""
    parts = (selection.epsilon, selection.delta, selection.max_groups_per_unit, selection.max_rows_per_group_per_unit)
    return " ".join([type(selection).__name__, *map(str, parts), selection.neighboring_relation])


def law_of(selection):
    """What the real code shows of a key with some count, for every noise in turn, and how likely that is."""
    masses = noise_masses(selection.noise)
    window = np.array(list(masses), dtype=np.int64)

    @cache
    def law(count):
        with pytest.MonkeyPatch.context() as patch:
            for module, sampler in ((laplace, "discrete_laplace"), (gaussian, "discrete_gaussian")):
                patch.setattr(module, sampler, lambda _, size: window[:size].copy())
            kept, noisy = selection.noisy_counts(np.full(len(window), count)).open_for_noise()
        shown = {}
        for keep, answer, mass in zip(kept.tolist(), noisy.tolist(), masses.values(), strict=True):
            outcome = answer if keep else None
            shown[outcome] = shown.get(outcome, Fraction(0)) + dyadic(mass)
        return shown

    return law


def delta_over_databases(selection, *, max_groups, rows=1, relation=ADD_OR_REMOVE_ONE, sizes=range(3)):
    held = units(KEYS, max_groups, rows=rows)
    return worst_delta(
        law_of(selection), epsilon=selection.epsilon, held=held, keys=KEYS, relation=relation, sizes=sizes
    )


def with_threshold(selection, threshold):
    """The same selection with a threshold that somebody else chose."""
    changed = copy(selection)
    object.__setattr__(changed, "threshold", threshold)
    return changed


def one_unit_reaches(selection, threshold):
    """P(c + noise ≥ threshold), to the precision of a float."""
    return with_threshold(selection, threshold).keep_probability(selection.max_rows_per_group_per_unit)


def allowed(selection):
    share = selection.delta / (1 if isinstance(selection, LaplaceThreshold) or selection.changed_keys == 1 else 2)
    return float(delta_per_key(share, selection.changed_keys))


@pytest.mark.parametrize("selection", SMALL, ids=label)
def test_no_pair_of_neighbours_is_told_apart_by_more_than_epsilon_and_delta(selection):
    worst = delta_over_databases(
        selection,
        max_groups=selection.max_groups_per_unit,
        rows=selection.max_rows_per_group_per_unit,
        relation=selection.neighboring_relation,
        sizes=range(2) if selection.max_rows_per_group_per_unit > 1 and selection.max_groups_per_unit > 1 else range(3),
    )
    assert selection.delta / 50 < worst <= selection.delta * (1 + ROUNDING)


@pytest.mark.parametrize("selection", USUAL, ids=label)
def test_a_key_of_one_unit_is_shown_with_at_most_delta_per_key_and_a_lower_threshold_would_exceed_it(selection):
    limit = allowed(selection)
    assert one_unit_reaches(selection, selection.threshold) <= limit * (1 + 1e-12)
    assert one_unit_reaches(selection, selection.threshold - 1) > limit


@pytest.mark.parametrize("selection", [SMALL[0], SMALL[1], SMALL[2], SMALL[7]], ids=label)
def test_a_threshold_one_lower_is_caught(selection):
    lower = with_threshold(selection, selection.threshold - 1)
    bounds = {"max_groups": selection.max_groups_per_unit, "rows": selection.max_rows_per_group_per_unit}
    assert delta_over_databases(lower, **bounds) > selection.delta * (1 + ROUNDING)


@pytest.mark.parametrize("selection", [SMALL[0], SMALL[7]], ids=label)
def test_a_missing_threshold_is_caught(selection):
    missing = with_threshold(selection, -(10**6))
    assert delta_over_databases(missing, max_groups=1) > 1 - ROUNDING


@pytest.mark.parametrize("kind", [LaplaceThreshold, GaussianThreshold])
def test_a_delta_that_is_not_split_over_the_keys_is_caught(kind):
    split = kind(epsilon=2, delta="0.05", **OF_ONE | {"max_groups_per_unit": 3})
    each = float(split.delta)  # in place of a third
    unsplit = min(tau for tau in range(1, split.threshold + 1) if one_unit_reaches(split, tau) <= each)
    used = delta_of_changes(law_of(with_threshold(split, unsplit)), [(1, 0)] * 3, epsilon=split.epsilon)
    assert unsplit < split.threshold
    assert used > split.delta * (1 + ROUNDING)


@pytest.mark.parametrize("kind", [LaplaceThreshold, GaussianThreshold])
def test_bounds_that_are_not_enforced_are_caught(kind):
    selection = kind(epsilon=1, delta="0.05", **OF_ONE)
    assert delta_over_databases(selection, max_groups=2) > selection.delta * (1 + ROUNDING)
    assert delta_over_databases(selection, max_groups=1, rows=2) > selection.delta * (1 + ROUNDING)
    replaced = delta_of_changes(law_of(selection), [(9, 8), (8, 9)], epsilon=selection.epsilon)
    assert replaced > selection.delta * (1 + ROUNDING)


@pytest.mark.parametrize("kind", [LaplaceThreshold, GaussianThreshold])
def test_a_group_of_units_has_more_than_its_multiple_of_delta(kind):
    """So the event is one of (ε, δ) as a whole: noise and threshold as two events would be too cheap for a group."""
    selection, group = kind(epsilon=1, delta="0.001", **OF_ONE), 3
    used = delta_of_changes(law_of(selection), [(group, 0)], epsilon=group * selection.epsilon)
    assert used > Fraction(3, 2) * group * selection.delta
    assert used <= selection.delta * Fraction((exp(group) - 1) / (exp(1) - 1))


def test_noise_is_calibrated_for_all_keys_of_a_unit():
    bounds = {"max_groups_per_unit": 3, "max_rows_per_group_per_unit": 4}
    assert LaplaceThreshold(epsilon=2, delta="1e-6", **bounds).noise == laplace.Laplace(l1_sensitivity=12, epsilon=2)
    event = GaussianThreshold(epsilon=2, delta="1e-6", **bounds).noise.event
    assert (int(event.l2_sensitivity**2), event.l0_sensitivity) == (48, 3)
    assert GaussianThreshold(epsilon=2, delta="1e-6", **bounds).noise.delta == Fraction(1, 2 * 10**6)
    assert GaussianThreshold(epsilon=2, delta="1e-6", **OF_ONE).noise.delta == Fraction(1, 10**6)


@pytest.mark.parametrize("selection", [SMALL[0], SMALL[7]], ids=label)
def test_every_key_has_noise_of_its_own(monkeypatch, selection):
    for module, sampler in ((laplace, "discrete_laplace"), (gaussian, "discrete_gaussian")):
        monkeypatch.setattr(module, sampler, lambda _, size: np.arange(size) * 100)
    kept, noisy = selection.noisy_counts([7, 7, 0, 7]).open_for_noise()
    assert (kept.tolist(), noisy.tolist()) == ([selection.threshold <= 7, True, False, True], [7, 107, 200, 307])


@pytest.mark.parametrize("selection", [SMALL[0], SMALL[7]], ids=label)
def test_noisy_counts_of_hidden_keys_stay_secret(selection):
    assert isinstance(selection.noisy_counts([7, 0]), Secret)
    assert repr(selection.noisy_counts(Secret([7, 0]))) == "Secret(…)"


@pytest.mark.statistical
@pytest.mark.parametrize("kind", [LaplaceThreshold, GaussianThreshold])
def test_keys_are_kept_as_often_as_their_probability_says(kind):
    selection, size = kind(epsilon=1, delta="0.01", **OF_ONE), 20_000
    for count in range(1, selection.threshold + 4):
        found = int(selection.kept(np.full(size, count)).open_for_noise().sum())
        assert binomtest(found, size, float(selection.keep_probability(count))).pvalue >= ALPHA


@pytest.mark.parametrize("kind", [LaplaceThreshold, GaussianThreshold])
def test_keys_of_nobody_are_never_shown_whatever_the_noise(monkeypatch, kind):
    for module, sampler in ((laplace, "discrete_laplace"), (gaussian, "discrete_gaussian")):
        monkeypatch.setattr(module, sampler, lambda _, size: np.full(size, 10**6))
    selection = kind(epsilon=1, delta="1e-6", **OF_ONE)
    assert selection.release(Secret({"a": 0, "b": -(10**5), "c": 1})) == ("c",)
    assert (selection.keep_probability(0), selection.keep_probability(-5)) == (0, 0)
    assert (selection.release({}), selection.kept([]).open_for_noise().tolist()) == ((), [])


@pytest.mark.parametrize("kind", [LaplaceThreshold, GaussianThreshold])
@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999"])
def test_the_reliable_count_is_the_smallest_with_its_confidence(kind, confidence):
    selection = kind(epsilon="0.5", delta="1e-6", **OF_ONE | {"max_groups_per_unit": 2})
    count = selection.reliable_count(confidence)
    assert selection.keep_probability(count - 1) < float(confidence) <= selection.keep_probability(count)


def test_a_delta_of_a_half_or_more_needs_one_step_above_a_unit():
    assert [LaplaceThreshold(epsilon=1, delta=delta, **OF_ONE).threshold for delta in ("0.5", "0.99")] == [2, 2]
    assert LaplaceThreshold(epsilon=1, delta="0.9", **OF_ONE).reliable_count("0.3") == 2


def test_gaussian_noise_serves_units_in_many_keys_better_and_laplace_noise_units_in_one():
    one, many = (
        [
            kind(epsilon=1, delta="1e-6", **OF_ONE | {"max_groups_per_unit": groups}).threshold
            for kind in (LaplaceThreshold, GaussianThreshold)
        ]
        for groups in (1, 20)
    )
    assert one[0] < one[1]
    assert many[0] > 2 * many[1]


@pytest.mark.parametrize("kind", [LaplaceThreshold, GaussianThreshold])
def test_the_event_is_the_guarantee(kind):
    selection = kind(epsilon="0.1", delta="1e-6", **OF_ONE | {"max_groups_per_unit": 3})
    assert selection.event == ApproxEvent(Fraction(1, 10), Fraction(1, 10**6))


@pytest.mark.parametrize("kind", [LaplaceThreshold, GaussianThreshold])
@pytest.mark.parametrize(
    "wrong",
    [{"epsilon": -1}, {"epsilon": nan}, {"epsilon": inf}, {"delta": 0}, {"delta": 1}, {"max_groups_per_unit": 0},
     {"max_rows_per_group_per_unit": 0}, {"max_rows_per_group_per_unit": 1.5}],
    ids=str,
)  # fmt: skip
def test_parameters_outside_are_refused_by_name(kind, wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        kind(**({"epsilon": 1, "delta": "1e-6"} | OF_ONE | wrong))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (partial(LaplaceThreshold, epsilon=0, delta="1e-6", **OF_ONE), "epsilon"),
        (partial(LaplaceThreshold, epsilon=1001, delta="1e-6", **OF_ONE), "scale"),
        (
            partial(GaussianThreshold, epsilon=1, delta="1e-6", **OF_ONE | {"max_rows_per_group_per_unit": 2**50}),
            "stddev",
        ),
    ],
)
def test_noise_that_cannot_be_drawn_is_refused_when_constructed(make, name):
    with pytest.raises(ParameterError, match=name):
        make()


@pytest.mark.parametrize("counts", [[1.5], ["a"]])
def test_what_is_no_count_is_an_error(counts):
    with pytest.raises(ParameterError, match="integer"):
        LaplaceThreshold(epsilon=1, delta="1e-6", **OF_ONE).kept(counts)


HISTOGRAMS = [
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


@pytest.mark.parametrize("selection", HISTOGRAMS, ids=label)
def test_no_histograms_of_neighbours_are_told_apart_by_more_than_epsilon_and_delta(selection):
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


@pytest.mark.parametrize("selection", HISTOGRAMS, ids=label)
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
