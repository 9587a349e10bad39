"""The accuracy to be expected: made-up rows as stated, no row of anybody, and a warning from public facts alone."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError
from tests.learn.made import KIND, NUMBER

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.learn import (
    CategoricalNB,
    ExplainableBoosting,
    GaussianNB,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    RandomForestClassifier,
    UtilityWarning,
    expected_accuracy,
)
from sfumato.learn.choosing.simulation import ExpectedAccuracy, made_up_rows
from sfumato.learn.core.inputs import array_data
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.session.asking.training_set import TrainingSet
from sfumato.session.training.columns import TrainingColumn

CLASSES = TrainingColumn(name="y", values=("a", "b", "c"))
MODEL = GaussianNB(epsilon=1, bounds=(0, 1), classes=["no", "yes"])


class Constant(GaussianNB):
    """Has learned nothing: for tests alone."""

    def predict(self, X):  # noqa: N803 # scikit-learn's name
        return np.repeat(self.classes_[:1], len(X["x0"]))


def declared(*columns):
    return array_data(
        np.empty((0, len(columns))), None, columns=columns, target=CLASSES, neighboring_relation=ADD_OR_REMOVE_ONE
    )


def test_rows_are_made_up_as_stated():
    wide = TrainingColumn(name="w", lower=NUMBER.lower, upper=NUMBER.upper)
    shares = np.array([0.7, 0.2, 0.1])
    rows, known = made_up_rows(declared(wide, KIND), run=0, count=20_000, strength=2.0, shares=shares)
    assert np.bincount(rows.codes[:, 1]) / 20_000 == pytest.approx([1 / 3] * 3, abs=0.02)
    assert (rows.codes[:, 0].min(), rows.codes[:, 0].max()) == (0, wide.steps)
    assert rows.codes[:, 0].mean() == pytest.approx(wide.steps / 2, rel=0.02)
    assert np.bincount(rows.target) / 20_000 == pytest.approx(shares, abs=0.02)
    assert known.sum(axis=1) == pytest.approx(np.ones(20_000))
    for one in range(3):  # probabilities say how often a class comes
        likely = known[:, one] > 0.5
        assert (rows.target[likely] == one).mean() == pytest.approx(known[likely, one].mean(), abs=0.03)


def test_rows_are_the_same_for_the_same_run_alone():
    arguments = {"count": 50, "strength": 1.0, "shares": np.full(3, 1 / 3)}
    first, again = (made_up_rows(declared(NUMBER, KIND), run=3, **arguments)[0] for _ in range(2))
    other = made_up_rows(declared(NUMBER, KIND), run=4, **arguments)[0]
    assert (first.codes == again.codes).all()
    assert (first.target == again.target).all()
    assert (first.codes != other.codes).any()


@pytest.mark.parametrize(
    "model",
    [
        MODEL,
        CategoricalNB(epsilon=1, bounds=(0, 9), classes=["no", "yes"]),
        LogisticRegression(epsilon=1, bounds=(0, 1), classes=[0, 1, 2]),
        LinearSVC(epsilon=1, delta="1e-6", norm=2, classes=["no", "yes"], steps=5),
        RandomForestClassifier(epsilon=1, bounds=(0, 1), classes=["no", "yes"], n_estimators=5, max_depth=4),
        ExplainableBoosting(epsilon=1, delta="1e-6", bounds=(0, 1), classes=["no", "yes"], rounds=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_classifier_has_an_accuracy_between_the_majority_and_the_best(model):
    found = expected_accuracy(model, rows=8_000, columns=3, runs=2, strength=4)
    assert found.majority < found.mean < found.best + 0.02
    assert found.guarantee.epsilon == 1
    with pytest.raises(NotFittedError):
        model.predict([[0, 0, 0]])  # the estimator itself is as it was


def test_what_is_expected_is_what_comes_of_such_rows():
    """With negligible noise, a linear model of a linear signal is as good as who knows it."""
    model = LogisticRegression(epsilon=1000, bounds=(0, 1), classes=["no", "yes"])
    found = expected_accuracy(model, rows=20_000, columns=2, strength=3, runs=3)
    assert found.mean == pytest.approx(found.best, abs=0.02)
    assert found.majority == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        (Constant(epsilon=1, bounds=(0, 1), classes=["no", "yes"]), {}),
        (MODEL, {"shares": [0.95, 0.05], "strength": 0.1, "rows": 2}),
        (MODEL, {"shares": [0.9, 0.1], "strength": 0}),
    ],
)
def test_a_model_that_learns_nothing_is_warned_of(model, changes):
    with pytest.warns(UtilityWarning, match="made-up rows"):
        found = expected_accuracy(model, **({"rows": 1_000, "columns": 3} | changes))
    assert not found.beats_majority


def test_a_session_is_neither_read_nor_charged(monkeypatch):
    data = pa.table({"a": [1.0] * 4, "kind": ["x", "y"] * 2, "label": ["no"] * 4, "who": ["1", "1", "2", "3"]})
    columns = {
        "a": sf.real(0, 1), "kind": sf.text(values=["x", "y", "z"]), "label": sf.text(values=["no", "yes"]),
        "who": sf.text(),
    }  # fmt: skip
    monkeypatch.setattr(TrainingSet, "fit", lambda *_, **__: pytest.fail("rows were read"))
    limits = sf.Limits(max_rows_per_unit=2)
    with sf.open(data, name="t", columns=columns, unit="who", limits=limits, budget=sf.ApproxDP(1, "1e-6")) as people:
        rows = people.training_set("SELECT a, kind, label FROM t", target="label")
        model = LogisticRegression(epsilon=1, delta="1e-6")
        found = expected_accuracy(model, rows=5_000, columns=rows, shares=[0.6, 0.4], strength=4, runs=2)
        assert found.guarantee == ApproxDP(1, "1e-6")
        assert found.majority == pytest.approx(0.6, abs=0.03)
        assert people.spent.epsilon == 0
        with pytest.raises(ParameterError, match="bounds"):
            expected_accuracy(MODEL, rows=5_000, columns=rows)
        with pytest.raises(ParameterError, match="target"):
            expected_accuracy(model, rows=5_000, columns=people.training_set("SELECT a FROM t"))


def test_the_margin_is_three_standard_errors():
    found = ExpectedAccuracy(accuracies=(0.7, 0.8), majority=0.59, best=0.9, rows=10, guarantee=PureDP(1))
    assert (found.mean, found.margin) == pytest.approx((0.75, 0.15))
    assert found.beats_majority
    same = ExpectedAccuracy(accuracies=(0.7, 0.7), majority=0.7, best=0.9, rows=10, guarantee=PureDP(1))
    assert not same.beats_majority


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"estimator": LinearRegression(epsilon=1)}, "estimator"),
        ({"estimator": GaussianNB(bounds=(0, 1), classes=["no", "yes"])}, "epsilon"),
        ({"estimator": GaussianNB(epsilon=1, classes=["no", "yes"])}, "bounds"),
        ({"estimator": GaussianNB(epsilon=1, bounds=(0, 1))}, "classes"),
        ({"rows": 0}, "rows"),
        ({"columns": 1.5}, "columns"),
        ({"shares": [0.5, 0.6]}, "shares"),
        ({"shares": [1]}, "shares"),
        ({"strength": -1}, "strength"),
        ({"strength": 101}, "strength"),
        ({"runs": 1}, "runs"),
    ],
)
def test_what_cannot_be_used_is_refused(change, wrong):
    arguments = {"estimator": MODEL, "rows": 100, "columns": 2} | change
    with pytest.raises(ParameterError, match=wrong):
        expected_accuracy(arguments.pop("estimator"), **arguments)
