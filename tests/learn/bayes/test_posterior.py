"""`PosteriorNB`: scikit-learn's conventions, the owner's declarations alone, sessions, and what powers say."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import sfumato as sf
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.learn import CategoricalNB, PosteriorNB
from sfumato.learn.bayes.draws import PosteriorDraws
from sfumato.learn.bayes.naive import NaiveBayes
from sfumato.privacy.guarantees import PureDP

NIGHT = np.arange(3000).reshape(-1, 1) % 2
LABELS = np.where(NIGHT[:, 0] == 1, "late", "early")
DECLARED = {"bounds": (0, 1), "classes": ["late", "early"], "points": 9}
RANDOM = {
    "check_classifier_data_not_an_array": "two fits differ, and the class for the checks reads labels by NumPy",
    "check_classifiers_train": "two values a column tell too little",
    "check_fit_idempotent": "two fits differ",
    "check_classifiers_classes": "two values a column tell too little",
}


class ForChecks(PosteriorNB):
    """Takes the labels of each check for declared, as the checks cannot list them: for tests alone."""

    def _array_target(self, y):
        declared = clone(self)
        labels = [0, 1] if y is None else np.unique(y)
        declared.classes = labels if 2 <= len(labels) <= 20 else [0, 1]
        return NaiveBayes._array_target(declared, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_checks_of_scikit_learn():
    """A draw of the posterior itself still differs from fit to fit."""
    results = check_estimator(ForChecks(epsilon=10**6, bounds=(0, 1), points=3), on_fail=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed <= RANDOM.keys()
    assert len(results) > 40


def test_it_learns_from_arrays_and_says_what_it_cost():
    model = PosteriorNB(epsilon=1, **DECLARED).fit(NIGHT, LABELS)
    assert model.score(NIGHT, LABELS) == 1
    assert (model.guarantee_, model.receipt_, model.classes_.tolist()) == (PureDP(1), None, ["early", "late"])
    assert model.class_prior_.sum() == pytest.approx(1)
    assert np.allclose(np.exp(model.feature_log_prob_[0]).sum(axis=1), 1)
    assert np.allclose(model.predict_proba([[0], [1]]).sum(axis=1), 1)
    assert (model.predict_proba([[-5], [99]]) == model.predict_proba([[0], [1]])).all()


def test_powers_say_how_much_likelihoods_are_tempered():
    low = PosteriorNB(epsilon="0.1", low="0.1", **DECLARED).fit(NIGHT, LABELS)
    wide = PosteriorNB(epsilon="0.1", low="0.01", **DECLARED).fit(NIGHT, LABELS)
    assert low.noise_["powers"] == [pytest.approx(0.09 / np.log(9))]
    assert low.noise_["prior_power"] == pytest.approx(0.01 / np.log(9))
    assert wide.noise_["powers"] == [pytest.approx(0.09 / np.log(99))]
    whole = PosteriorNB(epsilon=100, low="0.1", **DECLARED).fit(NIGHT, LABELS)
    assert (whole.noise_["powers"], whole.noise_["prior_power"]) == ([1.0], 1.0)
    assert float(sum(one.epsilon for one in whole.event_.events)) == pytest.approx(2 * np.log(9))
    replaced = PosteriorNB(epsilon="0.1", low="0.1", neighboring_relation="replace_one", **DECLARED).fit(NIGHT, LABELS)
    assert replaced.noise_["powers"] == [pytest.approx(0.045 / np.log(9))]


def test_several_values_and_classes():
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 3, 4000)
    rows = (labels[:, None] + generator.integers(0, 2, (4000, 2))) % [4, 3]
    declared = {"bounds": (0, [3, 2]), "classes": range(3)}
    model = PosteriorNB(epsilon=10**6, low="0.001", points=201, **declared).fit(rows, labels)
    exact = CategoricalNB(epsilon=10**6, **declared).fit(rows, labels)
    assert np.abs(model.predict_proba(rows) - exact.predict_proba(rows)).mean() < 0.05
    assert model.class_prior_ == pytest.approx(exact.class_prior_, abs=0.05)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"bounds": (0, 1.5)}, "whole numbers"),
        ({"bounds": None}, "bounds"),
        ({"classes": None}, "classes"),
        ({"low": 0}, "low"),
        ({"low": "0.5"}, "low"),
        ({"low": 1}, "low"),
        ({"alpha": 0}, "alpha"),
        ({"points": 1}, "points"),
        ({"neighboring_relation": "none"}, "neighboring_relation"),
    ],
)
def test_what_cannot_be_used_is_refused_before_rows_are_seen(arguments, wrong, monkeypatch):
    monkeypatch.setattr(PosteriorDraws, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ParameterError, match=wrong):
        PosteriorNB(**({"epsilon": 1} | DECLARED | arguments)).fit(NIGHT, LABELS)


def test_pickles_and_has_row_scores():
    model = PosteriorNB(epsilon=1, **DECLARED).fit(NIGHT, LABELS)
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 # made in the line before
    assert (copy.predict_proba(NIGHT) == model.predict_proba(NIGHT)).all()
    codes = model.encode(NIGHT)
    assert (model.row_scores(codes[3:5]) == model.row_scores(codes)[3:5]).all()


def test_a_session_bounds_the_rows_of_a_unit_and_prices_them_together():
    places = range(1500)
    data = pa.table(
        {
            "job": ["abc"[place % 3] for place in places], "night": [place % 2 for place in places],
            "who": [str(place // 3) for place in places],
        }
    )  # fmt: skip
    columns = {"job": sf.text(values=["a", "b", "c"]), "night": sf.integer(0, 1), "who": sf.text()}
    limits = sf.Limits(max_rows_per_unit=3)
    with sf.open(data, name="work", columns=columns, budget=sf.PureDP(4), unit="who", limits=limits) as work:
        model = PosteriorNB(epsilon=3, points=9).fit("SELECT night, job FROM work", "job", session=work)
        again = PosteriorNB(epsilon=3, points=9).fit("SELECT night, job FROM work", "job", session=work)
        assert (model.class_prior_ == again.class_prior_).all()
        assert work.spent == PureDP(3)
        alone = PosteriorNB(epsilon=3, bounds=(0, 1), classes=range(3), points=9).fit([[0]], [0])
        assert alone.noise_["powers"] == [pytest.approx(3 * model.noise_["powers"][0])]
        with pytest.raises(BudgetExceededError):
            PosteriorNB(epsilon=2).fit("SELECT night, job FROM work", "job", session=work)
