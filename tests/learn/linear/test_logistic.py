"""`LogisticRegression`: scikit-learn's conventions, the owner's declarations alone, and sessions."""

import pickle
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator
from tests.learn.made import secret_rows

import sfumato as sf
from sfumato.audit import audit
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.learn import LogisticRegression
from sfumato.learn.linear.descent import NoisyDescent, descent
from sfumato.learn.linear.design import design_of
from sfumato.learn.linear.objective import PerturbedObjective, perturbed
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.training.columns import TrainingColumn

SURE = 10**6
HOURS = np.tile(np.arange(100.0), 40).reshape(-1, 1)
LATE = np.where(HOURS[:, 0] >= 50, "late", "early")
DECLARED = {"bounds": (0, 100), "classes": ["late", "early"]}
IMPOSSIBLE = {
    "check_classifier_data_not_an_array": "the class that lists the labels for the checks reads them by NumPy",
}
"""Checks of scikit-learn that do not pass, with the reason."""


class ListsForChecks(LogisticRegression):
    """Takes the labels of each check for declared, as the checks cannot list them: for tests alone."""

    def _array_target(self, y):
        declared = clone(self)
        labels = [0, 1] if y is None else np.unique(y)
        declared.classes = labels if 2 <= len(labels) <= 20 else [0, 1]
        return LogisticRegression._array_target(declared, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_checks_of_scikit_learn():
    """With so much ε that noise is negligible: a noisy model need not be exact, nor the same twice."""
    results = check_estimator(
        ListsForChecks(epsilon=SURE, bounds=(-10, 10)), on_fail=None, expected_failed_checks=IMPOSSIBLE
    )
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed == set()
    assert len(results) > 40


@pytest.mark.parametrize(("delta", "method"), [(0, "objective"), ("1e-6", "descent")])
def test_it_learns_from_arrays_and_says_what_it_cost(delta, method):
    model = LogisticRegression(epsilon=1, delta=delta, **DECLARED).fit(HOURS, LATE)
    assert model.score(HOURS, LATE) > 0.9
    assert model.noise_["method"] == method
    assert model.guarantee_ == (PureDP(1) if delta == 0 else ApproxDP(1, delta))
    assert len(model.event_.events) == (2 if delta == 0 else 61)
    assert model.classes_.tolist() == ["early", "late"]
    assert (model.receipt_, model.n_features_in_) == (None, 1)
    by_hand = HOURS @ model.coef_.T + model.intercept_
    assert np.abs(model.decision_function(HOURS) - by_hand[:, 0]).max() < 1e-3 * np.abs(by_hand).max() + 1e-3
    probabilities = model.predict_proba(HOURS)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.allclose(np.exp(model.predict_log_proba(HOURS)), probabilities)


@pytest.mark.parametrize("method", ["objective", "descent"])
def test_three_classes(method):
    labels = (HOURS[:, 0] // 34).astype(int)
    features = np.eye(3)[labels]
    model = LogisticRegression(epsilon=3, delta="1e-6", bounds=(0, 1), classes=range(3), l1_norm=1, method=method)
    assert model.fit(features, labels).score(features, labels) == 1
    assert model.coef_.shape == (3, 3)
    assert model.predict_proba(features).shape == (len(features), 3)


def test_no_attribute_holds_an_exact_fact_of_the_data():
    """Where all noisy numbers are the same, models of different data are equal in every attribute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.mechanisms.additive.gaussian.GaussianNoise.release", _same)
        patch.setattr("sfumato.mechanisms.additive.laplace.Laplace.release", _same)
        for delta in (0, "1e-6"):
            models = [
                LogisticRegression(epsilon=1, delta=delta, **DECLARED).fit(HOURS[:size], LATE[:size])
                for size in (3, 50, 4000)
            ]
            kept = [{name: repr(value) for name, value in vars(model).items()} for model in models]
            assert kept[0] == kept[1] == kept[2]
            assert models[0].classes_.tolist() == ["early", "late"]  # though the first saw one of them alone


def _same(_noise, value):
    return 5 if np.ndim(value) == 0 else np.arange(np.size(value))


def test_rows_are_clamped_when_fitting_and_when_predicting():
    model = LogisticRegression(epsilon=SURE, **DECLARED)
    wild = HOURS.copy()
    wild[wild >= 99] = 1e9
    tame = np.minimum(HOURS, 100)
    tame[tame >= 99] = 100
    first, second = (clone(model).fit(rows, LATE) for rows in (wild, tame))
    assert np.allclose(first.coef_, second.coef_, atol=1e-2)
    assert first.decision_function([[1e9]]) == first.decision_function([[100]])
    assert first.decision_function([[-1e9]]) == first.decision_function([[0]])


def test_a_norm_bounds_rows_and_scales_them_down():
    model = LogisticRegression(epsilon=SURE, norm=5, classes=[0, 1]).fit([[3, 4], [-3, -4]] * 20, [1, 0] * 20)
    assert np.allclose(model.decision_function([[30, 40]]), model.decision_function([[3, 4]]), atol=0.1)
    assert model.predict([[300, 400], [-30, -40]]).tolist() == [1, 0]


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_the_relation_of_arrays_is_stated(delta):
    added, replaced = (
        LogisticRegression(epsilon=1, delta=delta, neighboring_relation=one, **DECLARED).fit(HOURS, LATE)
        for one in ("add_or_remove_one", sf.REPLACE_ONE)
    )
    name = "gradient_stddev" if delta else "linear_stddev"
    assert replaced.noise_[name] == pytest.approx(2 * added.noise_[name], rel=1e-4)


def test_auto_takes_the_method_with_less_noise():
    def planned(**arguments):
        model = LogisticRegression(classes=[0, 1], bounds=(0, 1), **arguments)
        rows = np.zeros((4, arguments.pop("width", 1)))
        return model, rows

    model, rows = planned(epsilon=1, delta="1e-6")
    assert model.fit(rows, [0, 1, 0, 1]).noise_["method"] == "descent"
    model, rows = planned(epsilon=30, delta="1e-15")
    assert model.fit(rows, [0, 1, 0, 1]).noise_["method"] == "objective"
    assert model.guarantee_ == PureDP(30)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "1e-14"}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"delta": 2}, "delta"),
        ({"bounds": None}, "bounds"),
        ({"classes": None}, "classes"),
        ({"classes": ["late"]}, "classes"),
        ({"classes": ["late", "soon"]}, "listed classes"),
        ({"method": "newton"}, "method"),
        ({"method": "descent"}, "delta"),
        ({"regularization": 0}, "regularization"),
        ({"clip": 0, "delta": "1e-6"}, "clip"),
        ({"steps": 0, "delta": "1e-6"}, "steps"),
        ({"norm": -1}, "norm"),
        ({"l1_norm": 0}, "norm"),
        ({"fit_intercept": "no"}, "fit_intercept"),
        ({"neighboring_relation": "none"}, "neighboring_relation"),
    ],
)
def test_what_cannot_be_used_is_refused_before_rows_are_seen(arguments, wrong, monkeypatch):
    for fit in (NoisyDescent, PerturbedObjective):
        monkeypatch.setattr(fit, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ParameterError, match=wrong):
        LogisticRegression(**({"epsilon": 1} | DECLARED | arguments)).fit(HOURS, LATE)


def test_rows_that_are_no_numbers_are_refused():
    model = LogisticRegression(epsilon=1, **DECLARED)
    for rows in (np.where(HOURS == 3, np.nan, HOURS), np.where(HOURS == 3, np.inf, HOURS)):
        with pytest.raises(ValueError, match="contains"):
            model.fit(rows, LATE)
    with pytest.raises(ParameterError, match="as many"):
        model.fit(HOURS, LATE[:5])


def test_pipelines_copies_and_pickles():
    model = make_pipeline(FunctionTransformer(lambda rows: rows / 100), LogisticRegression(
        epsilon=1, bounds=(0, 1), classes=["late", "early"],
    )).fit(HOURS, LATE)  # fmt: skip
    assert model.score(HOURS, LATE) > 0.9
    copy = pickle.loads(pickle.dumps(model[-1]))  # noqa: S301 # made in the line itself
    assert (copy.decision_function(HOURS / 100) == model[-1].decision_function(HOURS / 100)).all()
    assert copy.event_ == model[-1].event_


def people(**changes):
    places = range(3000)
    data = pa.table(
        {
            "hours": [float(place % 100) for place in places], "job": ["abc"[place % 3] for place in places],
            "late": ["yes" if place % 100 >= 50 else "no" for place in places],
            "who": [str(place // 3) for place in places],
        }
    )  # fmt: skip
    columns = {
        "hours": sf.real(0, 100), "job": sf.text(values=["a", "b", "c"]), "late": sf.text(values=["no", "yes"]),
        "who": sf.text(),
    }  # fmt: skip
    return sf.open(data, **({"name": "work", "columns": columns, "budget": sf.ApproxDP(4, "1e-5")} | changes))


def test_a_session_is_charged_once_for_one_model():
    with people() as work:
        asked = ("SELECT hours, job, late FROM work", "late")
        model = LogisticRegression(epsilon=1, delta="1e-6").fit(*asked, session=work)
        again = LogisticRegression(epsilon=1, delta="1e-6").fit(work.training_set(asked[0], target="late"))
        assert (model.coef_ == again.coef_).all()
        assert work.spent == ApproxDP(1, "1e-6")
        assert (model.receipt_.guarantee, again.receipt_.request) == (ApproxDP(1, "1e-6"), model.receipt_.request)
        rows = {"hours": [10, 90, 1000], "job": ["a", "b", "unheard of"]}
        assert model.predict(rows).tolist() == ["no", "yes", "yes"]
        assert model.coef_.shape == (1, 4)
        with pytest.raises(BudgetExceededError):
            LogisticRegression(epsilon=5, delta="1e-6").fit(*asked, session=work)


def test_a_session_bounds_the_rows_of_a_unit_and_prices_them_together():
    noise = []
    for most in (1, 3):
        with people(unit="who", limits=sf.Limits(max_rows_per_unit=most)) as work:
            fitted = [
                LogisticRegression(epsilon=1, delta=delta).fit("SELECT hours, late FROM work", "late", session=work)
                for delta in (0, "1e-6")
            ]
            noise.append((fitted[0].noise_["linear_stddev"], fitted[1].noise_["gradient_stddev"]))
    assert noise[1][0] == pytest.approx(3 * noise[0][0], rel=1e-4)
    assert noise[1][1] == pytest.approx(3 * noise[0][1], rel=1e-4)


def test_what_a_session_declares_is_not_declared_again():
    with people() as work:
        rows = work.training_set("SELECT hours, late FROM work", target="late")
        for fit in (
            lambda: LogisticRegression(epsilon=1, bounds=(0, 1)).fit(rows),
            lambda: LogisticRegression(epsilon=1).fit(rows, "late"),
            lambda: LogisticRegression(epsilon=1).fit(rows, session=work),
            lambda: LogisticRegression(epsilon=1).fit([[1]], "late", session=work),
            lambda: LogisticRegression(epsilon=1).fit("SELECT hours FROM work", session=work),
            lambda: LogisticRegression(epsilon=1).fit("SELECT late, hours FROM work", "hours", session=work),
            lambda: LogisticRegression(epsilon=1).fit("SELECT hours, late FROM work", "late", session=3),
        ):
            with pytest.raises(ParameterError):
                fit()
        assert work.spent == ApproxDP(0, 0)


@pytest.mark.statistical
@pytest.mark.parametrize("delta", [0, "1e-3"])
def test_an_audit_does_not_refute_the_claim_but_that_of_a_model_with_less_noise(delta):
    """The worst neighbors: no row, and one row at the bound."""
    column = TrainingColumn(name="x", lower=Fraction(0), upper=Fraction(1))
    design = design_of([column], norm=None, l1_norm=None, intercept=False)

    def fitted(epsilon):
        if delta == 0:
            return perturbed(design, classes=2, moved_rows=1, rows_per_unit=1, charge=PureDP(epsilon), strength=None)
        charge = ApproxDP(epsilon, delta)
        return descent(
            design, classes=2, moved_rows=1, charge=charge, steps=1, clip=Fraction(1, 2), strength=None
        )  # fmt: skip

    def refuted(fit):
        def weight(records):
            return fit.release(secret_rows(np.reshape(records, (-1, 2))))["weights"][0][0]

        return audit(weight, [([], [4096, 1])], epsilon="0.5", delta=delta, samples=100).is_refuted

    assert not refuted(fitted("0.5"))
    assert refuted(fitted(60))
