"""Naive Bayes: scikit-learn's conventions, the owner's declarations alone, and sessions."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import sfumato as sf
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.learn import CategoricalNB, GaussianNB
from sfumato.learn.bayes.naive import NaiveBayes
from sfumato.learn.bayes.tallies import ClassTallies
from sfumato.privacy.guarantees import ApproxDP, PureDP

SURE = 10**6
HOURS = np.tile(np.arange(100.0), 40).reshape(-1, 1)
LATE = np.where(HOURS[:, 0] >= 50, "late", "early")
DECLARED = {"bounds": (0, 100), "classes": ["late", "early"]}
MODELS = pytest.mark.parametrize("model", [GaussianNB, CategoricalNB])
IMPOSSIBLE = {
    "check_classifier_data_not_an_array": "the class that lists the labels for the checks reads them by NumPy",
}
"""Checks of scikit-learn that do not pass, with the reason."""


class ListsForChecks:
    """Takes the labels of each check for declared, as the checks cannot list them: for tests alone."""

    def _array_target(self, y):
        declared = clone(self)
        labels = [0, 1] if y is None else np.unique(y)
        declared.classes = labels if 2 <= len(labels) <= 20 else [0, 1]
        return NaiveBayes._array_target(declared, y)


class GaussianForChecks(ListsForChecks, GaussianNB):
    """Gaussian naive Bayes for the checks."""


class CategoricalForChecks(ListsForChecks, CategoricalNB):
    """Categorical naive Bayes for the checks."""


@pytest.mark.parametrize("model", [GaussianForChecks, CategoricalForChecks])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_checks_of_scikit_learn(model):
    """With so much ε that noise is negligible: a noisy model need not be exact, nor the same twice."""
    results = check_estimator(model(epsilon=SURE, bounds=(-10, 10)), on_fail=None, expected_failed_checks=IMPOSSIBLE)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed == set()
    assert len(results) > 40


@MODELS
@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_it_learns_from_arrays_and_says_what_it_cost(model, delta):
    assert issubclass(model, NaiveBayes)
    fitted = model(epsilon=1, delta=delta, **DECLARED).fit(HOURS, LATE)
    assert fitted.score(HOURS, LATE) > 0.9
    assert fitted.noise_["method"] == "laplace"  # of so few numbers it has less noise, whatever δ is
    assert (fitted.guarantee_, len(fitted.event_.events)) == (PureDP(1), 2)
    assert fitted.classes_.tolist() == ["early", "late"]
    assert np.abs(fitted.class_prior_ - 0.5).max() < 0.1
    probabilities = fitted.predict_proba(HOURS)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.allclose(np.exp(fitted.predict_log_proba(HOURS)), probabilities)
    copy = pickle.loads(pickle.dumps(fitted))  # noqa: S301 # made in the line itself
    assert (copy.predict_proba(HOURS) == probabilities).all()


@MODELS
def test_many_columns_with_delta_have_gaussian_noise(model):
    rows = np.repeat(HOURS, 30, axis=1)
    fitted = model(epsilon=1, delta="1e-6", **DECLARED).fit(rows, LATE)
    assert (fitted.noise_["method"], fitted.guarantee_) == ("gaussian", ApproxDP(1, "1e-6"))
    assert fitted.score(rows, LATE) > 0.9


@MODELS
def test_no_attribute_holds_an_exact_fact_of_the_data(model):
    """Where all noisy numbers are the same, models of different data are equal in every attribute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "sfumato.mechanisms.additive.laplace.Laplace.release", lambda _noise, value: np.arange(np.size(value))
        )
        models = [model(epsilon=1, **DECLARED).fit(HOURS[:size], LATE[:size]) for size in (3, 50, 4000)]
        kept = [{name: repr(value) for name, value in vars(fitted).items()} for fitted in models]
        assert kept[0] == kept[1] == kept[2]
        assert models[0].classes_.tolist() == ["early", "late"]  # though the first saw one of them alone


@MODELS
@pytest.mark.parametrize("rows", [0, 1])
def test_a_few_rows_give_a_model_of_noise(model, rows):
    """No row comes through a session alone: scikit-learn refuses empty arrays."""
    with people() as work:
        column = "job" if model is CategoricalNB else "hours"
        query = f"SELECT {column}, late FROM work WHERE who = '{'0' if rows else 'nobody'}'"
        fitted = model(epsilon="0.01").fit(query, "late", session=work)
        assert np.isfinite(fitted.predict_log_proba({"hours": [0, 100], "job": ["a", "?"]})).all()


@MODELS
def test_the_relation_of_arrays_is_stated(model):
    added, replaced = (
        model(epsilon=1, neighboring_relation=relation, **DECLARED).fit(HOURS, LATE).noise_
        for relation in ("add_or_remove_one", sf.REPLACE_ONE)
    )
    assert replaced["count_stddev"] == pytest.approx(2 * added["count_stddev"], rel=1e-2)
    assert replaced["sum_stddevs"] == pytest.approx([2 * one for one in added["sum_stddevs"]], rel=0.1)


@MODELS
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
        ({"bounds": None, "norm": -1}, "norm"),
        ({"neighboring_relation": "none"}, "neighboring_relation"),
    ],
)
def test_what_cannot_be_used_is_refused_before_rows_are_seen(model, arguments, wrong, monkeypatch):
    monkeypatch.setattr(ClassTallies, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ParameterError, match=wrong):
        model(**({"epsilon": 1} | DECLARED | arguments)).fit(HOURS, LATE)
    with pytest.raises(ValueError, match="contains"):
        model(epsilon=1, **DECLARED).fit(np.where(HOURS == 3, np.nan, HOURS), LATE)


def people(**changes):
    places = range(3000)
    data = pa.table(
        {
            "hours": [float(place % 100) for place in places],
            "job": ["abc"[place % 100 // 34] for place in places],
            "late": ["yes" if place % 100 >= 50 else "no" for place in places],
            "who": [str(place // 3) for place in places],
        }
    )
    columns = {
        "hours": sf.real(0, 100), "job": sf.text(values=["a", "b", "c"]), "late": sf.text(values=["no", "yes"]),
        "who": sf.text(),
    }  # fmt: skip
    return sf.open(data, **({"name": "work", "columns": columns, "budget": sf.PureDP(4)} | changes))


def test_a_session_is_charged_once_for_one_model():
    with people() as work:
        asked = ("SELECT hours, job, late FROM work", "late")
        model = CategoricalNB(epsilon=1).fit(*asked, session=work)
        again = CategoricalNB(epsilon=1, alpha=2).fit(work.training_set(asked[0], target="late"))
        assert (model.class_prior_ == again.class_prior_).all()  # what is added to counts is no new fit
        assert work.spent == PureDP(1)
        rows = {"hours": [10, 90, 10], "job": ["a", "c", "unheard of"]}
        assert model.predict(rows).tolist() == ["no", "yes", "no"]
        numbers = GaussianNB(epsilon=1).fit("SELECT hours, late FROM work", "late", session=work)
        assert numbers.predict({"hours": [10, 90]}).tolist() == ["no", "yes"]
        assert work.spent == PureDP(2)
        with pytest.raises(ParameterError, match="CategoricalNB"):
            GaussianNB(epsilon=1).fit(*asked, session=work)
        with pytest.raises(BudgetExceededError):
            CategoricalNB(epsilon=5).fit(*asked, session=work)
        assert work.spent == PureDP(2)


@MODELS
def test_a_session_bounds_the_rows_of_a_unit_and_prices_them_together(model):
    noise = []
    for most in (1, 3):
        with people(unit="who", limits=sf.Limits(max_rows_per_unit=most)) as work:
            noise.append(model(epsilon=1).fit("SELECT hours, late FROM work", "late", session=work).noise_)
    assert noise[1]["sum_stddevs"] == pytest.approx([3 * one for one in noise[0]["sum_stddevs"]], rel=0.1)
