"""What all private estimators share, by one that counts rows with noise."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.learn.core.classifiers import JointClassifier
from sfumato.learn.core.estimators import PrivateEstimator
from sfumato.learn.core.inputs import moved_rows
from sfumato.mechanisms.additive.laplace import Laplace


@dataclass(frozen=True)
class CountFit:
    """A noisy number of rows."""

    noise: Laplace
    charge: object
    name: str = "a count"

    @property
    def event(self):
        return self.noise.event

    def document(self):
        return {"sensitivity": str(self.noise.l1_sensitivity)}

    def release(self, rows):
        return {"count": self.noise.release(len(rows.open_for_noise().codes))}


class Counter(PrivateEstimator):
    """Counts rows: the least that an estimator is."""

    def __init__(self, *, epsilon=None, delta=0, bounds=None, norm=None, neighboring_relation="add_or_remove_one"):
        self.epsilon, self.delta, self.bounds, self.norm = epsilon, delta, bounds, norm
        self.neighboring_relation = neighboring_relation

    def _array_target(self, _y):
        return None, None

    def _planned(self, data, total):
        return CountFit(noise=Laplace(l1_sensitivity=moved_rows(data), epsilon=total.epsilon), charge=total)

    def _adopt(self, fit, model):
        self.noise_, self.count_ = {"scale": float(fit.noise.scale)}, model["count"]


class Constant(JointClassifier, Counter):
    """Says the last class."""

    def __init__(self, *, epsilon=None, bounds=None, classes=None):
        super().__init__(epsilon=epsilon, bounds=bounds, neighboring_relation="replace_one")
        self.classes = classes

    def _planned(self, data, total):
        self.classes_ = np.array(self._class_values(data))
        return super()._planned(data, total)

    def row_scores(self, codes):
        return np.tile(np.arange(float(len(self.classes_))), (len(codes), 1))


def test_an_estimator_says_what_it_spent_and_remembers_what_was_declared():
    model = Counter(epsilon=100, bounds=(0, 5)).fit([[1, 2]] * 50)
    assert model.count_ == pytest.approx(50, abs=3)
    assert (model.guarantee_, model.event_.l1_sensitivity, model.n_features_in_) == (sf.PureDP(100), 1, 2)
    assert [(one.name, one.upper) for one in model.columns_] == [("x0", 5), ("x1", 5)]
    assert model.noise_ == {"scale": 0.01}


def test_through_a_session_it_is_charged_and_has_a_receipt():
    votes = sf.open(
        sf.datasets.votes(),
        name="votes",
        columns={"sport": sf.text(values=["Football", "Tennis"])},
        budget=sf.PureDP(1),
    )
    for query in ("SELECT sport FROM votes", votes.table().select("sport")):
        model = Counter(epsilon="0.25").fit(query, session=votes)
        assert model.receipt_.spent == sf.PureDP("0.25")
    assert model._codes({"sport": ["Tennis", "Chess"]}).tolist() == [[1], [-1]]


def test_a_classifier_has_the_owner_s_classes_and_predicts_one_of_them():
    model = Constant(epsilon=1, bounds=(0, 1), classes=["b", "c", "a"]).fit([[0], [1]], ["a", "a"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict([[0.5]]).tolist() == ["c"]
    assert model.event_.l1_sensitivity == 2


def test_what_is_missing_is_asked_for():
    with pytest.raises(ParameterError, match="there is no default"):
        Counter(bounds=(0, 1)).fit([[1]])
    with pytest.raises(ParameterError, match="classes"):
        Constant(epsilon=1, bounds=(0, 1)).fit([[1]], [1])
    with pytest.raises(ParameterError, match="requires y"):
        Constant(epsilon=1, bounds=(0, 1), classes=[0, 1]).fit([[1]])
    with pytest.raises(NotFittedError):
        Constant(epsilon=1, bounds=(0, 1), classes=[0, 1]).predict([[1]])
