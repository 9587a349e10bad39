"""`StandardScaler`: scikit-learn's conventions, the owner's declarations alone, and sessions."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from sklearn import preprocessing
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator
from tests.learn.made import secret_rows

import sfumato as sf
from sfumato.audit import audit
from sfumato.errors import ParameterError
from sfumato.learn import LogisticRegression, StandardScaler
from sfumato.learn.bayes.tallies import ClassTallies, tallies
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.training.columns import TrainingColumn

SURE = 10**12


def made(rows=2000):
    return np.clip(np.random.default_rng(0).normal([30, 0.2], [10, 0.05], (rows, 2)), [0, 0], [100, 1])


BOUNDS = ([0, 0], [100, 1])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_checks_of_scikit_learn():
    """With so much ε that noise is 0: noisy numbers are not the same twice."""
    results = check_estimator(StandardScaler(epsilon=SURE, bounds=(-10, 10)), on_fail=None)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []
    assert len(results) > 40


@pytest.mark.parametrize("arguments", [{}, {"with_mean": False}, {"with_std": False}])
def test_without_noise_it_is_the_scaler_of_scikit_learn(arguments):
    rows = made()
    scaler = StandardScaler(epsilon=SURE, bounds=BOUNDS, **arguments).fit(rows)
    peer = preprocessing.StandardScaler(**arguments).fit(rows)
    assert np.allclose(scaler.mean_, [rows[:, 0].mean(), rows[:, 1].mean()], rtol=1e-3)
    assert np.allclose(scaler.var_, rows.var(axis=0), rtol=1e-2)
    assert (scaler.scale_ is None) == (peer.scale_ is None)
    scores = scaler.transform(rows)
    assert np.allclose(scores, peer.transform(rows), atol=0.1)
    assert np.allclose(scaler.inverse_transform(scores), rows, atol=0.02)
    assert scaler.get_feature_names_out(["age", "share"]).tolist() == ["age", "share"]


def test_errors_shrink_as_epsilon_grows_and_noise_is_as_stated():
    rows = made()
    errors = []
    for epsilon in ("0.1", 1, 10):
        scalers = [StandardScaler(epsilon=epsilon, bounds=BOUNDS).fit(rows) for _ in range(15)]
        errors.append(np.mean([abs(one.mean_[0] - rows[:, 0].mean()) for one in scalers]))
        assert errors[-1] < 3 * scalers[0].noise_["sum_stddevs"][0] / len(rows) * 50
        assert all((one.scale_ > 0).all() for one in scalers)
    assert errors[0] > 3 * errors[1] > 9 * errors[2]


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_it_says_what_it_cost(delta):
    scaler = StandardScaler(epsilon=1, delta=delta, bounds=(0, 1)).fit(np.zeros((9, 40)))
    assert scaler.guarantee_ == (ApproxDP(1, "1e-6") if delta else PureDP(1))
    assert scaler.noise_["method"] == ("gaussian" if delta else "laplace")
    replaced = StandardScaler(epsilon=1, delta=delta, bounds=(0, 1), neighboring_relation="replace_one")
    replaced = replaced.fit(np.zeros((9, 40)))
    assert replaced.noise_["sum_stddevs"][0] == pytest.approx(2 * scaler.noise_["sum_stddevs"][0], rel=0.01)


def test_rows_are_clamped_when_fitting_and_when_transforming():
    rows = made()
    wild = np.where(rows > 35, 1e9, rows)
    scaler = StandardScaler(epsilon=SURE, bounds=([0, 0], [35, 1]))
    first, second = (scaler.fit(data).mean_ for data in (wild, np.clip(wild, 0, [35, 1])))
    assert first.tolist() == second.tolist()
    assert (scaler.transform([[1e9, -1e9]]) == scaler.transform([[35, 0]])).all()


def test_a_scale_is_never_0_and_has_a_public_floor():
    rows = np.full((1000, 1), 5.0)
    for share, smallest in ((None, 0.01), ("0.2", 2.0)):
        scaler = StandardScaler(epsilon=SURE, bounds=(0, 10), min_stddev=share).fit(rows)
        assert scaler.scale_[0] == pytest.approx(smallest)
    for _ in range(20):
        noisy = StandardScaler(epsilon="0.001", bounds=(0, 10)).fit(rows[:2])
        assert 0 < noisy.scale_[0] <= 5
        assert 0 <= noisy.mean_[0] <= 10


def test_no_attribute_holds_an_exact_fact_of_the_data(monkeypatch):
    """Where all noisy numbers are the same, scalers of different data are equal in every attribute."""
    monkeypatch.setattr(
        "sfumato.mechanisms.additive.laplace.Laplace.release", lambda _, value: np.arange(np.size(value)) + 9
    )
    scalers = [StandardScaler(epsilon=1, bounds=BOUNDS).fit(made(size)) for size in (3, 50, 2000)]
    kept = [{name: repr(value) for name, value in vars(scaler).items()} for scaler in scalers]
    assert kept[0] == kept[1] == kept[2]


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "1e-14"}, "epsilon"),
        ({"delta": 2}, "delta"),
        ({"bounds": None}, "bounds"),
        ({"min_stddev": 0}, "min_stddev"),
        ({"min_stddev": 2}, "min_stddev"),
        ({"with_mean": "no"}, "with_mean"),
        ({"with_std": 3}, "with_std"),
        ({"neighboring_relation": "none"}, "neighboring_relation"),
    ],
)
def test_what_cannot_be_used_is_refused_before_rows_are_seen(arguments, wrong, monkeypatch):
    monkeypatch.setattr(ClassTallies, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ParameterError, match=wrong):
        StandardScaler(**({"epsilon": 1, "bounds": BOUNDS} | arguments)).fit(made(9))


def test_values_that_are_no_numbers_are_refused():
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="contains"):
            StandardScaler(epsilon=1, bounds=BOUNDS).fit([[wrong, 0.5]])


def test_it_prepares_rows_for_another_model():
    rows = made()
    model = make_pipeline(
        StandardScaler(epsilon=5, bounds=BOUNDS), LogisticRegression(epsilon=5, bounds=(-3, 3), classes=[False, True])
    )
    labels = rows[:, 0] > 30
    assert model.fit(rows, labels).score(rows, labels) > 0.9


def test_a_session_is_charged_and_stores_it():
    table = {"hours": [float(place % 100) for place in range(3000)], "job": ["ab"[place % 2] for place in range(3000)]}
    columns = {"hours": sf.real(0, 100), "job": sf.text(values=["a", "b"])}
    with sf.open(pa.table(table), name="work", columns=columns, budget=sf.PureDP(2)) as work:
        scaler, again = (StandardScaler(epsilon=1).fit("SELECT hours FROM work", session=work) for _ in range(2))
        assert scaler.mean_ == again.mean_ == pytest.approx(49.5, abs=2)
        assert work.spent == PureDP(1)
        assert scaler.receipt_ is not None
        assert scaler.transform({"hours": [50, 1000]}).shape == (2, 1)
        with pytest.raises(ParameterError, match="categories"):
            StandardScaler(epsilon=1).fit("SELECT hours, job FROM work", session=work)


@pytest.mark.statistical
def test_an_audit_does_not_refute_the_claim_but_that_of_less_noise():
    """One row is replaced by another; a mean is seen."""
    column = TrainingColumn(name="x", lower=Fraction(0), upper=Fraction(1))

    def refuted(epsilon):
        fit = tallies((column,), kind="moments", classes=1, moved_rows=2, total=PureDP(epsilon))
        scaler = StandardScaler()

        def mean(records):
            scaler._adopt(fit, fit.release(secret_rows([(code, 0) for code in records])))
            return float(scaler.mean_[0])

        return audit(mean, [([0, 4096], [4096, 4096])], epsilon="0.5", delta=0, samples=100).is_refuted

    assert not refuted("0.5")
    assert refuted(60)
