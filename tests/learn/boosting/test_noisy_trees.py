"""Noisy trees: exact sensitivity over all neighbors of small data, and nothing but noisy numbers in a model."""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from tests.learn.made import KIND, NUMBER, neighbors, secret_rows, training_rows

from sfumato.audit import audit
from sfumato.learn.boosting.bins import FeatureBins
from sfumato.learn.boosting.curves import COUNT
from sfumato.learn.boosting.level_trees import LevelTree
from sfumato.learn.boosting.losses import STEP_BITS, Loss
from sfumato.learn.boosting.noisy_trees import NoisyTrees
from sfumato.learn.core.residuals import SHARE
from sfumato.ledger.core.prices import require_price
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.numeric.rationals import exact
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

COLUMNS = (NUMBER, KIND)
DRAWN = "sfumato.learn.boosting.noisy_trees.random_level_tree"
BOTH = LevelTree(columns=(0, 1), sides=(np.array([0, 1, 1]), np.array([1, 0, 0])))


def fitted(*, classes=2, moved_rows=1, epsilon=1, delta="1e-6", clip=SHARE // 2, columns=COLUMNS, most=3, **changes):
    arguments = {
        "bins": FeatureBins(columns=columns, most=most), "loss": Loss(classes=classes, clip=clip, target_steps=2),
        "rounds": 3, "depth": 2, "rate": Fraction(1),
    } | changes  # fmt: skip
    return NoisyTrees(moved_rows=moved_rows, charge=ApproxDP(exact(epsilon, "epsilon"), delta), **arguments)


def steady(patch, *, size):
    """Noise that answers the same whatever it is asked, and trees that are always the same; what it was asked."""
    asked = []

    def same(noise, value):
        asked.append((noise, np.array(value, dtype=np.int64)))
        return np.random.default_rng(len(asked)).integers(-size, size, np.size(value))

    patch.setattr(GaussianNoise, "release", same)
    patch.setattr(DRAWN, lambda _, **__: BOTH)
    return asked


@pytest.mark.parametrize(("classes", "clip"), [(0, 100), (2, 100), (3, 100), (3, 2 * SHARE)])
def test_no_neighbor_moves_sums_further_than_noise_is_made_for(classes, clip):
    """All pairs of tables of up to two rows, both relations, each sum after the same noisy answers before it."""
    records = list(product((0, 2), (0, 2), range(classes or 3)))
    fit = fitted(classes=classes, clip=clip)

    @cache
    def sums(table):
        with pytest.MonkeyPatch.context() as patch:
            asked = steady(patch, size=30 * SHARE)
            fit.release(secret_rows(np.reshape(table, (-1, 3))))
        return [value for _, value in asked]

    reached = 0.0
    for moved, pairs in zip((1, 2), neighbors(records, most=1), strict=True):
        own = fitted(classes=classes, clip=clip, moved_rows=moved)
        noises = [own.count, *[own.gradient] * 3]
        for first, second in pairs:
            both = (sums(tuple(first)), sums(tuple(second)))
            for noise, one, other in zip(noises, *both, strict=True):
                difference = one - other
                assert int((difference**2).sum()) <= noise.l2_sensitivity**2
                assert np.count_nonzero(difference) <= noise.l0_sensitivity
                if noise is own.gradient:
                    reached = max(reached, float((difference**2).sum() ** 0.5) / (moved * clip))
    assert reached > 0.95 or clip > SHARE  # noise is made for no more than rows do


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_only_noisy_numbers_reach_a_model(classes, monkeypatch):
    """With the same noisy numbers all data give the same model; and as many are drawn as the event says."""
    asked = steady(monkeypatch, size=SHARE)
    fit = fitted(classes=classes)
    models = []
    for table in (np.zeros((0, 3)), [(0, 0, 0)], [(2, 2, 1)] * 7 + [(9, -1, 7)]):
        asked.clear()
        models.append(fit.release(secret_rows(table)))
        assert tuple(noise.event for noise, _ in asked) == fit.event.events
    assert models[0] == models[1] == models[2]
    assert len(fit.event.events) == 1 + 3


def test_trees_are_drawn_before_rows_are_opened(monkeypatch):
    order = []

    class Watched:
        """Rows that say when they are opened."""

        def open_for_noise(self):
            order.append("opened")
            return training_rows([(0, 0, 0)])

    def drawn(bins, *, depth):
        order.append((bins.most, depth))
        return BOTH

    monkeypatch.setattr(DRAWN, drawn)
    fitted().release(Watched())
    assert order == [(3, 2), (3, 2), (3, 2), "opened"]


@pytest.mark.parametrize(("classes", "expected"), [(2, np.log(3)), (0, 0.5)])
def test_without_noise_leaves_are_those_of_the_loss(classes, expected, monkeypatch):
    """One column of two bins, three rows of four alike: the log-odds of each, or the mean of −1 and 1."""
    monkeypatch.setattr(GaussianNoise, "release", lambda _, value: value)
    first = 2 if classes == 0 else 1
    records = [(0, first)] * 300 + [(0, 0)] * 100 + [(2, first)] * 100 + [(2, 0)] * 300
    fit = fitted(columns=(NUMBER,), classes=classes, most=2, epsilon=10**6, clip=2 * SHARE, rounds=60, depth=1)
    steps = np.array(fit.release(secret_rows(np.array(records)))["steps"])
    assert (steps.sum(axis=0)[:, 0] / 2**STEP_BITS).tolist() == pytest.approx([expected, -expected], abs=0.02)


def test_the_charge_covers_the_event_and_its_document_tells_fits_apart():
    fits = [
        fitted(), fitted(classes=3), fitted(moved_rows=2), fitted(clip=7), fitted(rounds=4), fitted(depth=3),
        fitted(rate=Fraction(1, 2)), fitted(most=2),
    ]  # fmt: skip
    documents = [fit.document() for fit in fits]
    assert all(documents.count(one) == 1 for one in documents)
    for fit in fits:
        require_price(fit.event, fit.charge, ADD_OR_REMOVE_ONE)
        assert fit.gradient.event.l2_sensitivity == fit.moved_rows * fit.loss.clip
    stated = fits[0].noise_stated
    assert stated["count_stddev"] * COUNT == pytest.approx(float(fits[0].count.stddev))
    assert (stated["rounds"], stated["clip"]) == (3, 0.5)


@pytest.mark.statistical
def test_an_audit_does_not_refute_the_claim_but_that_of_less_noise():
    """The worst neighbors: no row, and one row whose gradient is as long as the clip."""

    def refuted(epsilon):
        fit = fitted(columns=(NUMBER,), most=2, epsilon=epsilon, delta="1e-3", rounds=1, depth=1)

        def slope(records):
            (first,), (second,) = fit.release(secret_rows(np.reshape(records, (-1, 2))))["steps"][0]
            return first - second

        return audit(slope, [([], [2, 1])], epsilon="0.5", delta="1e-3", samples=100).is_refuted

    assert not refuted("0.5")
    assert refuted(60)
