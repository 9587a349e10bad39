"""Noisy curves: exact sensitivity over all neighbors of small data, and nothing but noisy numbers in a model."""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from tests.learn.made import KIND, NUMBER, neighbors, secret_rows

from sfumato.audit import audit
from sfumato.learn.boosting.bins import FeatureBins
from sfumato.learn.boosting.curves import COUNT, NoisyCurves, summed
from sfumato.learn.boosting.losses import STEP_BITS, Loss
from sfumato.learn.core.residuals import SHARE
from sfumato.ledger.core.prices import require_price
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.numeric.rationals import exact
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

COLUMNS = (NUMBER, KIND)


def fitted(*, classes=2, moved_rows=1, epsilon=1, delta="1e-6", clip=SHARE // 2, columns=COLUMNS, **changes):
    arguments = {
        "bins": FeatureBins(columns=columns, most=3), "loss": Loss(classes=classes, clip=clip, target_steps=2),
        "rounds": 2, "leaves": 2, "rate": Fraction(1),
    } | changes  # fmt: skip
    return NoisyCurves(moved_rows=moved_rows, charge=ApproxDP(exact(epsilon, "epsilon"), delta), **arguments)


def steady(patch, *, size):
    """Noise that answers the same whatever it is asked, and parts that are always the same; what it was asked."""
    asked = []

    def same(noise, value):
        asked.append((noise, np.array(value, dtype=np.int64)))
        return np.random.default_rng(len(asked)).integers(-size, size, np.size(value))

    patch.setattr(GaussianNoise, "release", same)
    patch.setattr(FeatureBins, "parts", lambda bins, place, *, most: np.minimum(np.arange(bins.sizes[place]), most - 1))
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
        noises = [own.count, *[own.gradient] * 2 * len(COLUMNS)]
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
    assert len(fit.event.events) == 1 + 2 * 2


def test_sums_are_those_of_single_rows_in_any_order():
    generator = np.random.default_rng(0)
    gradients, leaves = generator.integers(-SHARE, SHARE, (5000, 2)).astype(float), generator.integers(0, 4, 5000)
    found = summed(gradients, leaves, 5)
    assert found.tolist() == [
        [sum(int(one) for one in gradients[leaves == leaf, output]) for output in (0, 1)] for leaf in range(5)
    ]
    order = generator.permutation(5000)
    assert (summed(gradients[order], leaves[order], 5) == found).all()


def test_without_noise_curves_are_those_of_the_classes(monkeypatch):
    """One column of two values: its curve is the difference of their log-odds, around its mean."""
    monkeypatch.setattr(GaussianNoise, "release", lambda _, value: value)
    records = [(0, 1)] * 300 + [(0, 0)] * 100 + [(2, 1)] * 100 + [(2, 0)] * 300
    fit = fitted(
        columns=(NUMBER,), epsilon=10**6, clip=2 * SHARE, rounds=40, bins=FeatureBins(columns=(NUMBER,), most=2)
    )
    model = fit.release(secret_rows(np.array(records)))
    assert np.array(model["curves"][0])[:, 0] == pytest.approx([np.log(3), -np.log(3)], abs=0.02)
    assert model["intercept"] == pytest.approx([0], abs=0.02)


def test_the_charge_covers_the_event_and_its_document_tells_fits_apart():
    fits = [
        fitted(), fitted(classes=3), fitted(moved_rows=2), fitted(clip=7), fitted(rounds=3), fitted(leaves=3),
        fitted(rate=Fraction(1, 2)), fitted(bins=FeatureBins(columns=COLUMNS, most=2)),
    ]  # fmt: skip
    documents = [fit.document() for fit in fits]
    assert all(documents.count(one) == 1 for one in documents)
    for fit in fits:
        require_price(fit.event, fit.charge, ADD_OR_REMOVE_ONE)
        assert fit.gradient.event.l2_sensitivity == fit.moved_rows * fit.loss.clip
    stated = fits[0].noise_stated
    assert stated["count_stddev"] * COUNT == pytest.approx(float(fits[0].count.stddev))
    assert (stated["rounds"], stated["clip"]) == (2, 0.5)
    assert STEP_BITS > 10


@pytest.mark.statistical
def test_an_audit_does_not_refute_the_claim_but_that_of_less_noise():
    """The worst neighbors: no row, and one row whose gradient is as long as the clip."""

    def refuted(epsilon):
        fit = fitted(
            columns=(NUMBER,), epsilon=epsilon, delta="1e-3", rounds=1, bins=FeatureBins(columns=(NUMBER,), most=2)
        )

        def slope(records):
            curve = fit.release(secret_rows(np.reshape(records, (-1, 2))))["curves"][0]
            return curve[0][0] - curve[1][0]

        return audit(slope, [([], [2, 1])], epsilon="0.5", delta="1e-3", samples=100).is_refuted

    assert not refuted("0.5")
    assert refuted(60)
