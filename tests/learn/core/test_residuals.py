"""Residuals of logistic models: those of the formulas, in whole numbers, of each row by itself."""

from math import exp

import numpy as np
import pytest

from sfumato.learn.core.residuals import SCORE_BITS, SHARE, logistic_residuals, probabilities, softmax_residuals

ONE = 1 << SCORE_BITS


@pytest.mark.parametrize("label", [0, 1])
def test_of_two_classes_they_are_the_sigmoid_less_the_label(label):
    scores = np.array([-(10**9), -17 * ONE, -3 * ONE, -1, 0, 1, ONE, 16 * ONE, 10**12])
    found = logistic_residuals(scores, np.full(len(scores), label, dtype=np.int32))
    expected = [1 / (1 + exp(-max(min(score / ONE, 16), -16))) - label for score in scores]
    assert np.abs(found / SHARE - expected).max() <= 0.5 / SHARE + 1e-12
    assert (found == np.floor(found)).all()
    assert (logistic_residuals(scores.astype(float), np.full(len(scores), label)) == found).all()


def test_of_several_classes_they_are_the_softmax_less_one_for_the_class():
    scores = np.random.default_rng(0).integers(-9 * ONE, 9 * ONE, (500, 4))
    target = np.arange(500) % 4
    found = softmax_residuals(scores, target.astype(np.int32))
    parts = np.exp((scores - scores.max(axis=1, keepdims=True)) / ONE)
    assert np.abs(found / SHARE - (parts / parts.sum(axis=1, keepdims=True) - np.eye(4)[target])).max() < 1 / SHARE
    assert (found == np.floor(found)).all()


def test_a_row_has_the_same_residuals_alone_and_among_others():
    scores = np.random.default_rng(1).integers(-9 * ONE, 9 * ONE, (1001, 3))
    target = (np.arange(1001) % 3).astype(np.int32)
    among = softmax_residuals(scores, target)
    assert all((softmax_residuals(scores[[at]], target[[at]]) == among[at]).all() for at in range(0, 1001, 7))


def test_probabilities_add_up_to_one_at_any_scores():
    scores = np.array([[-1e300, 0.0, 1e300], [0.0, 0.0, 0.0], [-745.0, 745.0, 3.0]])
    assert np.allclose(probabilities(scores).sum(axis=1), 1)
    assert probabilities(np.array([[-1e300], [0.0], [1e300]]))[:, 0].tolist() == [0, 0.5, 1]
