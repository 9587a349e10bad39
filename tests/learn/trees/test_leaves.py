"""Counts of leaves: exact sensitivity over all neighbors of small data, nothing but noisy counts in a model, audits."""

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp, log

import numpy as np
import pytest
from tests.learn.made import CENTERED, KIND, NUMBER, neighbors, secret_rows, training_rows

from sfumato.audit import audit
from sfumato.errors import ParameterError
from sfumato.learn.trees import leaves
from sfumato.learn.trees.leaves import (
    MOST_COUNTS,
    ForestCounts,
    class_shares,
    counted,
    counts_of_leaves,
    leaf_probabilities,
)
from sfumato.learn.trees.splits import feature_of, random_tree
from sfumato.ledger.core.prices import require_price
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.mechanisms.additive.laplace import Laplace
from sfumato.numeric.rationals import exact
from sfumato.privacy.guarantees import ApproxDP, PureDP, guarantee
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.privacy.secret import Secret

FEATURES = tuple(map(feature_of, (NUMBER, CENTERED, KIND)))
RECORDS = list(product((0, 1, 2), (0, 2), (0, 2), (0, 1)))


def fitted(*, trees=3, depth=2, classes=2, moved_rows=1, epsilon=1, delta=0, features=FEATURES):
    return ForestCounts(
        features=features, trees=trees, depth=depth, classes=classes, moved_rows=moved_rows,
        charge=guarantee(exact(epsilon, "epsilon"), exact(delta, "delta")),
    )  # fmt: skip


def exact_counts(fit, table):
    """What noise is added to."""
    with pytest.MonkeyPatch.context() as patch:
        for noise in (Laplace, GaussianNoise):
            patch.setattr(noise, "release", lambda _noise, value: value)
        return np.array(fit.release(secret_rows(table))["counts"])


@pytest.fixture
def forest(monkeypatch):
    """The same trees in all fits of a test, as neighbors are compared for each draw of the trees."""
    drawn = [random_tree(FEATURES, depth=2) for _ in range(3)]
    monkeypatch.setattr(leaves, "random_tree", lambda *_, **__: drawn[0] if not drawn[1:] else drawn.pop())

    def again():
        drawn[:] = [drawn[0], *trees[1:]]

    trees = list(drawn)
    return again


def differences(again, pairs):
    fit = fitted()
    found = {}

    def counts(table):
        key = tuple(sorted(table))
        if key not in found:
            again()
            found[key] = exact_counts(fit, table)
        return found[key]

    return {tuple((counts(first) - counts(second)).tolist()) for first, second in pairs}


def test_no_neighbor_costs_more_than_epsilon(forest):
    """All pairs of tables of up to two rows, both relations; the worst of them costs ε, so that no noise is wasted."""
    for moved, pairs in zip((1, 2), neighbors(RECORDS, most=1), strict=True):
        pure = fitted(moved_rows=moved, epsilon="0.5")
        gaussian = fitted(moved_rows=moved, delta="1e-6").noise
        moves = differences(forest, pairs)
        worst = max(sum(map(abs, one)) for one in moves)
        assert worst / pure.noise.scale == pure.charge.epsilon
        assert max(sum(place**2 for place in one) for one in moves) <= gaussian.l2_sensitivity**2
        assert max(np.count_nonzero(one) for one in moves) <= gaussian.l0_sensitivity


def test_several_rows_of_a_unit_move_counts_no_further_than_stated(forest):
    """Three rows that enter, all alike or not."""
    some = [RECORDS[place] for place in (0, 7, 11, 23)]
    pairs = [([RECORDS[3]], [RECORDS[3], *rows]) for rows in combinations_with_replacement(some, 3)]
    moves = differences(forest, pairs)
    fit, gaussian = fitted(moved_rows=3), fitted(moved_rows=3, delta="1e-6").noise
    assert max(sum(map(abs, one)) for one in moves) == fit.noise.l1_sensitivity == 9
    assert max(sum(place**2 for place in one) for one in moves) == 27
    assert 27 <= gaussian.l2_sensitivity**2 < Fraction(28)
    assert max(np.count_nonzero(one) for one in moves) <= gaussian.l0_sensitivity == 9


def test_a_row_is_counted_once_in_each_tree_whatever_stands_in_it():
    trees = [random_tree(FEATURES, depth=3) for _ in range(4)]
    for code, label in product((-1, 0, 2, 99), (-1, 0, 1, 99)):
        found = counted(trees, FEATURES, training_rows([(code, code, code, label)]), classes=2)
        assert found.shape == (4, 8, 2)
        assert found.sum(axis=(1, 2)).tolist() == [1] * 4
    none = training_rows(np.zeros((0, 4), dtype=np.int32))
    assert counted(trees, FEATURES, none, classes=2).sum() == 0


def test_counts_are_those_of_rows_one_by_one():
    trees = [random_tree(FEATURES, depth=3) for _ in range(2)]
    expected = np.zeros((2, 8, 2), dtype=int)
    for (*row, label), (place, tree) in product(RECORDS, enumerate(trees)):
        expected[place, tree.leaves_of(np.array([row]))[0], label] += 1
    assert (counted(trees, FEATURES, training_rows(RECORDS), classes=2) == expected).all()


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_only_noisy_counts_reach_a_model(delta, monkeypatch, forest):
    """With the same trees and the same noisy counts all data give the same model; one vector of counts is drawn."""
    drawn = []

    def same(noise, value):
        drawn.append(noise.event)
        return np.arange(np.size(value)) - 2

    for noise in (Laplace, GaussianNoise):
        monkeypatch.setattr(noise, "release", same)
    fit = fitted(delta=delta)
    models = []
    for table in ([RECORDS[0]], RECORDS * 3):
        forest()
        models.append(fit.release(secret_rows(table)))
    assert models[0] == models[1]
    assert drawn == [fit.event] * 2


def test_trees_are_drawn_before_rows_are_seen(monkeypatch):
    """So that they cannot depend on them; and anew for each fit."""
    order, real = [], leaves.random_tree

    def noted(features, *, depth):
        order.append((features, depth))
        return real(features, depth=depth)

    monkeypatch.setattr(leaves, "random_tree", noted)
    monkeypatch.setattr(Secret, "open_for_noise", lambda _: order.append("rows") or training_rows(RECORDS))
    models = [fitted(depth=6).release(Secret(None)) for _ in range(2)]
    assert order == [*[(FEATURES, 6)] * 3, "rows"] * 2
    assert models[0]["trees"] != models[1]["trees"]
    assert models[0]["trees"][0] != models[0]["trees"][1]


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_the_charge_covers_the_event(delta):
    for moved, trees in ((1, 1), (6, 25)):
        fit = fitted(moved_rows=moved, trees=trees, delta=delta, epsilon="0.3")
        require_price(fit.event, fit.charge, ADD_OR_REMOVE_ONE)


def test_it_takes_the_noise_that_is_less():
    def chosen(trees, delta):
        total = ApproxDP(1, delta)
        return counts_of_leaves(FEATURES, trees=trees, depth=3, classes=2, moved_rows=1, total=total)

    assert chosen(50, "1e-6").charge == ApproxDP(1, "1e-6")
    assert chosen(2, "1e-6").charge == PureDP(1)
    assert chosen(50, 0).charge == PureDP(1)


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_what_cannot_be_drawn_is_refused(delta):
    def asked(**changes):
        arguments = {"trees": 8, "depth": 3, "classes": 2, "moved_rows": 1} | changes
        epsilon = arguments.pop("epsilon", 1)
        return counts_of_leaves(FEATURES, **arguments, total=guarantee(exact(epsilon, "ε"), exact(delta, "δ")))

    for epsilon in (0, "1e-15"):
        with pytest.raises(ParameterError, match="epsilon"):
            asked(epsilon=epsilon)
    with pytest.raises(ParameterError, match="1,048,576 counts"):
        asked(trees=MOST_COUNTS // 16 + 1)
    assert asked(epsilon=10**9).noise.variance < 1


def test_its_document_tells_fits_apart():
    fits = (fitted(), fitted(classes=3), fitted(moved_rows=2), fitted(depth=3), fitted(trees=4))
    documents = [fit.document() for fit in (*fits, fitted(features=FEATURES[:2]))]
    assert all(documents.count(one) == 1 for one in documents)


def expected_probabilities(counts, parent, variance, smoothing):
    """Those of the leaves below a node, from its parent's probabilities, node by node."""
    classes, own = range(len(parent)), np.sum(counts, axis=0)
    rows, known = sum(own), max(sum(own), 0)
    moved = []
    for label in classes:
        share = parent[label]
        noise = len(counts) * variance * sum(((other == label) - share) ** 2 for other in classes)
        weight = known / (known**2 + smoothing * (known + noise / (share * (1 - share)))) if known else 0
        moved.append(max(share + weight * (own[label] - share * rows), 0.01 / len(parent)))
    mine = [one / sum(moved) for one in moved]
    if len(counts) == 1:
        return [mine]
    half = len(counts) // 2
    below = [expected_probabilities(part, mine, variance, smoothing) for part in (counts[:half], counts[half:])]
    return [*below[0], *below[1]]


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("variance", [0.0, 50.0])
def test_probabilities_are_corrected_on_the_way_down(classes, variance):
    counts = np.round(np.random.default_rng(0).normal(5, 8, (3, 8, classes)))
    shares = class_shares(counts)
    found = leaf_probabilities(counts, variance=variance, smoothing=0.3)
    for tree, own in zip(counts, found, strict=True):
        halves = [expected_probabilities(part, shares, variance, 0.3) for part in (tree[:4], tree[4:])]
        assert np.allclose(own, [*halves[0], *halves[1]])
    assert np.allclose(found.sum(axis=2), 1)
    assert (found > 0).all()


def test_without_noise_a_row_of_the_parent_is_added():
    counts = np.array([[[6.0, 2.0], [0.0, 8.0]]])
    expected = [(6 + 6 / 16) / 9, (0 + 6 / 16) / 9]
    assert np.allclose(leaf_probabilities(counts, variance=0.0, smoothing=1.0)[0, :, 0], expected)


def test_the_more_noise_the_less_leaves_differ():
    counts = np.array([[[60.0, 20.0], [0.0, 80.0]]])
    gaps = [np.ptp(leaf_probabilities(counts, variance=one, smoothing=0.3)[0, :, 0]) for one in (0, 1e2, 1e4, 1e8)]
    assert sorted(gaps, reverse=True) == gaps
    assert gaps[0] > 0.7
    assert gaps[-1] < 0.01


@pytest.mark.parametrize("count", [0.0, -9.0])
def test_counts_of_nothing_are_even(count):
    for classes in (2, 300):
        found = leaf_probabilities(np.full((2, 4, classes), count), variance=3.0, smoothing=0.3)
        assert np.allclose(found, 1 / classes)


def fletcher_and_islam(counts, epsilon, runs):
    """Labels of one leaf by the formula of [FI17], which scales scores by a smooth sensitivity of the data itself."""
    first, second = counts
    power = min(epsilon / (2 * exp(-abs(first - second) * epsilon)), 50)
    least = 1 / (1 + exp(power)) if first != second else 1 / 2
    flips = np.random.default_rng().random(runs) < least
    return (flips ^ (second > first)).astype(int).tolist()


@pytest.mark.statistical
def test_an_audit_refutes_the_leaves_of_fletcher_and_islam_and_not_these():
    """At ε = 1 a row more in a leaf of one row changes the probability of the rarer label by e^2.13."""
    smaller = [1 / (1 + exp(exp(j) / 2)) for j in (1, 2)]
    assert log(smaller[0] / smaller[1]) == pytest.approx(2.131, abs=1e-3)
    pair = [([1, 0], [2, 0])]
    theirs = audit(lambda counts, runs: fletcher_and_islam(counts, 1, runs), pair, epsilon=1, samples=16_000)
    assert theirs.is_refuted
    noise = fitted(trees=1).noise

    def label(counts, runs):
        return [int(np.argmax(noise.release(counts))) for _ in range(runs)]

    assert not audit(label, pair, epsilon=1, samples=2000).is_refuted


@pytest.mark.statistical
def test_an_audit_does_not_refute_the_claim_but_that_of_less_noise():
    """The worst neighbors: no row, and one row, which is in one leaf of each tree."""

    def refuted(fit):
        def sum_of_trees(records):
            counts = np.reshape(fit.release(secret_rows(np.reshape(records, (-1, 2))))["counts"], (2, 2, 2))
            return int((2 * (counts[:, :, 1].max(axis=1) > 0) - 1).sum())

        return audit(sum_of_trees, [([], [2, 1])], epsilon="0.5", delta=0, samples=120).is_refuted

    one = {"features": FEATURES[:1], "depth": 1, "trees": 2}
    assert not refuted(fitted(epsilon="0.5", **one))
    assert refuted(fitted(epsilon=60, **one))
