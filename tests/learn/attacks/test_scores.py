"""Scores of attacks against the formulas of their papers, computed row by row."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import GaussianNB

from sfumato.attacks.members.models import logits
from sfumato.errors import ParameterError
from sfumato.learn.attacks.fits import LabeledRows
from sfumato.learn.attacks.scores import Shadows, inverted, sensitive_column

RNG = np.random.default_rng(29)
ROWS = LabeledRows.of(np.stack([RNG.integers(3, size=40), RNG.normal(size=40)], axis=1), RNG.integers(2, size=40))


def test_the_likelihood_ratio_of_a_row_is_that_of_two_gaussians():
    seen = np.stack([np.roll(np.arange(200) % 2 == 0, place) for place in range(3)], axis=1)
    shadows = Shadows(confidences=RNG.normal(size=(200, 3)) + seen, seen=seen)
    observed = RNG.normal(size=(2, 3))
    scores, one_sided = (shadows.scores(observed, one_sided=is_one) for is_one in (False, True))
    for place in range(3):
        inside, outside = (shadows.confidences[seen[:, place] == is_in, place] for is_in in (True, False))
        laws = [norm(side.mean(), side.std(ddof=1)) for side in (inside, outside)]
        for run in range(2):
            at = observed[run, place]
            assert scores[run, place] == pytest.approx(laws[0].logpdf(at) - laws[1].logpdf(at))
            assert one_sided[run, place] == pytest.approx((at - outside.mean()) / outside.std(ddof=1))


def test_one_sided_scores_know_nothing_of_models_that_saw_the_row():
    seen = np.arange(8)[:, None] < 4
    found = RNG.normal(size=(8, 1))
    other = np.where(seen, 17.0, found)
    observed = np.ones((1, 1))
    sides = [Shadows(confidences=one, seen=seen).scores(observed, one_sided=True) for one in (found, other)]
    assert sides[0] == sides[1]


def test_inversion_guesses_the_likeliest_value_given_all_else():
    models = [GaussianNB().fit(ROWS.features[part], ROWS.labels[part]) for part in (slice(25), slice(15, 40))]
    found = inverted(models, ROWS, 0)
    shares = [np.mean(ROWS.features[:, 0] == value) for value in (0, 1, 2)]
    right = np.zeros((2, 40), bool)
    for at, model in enumerate(models):
        for row, (features, label) in enumerate(zip(ROWS.features, ROWS.labels, strict=True)):
            weights = [
                share * model.predict_proba([[value, features[1]]])[0, label]
                for value, share in zip((0, 1, 2), shares, strict=True)
            ]
            right[at, row] = np.argmax(weights) == features[0]
            p = weights[int(features[0])] / sum(weights)
            assert found.scores[at, row] == pytest.approx(logits([p])[0])
    asked = RNG.random((2, 40)) < 0.5
    for side in (asked, ~asked):
        outcome = found.outcome(side)
        assert (outcome.successes, outcome.trials) == (int(right[side].sum()), int(side.sum()))
        assert outcome.baseline == pytest.approx(max(shares))


def test_inversion_wants_probabilities():
    model = Perceptron().fit(ROWS.features, ROWS.labels)
    with pytest.raises(ParameterError, match="predict_proba"):
        inverted([model], ROWS, 0)


@pytest.mark.parametrize("sensitive", [2, -1, 0.5, "0x"])
def test_the_sensitive_column_is_one_of_the_columns(sensitive):
    with pytest.raises(ParameterError, match="sensitive"):
        sensitive_column(ROWS, sensitive)


@pytest.mark.parametrize("values", [1, 101])
def test_the_sensitive_column_has_a_few_values(values):
    rows = LabeledRows.of(np.arange(202.0).reshape(-1, 1) % values, np.arange(202) % 2)
    with pytest.raises(ParameterError, match="values"):
        sensitive_column(rows, 0)
    assert sensitive_column(ROWS, 0) == 0
