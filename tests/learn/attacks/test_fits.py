"""Coins choose as stated, models see what was chosen and nothing else, and confidences are those of true classes."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.tree import DecisionTreeClassifier

from sfumato.attacks.members.models import logits
from sfumato.errors import ParameterError
from sfumato.learn.attacks.fits import Choosing, LabeledRows, confidences, fitted, probabilities

ROWS = LabeledRows.of([[0.0], [1.0], [5.0], [6.0]], ["a", "a", "b", "b"])


class Remembering(DummyClassifier):
    """Keeps what it was fitted to."""

    def fit(self, X, y):  # noqa: N803 # scikit-learn's name
        self.seen_ = (X.tolist(), y.tolist())
        return super().fit(X, y)


@pytest.mark.statistical
@pytest.mark.parametrize("is_paired", [False, True])
def test_each_row_has_a_fair_coin_of_its_own(is_paired):
    """Of 2,000 coins fewer than 880 or more than 1,120 are heads, or agree with the next coin, once in 10^7."""
    choosing = Choosing(rows=40, is_paired=is_paired)
    chosen = choosing.fair(4_000 // choosing.coins * (1 if is_paired else 2))[: 2_000 // choosing.coins]
    fell = choosing.fallen(chosen)
    assert fell.size == 2_000
    assert 880 < fell.sum() < 1_120
    flat = fell.reshape(-1)
    for apart in (1, choosing.coins):
        assert 880 < (flat == np.roll(flat, apart)).sum() < 1_120
    if is_paired:
        assert (chosen[:, ::2] ^ chosen[:, 1::2]).all()


@pytest.mark.parametrize("is_paired", [False, True])
def test_half_of_the_shadow_models_see_a_row(is_paired):
    chosen = Choosing(rows=12, is_paired=is_paired).balanced(10)
    assert (chosen.sum(axis=0) == 5).all()
    assert len({tuple(one) for one in chosen.tolist()}) > 1
    if is_paired:
        assert (chosen[:, ::2] ^ chosen[:, 1::2]).all()


def test_a_pair_is_scored_by_how_much_more_its_first_row_looks_chosen():
    scores = np.array([[3.0, 1.0, 0.0, 5.0]])
    assert Choosing(rows=4, is_paired=True).by_coin(scores).tolist() == [[2.0, -5.0]]
    assert Choosing(rows=4, is_paired=False).by_coin(scores) is scores


def test_a_model_sees_the_base_and_the_rows_that_were_chosen():
    heard, estimator = [], Remembering()
    base = LabeledRows.of([[9.0]], ["c"])
    chosen = np.array([[True, False, False, True], [False, False, True, False]])
    models = list(fitted(estimator, ROWS, chosen, heard=heard.append, base=base))
    assert [model.seen_ for model in models] == [
        ([[9.0], [0.0], [6.0]], ["c", "a", "b"]),
        ([[9.0], [5.0]], ["c", "b"]),
    ]
    assert heard == [1, 1]
    assert not hasattr(estimator, "seen_")
    alone = next(fitted(estimator, ROWS, chosen, heard=heard.append))
    assert alone.seen_ == ([[0.0], [6.0]], ["a", "b"])


def test_confidence_is_the_logit_of_the_probability_of_the_true_class():
    model = LogisticRegression().fit(ROWS.features, ROWS.labels)
    own = model.predict_proba(ROWS.features)[[0, 1, 2, 3], [0, 0, 1, 1]]
    assert probabilities(model, ROWS) == pytest.approx(own)
    assert confidences(model, ROWS) == pytest.approx(logits(own))


def test_a_class_that_a_model_never_saw_has_the_lowest_confidence():
    one = DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "a"])
    assert probabilities(one, ROWS).tolist() == [1, 1, 0, 0]
    two = Perceptron().fit([[0.0], [1.0], [2.0]], ["b", "b", "c"])
    found = confidences(two, ROWS)
    assert found[0] == found[1] == logits([0.0])[0]


@pytest.mark.parametrize("classes", [2, 3])
def test_without_probabilities_confidence_is_a_margin(classes):
    features = np.arange(12.0).reshape(-1, 1)
    rows = LabeledRows.of(features, np.arange(12) * classes // 12)
    model = Perceptron().fit(rows.features, rows.labels)
    scores = model.decision_function(features)
    if classes == 2:
        assert confidences(model, rows) == pytest.approx(np.where(rows.labels == 1, scores, -scores))
        return
    for row, (label, score) in enumerate(zip(rows.labels, scores, strict=True)):
        assert confidences(model, rows)[row] == pytest.approx(score[label] - np.delete(score, label).max())


def test_of_a_model_that_only_predicts_it_counts_whether_it_is_right():
    model = SimpleNamespace(predict=lambda features: np.where(features[:, 0] > 0.5, "b", "a"))
    assert confidences(model, ROWS).tolist() == [1, -1, 1, 1]


def test_a_model_must_say_something():
    with pytest.raises(ParameterError, match="predict_proba"):
        confidences(object(), ROWS)


@pytest.mark.parametrize(
    ("features", "labels", "wrong"),
    [
        ([1.0, 2.0], ["a", "b"], "X"),
        ([[1.0], [np.nan]], ["a", "b"], "X"),
        (np.empty((0, 2)), [], "X"),
        ([["x"], ["y"]], ["a", "b"], "X"),
        ([[1.0], [2.0]], ["a"], "y"),
        ([[1.0], [2.0]], [0.1, 0.7], "y"),
        ([[1.0], [2.0]], [None, "a"], "y"),
    ],
    ids=["a list", "NaN", "nothing", "texts", "too few", "numbers", "None"],
)
def test_rows_are_numbers_and_have_classes(features, labels, wrong):
    with pytest.raises(ParameterError, match=f"^{wrong} = "):
        LabeledRows.of(features, labels)
