"""What linear classifiers share: one set of arguments, scores by the declared design, and norms."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

from sfumato.learn import LinearSVC, LogisticRegression
from sfumato.learn.linear.classifier import LinearClassifier

HOURS = np.tile(np.arange(100.0), 20).reshape(-1, 1)
LATE = HOURS[:, 0] >= 50
KINDS = pytest.mark.parametrize("kind", [LinearSVC, LogisticRegression])


@pytest.fixture(autouse=True)
def _little_noise(monkeypatch):
    """Noise that is negligible, without the time that its calibration takes."""
    monkeypatch.setattr(
        "sfumato.learn.linear.descent.joint_stddevs",
        lambda l2_sensitivities, **_: [Fraction(1, 100)] * len(l2_sensitivities),
    )


def model_of(kind, **changes):
    arguments = {"epsilon": 1, "delta": "1e-6", "bounds": (0, 100), "classes": [False, True], "steps": 8}
    return kind(**(arguments | changes))


@KINDS
def test_arguments_are_kept_as_they_are_given(kind):
    model = model_of(kind, epsilon="0.5", l1_norm="1/2")
    assert issubclass(kind, LinearClassifier)
    assert (model.get_params()["epsilon"], clone(model).l1_norm) == ("0.5", "1/2")
    assert {"clip", "steps", "regularization", "fit_intercept"} <= set(model.get_params())


@KINDS
@pytest.mark.parametrize("intercept", [True, False])
def test_scores_are_those_of_the_weights_on_rows_as_they_are(kind, intercept):
    model = model_of(kind, fit_intercept=intercept).fit(HOURS, LATE)
    scores = model.decision_function(HOURS)
    assert np.allclose(scores, HOURS @ model.coef_[0] + model.intercept_[0], atol=1e-2 * np.abs(scores).max())
    assert (model.predict(HOURS) == (scores > 0)).all()
    assert model.decision_function([[1e9]]) == model.decision_function([[100]])


@KINDS
def test_of_several_classes_the_highest_score_is_taken(kind):
    labels = (HOURS[:, 0] // 34).astype(int)
    rows = np.eye(3)[labels]
    model = model_of(kind, bounds=(0, 1), classes=range(3)).fit(rows, labels)
    scores = model.decision_function(np.eye(3))
    assert scores.shape == (3, 3)
    assert (model.predict(np.eye(3)) == scores.argmax(axis=1)).all()


@KINDS
def test_a_norm_without_bounds_scales_rows_down(kind):
    model = model_of(kind, bounds=None, norm=5).fit([[3, 4], [-3, -4]] * 20, [True, False] * 20)
    assert np.allclose(model.decision_function([[30, 40]]), model.decision_function([[3, 4]]), rtol=0.2)
