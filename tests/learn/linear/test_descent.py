"""Noisy descent: exact sensitivity over all neighbors of small data, and nothing but noisy numbers in a model."""

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
from tests.learn.made import CENTERED, KIND, NUMBER, neighbors, secret_rows, training_rows

from sfumato.learn.linear.descent import SHARE, Gradients, descent
from sfumato.learn.linear.design import UNIT, design_of
from sfumato.ledger.core.prices import require_price
from sfumato.mechanisms.additive.gaussian import GaussianNoise
from sfumato.numeric.rationals import exact
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

COLUMNS = [NUMBER, CENTERED, KIND]
DESIGN = design_of(COLUMNS, norm=None, l1_norm=None, intercept=True)


def fitted(*, classes=2, moved_rows=1, epsilon=1, steps=4, clip=Fraction(1), strength=None, loss="logistic"):
    return descent(
        DESIGN, classes=classes, moved_rows=moved_rows, charge=ApproxDP(epsilon, "1e-6"), steps=steps, clip=clip,
        strength=strength, loss=loss,
    )  # fmt: skip


def gradient_of(records, weights, *, classes, clip, loss="logistic"):
    rows = training_rows(records)
    outputs = 1 if classes == 2 else classes
    return Gradients(DESIGN.rows(rows.codes), rows.target, outputs=outputs, clip=clip, loss=loss).exact(weights)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("clip", [Fraction(1, 3), Fraction(3)])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_no_neighbor_moves_a_gradient_further_than_noise_is_made_for(classes, clip, loss):
    """All pairs of tables of up to two rows, both relations, at weights that make residuals small, large and mixed."""
    records = list(product((0, 2), (0, 1, 2), (0, 2), range(classes)))[:: 2 if classes == 2 else 3]
    fit = fitted(classes=classes, clip=clip, loss=loss)
    generator = np.random.default_rng(0)
    added, replaced = neighbors(records, most=1)
    for scale in (0.0, 1.0, 1e3):
        weights = generator.normal(size=(DESIGN.width, fit.outputs)) * scale
        seen = {}

        def exact_gradient(table, weights=weights, seen=seen):
            key = tuple(table)
            if key not in seen:
                found = 0 * weights
                if table:
                    found = gradient_of(table, weights, classes=classes, clip=fit.clip_steps, loss=loss)
                seen[key] = found.astype(np.int64)
            return seen[key]

        for moved, pairs in ((1, added), (2, replaced)):
            noise = fitted(classes=classes, clip=clip, moved_rows=moved).gradient
            limit = int(noise.l2_sensitivity) ** 2
            for first, second in pairs:
                difference = exact_gradient(first) - exact_gradient(second)
                assert int((difference**2).sum()) <= limit
                assert np.count_nonzero(difference) <= noise.l0_sensitivity


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_the_sum_is_that_of_single_rows_in_any_order(classes, loss):
    generator = np.random.default_rng(1)
    records = np.stack([generator.integers(0, most, 10_000) for most in (3, 3, 3, classes)], axis=1)
    weights = generator.normal(size=(DESIGN.width, 1 if classes == 2 else classes))
    shared = {"classes": classes, "clip": 2**23, "loss": loss}
    whole = gradient_of(records, weights, **shared)
    assert (whole == gradient_of(records[::-1], weights, **shared)).all()
    kinds, counts = np.unique(records, axis=0, return_counts=True)
    single = [gradient_of([kind], weights, **shared) for kind in kinds]
    assert (whole == sum(count * one for count, one in zip(counts, single, strict=True))).all()


def test_gradients_are_those_of_the_logistic_loss():
    weights = np.array([[0.5], [-1.0], [0.25], [0.0], [1.0], [-0.3]])
    for record in ((2, 0, 1, 0), (0, 2, 2, 1)):
        row = DESIGN.rows(np.array([record[:3]], dtype=np.int32))[0] / UNIT
        expected = (1 / (1 + exp(-float(row @ weights[:, 0]))) - record[3]) * row
        found = gradient_of([record], weights, classes=2, clip=2**30)[:, 0] / (SHARE * UNIT)
        assert np.abs(found - expected).max() < 2 / 1024
    several = np.random.default_rng(2).normal(size=(6, 3))
    row = DESIGN.rows(np.array([(2, 0, 1)], dtype=np.int32))[0] / UNIT
    parts = np.exp(row @ several)
    expected = row[:, None] * (parts / parts.sum() - np.eye(3)[2])
    found = gradient_of([(2, 0, 1, 2)], several, classes=3, clip=2**30) / (SHARE * UNIT)
    assert np.abs(found - expected).max() < 3 / 1024


@pytest.mark.parametrize("classes", [2, 3])
def test_gradients_are_those_of_the_rounded_hinge_loss(classes):
    """The differences of the loss on both sides of weights, of one class against the rest."""

    def loss(weights, row, target):
        signs = np.where(np.arange(weights.shape[1]) == target, 1, -1) if classes > 2 else np.array([2 * target - 1])
        margins = signs * (row @ weights)
        corner = np.where(margins < 1.5, (1.5 - margins) ** 2 / 2, 0)
        return np.where(margins < 0.5, 1 - margins, corner).sum()

    generator = np.random.default_rng(3)
    for record in ((2, 0, 1, 0), (0, 2, 2, 1), (1, 2, 0, 1)):
        row = DESIGN.rows(np.array([record[:3]], dtype=np.int32))[0] / UNIT
        weights = generator.normal(size=(6, 1 if classes == 2 else classes))
        expected = np.zeros_like(weights)
        for place in np.ndindex(weights.shape):
            move = np.zeros_like(weights)
            move[place] = 1e-5
            expected[place] = (loss(weights + move, row, record[3]) - loss(weights - move, row, record[3])) / 2e-5
        found = gradient_of([record], weights, classes=classes, clip=2**30, loss="hinge") / (SHARE * UNIT)
        assert np.abs(found - expected).max() < 2 / 1024


@pytest.mark.parametrize("moved_rows", [1, 2, 6])
def test_the_charge_covers_the_event_of_every_noisy_number(moved_rows):
    fit = fitted(moved_rows=moved_rows, epsilon="0.3")
    require_price(fit.event, fit.charge, ADD_OR_REMOVE_ONE)
    count, *gradients = fit.event.events
    assert (count.l2_sensitivity, count.l0_sensitivity) == (moved_rows, 1)
    assert len(gradients) == fit.steps
    assert {one.l2_sensitivity for one in gradients} == {moved_rows * fit.clip_steps}


def test_only_noisy_numbers_reach_a_model(monkeypatch):
    """With the same noisy numbers all data give the same model; and as many are drawn as the event says."""
    drawn = []

    def same(noise, value):
        drawn.append(noise.event)
        numbers = np.arange(np.size(value)) * 1000 - 2500
        return 40 if np.ndim(value) == 0 else numbers

    monkeypatch.setattr(GaussianNoise, "release", same)
    fit = fitted()
    tables = ([], [(0, 0, 0, 0)], [(2, 2, 2, 1)] * 7, [(1, 1, 1, 0), (2, 0, 1, 1)] * 50)
    models = [fit.release(secret_rows(table)) for table in tables]
    assert all(model == models[0] for model in models)
    assert tuple(drawn) == fit.event.events * len(tables)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_it_learns_what_there_is_to_learn(loss):
    records = [(2, 1, 0, 1)] * 3000 + [(0, 1, 0, 0)] * 3000
    weights = np.array(fitted(steps=40, loss=loss).release(secret_rows(records))["weights"])
    scores = DESIGN.rows(np.array([(2, 1, 0), (0, 1, 0)], dtype=np.int32)) @ weights
    assert scores[0] > 0 > scores[1]


@pytest.mark.parametrize("strength", [Fraction(1), Fraction(10**9)])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_models_stay_finite_whatever_the_penalty_and_the_rows(strength, loss):
    for records in ([], [(2, 2, 2, 1)] * 3):
        weights = np.array(
            fitted(strength=strength, epsilon="0.001", loss=loss).release(secret_rows(records))["weights"]
        )
        assert np.isfinite(weights).all()


def test_its_document_tells_fits_apart():
    documents = [
        fitted(**change).document()
        for change in ({}, {"steps": 5}, {"clip": Fraction(2)}, {"classes": 3}, {"moved_rows": 2}, {"loss": "hinge"},
                       {"strength": exact("0.5", "strength")})
    ]  # fmt: skip
    assert all(documents.count(one) == 1 for one in documents)
