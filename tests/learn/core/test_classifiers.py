"""How classifiers predict from scores and from probabilities, whatever their scores are."""

import numpy as np
import pytest

from sfumato.learn.core.classifiers import JointClassifier, LogitClassifier
from sfumato.session.training.columns import TrainingColumn

ROWS = np.array([[0.0], [0.25], [1.0]])


class Line(LogitClassifier):
    """A fitted model of given slopes and starts: one of each for two classes."""

    def __init__(self, slopes, starts):
        self.slopes, self.starts = np.array(slopes), np.array(starts)
        self.columns_ = (TrainingColumn(name="x", lower=0, upper=1),)
        self.n_features_in_ = 1
        self.classes_ = np.array(["a", "b", "c"][: max(len(slopes), 2)])

    def _planned(self, data, total): ...

    def _adopt(self, fit, model): ...

    def _scores(self, codes):
        return codes / self.columns_[0].steps * self.slopes + self.starts


class Joint(Line, JointClassifier):
    """The same, taken for logarithms of joint probabilities."""

    predict_proba, predict_log_proba = JointClassifier.predict_proba, JointClassifier.predict_log_proba


def test_of_two_classes_a_score_above_0_says_the_second():
    model = Line([4.0], [-1.0])
    assert model.decision_function(ROWS) == pytest.approx([-1, 0, 3], abs=1e-3)
    assert model.predict(ROWS[[0, 2]]).tolist() == ["a", "b"]
    assert model.row_scores(model.encode(ROWS))[:, 0].tolist() == [0, 0, 0]
    assert model.predict_proba(ROWS)[:, 1] == pytest.approx(1 / (1 + np.exp([1, 0, -3])), abs=1e-3)


@pytest.mark.parametrize("kind", [Line, Joint])
def test_of_several_classes_the_highest_score_says_which(kind):
    model = kind([0.0, 2.0, 8.0], [1.0, 0.5, -2.5])
    assert model.predict(ROWS).tolist() == ["a", "a", "c"]
    scores = model.row_scores(model.encode(ROWS))
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert np.allclose(model.predict_proba(ROWS), expected)
    assert np.allclose(model.predict_log_proba(ROWS), np.log(expected))
