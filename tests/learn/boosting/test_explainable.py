"""`ExplainableBoosting`: scikit-learn's conventions, curves that add up, the owner's declarations, and sessions."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import sfumato as sf
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.learn import ExplainableBoosting
from sfumato.learn.boosting.curves import NoisyCurves
from sfumato.privacy.guarantees import ApproxDP

SURE = 10**6
HOURS = np.tile(np.arange(100.0), 40).reshape(-1, 1)
NIGHT = np.where(np.abs(HOURS[:, 0] - 50) > 25, "night", "day")
DECLARED = {"bounds": (0, 100), "classes": ["day", "night"], "delta": "1e-6", "rounds": 8}
IMPOSSIBLE = {
    "check_classifier_data_not_an_array": "the class that lists the labels for the checks reads them by NumPy",
    "check_fit_idempotent": "bins with few rows show noise and rounding, which are drawn anew",
}
"""Checks of scikit-learn that do not pass, with the reason."""


class ListsForChecks(ExplainableBoosting):
    """Takes the labels of each check for declared, as the checks cannot list them: for tests alone."""

    def _array_target(self, y):
        declared = clone(self)
        labels = [0, 1] if y is None else np.unique(y)
        declared.classes = labels if 2 <= len(labels) <= 20 else [0, 1]
        return ExplainableBoosting._array_target(declared, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_checks_of_scikit_learn():
    """With so much ε that noise is negligible, and no random cuts: a noisy model need not be the same twice."""
    model = ListsForChecks(epsilon=SURE, delta="1e-6", bounds=(-10, 10), rounds=4, bins=64, leaves=64, clip=1)
    results = check_estimator(model, on_fail=None, expected_failed_checks=IMPOSSIBLE)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed == set()
    assert len(results) > 40


def test_it_learns_what_no_line_does_and_says_what_it_cost():
    model = ExplainableBoosting(epsilon=1, **DECLARED).fit(HOURS, NIGHT)
    assert model.score(HOURS, NIGHT) > 0.9
    assert model.guarantee_ == ApproxDP(1, "1e-6")
    assert len(model.event_.events) == 9
    assert (model.receipt_, model.n_features_in_, model.classes_.tolist()) == (None, 1, ["day", "night"])
    assert (len(model.edges_[0]), model.curves_[0].shape, model.intercept_.shape) == (65, (64, 1), (1,))
    assert model.curves_[0][32] < 0 < model.curves_[0][2]
    assert (model.contributions(HOURS).sum(axis=1) + model.intercept_[0] == model.decision_function(HOURS)).all()
    assert np.allclose(model.predict_proba(HOURS)[:, 1], 1 / (1 + np.exp(-model.decision_function(HOURS))))
    codes = model.encode(HOURS[:100])
    assert (model.row_scores(codes) == np.vstack([model.row_scores(codes[[place]]) for place in range(100)])).all()
    assert (model.row_scores(codes)[:, 1] == model.decision_function(HOURS[:100])).all()
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 # made in the line itself
    assert (copy.decision_function(HOURS) == model.decision_function(HOURS)).all()


def test_three_classes():
    labels = (HOURS[:, 0] // 34).astype(int)
    model = ExplainableBoosting(epsilon=3, **(DECLARED | {"classes": range(3)})).fit(HOURS, labels)
    assert model.score(HOURS, labels) > 0.9
    assert model.curves_[0].shape == (64, 3)
    assert model.contributions(HOURS).shape == (len(HOURS), 1, 3)
    assert np.allclose(model.predict_proba(HOURS).sum(axis=1), 1)


def test_curves_are_drawn(tmp_path):
    rows = np.hstack([HOURS, 100 - HOURS])
    model = ExplainableBoosting(epsilon=1, **DECLARED).fit(rows, NIGHT)
    figure = model.plot(tmp_path / "curves.svg", title="Nights")
    drawn = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in drawn] == ["x0", "x1"]
    assert drawn[0].patches[0].get_data().values.tolist() == model.curves_[0][:, 0].tolist()
    assert (tmp_path / "curves.svg").exists()
    assert [axes.get_title(loc="left") for axes in model.plot(columns=["x1"]).axes] == ["x1"]
    for wrong in (["x2"], 3, []):
        with pytest.raises(ParameterError):
            model.plot(columns=wrong)
    with pytest.raises(ValueError, match="not fitted"):
        ExplainableBoosting(epsilon=1).plot()


def test_no_attribute_holds_an_exact_fact_of_the_data(monkeypatch):
    """Where all noisy numbers are the same, models of different data are equal in every attribute."""
    monkeypatch.setattr(
        "sfumato.mechanisms.additive.gaussian.GaussianNoise.release", lambda _, value: np.arange(np.size(value))
    )
    monkeypatch.setattr(
        "sfumato.learn.boosting.bins.uniform_below", lambda size, count: np.arange(count) * (size // count)
    )
    models = [ExplainableBoosting(epsilon=1, **DECLARED).fit(HOURS[:size], NIGHT[:size]) for size in (3, 50, 4000)]
    kept = [{name: repr(value) for name, value in vars(model).items()} for model in models]
    assert kept[0] == kept[1] == kept[2]
    assert models[0].classes_.tolist() == ["day", "night"]  # though the first saw one of them alone


def test_rows_are_clamped_when_fitting_and_when_predicting():
    rows = HOURS.copy()
    rows[rows >= 90] = 1e9
    model = ExplainableBoosting(epsilon=SURE, **DECLARED).fit(rows, NIGHT)
    assert model.predict([[1e9], [-1e9], [50]]).tolist() == ["night", "night", "day"]
    assert model.decision_function([[1e9]]) == model.decision_function([[100]])


def test_the_relation_of_arrays_is_stated():
    added, replaced = (
        ExplainableBoosting(epsilon=1, neighboring_relation=one, **DECLARED).fit(HOURS, NIGHT).noise_
        for one in ("add_or_remove_one", sf.REPLACE_ONE)
    )
    for name in ("count_stddev", "gradient_stddev"):
        assert replaced[name] == pytest.approx(2 * added[name], rel=1e-4)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"delta": 2}, "delta"),
        ({"bounds": None}, "bounds"),
        ({"classes": None}, "classes"),
        ({"classes": ["day"]}, "classes"),
        ({"classes": ["day", "noon"]}, "listed classes"),
        ({"rounds": 0}, "rounds"),
        ({"rounds": 10**6}, "rounds"),
        ({"rounds": 20_000}, "rounds"),
        ({"bins": 1}, "bins"),
        ({"bins": 2000}, "bins"),
        ({"leaves": 1}, "leaves"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"clip": 0}, "clip"),
        ({"clip": "1e-9"}, "clip"),
        ({"neighboring_relation": "none"}, "neighboring_relation"),
    ],
)
def test_what_cannot_be_used_is_refused_before_rows_are_seen(arguments, wrong, monkeypatch):
    monkeypatch.setattr(NoisyCurves, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ParameterError, match=wrong):
        ExplainableBoosting(**({"epsilon": 1} | DECLARED | arguments)).fit(HOURS, NIGHT)


def test_rows_that_are_no_numbers_are_refused():
    model = ExplainableBoosting(epsilon=1, **DECLARED)
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="contains"):
            model.fit(np.where(HOURS == 3, wrong, HOURS), NIGHT)
    with pytest.raises(ParameterError, match="as many"):
        model.fit(HOURS, NIGHT[:5])


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
        stated = {"epsilon": 1, "delta": "1e-6", "rounds": 8}
        model = ExplainableBoosting(**stated).fit(*asked, session=work)
        again = ExplainableBoosting(**stated).fit(work.training_set(asked[0], target="late"))
        assert (model.curves_[0] == again.curves_[0]).all()
        assert work.spent == ApproxDP(1, "1e-6")
        assert model.predict({"hours": [10, 90, 1000], "job": ["a", "b", "unheard of"]}).tolist() == [
            "no",
            "yes",
            "yes",
        ]
        assert model.contributions({"hours": [10], "job": ["unheard of"]})[0, 1] == 0
        assert model.edges_[1] == ["a", "b", "c"]
        with pytest.raises(BudgetExceededError):
            ExplainableBoosting(epsilon=5, delta="1e-6").fit(*asked, session=work)


def test_a_session_bounds_the_rows_of_a_unit_and_no_rows_are_a_model_of_noise():
    alone = ExplainableBoosting(epsilon=1, **DECLARED).fit(HOURS, NIGHT).noise_
    with people(unit="who", limits=sf.Limits(max_rows_per_unit=3)) as work:
        model = ExplainableBoosting(epsilon=1, delta="1e-6", rounds=8)
        model.fit("SELECT hours, late FROM work WHERE who = 'nobody'", "late", session=work)
        assert np.isfinite(model.decision_function({"hours": [0, 100]})).all()
    for name in ("count_stddev", "gradient_stddev"):
        assert model.noise_[name] == pytest.approx(3 * alone[name], rel=1e-4)
