"""`PCA`: scikit-learn's conventions, the owner's declarations alone, and sessions."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from sklearn import decomposition
from sklearn.utils.estimator_checks import check_estimator
from tests.learn.made import secret_rows

import sfumato as sf
from sfumato.audit import audit
from sfumato.errors import ParameterError
from sfumato.learn import PCA
from sfumato.learn.linear.design import centered_design
from sfumato.learn.moments import components
from sfumato.learn.moments.products import CenteredMoments, NoisyProducts
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.training.columns import TrainingColumn

SURE = 10**12
MIX = np.array([[1.0, 0.5, 0.2], [0.0, 0.4, -0.1], [0.0, 0.0, 0.1]])


def made(rows=4000):
    return np.clip(np.random.default_rng(0).normal(0, 0.25, (rows, 3)) @ MIX + [0.1, 0, -0.2], -1, 1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_checks_of_scikit_learn():
    """With so much ε that noise is 0: noisy numbers are not the same twice."""
    results = check_estimator(PCA(epsilon=SURE, bounds=(-10, 10)), on_fail=None)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []
    assert len(results) > 40


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("unit", [1, 50])
def test_without_noise_it_is_that_of_scikit_learn(scaled, unit):
    rows = made() * unit
    model = PCA(epsilon=SURE, bounds=(-unit, unit), scaled=scaled).fit(rows)
    peer = decomposition.PCA().fit(rows)
    size = unit if scaled else 1
    signs = np.sign((model.components_ * peer.components_).sum(axis=1))
    assert np.allclose(model.components_ * signs[:, None], peer.components_, atol=0.01)
    assert np.allclose(model.explained_variance_ * size**2, peer.explained_variance_, rtol=0.01)
    assert np.allclose(model.explained_variance_ratio_, peer.explained_variance_ratio_, rtol=0.01)
    assert np.allclose(model.mean_, peer.mean_, atol=1e-3 * unit)
    scores = model.transform(rows)
    assert np.allclose(scores * signs * size, peer.transform(rows), atol=0.01 * unit)
    assert np.allclose(model.inverse_transform(scores), rows, atol=1e-3 * unit)


def test_columns_keep_their_units_where_they_are_not_scaled():
    rows = made() * [1, 100, 1] + [0, 300, 0]
    bounds = ([-1, 200, -1], [1, 400, 1])
    model = PCA(2, epsilon=SURE, bounds=bounds, scaled=False).fit(rows)
    peer = decomposition.PCA(2).fit(rows)
    assert np.allclose(np.abs((model.components_ * peer.components_).sum(axis=1)), 1, atol=1e-3)
    assert np.allclose(model.explained_variance_, peer.explained_variance_, rtol=0.01)
    scaled = PCA(2, epsilon=SURE, bounds=bounds).fit(rows)
    assert abs(scaled.components_[0, 0]) > 0.8
    assert np.allclose(scaled.mean_, model.mean_)


def test_components_are_orthonormal_with_a_largest_entry_above_0():
    for epsilon in ("0.01", SURE):
        model = PCA(epsilon=epsilon, bounds=(-1, 1)).fit(made(50))
        assert np.allclose(model.components_ @ model.components_.T, np.eye(3))
        assert all(row[np.argmax(np.abs(row))] > 0 for row in model.components_)
        assert (np.diff(model.explained_variance_) <= 0).all()
        assert (model.explained_variance_ >= 0).all()
        assert model.explained_variance_ratio_.sum() == pytest.approx(1)
        assert model.get_feature_names_out().tolist() == ["pca0", "pca1", "pca2"]


@pytest.mark.parametrize("centering", ["noisy", "public"])
def test_what_is_kept_grows_with_epsilon(centering):
    """The variance along two noisy components, as a share of that along the best two."""
    rows = made()
    around = rows if centering == "public" else rows - rows.mean(axis=0)
    moments = around.T @ around / len(rows)
    best = np.linalg.eigvalsh(moments)[1:].sum()
    kept = []
    for epsilon in ("0.02", 2):
        models = [PCA(2, epsilon=epsilon, bounds=(-1, 1), centering=centering).fit(rows) for _ in range(15)]
        kept.append(np.mean([np.trace(one.components_ @ moments @ one.components_.T) for one in models]) / best)
    assert kept[0] < kept[1]
    assert kept[1] > 0.99
    assert PCA(epsilon=1, bounds=([0, 2], [2, 4]), centering="public").fit([[0, 2]]).mean_.tolist() == [1, 3]


def test_a_norm_bounds_rows_and_makes_noise_less():
    rows = made()[:, :2]
    wide, short = PCA(epsilon=1, bounds=(-1, 1)).fit(rows), PCA(epsilon=1, bounds=(-1, 1), norm="0.5").fit(rows)
    assert short.noise_["product_stddev"] < wide.noise_["product_stddev"] / 1.4
    model = PCA(epsilon=SURE, norm=5).fit([[3, 4], [-3, -4]] * 20)
    assert np.allclose(model.components_[0], [0.6, 0.8], atol=0.01)
    assert np.allclose(model.transform([[50, 50]]), model.transform([[3.5355, 3.5355]]), atol=0.01)


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_it_says_what_it_cost(delta):
    rows = np.zeros((9, 20))
    model = PCA(epsilon=1, delta=delta, bounds=(0, 1)).fit(rows)
    assert model.guarantee_ == (ApproxDP(1, "1e-6") if delta else PureDP(1))
    assert model.noise_["method"] == ("gaussian" if delta else "laplace")
    replaced = PCA(epsilon=1, delta=delta, bounds=(0, 1), neighboring_relation="replace_one").fit(rows)
    assert replaced.noise_["product_stddev"] == pytest.approx(2 * model.noise_["product_stddev"], rel=0.01)


def test_no_attribute_holds_an_exact_fact_of_the_data(monkeypatch):
    """Where all noisy numbers are the same, models of different data are equal in every attribute."""
    monkeypatch.setattr(
        "sfumato.mechanisms.additive.laplace.Laplace.release", lambda _, value: np.arange(np.size(value)) * 2**20
    )
    models = [PCA(epsilon=1, bounds=(-1, 1)).fit(made(size)) for size in (3, 50, 2000)]
    kept = [{name: repr(value) for name, value in vars(model).items()} for model in models]
    assert kept[0] == kept[1] == kept[2]


def test_where_eigenvalues_are_not_found_there_are_components(monkeypatch):
    def fails(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(components.np.linalg, "eigh", fails)
    assert PCA(2, epsilon=1, bounds=(-1, 1)).fit(made(9)).components_.tolist() == [[1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "1e-14"}, "epsilon"),
        ({"delta": 2}, "delta"),
        ({"bounds": None}, "bounds"),
        ({"n_components": 0}, "n_components"),
        ({"n_components": 4}, "n_components"),
        ({"n_components": 0.9}, "n_components"),
        ({"centering": "exact"}, "centering"),
        ({"scaled": "no"}, "scaled"),
        ({"norm": -1}, "norm"),
        ({"l1_norm": 0}, "l1_norm"),
        ({"neighboring_relation": "none"}, "neighboring_relation"),
    ],
)
def test_what_cannot_be_used_is_refused_before_rows_are_seen(arguments, wrong, monkeypatch):
    monkeypatch.setattr(NoisyProducts, "release", lambda *_: pytest.fail("rows were seen"))
    with pytest.raises(ParameterError, match=wrong):
        PCA(**({"epsilon": 1, "bounds": (-1, 1)} | arguments)).fit(made(9))


def test_values_that_are_no_numbers_are_refused():
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="contains"):
            PCA(epsilon=1, bounds=(0, 1)).fit([[wrong, 0.5]])


def test_a_session_stores_moments_of_which_other_components_follow_at_no_cost():
    table = {"hours": [float(place % 100) for place in range(3000)], "job": ["ab"[place % 2] for place in range(3000)]}
    columns = {"hours": sf.real(0, 100), "job": sf.text(values=["a", "b"])}
    with sf.open(pa.table(table), name="work", columns=columns, budget=sf.PureDP(2)) as work:
        asked = "SELECT hours, job FROM work"
        first, second = (PCA(size, epsilon=1).fit(asked, session=work) for size in (1, 3))
        assert (first.components_[0] == second.components_[0]).all()
        assert work.spent == PureDP(1)
        assert np.allclose(first.mean_, [49.5, 0.5, 0.5], atol=3)
        assert first.transform({"hours": [50, 1000], "job": ["a", "b"]}).shape == (2, 1)


@pytest.mark.statistical
def test_an_audit_does_not_refute_the_claim_but_that_of_less_noise():
    """One row is replaced by another; what is released of products is seen."""
    column = TrainingColumn(name="x", lower=Fraction(-1), upper=Fraction(1))
    design = centered_design([column], norm=None, l1_norm=None, is_of_columns=False)

    def refuted(epsilon):
        fit = NoisyProducts(design=design, with_sums=False, moved_rows=2, charge=PureDP(epsilon))

        def variance(records):
            model = fit.release(secret_rows([(code, 0) for code in records]))
            return float(CenteredMoments.of(fit, model).covariance[0, 0])

        return audit(variance, [([2048, 2048], [4096, 2048])], epsilon="0.5", delta=0, samples=100).is_refuted

    assert not refuted("0.5")
    assert refuted(60)
