"""`KMeans`: scikit-learn's conventions, the owner's declarations alone, and sessions."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from sklearn import cluster
from sklearn.utils.estimator_checks import check_estimator
from tests.learn.made import secret_rows

import sfumato as sf
from sfumato.audit import audit
from sfumato.errors import ParameterError
from sfumato.learn import KMeans
from sfumato.learn.clusters.lloyd import NoisyLloyd
from sfumato.learn.linear.design import centered_design
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.training.columns import TrainingColumn

SURE = 10**12
CENTERS = np.array([[-0.6, -0.5], [0.5, -0.6], [0.1, 0.6]])
IMPOSSIBLE = {"check_clustering": "labels_ would be exact facts of rows"}
"""Checks of scikit-learn that a private model fails, and why."""


def made(rows=3000):
    generator = np.random.default_rng(0)
    return np.clip(generator.normal(CENTERS[generator.integers(0, 3, rows)], 0.1), -1, 1)


def distance(model):
    """From each true center to the nearest that was found, at most."""
    return np.sqrt(((CENTERS[:, None] - model.cluster_centers_) ** 2).sum(axis=2)).min(axis=1).max()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_checks_of_scikit_learn():
    """With so much ε that noise is 0: noisy numbers are not the same twice."""
    model = KMeans(2, epsilon=SURE, bounds=(-10, 10))
    results = check_estimator(model, on_fail=None, expected_failed_checks=IMPOSSIBLE)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(IMPOSSIBLE)
    assert len(results) > 40


def test_without_noise_it_is_that_of_scikit_learn():
    rows = made()
    start = [[-0.5, 0.0], [0.5, 0.0], [0.0, 0.5]]
    model = KMeans(3, epsilon=SURE, bounds=(-1, 1), init=start, iterations=20).fit(rows)
    peer = cluster.KMeans(3, init=np.array(start), n_init=1).fit(rows)
    assert np.allclose(model.cluster_centers_, peer.cluster_centers_, atol=0.01)
    assert (model.predict(rows) == peer.predict(rows)).mean() > 0.99
    assert model.score(rows) == pytest.approx(-peer.inertia_, rel=0.01)
    assert np.allclose(model.transform(rows), peer.transform(rows), atol=0.01)


def test_centers_are_found_without_a_start_and_in_the_units_of_columns():
    rows = made()
    model = KMeans(3, epsilon=20, bounds=(-1, 1)).fit(rows)
    assert distance(model) < 0.05
    moved = KMeans(3, epsilon=SURE, bounds=([-100, 4], [100, 6])).fit(rows * [100, 1] + [0, 5])
    same = KMeans(3, epsilon=SURE, bounds=(-1, 1)).fit(rows)
    assert np.allclose(moved.cluster_centers_, same.cluster_centers_ * [100, 1] + [0, 5], rtol=0.02)
    assert model.get_feature_names_out().tolist() == ["kmeans0", "kmeans1", "kmeans2"]


def test_quality_grows_with_epsilon():
    rows = made()
    exact = cluster.KMeans(3, n_init=3, random_state=0).fit(rows).inertia_
    ratios = [
        np.median([-KMeans(3, epsilon=epsilon, bounds=(-1, 1)).fit(rows).score(rows) for _ in range(9)]) / exact
        for epsilon in ("0.05", 1, 10)
    ]
    assert ratios[0] > ratios[1] > ratios[2]
    alone = -KMeans(1, epsilon=SURE, bounds=(-1, 1)).fit(rows).score(rows) / exact
    assert alone > 5 * ratios[1]
    assert ratios[2] < 1.05


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_it_says_what_it_cost(delta):
    rows = np.zeros((9, 20))
    model = KMeans(2, epsilon=1, delta=delta, bounds=(0, 1)).fit(rows)
    assert model.guarantee_ == (ApproxDP(1, "1e-6") if delta else PureDP(1))
    assert (model.noise_["method"], model.noise_["iterations"]) == ("gaussian" if delta else "laplace", 5)
    replaced = KMeans(2, epsilon=1, delta=delta, bounds=(0, 1), neighboring_relation="replace_one").fit(rows)
    for name in ("count_stddev", "sum_stddev"):
        assert replaced.noise_[name] == pytest.approx(2 * model.noise_[name], rel=0.01)
    assert len(model.event_.events) == 10


def test_rows_are_clamped_when_fitting_and_when_predicting():
    rows = made()
    wild = np.where(rows > 0.3, 1e9, rows)
    model = KMeans(3, epsilon=SURE, bounds=(-1, 0.3))
    first, second = (model.fit(data).cluster_centers_ for data in (wild, np.clip(rows, -1, 0.3)))
    assert first.tolist() == second.tolist()
    assert (model.transform([[1e9, -1e9]]) == model.transform([[0.3, -1]])).all()
    assert model.fit_predict(rows).tolist() == model.predict(rows).tolist()
    by_norm = KMeans(2, epsilon=SURE, norm=5).fit([[3, 4], [-3, -4]] * 20)
    assert np.allclose(np.sort(by_norm.cluster_centers_, axis=0), [[-3, -4], [3, 4]], atol=0.01)


def test_no_attribute_holds_an_exact_fact_of_the_data(monkeypatch):
    """Where all noisy numbers are the same, models of different data are equal in every attribute."""
    monkeypatch.setattr(
        "sfumato.mechanisms.additive.laplace.Laplace.release", lambda _, value: np.arange(np.size(value)) * 2**9
    )
    models = [KMeans(3, epsilon=1, bounds=(-1, 1)).fit(made(size)) for size in (1, 50, 2000)]
    kept = [{name: repr(value) for name, value in vars(model).items()} for model in models]
    assert kept[0] == kept[1] == kept[2]


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "1e-14"}, "epsilon"),
        ({"delta": 2}, "delta"),
        ({"bounds": None}, "bounds"),
        ({"n_clusters": 0}, "n_clusters"),
        ({"n_clusters": 10**400}, "n_clusters"),
        ({"iterations": 0}, "iterations"),
        ({"iterations": 101}, "iterations"),
        ({"init": [[0, 0]]}, "init"),
        ({"init": [[0, np.nan]] * 3}, "init"),
        ({"norm": -1}, "norm"),
        ({"l1_norm": 0}, "l1_norm"),
        ({"neighboring_relation": "none"}, "neighboring_relation"),
    ],
)
def test_what_cannot_be_used_is_refused_before_rows_are_seen(arguments, wrong, monkeypatch):
    monkeypatch.setattr(NoisyLloyd, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ParameterError, match=wrong):
        KMeans(**({"n_clusters": 3, "epsilon": 1, "bounds": (-1, 1)} | arguments)).fit(made(9))


def test_centers_of_too_many_numbers_are_refused(monkeypatch):
    monkeypatch.setattr(NoisyLloyd, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ParameterError, match="n_clusters"):
        KMeans(1000, epsilon=1, bounds=(0, 1)).fit(np.zeros((1, 1001)))


def test_values_that_are_no_numbers_are_refused():
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="contains"):
            KMeans(2, epsilon=1, bounds=(0, 1)).fit([[wrong, 0.5]])


def test_a_session_is_charged_once_for_all_rows_of_a_unit():
    table = {
        "hours": [float(place % 2 * 60 + 20) for place in range(3000)],
        "job": ["ab"[place % 2] for place in range(3000)], "who": [str(place // 3) for place in range(3000)],
    }  # fmt: skip
    columns = {"hours": sf.real(0, 100), "job": sf.text(values=["a", "b"]), "who": sf.text()}
    limits = sf.Limits(max_rows_per_unit=3)
    with sf.open(pa.table(table), name="work", columns=columns, budget=sf.PureDP(4), unit="who", limits=limits) as work:
        asked = "SELECT hours, job FROM work"
        model, again = (KMeans(2, epsilon=4).fit(asked, session=work) for _ in range(2))
        assert (model.cluster_centers_ == again.cluster_centers_).all()
        assert work.spent == PureDP(4)
        assert (
            model.noise_["count_stddev"]
            > 2.9 * KMeans(2, epsilon=4, bounds=(0, 1)).fit([[0] * 2]).noise_["count_stddev"]
        )
        labels = model.predict({"hours": [20, 80, 1000], "job": ["a", "b", "b"]})
        assert labels[0] != labels[1] == labels[2]
        with pytest.raises(ParameterError, match="init"):
            KMeans(2, epsilon=1, init=[[0, 0], [1, 1], [2, 2]]).fit(asked, session=work)


@pytest.mark.statistical
def test_an_audit_does_not_refute_the_claim_but_that_of_less_noise():
    """A unit of 40 rows is replaced by another."""
    column = TrainingColumn(name="x", lower=Fraction(-1), upper=Fraction(1))
    design = centered_design([column], norm=None, l1_norm=None, is_of_columns=False)

    def refuted(epsilon):
        fit = NoisyLloyd(design=design, start=((0,),), iterations=1, moved_rows=80, charge=PureDP(epsilon))

        def center(records):
            return float(fit.release(secret_rows([(code, 0) for code in records]))["centers"][0][0])

        return audit(center, [([0] * 40, [4096] * 40)], epsilon="0.5", delta=0, samples=100).is_refuted

    assert not refuted("0.5")
    assert refuted(60)
