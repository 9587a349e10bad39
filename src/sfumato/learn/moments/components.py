"""`PCA`: the directions in which rows vary most, from noisy moments."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sfumato.errors import ParameterError
from sfumato.learn.core.bounds import Bounds
from sfumato.learn.core.estimators import PrivateEstimator
from sfumato.learn.core.inputs import TrainingData, moved_rows
from sfumato.learn.linear.design import UNIT, Matrix, centered_design, middles
from sfumato.learn.moments.products import CenteredMoments, NoisyProducts, products_of
from sfumato.numeric.arguments import floats, one_of
from sfumato.numeric.rationals import Number, flag, positive_integer
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.asking.training_set import TrainingSet


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Principal component analysis under differential privacy: eigenvectors of a noisy covariance matrix.

    Numbers are measured from the middle of their bounds in halves of the distance of these, and a category has a 0/1
    feature for each value. The fit releases the number of rows, the sums of all products of two features, and the sums
    of features, with noise: a twentieth of the budget is for the number, and three for sums. With δ above 0 there is
    discrete Gaussian noise where that is less than discrete Laplace noise at ε alone, else the latter.

    **Guarantee**: (ε, δ)-differential privacy for the neighboring relation, for the arithmetic and the noise that are
    used: sums are of whole numbers, and exact. All attributes follow from noisy numbers alone. What `transform` returns
    for rows is as private as those rows are. Proof: proofs/learn/moments/products.md.

    =============================  ===========================================================
    Edge case                      Behavior
    =============================  ===========================================================
    a value beyond its bounds      clamped, when fitting and when transforming
    a row beyond a norm            scaled down to it, likewise
    NaN or ±∞ in an array          ValueError before anything is spent
    a NULL, a value not listed     through a session the row is left out
    no rows, or equal ones         components of noise, at the same cost
    an eigenvalue below 0          an explained variance of 0
    eigenvalues are not found      the first features, never an error
    =============================  ===========================================================

    Args:
        n_components: How many components there are; None: as many as features.
        epsilon: The ε of the fit; must be stated.
        delta: The δ of the fit; 0 for a pure guarantee.
        bounds: For arrays, the lower and the upper bound: two numbers, or two lists with a number a column.
        norm: The largest L2 norm of a row: of scaled features, or without bounds of the row as it is. The smaller it
            is, the less noise there is.
        l1_norm: The largest L1 norm of a row of scaled features.
        centering: "noisy" for the noisy mean; "public" for the middle of the bounds, where sums are not released.
        scaled: Whether components are those of scaled features. Otherwise numbers keep their units, as they do in
            scikit-learn: a column with wide bounds then has a large part in variances and in their noise.
        neighboring_relation: For arrays, what may change: "add_or_remove_one" or "replace_one", of rows; a session has
            its own.

    Attributes:
        components_: Orthonormal vectors, one a row, by explained variance. The largest entry of each is positive.
        explained_variance_: The noisy variance along each of them.
        explained_variance_ratio_: Their shares of the noisy variance of all features.
        mean_: The center: of each feature, in the unit of its column.
        n_components_: How many components there are.
        noise_: The method, and the standard deviations of its noise: on the number of rows, on sums of products, and on
            sums of features, in units of scaled features.

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> hours = np.arange(20_000) % 100
        >>> rows = np.stack([hours, hours], axis=1)
        >>> model = PCA(1, epsilon=1, bounds=(0, 100)).fit(rows)
        >>> bool(np.allclose(model.components_, 0.7071, atol=0.1))
        True

    References:
        [BDMN05] for noisy moments; [DTTZ14] for Gaussian noise.
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        bounds: Bounds | None = None,
        norm: Number | None = None,
        l1_norm: Number | None = None,
        centering: str = "noisy",
        scaled: bool = True,
        neighboring_relation: str = "add_or_remove_one",
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.norm = norm
        self.l1_norm = l1_norm
        self.centering = centering
        self.scaled = scaled
        self.neighboring_relation = neighboring_relation

    def transform(self, X: Any) -> Matrix:  # noqa: N803 # scikit-learn's name
        """How far rows lie from the center along each component; they are clamped as in the fit."""
        codes = self._codes(X)
        rows = self._design.rows(codes) / UNIT
        found: Matrix = ((rows - self._center) * self._weights) @ self.components_.T
        return found

    def inverse_transform(self, X: Any) -> Matrix:  # noqa: N803 # scikit-learn's name
        """The features that lie so far from the center along each component, in the units of their columns."""
        check_is_fitted(self, "components_")
        rows = floats(X, "X") @ self.components_ / self._weights + self._center
        found: Matrix = self._middles + self._halves * rows
        return found

    def _array_target(self, y: Any) -> tuple[None, None]:  # noqa: ARG002 # there is nothing to predict
        return None, None

    def _planned(self, data: TrainingData, total: PureDP | ApproxDP) -> NoisyProducts:
        one_of(self.centering, "centering", ("noisy", "public"))
        flag(self.scaled, "scaled")
        is_array = not isinstance(data, TrainingSet)
        design = centered_design(
            data.columns, norm=self.norm, l1_norm=self.l1_norm, is_of_columns=is_array and self.bounds is None
        )
        if self.n_components is not None:
            most = positive_integer(self.n_components, "n_components")
            if most > design.width:
                raise ParameterError("n_components", most, f"must be at most {design.width}, one for each feature")
        return products_of(design, with_sums=self.centering == "noisy", moved_rows=moved_rows(data), total=total)

    @property
    def _n_features_out(self) -> int:
        """For the names of what is transformed."""
        return int(self.n_components_)

    def _adopt(self, fit: NoisyProducts, model: Mapping[str, Any]) -> None:
        moments, design = CenteredMoments.of(fit, model), fit.design
        self._design, self._center = design, moments.mean
        self._halves, self._middles = 1 / design.scales()[0], middles(self.columns_)
        self._weights = np.ones_like(self._halves) if self.scaled else self._halves
        self.mean_ = self._middles + self._halves * moments.mean
        values, vectors = _spectrum(moments.covariance * np.outer(self._weights, self._weights))
        kept = design.width if self.n_components is None else int(self.n_components)
        self.n_components_ = kept
        self.components_, self.explained_variance_ = vectors[:kept], values[:kept]
        self.explained_variance_ratio_ = self.explained_variance_ / max(float(values.sum()), np.finfo(float).tiny)
        self.noise_ = {
            "method": "laplace" if fit.is_pure else "gaussian", "count_stddev": float(fit.noises[0].stddev),
            "product_stddev": fit.product_stddev,
            "sum_stddev": float(fit.noises[2].stddev) / UNIT if fit.with_sums else None,
        }  # fmt: skip


def _spectrum(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """Eigenvalues of a symmetric matrix from the largest on, none below 0, and their vectors, one a row."""
    try:
        values, columns = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:  # of noisy numbers alone
        return np.zeros(len(matrix)), np.eye(len(matrix))
    vectors = columns.T[::-1]
    largest = vectors[np.arange(len(vectors)), np.argmax(np.abs(vectors), axis=1)]
    return np.maximum(values[::-1], 0.0), vectors * np.where(largest < 0, -1.0, 1.0)[:, None]
