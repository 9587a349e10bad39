"""`ConformalClassifier` and `ConformalRegressor`: coverage on new rows, one cost, and scikit-learn's conventions."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression as Plain
from sklearn.utils.estimator_checks import check_estimator

import sfumato as sf
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.learn import ConformalClassifier, ConformalRegressor, GaussianNB, LinearRegression, LinearSVC
from sfumato.learn.conformal.split import SplitFit
from sfumato.privacy.guarantees import ApproxDP, PureDP

GENERATOR = np.random.default_rng(0)
ROWS = GENERATOR.random((6000, 2))
NUMBERS = np.clip(ROWS @ [1, 2] + GENERATOR.normal(scale=0.3, size=6000), -1, 4)
LABELS = np.where(NUMBERS > 1.5, "high", "low")
CLASSIFIER = GaussianNB(epsilon=1, bounds=(0, 1), classes=["high", "low"])
REGRESSION = LinearRegression(epsilon=1, bounds=(0, 1), target_bounds=(-1, 4))
IMPOSSIBLE = {
    "check_classifier_data_not_an_array": "the class that lists the labels for the checks reads them by NumPy",
    "check_fit_score_takes_y": "rows are drawn into parts anew in each fit",
    "check_fit_idempotent": "rows are drawn into parts anew in each fit",
    "check_supervised_y_2d": "rows are drawn into parts anew in each fit",
    "check_regressors_int": "rows are drawn into parts anew in each fit",
    "check_regressor_data_not_an_array": "rows are drawn into parts anew in each fit",
}
"""Checks of scikit-learn that may not pass, with the reason."""


class ListsForSets(GaussianNB):
    """Takes the labels of each check for declared, as the checks cannot list them: for tests alone."""

    def _array_target(self, y):
        declared = clone(self)
        labels = [0, 1] if y is None else np.unique(y)
        declared.classes = labels if 2 <= len(labels) <= 20 else [0, 1]
        return GaussianNB._array_target(declared, y)


class BoundsForIntervals(LinearRegression):
    """Takes the bounds of each check's target for declared, as the checks cannot state them: for tests alone."""

    def _array_target(self, y):
        declared = clone(self)
        numbers = np.asarray(y)
        is_usual = numbers.dtype.kind in "iuf" and numbers.size and np.isfinite(numbers).all()
        declared.target_bounds = (float(numbers.min()) - 1, float(numbers.max()) + 1) if is_usual else (0, 1)
        return LinearRegression._array_target(declared, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("kind", [ConformalClassifier, ConformalRegressor])
def test_the_checks_of_scikit_learn(kind):
    """With so much ε that noise is negligible."""
    inner = (ListsForSets if kind is ConformalClassifier else BoundsForIntervals)(epsilon=10**6, bounds=(-10, 10))
    results = check_estimator(kind(inner), on_fail=None, expected_failed_checks=IMPOSSIBLE)
    assert {result["check_name"] for result in results if result["status"] == "failed"} == set()
    assert len(results) > 40


@pytest.mark.statistical
@pytest.mark.parametrize("inner", [CLASSIFIER, LinearSVC(
    epsilon=1, delta="1e-6", bounds=(0, 1), classes=["high", "low"],
)])  # fmt: skip
def test_sets_contain_the_class_of_new_rows_and_are_small(inner):
    model = ConformalClassifier(inner, alpha="0.1").fit(ROWS[:4000], LABELS[:4000])
    sets = model.predict_set(ROWS[4000:])
    is_in = sets[np.arange(2000), np.searchsorted(model.classes_, LABELS[4000:])]
    assert is_in.mean() > 0.85  # 0.934 with a standard deviation of 0.007, of 300 fits
    assert sets.sum(axis=1).mean() < 1.5  # 1.19 with one of 0.03
    assert model.score(ROWS[4000:], LABELS[4000:]) > 0.7


@pytest.mark.statistical
def test_intervals_contain_the_number_of_new_rows_and_are_short():
    model = ConformalRegressor(REGRESSION).fit(ROWS[:4000], NUMBERS[:4000])
    ends = model.predict_interval(ROWS[4000:])
    inside = (ends[:, 0] <= NUMBERS[4000:]) & (NUMBERS[4000:] <= ends[:, 1])
    assert inside.mean() > 0.82  # 0.9 less eight standard errors
    assert (ends[:, 1] - ends[:, 0]).mean() < 2.5
    assert (ends[:, 0] <= model.predict(ROWS[4000:])).all()


def test_model_and_threshold_cost_what_the_model_does():
    model = ConformalClassifier(CLASSIFIER).fit(ROWS, LABELS)
    assert model.guarantee_ == PureDP(1)
    assert model.noise_["threshold_margin"] > 0
    both = ConformalRegressor(clone(REGRESSION).set_params(neighboring_relation="replace_one")).fit(ROWS, NUMBERS)
    assert both.guarantee_ == PureDP(1)
    assert both.estimator_.guarantee_ == PureDP(Fraction(4, 5))


def test_with_few_rows_all_is_possible():
    sets = ConformalClassifier(CLASSIFIER, alpha="0.01").fit(ROWS[:2], LABELS[:2]).predict_set(ROWS)
    assert sets.all()
    ends = ConformalRegressor(REGRESSION, alpha="0.01").fit(ROWS[:2], NUMBERS[:2]).predict_interval(ROWS)
    assert (ends == [-1, 4]).all()


@pytest.mark.parametrize(
    ("model", "wrong"),
    [
        (ConformalClassifier(CLASSIFIER, alpha=0), "alpha"),
        (ConformalClassifier(CLASSIFIER, calibration=1), "calibration"),
        (ConformalClassifier(Plain()), "estimator"),
        (ConformalClassifier(None), "estimator"),
        (ConformalClassifier(clone(CLASSIFIER).set_params(epsilon=None)), "epsilon"),
        (ConformalClassifier(clone(CLASSIFIER).set_params(classes=["low", "none"])), "listed classes"),
        (ConformalRegressor(CLASSIFIER), "number"),
    ],
)
def test_what_cannot_be_used_is_refused_before_rows_are_seen(model, wrong, monkeypatch):
    monkeypatch.setattr(SplitFit, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ParameterError, match=wrong):
        model.fit(ROWS, LABELS)


def test_a_session_is_charged_once_for_both():
    data = pa.table({"a": ROWS[:, 0], "n": NUMBERS, "label": LABELS, "who": [str(row // 2) for row in range(6000)]})
    columns = {
        "a": sf.real(0, 1), "n": sf.real(-1, 4), "label": sf.text(values=["high", "low"]), "who": sf.text(),
    }  # fmt: skip
    opened = {"name": "t", "columns": columns, "budget": sf.ApproxDP(4, "1e-5")}
    with sf.open(data, **opened) as one:
        for _ in range(2):
            model = ConformalClassifier(LinearSVC(epsilon=1, delta="1e-6")).fit(
                "SELECT a, label FROM t", "label", session=one
            )
        assert one.spent == ApproxDP(1, "1e-6")
        assert model.predict_set({"a": [0.1, 0.9]}).shape == (2, 2)
        ConformalRegressor(LinearRegression(epsilon=1)).fit("SELECT a, n FROM t", "n", session=one)
        assert one.spent == ApproxDP(2, "1e-6")
        with pytest.raises(BudgetExceededError):
            ConformalRegressor(LinearRegression(epsilon=3)).fit("SELECT a, n FROM t", "n", session=one)
    with sf.open(data, unit="who", limits=sf.Limits(max_rows_per_unit=2), **opened) as two:
        model = ConformalClassifier(LinearSVC(epsilon=1, delta="1e-6"))
        model.fit("SELECT a, label FROM t", "label", session=two)
        assert two.spent == ApproxDP(1, "1e-6")
        assert model.estimator_.guarantee_ == ApproxDP("0.8", "1e-6")
