"""`RandomForestClassifier`: scikit-learn's conventions, the owner's declarations alone, categories, and sessions."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import sfumato as sf
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.learn import RandomForestClassifier
from sfumato.learn.trees.leaves import ForestCounts
from sfumato.privacy.guarantees import ApproxDP, PureDP

SURE = 10**6
HOURS = np.tile(np.arange(100.0), 40).reshape(-1, 1)
LATE = np.where(HOURS[:, 0] >= 50, "late", "early")
DECLARED = {"bounds": (0, 100), "classes": ["late", "early"]}
IMPOSSIBLE = {
    "check_classifier_data_not_an_array": "the class that lists the labels for the checks reads them by NumPy",
    "check_supervised_y_2d": "trees are drawn anew for each fit, and the check compares two fits row by row",
}
"""Checks of scikit-learn that do not pass, with the reason."""


class ForestForChecks(RandomForestClassifier):
    """Takes the labels of each check for declared, as the checks cannot list them: for tests alone."""

    def _array_target(self, y):
        declared = clone(self)
        labels = [0, 1] if y is None else np.unique(y)
        declared.classes = labels if 2 <= len(labels) <= 20 else [0, 1]
        return RandomForestClassifier._array_target(declared, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_checks_of_scikit_learn():
    """With so much ε that noise is negligible: a noisy model need not be exact, nor the same twice."""
    model = ForestForChecks(epsilon=SURE, bounds=(-10, 10), n_estimators=20, max_depth=7)
    results = check_estimator(model, on_fail=None, expected_failed_checks=IMPOSSIBLE)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed == set()
    assert len(results) > 40


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_it_learns_from_arrays_and_says_what_it_cost(delta):
    fitted = RandomForestClassifier(epsilon=1, delta=delta, **DECLARED).fit(HOURS, LATE)
    assert fitted.score(HOURS, LATE) > 0.9
    assert fitted.noise_["method"] == ("laplace" if delta == 0 else "gaussian")
    assert fitted.guarantee_ == (PureDP(1) if delta == 0 else ApproxDP(1, delta))
    assert fitted.noise_["count_stddev"] == pytest.approx(25 * 2**0.5 if delta == 0 else 5 * 4.22, rel=0.01)
    assert fitted.classes_.tolist() == ["early", "late"]
    assert np.abs(fitted.class_prior_ - 0.5).max() < 0.15
    assert fitted.leaf_proba_.shape == (25, 2**8, 2)
    probabilities = fitted.predict_proba(HOURS)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.allclose(np.exp(fitted.predict_log_proba(HOURS)), probabilities)
    codes = fitted.encode(HOURS[:100])
    assert (fitted.row_scores(codes) == np.vstack([fitted.row_scores(codes[[place]]) for place in range(100)])).all()
    assert (fitted.predict_proba([[-1e9], [1e9]]) == fitted.predict_proba([[0], [100]])).all()
    copy = pickle.loads(pickle.dumps(fitted))  # noqa: S301 # made in the line itself
    assert (copy.predict_proba(HOURS) == probabilities).all()


def squares(rows=6000):
    """Two numbers whose product has the label, which no linear model learns; and three classes of a third."""
    generator = np.random.default_rng(0)
    points = generator.uniform(-1, 1, (rows, 2))
    return points, (points[:, 0] * points[:, 1] > 0).astype(int) + (np.abs(points).max(axis=1) > 0.8)


def test_it_learns_what_no_linear_model_does_at_little_cost():
    points, labels = squares()
    model = RandomForestClassifier(epsilon=1, bounds=(-1, 1), classes=[0, 1, 2]).fit(points, labels)
    assert model.score(points, labels) > np.bincount(labels).max() / len(labels) + 0.2


def test_without_noise_trees_that_end_in_single_rows_know_them():
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 9)
    labels = rows[:, 0].astype(int) ^ rows[:, 1].astype(int)
    model = RandomForestClassifier(epsilon=SURE, bounds=(0, 1), classes=[0, 1], categorical_features=[0, 1])
    assert model.fit(rows, labels).score(rows, labels) == 1
    one = clone(model).set_params(n_estimators=1, max_depth=2, smoothing=1, independent_trees=9).fit(rows, labels)
    assert np.allclose(one.predict_proba([[0, 1]]), [[0.05, 0.95]])  # of 9 rows and half a row; one tree counts once


def test_no_attribute_holds_an_exact_fact_of_the_data(monkeypatch):
    """Where trees and noisy counts are the same, models of different data are equal in every attribute."""
    monkeypatch.setattr(
        "sfumato.mechanisms.additive.laplace.Laplace.release", lambda _noise, value: np.arange(np.size(value))
    )
    monkeypatch.setattr("sfumato.learn.trees.splits.uniform_below_each", lambda bounds: np.arange(len(bounds)) % bounds)
    models = [RandomForestClassifier(epsilon=1, **DECLARED).fit(HOURS[:size], LATE[:size]) for size in (3, 50, 4000)]
    for fitted in models:
        fitted.trees_ = [tree.document() for tree in fitted.trees_]
    kept = [{name: repr(value) for name, value in vars(fitted).items()} for fitted in models]
    assert kept[0] == kept[1] == kept[2]
    assert models[0].classes_.tolist() == ["early", "late"]  # though the first saw one of them alone


@pytest.mark.parametrize("rows", [0, 1])
def test_a_few_rows_give_a_model_of_noise(rows):
    """No row comes through a session alone: scikit-learn refuses empty arrays."""
    with people() as work:
        query = f"SELECT hours, job, late FROM work WHERE who = '{'0' if rows else 'nobody'}'"
        fitted = RandomForestClassifier(epsilon="0.01", n_estimators=3).fit(query, "late", session=work)
        assert np.isfinite(fitted.predict_log_proba({"hours": [0, 100], "job": ["a", "?"]})).all()


def test_the_relation_of_arrays_is_stated():
    added, replaced = (
        RandomForestClassifier(epsilon=1, neighboring_relation=relation, **DECLARED).fit(HOURS, LATE).noise_
        for relation in ("add_or_remove_one", sf.REPLACE_ONE)
    )
    assert replaced["count_stddev"] == pytest.approx(2 * added["count_stddev"], rel=1e-2)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "1e-16"}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"delta": 2}, "delta"),
        ({"bounds": None}, "bounds"),
        ({"classes": None}, "classes"),
        ({"classes": ["late"]}, "classes"),
        ({"classes": ["late", "soon"]}, "listed classes"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"max_depth": 16}, "max_depth"),
        ({"n_estimators": 10**5}, "max_depth"),
        ({"smoothing": 0}, "smoothing"),
        ({"independent_trees": "many"}, "independent_trees"),
        ({"categorical_features": [1]}, "categorical_features"),
        ({"categorical_features": 0}, "categorical_features"),
        ({"categorical_features": [0], "bounds": (0, "0.5")}, "whole bounds"),
        ({"categorical_features": [0], "bounds": (0, 1000)}, "whole bounds"),
        ({"neighboring_relation": "none"}, "neighboring_relation"),
    ],
)
def test_what_cannot_be_used_is_refused_before_rows_are_seen(arguments, wrong, monkeypatch):
    monkeypatch.setattr(ForestCounts, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ParameterError, match=wrong):
        RandomForestClassifier(**({"epsilon": 1} | DECLARED | arguments)).fit(HOURS, LATE)


def test_nan_is_refused_before_rows_are_seen(monkeypatch):
    monkeypatch.setattr(ForestCounts, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ValueError, match="contains"):
        RandomForestClassifier(epsilon=1, **DECLARED).fit(np.where(HOURS == 3, np.nan, HOURS), LATE)


def people(**changes):
    places = range(3000)
    data = pa.table(
        {
            "hours": [float(place % 100) for place in places],
            "job": ["abc"[place % 3] for place in places],
            "late": ["yes" if place % 3 == 1 else "no" for place in places],
            "who": [str(place // 3) for place in places],
        }
    )
    columns = {
        "hours": sf.real(0, 100), "job": sf.text(values=["a", "b", "c"]), "late": sf.text(values=["no", "yes"]),
        "who": sf.text(),
    }  # fmt: skip
    return sf.open(data, **({"name": "work", "columns": columns, "budget": sf.PureDP(4)} | changes))


def test_a_session_is_charged_once_for_one_model():
    """A category that stands between two others is told from both, whatever the order of the list."""
    with people() as work:
        asked = ("SELECT hours, job, late FROM work", "late")
        model = RandomForestClassifier(epsilon=3).fit(*asked, session=work)
        again = RandomForestClassifier(epsilon=3, smoothing=3).fit(work.training_set(asked[0], target="late"))
        assert (model.class_prior_ == again.class_prior_).all()  # how noisy counts are read is no new fit
        assert (model.leaf_proba_ != again.leaf_proba_).any()
        assert work.spent == PureDP(3)
        assert model.predict({"hours": [10, 10, 90], "job": ["a", "b", "b"]}).tolist() == ["no", "yes", "yes"]
        assert model.predict({"hours": [10], "job": ["unheard of"]}).shape == (1,)
        with pytest.raises(ParameterError, match="missing number"):
            model.predict({"hours": [None], "job": ["a"]})
        with pytest.raises(BudgetExceededError):
            RandomForestClassifier(epsilon=5).fit(*asked, session=work)
        assert work.spent == PureDP(3)


def test_a_session_bounds_the_rows_of_a_unit_and_prices_them_together():
    noise = []
    for most in (1, 3):
        with people(unit="who", limits=sf.Limits(max_rows_per_unit=most)) as work:
            model = RandomForestClassifier(epsilon=1, n_estimators=4)
            noise.append(model.fit("SELECT hours, late FROM work", "late", session=work).noise_["count_stddev"])
    assert noise[1] == pytest.approx(3 * noise[0], rel=0.01)
