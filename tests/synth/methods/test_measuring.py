"""Choices and measurements: what they cost, their laws, and that nothing is spent twice."""

from fractions import Fraction
from itertools import combinations, product
from math import exp, sqrt

import numpy as np
import pytest
from tests.synth.methods.small import ROWS, measuring_of

from sfumato.accounting import ZCDPAccountant
from sfumato.errors import ParameterError
from sfumato.mechanisms.selection.exponential import Exponential
from sfumato.privacy.events import DiscreteGaussianEvent, ExponentialEvent
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.privacy.secret import Secret
from sfumato.synth.methods.measuring import dependence, distance
from sfumato.synth.methods.merging import MergingRule

PAIRS = list(combinations(("age", "ill", "sex"), 2))
EXACT = {"age": [40, 21, 30, 1], "ill": [31, 60, 1], "sex": [61, 31, 0]}


def nothing(columns):
    """The counts of a model that knows nothing."""
    return np.full([len(EXACT[name]) for name in columns], 7.4)


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_a_measurement_costs_what_its_noise_is_worth(relation):
    measuring = measuring_of(rho=Fraction(1), relation=relation)
    noisy = measuring.measure(("age",), Fraction(1, 200))
    distance = 1 if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else sqrt(2)
    assert noisy.stddev == pytest.approx(distance * 10, rel=1e-9)
    event = DiscreteGaussianEvent(measuring.steps[0].stddev, Fraction(distance).limit_denominator(10**9), 2)
    alone = ZCDPAccountant(neighboring_relation=relation).compose(event)
    assert float(alone.rho) == pytest.approx(float(measuring.steps[0].rho), rel=1e-6)
    assert 1 - measuring.left == measuring.steps[0].rho <= Fraction(1, 200)
    assert (np.abs(noisy.counts - EXACT["age"]) <= 9 * noisy.stddev).all()
    assert list(measuring.steps[0].counts) == noisy.counts.tolist()


def test_noise_has_the_variance_that_it_is_worth():
    """The mean of 720 squares strays by six standard deviations with a chance below 1e-7."""
    measuring = measuring_of(rho=Fraction(100))
    found = np.array([measuring.measure(("age", "sex"), Fraction(1, 200)).counts.ravel() for _ in range(60)])
    noise = found - found.mean(axis=0)
    variance = (noise**2).sum() / (noise.size - found.shape[1])
    assert abs(variance / 100 - 1) <= 6 * sqrt(2 / noise.size)


def test_a_choice_is_as_likely_as_its_exact_law():
    """Each share of 1,000 choices strays by at most six standard deviations."""
    measuring = measuring_of(rho=Fraction(1_000))
    cost = Fraction(1, 20_000)
    chosen = [measuring.choose(PAIRS, nothing, cost) for _ in range(1_000)]
    scores = []
    for pair in PAIRS:
        kept = [tuple(row[["age", "ill", "sex"].index(name)] for name in pair) for row in ROWS]
        values = {"age": [0, 1, 2, None], "ill": [False, True, None], "sex": ["f", "m", None]}
        counts = [kept.count((one, two)) for one in values[pair[0]] for two in values[pair[1]]]
        scores.append(sum(abs(count - 7) for count in counts))
    weights = [exp(sqrt(8 * float(cost)) * score / 2) for score in scores]
    for pair, weight in zip(PAIRS, weights, strict=True):
        share = weight / sum(weights)
        assert abs(chosen.count(pair) - 1_000 * share) <= 6 * sqrt(1_000 * share * (1 - share))
    event = ExponentialEvent(Fraction(2, 100))
    assert ZCDPAccountant().compose(event).rho == cost >= measuring.steps[0].rho
    assert float(measuring.steps[0].rho) == pytest.approx(float(cost), rel=1e-9)


def test_a_choice_is_priced_by_how_far_scores_move(monkeypatch):
    """A unit that is replaced moves a count away from one value and to another."""
    seen = []
    monkeypatch.setattr(
        "sfumato.synth.methods.measuring.Exponential", lambda **given: seen.append(given) or Exponential(**given)
    )
    for relation in NeighboringRelation:
        measuring_of(relation=relation).choose(PAIRS, nothing, Fraction(1, 8))
        measuring_of(relation=relation).choose(
            PAIRS,
            nothing,
            Fraction(1, 8),
            weights=dict(zip(PAIRS, (3, 1, 2), strict=True)),
            allowed=dict.fromkeys(PAIRS, 9),
        )
    assert [given["utility_sensitivity"] for given in seen] == [1, 3, 2, 6]
    assert all(float(given["epsilon"]) == pytest.approx(1) for given in seen)


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_scores_move_no_further_than_their_sensitivity(relation):
    """Over all neighbors of a small table, rows of which are changed one by one; some move as far."""
    kinds = [(0, True, "f"), (2, False, "m"), (1, None, "m"), (2, True, "m")]
    tables = {tuple(kinds)}
    for gone in kinds:
        fewer = tuple(row for row in kinds if row != gone)
        is_replaced = relation is NeighboringRelation.REPLACE_ONE
        tables |= {(*fewer, new) for new in kinds if new != gone} if is_replaced else {fewer, (*kinds, gone)}
    found = {rows: measuring_of(rows, relation=relation) for rows in tables}
    for pair in PAIRS:
        expected = np.rint(nothing(pair)).astype(np.int64) % 3
        scores = {rows: distance(one._counts(pair), expected) for rows, one in found.items()}
        furthest = max(abs(score - scores[tuple(kinds)]) for score in scores.values())
        stated = found[tuple(kinds)]._sensitivity(pair).l1
        assert stated / 2 <= furthest <= stated


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_dependence_moves_no_further_than_its_sensitivity(relation, monkeypatch):
    """Over all neighbors of small tables; in some the score moves as far as is said."""
    seen = []
    monkeypatch.setattr(
        "sfumato.synth.methods.measuring.Exponential", lambda **given: seen.append(given) or Exponential(**given)
    )
    shares = {"age": np.array([1, 4, 0, 3]), "ill": np.array([5, 3, 0]), "sex": np.array([2, 2, 4])}
    values = {"age": 4, "ill": 3, "sex": 3}
    rows = [dict(zip(values, own, strict=True)) for own in product(*map(range, values.values()))]
    for family in [("age", "ill"), ("sex", "ill", "age"), ("ill", "sex")]:
        measuring_of(relation=relation).choose_child([family], shares, Fraction(1, 8))
        stated = seen[-1]["utility_sensitivity"]
        axes = sorted(family, key=list(values).index)
        cells = np.zeros([values[name] for name in axes], dtype=np.int64)

        def score(counts, axes=axes, family=family):
            return dependence(Secret(counts), axes.index(family[0]), shares[family[0]])

        furthest = 0
        for kept in [(), rows[:5], rows[3:30], rows[::4] * 2]:
            counts = cells.copy()
            for row in kept:
                counts[tuple(row[name] for name in axes)] += 1
            moved = []
            for row in rows:
                more = counts.copy()
                more[tuple(row[name] for name in axes)] += 1
                moved.append(score(more))
            far = [score(counts)] if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else moved
            furthest = max(furthest, *(abs(one - other) for one in moved for other in far))
        assert stated / 2 <= furthest <= stated


def test_dependence_is_how_far_counts_are_from_independent_ones():
    counts = np.array([[30, 10, 0], [10, 10, 40]])
    shares = np.array([2, 3])
    expected = sum(
        abs(5 * counts[x, place] - shares[x] * counts[:, place].sum()) for x in range(2) for place in range(3)
    )  # fmt: skip
    assert dependence(Secret(counts), 0, shares) == dependence(Secret(counts.T.copy()), 1, shares) == expected
    assert dependence(Secret(np.outer([2, 3], [4, 5, 6])), 0, shares) == 0


def test_values_that_are_kept_do_not_count_as_one():
    measuring = measuring_of(rho=Fraction(10))
    rule = MergingRule(kept=frozenset({"age"}))
    singles = measuring.measure_and_merge(("age", "ill", "sex"), Fraction(1, 1000), rule)
    assert measuring.lengths(("age",)) == (4,)
    assert len(singles[1].counts) < 3


def test_merged_values_are_counted_together():
    measuring = measuring_of(rho=Fraction(10**9))
    measuring.merge({"age": np.array([0, 1, 1, 1]), "sex": np.array([0, 0, 0])})
    assert measuring.lengths(("age", "ill", "sex")) == (2, 3, 1)
    noisy = measuring.measure(("age", "sex"), Fraction(10**8))
    assert noisy.counts.tolist() == [[40], [52]]


def test_with_next_to_nothing_a_choice_is_uniform_and_costs_nothing():
    measuring = measuring_of(rho=Fraction(1, 2**90))
    assert measuring.choose(PAIRS, nothing, Fraction(1, 2**90)) in PAIRS
    assert measuring.steps[0].rho == 0


def test_what_is_not_kept_is_counted_again(monkeypatch):
    monkeypatch.setattr("sfumato.synth.methods.measuring._KEPT", 13)
    measuring = measuring_of(rho=Fraction(10**9))
    for _ in range(2):
        for pair in PAIRS:
            assert measuring._counts(pair).open_for_noise().sum() == len(ROWS)
            assert len(measuring._exact) == 1


def test_nothing_is_opened_once_too_little_is_left():
    measuring = measuring_of(rho=Fraction(1, 100))
    measuring.measure(("age",), Fraction(1, 100))
    left = measuring.left
    assert left < Fraction(1, 10**8)
    for attempt in (
        lambda: measuring.measure(("ill",), Fraction(1, 100)),
        lambda: measuring.choose(PAIRS, nothing, Fraction(1, 100)),
    ):
        with pytest.raises(ParameterError, match="what is left"):
            attempt()
    assert (measuring.left, len(measuring.steps)) == (left, 1)
