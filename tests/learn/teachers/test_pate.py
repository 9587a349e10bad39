"""`PATEClassifier`: what it learns, what it costs, and scikit-learn's conventions."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import sfumato as sf
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.learn import PATEClassifier
from sfumato.learn.teachers.labels import LabelFit
from sfumato.learn.teachers.votes import Teachers
from sfumato.privacy.guarantees import ApproxDP
from sfumato.privacy.secret import Secret

HOURS = np.arange(2_000).reshape(-1, 1) % 100
LATE = np.where(HOURS[:, 0] < 50, "early", "late")
PUBLIC = np.arange(5, 100, 10).reshape(-1, 1)
MODEL = PATEClassifier(
    epsilon=2, delta="1e-6", bounds=(0, 100), classes=["early", "late"], public=PUBLIC, n_teachers=60
)
IMPOSSIBLE = {
    "check_classifier_data_not_an_array": "the class that lists the labels for the checks reads them by NumPy",
    **dict.fromkeys(
        ("check_fit_score_takes_y", "check_fit_idempotent", "check_supervised_y_2d"), "units are drawn anew in each fit"
    ),
}
"""Checks of scikit-learn that may not pass, with the reason."""


class ListsForVotes(PATEClassifier):
    """Takes the labels of each check for declared, and a grid for public rows, of any width: for tests alone."""

    def _array_target(self, y):
        declared = clone(self)
        labels = [0, 1] if y is None else np.unique(y)
        declared.classes = labels if 2 <= len(labels) <= 20 else [0, 1]
        return PATEClassifier._array_target(declared, y)

    def _public_codes(self, columns):
        return np.random.default_rng(0).integers(2800, 5400, size=(150, len(columns))).astype(np.int32)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_checks_of_scikit_learn():
    """With so much ε that noise is negligible, and one teacher."""
    model = ListsForVotes(
        student=KNeighborsClassifier(3), epsilon=10**4, delta="1e-3", bounds=(-10, 10), n_teachers=1, threshold=0
    )
    results = check_estimator(model, on_fail=None, expected_failed_checks=IMPOSSIBLE)
    assert {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"} == {}
    assert len(results) > 40


def test_it_learns_from_arrays_and_says_what_it_cost():
    model = clone(MODEL).set_params(epsilon=8).fit(HOURS, LATE)
    assert model.score(HOURS, LATE) > 0.8  # of ten labels, three of a class would have to be missing
    assert model.guarantee_ == ApproxDP(8, "1e-6")
    assert len(model.labels_) == len(model.answered_) <= 10
    assert model.noise_["threshold"] == 24
    assert model.noise_["check_stddev"] > 2 * model.noise_["count_stddev"]
    assert model.predict_proba([[10]]).sum() == pytest.approx(1)
    assert (pickle.loads(pickle.dumps(model)).predict(HOURS) == model.predict(HOURS)).all()  # noqa: S301 # it is ours


@pytest.mark.statistical
def test_it_learns_digits_far_better_than_the_largest_class():
    pixels, digits = load_digits(return_X_y=True)
    model = PATEClassifier(
        epsilon=8, delta="1e-5", bounds=(0, 16), classes=range(10), public=pixels[1200:1400], n_teachers=60,
        max_labels=100,
    ).fit(pixels[:1200], digits[:1200])  # fmt: skip
    assert model.score(pixels[1400:], digits[1400:]) > 0.5  # 0.1 by the largest class
    assert set(model.classes_) == set(range(10))


def test_units_of_several_rows_go_to_one_teacher_at_no_cost(monkeypatch):
    seen = []
    monkeypatch.setattr(Teachers, "vote", lambda _, codes, __: seen.append(set(codes[:, 0])) or np.zeros(10, int))
    people = [f"person {place // 40}" for place in range(2_000)]
    ages = np.repeat(np.arange(50), 40).reshape(-1, 1)
    model = clone(MODEL).fit(ages, LATE, units=people)
    assert sum(map(len, seen[1:])) == 50  # the first is a trial on public rows
    assert model.guarantee_ == ApproxDP(2, "1e-6")
    assert model.event_ == clone(MODEL).fit(HOURS, LATE).event_
    for wrong in (people[:5], 3, [object()] * 2_000):
        with pytest.raises(ParameterError, match="units"):
            clone(MODEL).fit(ages, LATE, units=wrong)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"epsilon": None}, "epsilon"), ({"delta": 0}, "delta"), ({"public": None}, "public"),
        ({"public": [[1, 2]]}, "public"), ({"public": [["a"]]}, "could not convert"), ({"public": [[np.nan]]}, "NaN"),
        ({"public": {"x0": []}}, "public"), ({"public": {"x1": [1]}}, "x0"), ({"classes": ["late"]}, "classes"),
        ({"n_teachers": 0}, "n_teachers"), ({"n_teachers": 10**9}, "n_teachers"), ({"max_labels": 0}, "max_labels"),
        ({"threshold": 2}, "threshold"), ({"check_share": 0}, "check_share"), ({"check_share": 1}, "check_share"),
        ({"teacher": "tree"}, "teacher"), ({"student": DecisionTreeClassifier}, "student"),
        ({"bounds": None}, "bounds"), ({"teacher": Perceptron(eta0=-1)}, "made-up labels"),
        ({"neighboring_relation": "near"}, "neighboring_relation"),
    ],
    ids=range(20),
)  # fmt: skip
def test_what_cannot_be_used_is_refused_before_rows_are_seen(change, wrong, monkeypatch):
    monkeypatch.setattr(LabelFit, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ValueError, match=wrong):
        clone(MODEL).set_params(**change).fit(HOURS, LATE)


def test_without_two_different_labels_there_is_no_student():
    nobody = clone(MODEL).set_params(threshold=1, n_teachers=5_000).fit(HOURS[:10], LATE[:10])
    assert nobody.student_ is None or len(nobody.labels_) > 1
    alone = clone(MODEL).set_params(max_labels=1).fit(HOURS, LATE)
    assert alone.student_ is None
    assert len(set(alone.predict(HOURS))) == 1
    assert alone.predict_proba(HOURS).max() == 1


def test_any_classifier_may_teach_and_learn():
    model = clone(MODEL).set_params(
        teacher=DecisionTreeClassifier(max_depth=1), student=LogisticRegression(), epsilon=8, threshold=0
    ).fit(HOURS, LATE)  # fmt: skip
    assert model.score(HOURS, LATE) > 0.8
    assert hasattr(model, "predict_proba")
    assert not hasattr(clone(MODEL).set_params(student=Perceptron()), "predict_proba")


def test_the_owners_epsilon_is_secret_and_no_attribute():
    model = clone(MODEL).set_params(epsilon=5, check_share="0.01")
    found = model.owners_epsilon(HOURS, LATE)
    assert isinstance(found, Secret)
    assert 0 < found.open_for_noise() < 7
    assert not hasattr(model, "guarantee_")
    model.fit(HOURS, LATE)
    assert model.guarantee_ == ApproxDP(5, "1e-6")
    assert not any(isinstance(value, Secret) for value in vars(model).values())


def test_a_session_is_charged_before_rows_are_read_and_covers_all_rows_of_a_unit():
    data = pa.table(
        {"hour": HOURS[:, 0], "part": LATE, "day": ["a", "b"] * 1000, "who": [str(n // 2) for n in range(2000)]}
    )
    columns = {
        "hour": sf.integer(0, 100), "part": sf.text(values=["early", "late"]), "day": sf.text(values=["a", "b"]),
        "who": sf.text(),
    }  # fmt: skip
    opened = {"name": "t", "columns": columns, "budget": sf.ApproxDP(4, "1e-5")}
    asked = "SELECT hour, day, part FROM t"
    public = {"hour": PUBLIC[:, 0].tolist(), "day": ["a"] * 10}
    model = PATEClassifier(epsilon=2, delta="1e-6", n_teachers=60)
    with sf.open(data, **opened) as one:
        for rows in (public, pd.DataFrame(public)[["day", "hour"]]):
            found = clone(model).set_params(public=rows).fit(asked, "part", session=one)
        assert one.spent == ApproxDP(2, "1e-6")  # the same fit is stored
        assert found.predict({"hour": [3, 90], "day": ["a", "b"]}).shape == (2,)
        assert found.receipt_ is not None
        with pytest.raises(BudgetExceededError):
            clone(model).set_params(public=public, epsilon=3).fit(asked, "part", session=one)
        with pytest.raises(ParameterError, match="units"):
            clone(model).set_params(public=public).fit(asked, "part", session=one, units=[1])
        with pytest.raises(ParameterError, match="day"):
            clone(model).set_params(public={"hour": [1]}).fit(asked, "part", session=one)
    with sf.open(data, unit="who", limits=sf.Limits(max_rows_per_unit=2), **opened) as two:
        wider = clone(model).set_params(public=public).fit(asked, "part", session=two)
        assert two.spent == ApproxDP(2, "1e-6")
        assert wider.noise_["count_stddev"] > 1.9 * found.noise_["count_stddev"]
