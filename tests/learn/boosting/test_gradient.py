"""Gradient boosting: scikit-learn's conventions, the owner's declarations alone, and sessions."""

import pickle
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import sfumato as sf
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.learn import GradientBoostingClassifier, GradientBoostingRegressor
from sfumato.learn.boosting.calibrated import calibrated
from sfumato.learn.boosting.noisy_trees import NoisyTrees
from sfumato.privacy.guarantees import ApproxDP

SURE = 10**6
HOURS = np.tile(np.arange(100.0), 40).reshape(-1, 1)
NIGHT = np.where(np.abs(HOURS[:, 0] - 50) > 25, "night", "day")
PAY = np.abs(HOURS[:, 0] - 50)
SMALL = {"bounds": (0, 100), "delta": "1e-6", "rounds": 20, "max_depth": 3}
CLASSES = SMALL | {"classes": ["day", "night"]}
NUMBERS = SMALL | {"target_bounds": (0, 50)}
BOTH = [(GradientBoostingClassifier, CLASSES, NIGHT), (GradientBoostingRegressor, NUMBERS, PAY)]
AGAIN = {
    "check_fit_idempotent": "trees are drawn anew",
    "check_classifier_data_not_an_array": "the class that lists the labels for the checks reads them by NumPy",
    "check_regressor_data_not_an_array": "trees are drawn anew",
    "check_regressors_int": "trees are drawn anew",
    "check_supervised_y_2d": "trees are drawn anew",
}
"""Checks of scikit-learn that do not pass, with the reason."""


class ListsForChecks(GradientBoostingClassifier):
    """Takes the labels of each check for declared, as the checks cannot list them: for tests alone."""

    def _array_target(self, y):
        declared = clone(self)
        labels = [0, 1] if y is None else np.unique(y)
        declared.classes = labels if 2 <= len(labels) <= 20 else [0, 1]
        return GradientBoostingClassifier._array_target(declared, y)


class BoundsForChecks(GradientBoostingRegressor):
    """Takes the bounds of each check's target for declared, as the checks cannot state them: for tests alone."""

    def _array_target(self, y):
        declared = clone(self)
        numbers = np.asarray(y)
        is_usual = numbers.dtype.kind in "iuf" and numbers.size and np.isfinite(numbers).all()
        declared.target_bounds = (float(numbers.min()) - 1, float(numbers.max()) + 1) if is_usual else (0, 1)
        return GradientBoostingRegressor._array_target(declared, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("kind", [ListsForChecks, BoundsForChecks])
def test_the_checks_of_scikit_learn(kind, monkeypatch):
    """With so much ε that noise is negligible: a noisy model need not be the same twice."""
    once = cache(calibrated)  # all fits have the same sums
    monkeypatch.setattr(
        "sfumato.learn.boosting.noisy_trees.calibrated", lambda kinds, charge: once(tuple(kinds), charge)
    )
    model = kind(epsilon=SURE, delta="1e-6", bounds=(-3, 3), rounds=20, max_depth=6, learning_rate=1, clip=1)
    results = check_estimator(model, on_fail=None, expected_failed_checks=AGAIN)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed == set()
    assert len(results) > 40


@pytest.mark.parametrize(("kind", "declared", "target"), BOTH)
def test_it_learns_what_no_line_does_and_says_what_it_cost(kind, declared, target):
    model = kind(epsilon=2, **declared).fit(HOURS, target)
    assert model.score(HOURS, target) > 0.7
    assert model.guarantee_ == ApproxDP(2, "1e-6")
    assert len(model.event_.events) == 21
    assert (model.receipt_, model.n_features_in_, model.noise_["rounds"]) == (None, 1, 20)
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 # made in the line itself
    assert (copy.predict(HOURS) == model.predict(HOURS)).all()


def test_classes_have_probabilities():
    model = GradientBoostingClassifier(epsilon=2, **CLASSES).fit(HOURS, NIGHT)
    assert np.allclose(model.predict_proba(HOURS)[:, 1], 1 / (1 + np.exp(-model.decision_function(HOURS))))
    labels = (HOURS[:, 0] // 34).astype(int)
    model = GradientBoostingClassifier(epsilon=3, **(CLASSES | {"classes": range(3)})).fit(HOURS, labels)
    assert model.score(HOURS, labels) > 0.7
    assert model.decision_function(HOURS).shape == (len(HOURS), 3)
    assert np.allclose(model.predict_proba(HOURS).sum(axis=1), 1)


def test_each_row_is_scored_by_itself():
    classifier = GradientBoostingClassifier(epsilon=1, **CLASSES).fit(HOURS, NIGHT)
    regressor = GradientBoostingRegressor(epsilon=1, **NUMBERS).fit(HOURS, PAY)
    for model in (classifier, regressor):
        codes = model.encode(HOURS[:100])
        together = model.row_scores(codes)
        assert (together == np.vstack([model.row_scores(codes[[place]]) for place in range(100)])).all()
    assert (classifier.row_scores(codes)[:, 1] == classifier.decision_function(HOURS[:100])).all()
    assert (regressor.row_scores(codes)[:, 0] == regressor.predict(HOURS[:100])).all()


def test_columns_work_together():
    """The sign of a product, of which no column alone says anything."""
    rows = np.array([(x, y) for x in range(-10, 11) for y in range(-10, 11)] * 8, dtype=float)
    declared = SMALL | {"bounds": (-10, 10), "rounds": 60}
    model = GradientBoostingClassifier(epsilon=5, **declared, classes=[False, True])
    assert model.fit(rows, rows.prod(axis=1) > 0).score(rows, rows.prod(axis=1) > 0) > 0.75


@pytest.mark.parametrize(("kind", "declared", "target"), BOTH)
def test_no_attribute_holds_an_exact_fact_of_the_data(kind, declared, target, monkeypatch):
    """Where all noisy numbers are the same, models of different data are equal in every attribute."""
    monkeypatch.setattr(
        "sfumato.mechanisms.additive.gaussian.GaussianNoise.release", lambda _, value: np.arange(np.size(value))
    )
    monkeypatch.setattr(
        "sfumato.learn.boosting.level_trees.uniform_below", lambda size, count: np.arange(count) * 7 % size
    )
    models = [kind(epsilon=1, **declared).fit(HOURS[:size], target[:size]) for size in (3, 50, 4000)]
    kept = [{name: repr(value) for name, value in vars(model).items()} for model in models]
    assert kept[0] == kept[1] == kept[2]


def test_rows_and_targets_are_clamped_when_fitting_and_when_predicting():
    rows = HOURS.copy()
    rows[rows >= 90] = 1e9
    model = GradientBoostingRegressor(epsilon=SURE, **NUMBERS).fit(rows, np.where(HOURS[:, 0] > 50, 1e9, -1e9))
    found = model.predict([[1e9], [-1e9], [100], [0]])
    assert found[0] == found[2] > 40
    assert found[1] == found[3] < 10
    assert ((found >= 0) & (found <= 50)).all()


def test_the_relation_of_arrays_is_stated():
    added, replaced = (
        GradientBoostingClassifier(epsilon=1, neighboring_relation=one, **CLASSES).fit(HOURS, NIGHT).noise_
        for one in ("add_or_remove_one", sf.REPLACE_ONE)
    )
    for name in ("count_stddev", "gradient_stddev"):
        assert replaced[name] == pytest.approx(2 * added[name], rel=1e-4)


@pytest.mark.parametrize(("kind", "declared", "target"), BOTH)
@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"bounds": None}, "bounds"),
        ({"rounds": 0}, "rounds"),
        ({"rounds": 10**6}, "rounds"),
        ({"rounds": 20_000}, "rounds"),
        ({"max_depth": 0}, "max_depth"),
        ({"max_depth": 11}, "max_depth"),
        ({"bins": 1}, "bins"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"clip": 0}, "clip"),
        ({"neighboring_relation": "none"}, "neighboring_relation"),
    ],
)
def test_what_cannot_be_used_is_refused_before_rows_are_seen(kind, declared, target, arguments, wrong, monkeypatch):
    monkeypatch.setattr(NoisyTrees, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ParameterError, match=wrong):
        kind(**({"epsilon": 1} | declared | arguments)).fit(HOURS, target)


def test_targets_that_are_not_declared_are_refused():
    for classes in (None, ["day"], ["day", "noon"]):
        with pytest.raises(ParameterError, match="classes"):
            GradientBoostingClassifier(**({"epsilon": 1} | CLASSES | {"classes": classes})).fit(HOURS, NIGHT)
    with pytest.raises(ParameterError, match="target_bounds"):
        GradientBoostingRegressor(epsilon=1, **SMALL).fit(HOURS, PAY)
    with pytest.raises(ValueError, match="contains"):
        GradientBoostingRegressor(epsilon=1, **NUMBERS).fit(np.where(HOURS == 3, np.nan, HOURS), PAY)


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
    return sf.open(data, **({"name": "work", "columns": columns, "budget": sf.ApproxDP(7, "1e-5")} | changes))


def test_a_session_is_charged_once_for_one_model():
    stated = {"epsilon": 3, "delta": "1e-6", "rounds": 20, "max_depth": 2}
    with people() as work:
        asked = ("SELECT hours, job, late FROM work", "late")
        model = GradientBoostingClassifier(**stated).fit(*asked, session=work)
        again = GradientBoostingClassifier(**stated).fit(work.training_set(asked[0], target="late"))
        rows = {"hours": [2, 98, 1000], "job": ["a", "b", "unheard of"]}
        assert (model.decision_function(rows) == again.decision_function(rows)).all()
        assert work.spent == ApproxDP(3, "1e-6")
        assert model.predict(rows)[:2].tolist() == ["no", "yes"]
        number = GradientBoostingRegressor(**stated).fit("SELECT job, hours FROM work", "hours", session=work)
        found = number.predict({"job": ["a", "unheard of"]})
        assert abs(found[0] - 50) < 30
        assert 0 <= found[1] <= 100
        for wrong in (GradientBoostingRegressor(**stated), GradientBoostingRegressor(**stated, target_bounds=(0, 1))):
            with pytest.raises(ParameterError):
                wrong.fit(*asked, session=work)
        assert work.spent.epsilon <= 6
        with pytest.raises(BudgetExceededError):
            GradientBoostingClassifier(epsilon=5, delta="1e-6").fit(*asked, session=work)


def test_a_session_bounds_the_rows_of_a_unit_and_no_rows_are_a_model_of_noise():
    alone = GradientBoostingClassifier(epsilon=1, **CLASSES).fit(HOURS, NIGHT).noise_
    with people(unit="who", limits=sf.Limits(max_rows_per_unit=3)) as work:
        model = GradientBoostingClassifier(epsilon=1, delta="1e-6", rounds=20, max_depth=3)
        model.fit("SELECT hours, late FROM work WHERE who = 'nobody'", "late", session=work)
        assert np.isfinite(model.decision_function({"hours": [0, 100]})).all()
    for name in ("count_stddev", "gradient_stddev"):
        assert model.noise_[name] == pytest.approx(3 * alone[name], rel=1e-4)
