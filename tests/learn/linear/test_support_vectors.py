"""`LinearSVC`: scikit-learn's conventions, the owner's declarations alone, the cost, and an audit of it."""

import pickle
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from sklearn import svm
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator
from tests.learn.made import secret_rows

import sfumato as sf
from sfumato.audit import audit
from sfumato.errors import ParameterError
from sfumato.learn import LinearSVC
from sfumato.learn.core.inputs import array_data
from sfumato.learn.linear.descent import NoisyDescent
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.session.training.columns import TrainingColumn

SURE = 10**6
HOURS = np.tile(np.arange(100.0), 40).reshape(-1, 1)
LATE = np.where(HOURS[:, 0] >= 50, "late", "early")
DECLARED = {"delta": "1e-6", "bounds": (0, 100), "classes": ["late", "early"]}
IMPOSSIBLE = {
    "check_classifier_data_not_an_array": "the class that lists the labels for the checks reads them by NumPy",
}
"""Checks of scikit-learn that do not pass, with the reason."""


class ListsLabels(LinearSVC):
    """Takes the labels of each check for declared, as the checks cannot list them: for tests alone."""

    def _array_target(self, y):
        declared = clone(self)
        labels = [0, 1] if y is None else np.unique(y)
        declared.classes = labels if 2 <= len(labels) <= 20 else [0, 1]
        return LinearSVC._array_target(declared, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_checks_of_scikit_learn(monkeypatch):
    """With noise that is negligible, whatever ε: a noisy model need not be exact, nor the same twice."""
    monkeypatch.setattr(
        "sfumato.learn.linear.descent.joint_stddevs",
        lambda l2_sensitivities, **_: [Fraction(1, 100)] * len(l2_sensitivities),
    )
    model = ListsLabels(epsilon=1, delta="1e-6", bounds=(-10, 10))
    results = check_estimator(model, on_fail=None, expected_failed_checks=IMPOSSIBLE)
    assert {result["check_name"] for result in results if result["status"] == "failed"} == set()
    assert len(results) > 40


def test_it_learns_from_arrays_and_says_what_it_cost():
    model = LinearSVC(epsilon=1, **DECLARED).fit(HOURS, LATE)
    assert model.score(HOURS, LATE) > 0.9
    assert model.guarantee_ == ApproxDP(1, "1e-6")
    assert len(model.event_.events) == 61
    assert model.classes_.tolist() == ["early", "late"]
    assert not hasattr(model, "predict_proba")
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 # made in the line itself
    assert (copy.predict(HOURS) == model.predict(HOURS)).all()


def test_without_noise_it_is_the_machine_of_scikit_learn():
    """A rounded corner moves the line a little; the classes of nearly all rows are the same."""
    generator = np.random.default_rng(4)
    rows = generator.random((2000, 3))
    labels = rows @ [1, -2, 1] + generator.normal(scale=0.1, size=2000) > 0
    model = LinearSVC(
        epsilon=SURE, delta="1e-6", bounds=(0, 1), classes=[False, True], regularization=1, clip=4, steps=400
    )
    peer = svm.LinearSVC(loss="hinge", C=1, max_iter=50_000).fit(rows, labels)
    assert (model.fit(rows, labels).predict(rows) == peer.predict(rows)).mean() > 0.98


def test_several_classes_are_learned_together_at_the_cost_of_two():
    labels = (HOURS[:, 0] // 34).astype(int)
    rows = np.eye(3)[labels]
    model = LinearSVC(epsilon=3, delta="1e-6", bounds=(0, 1), classes=range(3), l1_norm=1).fit(rows, labels)
    assert model.score(rows, labels) == 1
    assert model.coef_.shape == (3, 3)
    assert model.decision_function(rows).shape == (len(rows), 3)
    two = LinearSVC(epsilon=3, delta="1e-6", bounds=(0, 1), classes=range(2), l1_norm=1).fit(rows, labels > 0)
    assert model.guarantee_ == two.guarantee_
    clips = [{event.l2_sensitivity for event in one.event_.events[1:]} for one in (model, two)]
    assert clips[0] == clips[1]


def test_no_attribute_holds_an_exact_fact_of_the_data(monkeypatch):
    """Where all noisy numbers are the same, models of different data are equal in every attribute."""
    monkeypatch.setattr(
        "sfumato.mechanisms.additive.gaussian.GaussianNoise.release",
        lambda _, value: 5 if np.ndim(value) == 0 else np.arange(np.size(value)),
    )
    models = [LinearSVC(epsilon=1, **DECLARED).fit(HOURS[:size], LATE[:size]) for size in (3, 50, 4000)]
    kept = [{name: repr(value) for name, value in vars(model).items()} for model in models]
    assert kept[0] == kept[1] == kept[2]


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 0}, "LogisticRegression"),
        ({"delta": 2}, "delta"),
        ({"bounds": None}, "bounds"),
        ({"classes": ["late"]}, "classes"),
        ({"classes": ["late", "soon"]}, "listed classes"),
        ({"regularization": 0}, "regularization"),
        ({"clip": 0}, "clip"),
        ({"steps": 0}, "steps"),
        ({"neighboring_relation": "none"}, "neighboring_relation"),
    ],
)
def test_what_cannot_be_used_is_refused_before_rows_are_seen(arguments, wrong, monkeypatch):
    monkeypatch.setattr(NoisyDescent, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ParameterError, match=wrong):
        LinearSVC(**({"epsilon": 1} | DECLARED | arguments)).fit(HOURS, LATE)
    with pytest.raises(ValueError, match="contains"):
        LinearSVC(epsilon=1, **DECLARED).fit(np.where(HOURS == 3, np.nan, HOURS), LATE)


def test_a_session_is_charged_once_for_one_model():
    places = range(3000)
    data = pa.table({
        "hours": [float(place % 100) for place in places],
        "late": ["yes" if place % 100 >= 50 else "no" for place in places],
    })  # fmt: skip
    columns = {"hours": sf.real(0, 100), "late": sf.text(values=["no", "yes"])}
    with sf.open(data, name="work", columns=columns, budget=sf.ApproxDP(4, "1e-5")) as work:
        asked = ("SELECT hours, late FROM work", "late")
        models = [LinearSVC(epsilon=1, delta="1e-6").fit(*asked, session=work) for _ in range(2)]
        assert (models[0].coef_ == models[1].coef_).all()
        assert work.spent == ApproxDP(1, "1e-6")
        sf.learn.LogisticRegression(epsilon=1, delta="1e-6", method="descent").fit(*asked, session=work)
        assert work.spent == ApproxDP(2, "2e-6")


@pytest.mark.statistical
def test_an_audit_does_not_refute_the_claim_but_that_of_a_model_with_less_noise():
    """The worst neighbors: no row, and one row at the bound."""
    data = array_data(
        np.zeros((0, 1)), np.zeros(0), columns=(TrainingColumn(name="x", lower=0, upper=1),),
        target=TrainingColumn(name="y", values=(0, 1)), neighboring_relation=ADD_OR_REMOVE_ONE,
    )  # fmt: skip

    def refuted(epsilon):
        model = LinearSVC(epsilon=epsilon, steps=1, clip="0.5", fit_intercept=False)
        fit = model._planned(data, ApproxDP(epsilon, "1e-3"))

        def weight(records):
            return fit.release(secret_rows(np.reshape(records, (-1, 2))))["weights"][0][0]

        return audit(weight, [([], [4096, 1])], epsilon="0.5", delta="1e-3", samples=100).is_refuted

    assert not refuted("0.5")
    assert refuted(60)
