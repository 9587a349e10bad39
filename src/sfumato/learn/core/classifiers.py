"""How classifiers predict, once they are fitted: from a score of each class, or from its probability."""

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.learn.core.estimators import ClassEstimator
from sfumato.learn.core.residuals import Matrix, probabilities
from sfumato.session.training.columns import Codes


class JointClassifier(ClassEstimator):
    """A classifier with the logarithm of P(x, y) for each class y, up to what all classes of a row share."""

    @abstractmethod
    def row_scores(self, codes: Codes) -> Matrix:
        """The logarithm of P(y | x) up to a constant of the row; each row's by itself, to the last digit."""

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803 # scikit-learn's name
        """The most probable class of each row; rows are clamped to the declared bounds."""
        places = self.row_scores(self._codes(X)).argmax(axis=1)
        found: npt.NDArray[Any] = self.classes_[places]
        return found

    def predict_log_proba(self, X: Any) -> Matrix:  # noqa: N803 # scikit-learn's name
        """The logarithms of `predict_proba`."""
        joint = self.row_scores(self._codes(X))
        joint -= joint.max(axis=1, keepdims=True)
        logarithms: Matrix = joint - np.log(np.exp(joint).sum(axis=1, keepdims=True))
        return logarithms

    def predict_proba(self, X: Any) -> Matrix:  # noqa: N803 # scikit-learn's name
        """The probability of each class, one row a row, in the order of `classes_`."""
        found: Matrix = np.exp(self.predict_log_proba(X))
        return found


class ScoreClassifier(ClassEstimator):
    """A classifier with one score for two classes, which is above 0 for the second; of more, a score for each."""

    @abstractmethod
    def _scores(self, codes: Codes) -> Matrix:
        """The scores, one row a row."""

    def decision_function(self, X: Any) -> Matrix:  # noqa: N803 # scikit-learn's name
        """The score of the second class, one a row; of several classes the scores of each."""
        scores = self._scores(self._codes(X))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803 # scikit-learn's name
        """The class with the highest score of each row; rows are clamped to the declared bounds."""
        places = _of_each(self._scores(self._codes(X))).argmax(axis=1)
        found: npt.NDArray[Any] = self.classes_[places]
        return found

    def row_scores(self, codes: Codes) -> Matrix:
        """The score of each class, each row's by itself: of two classes 0 and that of the second."""
        return _of_each(self._scores(codes))


class LogitClassifier(ScoreClassifier):
    """One whose scores are log-odds: of several classes, logarithms of probabilities up to a constant of the row."""

    def predict_proba(self, X: Any) -> Matrix:  # noqa: N803 # scikit-learn's name
        """The probability of each class, one row a row, in the order of `classes_`."""
        found = probabilities(self._scores(self._codes(X)))
        return np.hstack([1 - found, found]) if found.shape[1] == 1 else found

    def predict_log_proba(self, X: Any) -> Matrix:  # noqa: N803 # scikit-learn's name
        """The logarithms of `predict_proba`."""
        logarithms: Matrix = np.log(self.predict_proba(X))
        return logarithms


def _of_each(scores: Matrix) -> Matrix:
    return np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
