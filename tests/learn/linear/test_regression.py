"""`LinearRegression` and `Ridge`: scikit-learn's conventions, the owner's declarations alone, and sessions."""

import pickle
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from sklearn import linear_model
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator
from tests.learn.made import secret_rows

import sfumato as sf
from sfumato.audit import audit
from sfumato.errors import BudgetExceededError, ParameterError
from sfumato.learn import LinearRegression, Ridge
from sfumato.learn.linear.design import design_of
from sfumato.learn.linear.least_squares import NoisySums
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.training.columns import TrainingColumn

SURE = 10**12
HOURS = np.tile(np.arange(101.0), 40).reshape(-1, 1)
PAY = 3 * HOURS[:, 0] + 20
DECLARED = {"bounds": (0, 100), "target_bounds": (0, 400)}


class BoundsForChecks(LinearRegression):
    """Takes the bounds of each check's target for declared, as the checks cannot state them: for tests alone."""

    def _array_target(self, y):
        declared = clone(self)
        numbers = np.asarray(y)
        is_usual = numbers.dtype.kind in "iuf" and numbers.size and np.isfinite(numbers).all()
        declared.target_bounds = (float(numbers.min()) - 1, float(numbers.max()) + 1) if is_usual else (0, 1)
        return LinearRegression._array_target(declared, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_checks_of_scikit_learn():
    """With so much ε that noise is 0: a noisy model need not be exact, nor the same twice."""
    results = check_estimator(BoundsForChecks(epsilon=SURE, bounds=(-10, 10)), on_fail=None)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []
    assert len(results) > 40


@pytest.mark.parametrize("kind", [LinearRegression, Ridge])
@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_it_learns_from_arrays_and_says_what_it_cost(kind, delta):
    model = kind(epsilon=1, delta=delta, **DECLARED).fit(HOURS, PAY)
    assert model.score(HOURS, PAY) > 0.8
    assert model.guarantee_ in (PureDP(1), ApproxDP(1, delta))
    assert (model.receipt_, model.n_features_in_) == (None, 1)
    by_hand = np.clip(HOURS @ model.coef_ + model.intercept_, 0, 400)
    assert np.allclose(model.predict(HOURS), by_hand, atol=0.1)


def test_gaussian_noise_is_taken_where_it_is_narrower():
    rows = np.zeros((4, 12))
    model = LinearRegression(epsilon=1, delta="1e-6", bounds=(0, 1), target_bounds=(0, 1)).fit(rows, [0, 1, 0, 1])
    assert (model.noise_["method"], model.guarantee_) == ("gaussian", ApproxDP(1, "1e-6"))
    model = LinearRegression(epsilon=1, delta="1e-6", **DECLARED).fit(HOURS, PAY)
    assert (model.noise_["method"], model.guarantee_) == ("laplace", PureDP(1))


@pytest.mark.parametrize("intercept", [True, False])
def test_without_noise_it_is_the_line_of_scikit_learn(intercept):
    generator = np.random.default_rng(0)
    rows = generator.integers(-40, 41, size=(300, 3)) / 40
    target = rows @ [1, -2, 0.5] + generator.normal(size=300)
    declared = {"bounds": (-1, 1), "target_bounds": (-10, 8), "fit_intercept": intercept}
    model = LinearRegression(epsilon=SURE, **declared).fit(rows, target)
    peer = linear_model.LinearRegression(fit_intercept=intercept).fit(rows, target)
    assert np.allclose(model.coef_, peer.coef_, atol=2e-3)
    assert model.intercept_ == pytest.approx(peer.intercept_, abs=2e-3)
    ridge = Ridge(epsilon=SURE, alpha=50, **declared).fit(rows, target)
    peer = linear_model.Ridge(alpha=50, fit_intercept=intercept).fit(rows, target)
    assert np.allclose(ridge.coef_, peer.coef_, atol=2e-3)
    assert ridge.intercept_ == pytest.approx(peer.intercept_, abs=2e-3)


def test_no_attribute_holds_an_exact_fact_of_the_data(monkeypatch):
    """Where all noisy numbers are the same, models of different data are equal in every attribute."""
    for path in ("gaussian.Gaussian", "laplace.Laplace"):
        monkeypatch.setattr(f"sfumato.mechanisms.additive.{path}.release", lambda _, value: np.arange(np.size(value)))
    models = [LinearRegression(epsilon=1, **DECLARED).fit(HOURS[:size], PAY[:size]) for size in (3, 50, 4000)]
    kept = [{name: repr(value) for name, value in vars(model).items()} for model in models]
    assert kept[0] == kept[1] == kept[2]


def test_rows_and_targets_are_clamped_when_fitting_and_when_predicting():
    model = LinearRegression(epsilon=SURE, **DECLARED)
    wild_rows, wild_pay = HOURS.copy(), PAY.copy()
    wild_rows[wild_rows == 100] = 1e9
    wild_pay[PAY == 20] = -1e9
    tame_pay = np.where(PAY == 20, 0, PAY)
    wild, tame = clone(model).fit(wild_rows, wild_pay), clone(model).fit(HOURS, tame_pay)
    assert wild.coef_.tolist() == tame.coef_.tolist()
    assert wild.predict([[1e9]]) == wild.predict([[100]])
    assert wild.predict([[-1e9]]) == wild.predict([[0]])
    steep = LinearRegression(epsilon=SURE, bounds=(0, 100), target_bounds=(0, 30)).fit(HOURS, 10 * HOURS[:, 0])
    assert steep.predict(HOURS).max() == 30
    assert steep.predict(HOURS).min() >= 0


def test_a_norm_bounds_rows_and_scales_them_down():
    model = LinearRegression(epsilon=SURE, norm=5, target_bounds=(-1, 1)).fit([[3, 4], [-3, -4]] * 20, [1, -1] * 20)
    assert np.allclose(model.predict([[30, 40]]), model.predict([[3, 4]]), atol=0.01)


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_the_relation_of_arrays_is_stated(delta):
    added, replaced = (
        LinearRegression(epsilon=1, delta=delta, neighboring_relation=one, **DECLARED).fit(HOURS, PAY)
        for one in ("add_or_remove_one", sf.REPLACE_ONE)
    )
    assert replaced.noise_["sum_stddev"] == pytest.approx(2 * added.noise_["sum_stddev"], rel=1e-4)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "1e-14"}, "epsilon"),
        ({"delta": 2}, "delta"),
        ({"bounds": None}, "bounds"),
        ({"target_bounds": None}, "target_bounds"),
        ({"target_bounds": (1, 0)}, "target_bounds"),
        ({"target_bounds": (1,)}, "target_bounds"),
        ({"alpha": -1}, "alpha"),
        ({"norm": -1}, "norm"),
        ({"l1_norm": 0}, "norm"),
        ({"fit_intercept": "no"}, "fit_intercept"),
        ({"neighboring_relation": "none"}, "neighboring_relation"),
    ],
)
def test_what_cannot_be_used_is_refused_before_rows_are_seen(arguments, wrong, monkeypatch):
    monkeypatch.setattr(NoisySums, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ParameterError, match=wrong):
        Ridge(**({"epsilon": 1} | DECLARED | arguments)).fit(HOURS, PAY)


def test_values_that_are_no_numbers_are_refused():
    model = LinearRegression(epsilon=1, **DECLARED)
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="contains"):
            model.fit(np.where(HOURS == 3, wrong, HOURS), PAY)
        with pytest.raises(ValueError, match="contains"):
            model.fit(HOURS, np.where(PAY == 20, wrong, PAY))
    with pytest.raises(ParameterError, match="as many"):
        model.fit(HOURS, PAY[:5])


def test_pickles():
    model = LinearRegression(epsilon=1, **DECLARED).fit(HOURS, PAY)
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 # made in the line before
    assert (copy.predict(HOURS) == model.predict(HOURS)).all()
    assert copy.event_ == model.event_


def people():
    places = range(3000)
    data = pa.table(
        {
            "hours": [float(place % 100) for place in places], "job": ["ab"[place % 2] for place in places],
            "pay": [float(place % 100 * 2 + place % 2 * 50) for place in places],
            "who": [str(place // 3) for place in places],
        }
    )  # fmt: skip
    columns = {
        "hours": sf.real(0, 100), "job": sf.text(values=["a", "b"]), "pay": sf.real(0, 250), "who": sf.text(),
    }  # fmt: skip
    limits = sf.Limits(max_rows_per_unit=3)
    return sf.open(data, name="work", columns=columns, budget=sf.PureDP(4), unit="who", limits=limits)


def test_a_session_is_charged_once_for_one_model_of_all_rows_of_a_unit():
    with people() as work:
        asked = ("SELECT hours, job, pay FROM work", "pay")
        model = LinearRegression(epsilon=3).fit(*asked, session=work)
        again = LinearRegression(epsilon=3).fit(work.training_set(asked[0], target="pay"))
        assert (model.coef_ == again.coef_).all()
        assert work.spent == PureDP(3)
        assert model.coef_.shape == (3,)
        rows = {"hours": [10, 90, 1000], "job": ["a", "b", "b"]}
        predicted = model.predict(rows)
        assert predicted[0] < predicted[1] <= predicted[2] <= 250
        alone = LinearRegression(epsilon=3, bounds=(0, 1), target_bounds=(0, 1), norm=1, l1_norm=1).fit([[0, 0]], [0])
        assert model.noise_["sum_stddev"] > 3 * alone.noise_["sum_stddev"]
        rows = work.training_set(asked[0], target="pay")
        for fit in (
            lambda: LinearRegression(epsilon=1, bounds=(0, 1)).fit(rows),
            lambda: LinearRegression(epsilon=1, target_bounds=(0, 1)).fit(rows),
            lambda: LinearRegression(epsilon=1).fit("SELECT hours, job FROM work", "job", session=work),
            lambda: LinearRegression(epsilon=1).fit("SELECT hours, job FROM work", session=work),
        ):
            with pytest.raises(ParameterError):
                fit()
        with pytest.raises(BudgetExceededError):
            Ridge(epsilon=3).fit(*asked, session=work)


@pytest.mark.statistical
def test_an_audit_does_not_refute_the_claim_but_that_of_a_model_with_less_noise():
    """The worst neighbors: no row, and one row at the bounds."""
    column = TrainingColumn(name="x", lower=Fraction(0), upper=Fraction(1))
    target = TrainingColumn(name="y", lower=Fraction(-1), upper=Fraction(1))
    design = design_of([column], norm=None, l1_norm=None, intercept=False)

    def refuted(epsilon):
        fit = NoisySums(design=design, target=target, moved_rows=1, charge=PureDP(epsilon))

        def weight(records):
            return fit.release(secret_rows(np.reshape(records, (-1, 2))))["weights"][0]

        return audit(weight, [([], [4096, 4096])], epsilon="0.5", delta=0, samples=100).is_refuted

    assert not refuted("0.5")
    assert refuted(60)
