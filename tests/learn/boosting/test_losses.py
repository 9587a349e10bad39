"""Gradients of boosted models: those of the formulas, whole, clipped, and of each row by itself."""

from itertools import product

import numpy as np
import pytest

from sfumato.learn.boosting.losses import STEP_BITS, Loss
from sfumato.learn.core.residuals import SHARE

ONE = 1 << STEP_BITS
WIDE = 4 * SHARE


def loss(classes, clip=WIDE):
    return Loss(classes=classes, clip=clip, target_steps=8)


@pytest.mark.parametrize("classes", [0, 2, 3, 5])
@pytest.mark.parametrize("clip", [1, 7, 1000, SHARE, WIDE])
def test_no_row_has_a_gradient_longer_than_the_clip(classes, clip):
    """Whatever its scores and its label, one that there is not among them."""
    own = loss(classes, clip)
    some = [-(2**60), -17 * ONE, -ONE // 3, 0, ONE, 2**60]
    scores = np.array(list(product(some, repeat=min(own.outputs, 3))))
    scores = np.hstack([scores, np.zeros((len(scores), own.outputs - scores.shape[1]), dtype=np.int64)])
    for label in (-3, 0, 1, 2, 8, 99):
        found = own.gradients(scores, np.full(len(scores), label, dtype=np.int32))
        assert found.shape == scores.shape
        assert (found == np.floor(found)).all()
        assert max(sum(int(one) ** 2 for one in row) for row in found) <= clip**2


def test_they_are_gradients_of_the_losses():
    label = np.array([1], dtype=np.int32)
    assert loss(2).gradients(np.array([[ONE]]), label)[0, 0] / SHARE == pytest.approx(
        1 / (1 + np.exp(-1)) - 1, abs=2e-3
    )
    parts = np.exp([0, 1, 2])
    several = loss(3).gradients(np.array([[0, ONE, 2 * ONE]]), label)[0] / SHARE
    assert several == pytest.approx(parts / parts.sum() - [0, 1, 0], abs=2e-3)
    for code, target in ((0, -1), (4, 0), (7, 0.75), (8, 1)):
        found = loss(0).gradients(np.array([[ONE // 2]]), np.array([code]))[0, 0] / SHARE
        assert found == pytest.approx(0.5 - target, abs=1e-3)


def test_a_gradient_that_is_too_long_keeps_its_direction():
    long = loss(3).gradients(np.array([[9 * ONE, 0, 0]]), np.array([1]))[0]
    short = loss(3, 500).gradients(np.array([[9 * ONE, 0, 0]]), np.array([1]))[0]
    assert np.linalg.norm(short) == pytest.approx(500, abs=2)
    assert short == pytest.approx(long * 500 / np.linalg.norm(long), abs=1.5)


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_curvature_bounds_second_derivatives(classes):
    own = loss(classes)
    generator = np.random.default_rng(0)
    for _ in range(200):
        scores = generator.normal(0, 2, own.outputs)
        way = generator.normal(size=own.outputs)
        way /= np.linalg.norm(way)
        ends = np.round(np.stack([scores - way / 4, scores + way / 4]) * ONE).astype(np.int64)
        low, high = own.gradients(ends, np.array([1, 1])) / SHARE
        assert (high - low) @ way / 0.5 <= own.curvature + 0.02


@pytest.mark.parametrize("classes", [0, 2, 4])
def test_a_row_has_the_same_gradient_alone_and_among_others(classes):
    own = loss(classes, 900)
    scores = np.random.default_rng(1).integers(-3 * ONE, 3 * ONE, (1001, own.outputs))
    target = (np.arange(1001) % 3).astype(np.int32)
    among = own.gradients(scores, target)
    assert all((own.gradients(scores[[at]], target[[at]]) == among[at]).all() for at in range(0, 1001, 7))
