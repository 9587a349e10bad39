"""`KMeans`: centers of clusters by Lloyd's steps with noise."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin

from sfumato.errors import ParameterError
from sfumato.learn.clusters.lloyd import NoisyLloyd, lloyd, nearest
from sfumato.learn.clusters.starts import packed_starts
from sfumato.learn.core.bounds import Bounds
from sfumato.learn.core.estimators import PrivateEstimator
from sfumato.learn.core.inputs import TrainingData, codes_of, moved_rows
from sfumato.learn.linear.design import UNIT, Design, Matrix, centered_design, middles
from sfumato.numeric.arguments import floats
from sfumato.numeric.rationals import Number, positive_integer
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.asking.training_set import TrainingSet

ITERATIONS: Final = 5
"""How many steps there are, if nothing is said."""

_MOST_ITERATIONS: Final = 100
_MOST_CLUSTERS: Final = 1_000
_LARGEST_SIZE: Final = 1_000_000


class KMeans(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """k-means under differential privacy: in each step every center moves to the noisy mean of its nearest rows.

    Numbers are measured from the middle of their bounds in halves of the distance of these, and a category has a 0/1
    feature for each value; distances are those of these scaled features. Centers start far from one another within
    the bounds, or where you say. Each step releases for each center the number of its rows and the sums of their
    features, with noise. How the budget is divided between both follows from the features. With δ above 0 there is
    discrete Gaussian noise where that is less than discrete Laplace noise at ε alone, else the latter.

    **Guarantee**: (ε, δ)-differential privacy for the neighboring relation, for the arithmetic and the noise that are
    used: sums are of whole numbers, and exact. There are as many steps as stated, whatever the rows, and no attribute
    has a label or a distance of a row. What `predict` and `transform` return for rows is as private as those rows are.
    Proof: proofs/learn/clusters/lloyd.md.

    ==============================  ===========================================================
    Edge case                       Behavior
    ==============================  ===========================================================
    a value beyond its bounds       clamped, when fitting and when predicting
    a row beyond a norm             scaled down to it, likewise
    NaN or ±∞ in an array           ValueError before anything is spent
    a NULL, a value not listed      through a session the row is left out
    a small noisy count             the center stays, or moves next to one with a large count
    no rows, fewer than centers     centers of noise, at the same cost
    a row as near to two centers    belongs to the first of them
    ==============================  ===========================================================

    Args:
        n_clusters: How many centers there are.
        epsilon: The ε of the fit; must be stated.
        delta: The δ of the fit; 0 for a pure guarantee.
        bounds: For arrays, the lower and the upper bound: two numbers, or two lists with a number a column.
        norm: The largest L2 norm of a row: of scaled features, or without bounds of the row as it is.
        l1_norm: The largest L1 norm of a row of scaled features. The smaller it is, the less Laplace noise there is.
        iterations: How many steps there are; default: 5. Fewer have less noise each.
        init: Public centers to start with, one row a center, in the units of columns; never from the rows of the fit.
        neighboring_relation: For arrays, what may change: "add_or_remove_one" or "replace_one", of rows; a session has
            its own.

    Attributes:
        cluster_centers_: The centers, one row a center, one column a feature, in the units of columns.
        noise_: The method, the number of steps, and the standard deviations of the noise of each: on the number of rows
            of a center, and on sums in units of scaled features.

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> hours = np.repeat([20, 21, 80, 81], 5_000).reshape(-1, 1)
        >>> model = KMeans(2, epsilon=1, bounds=(0, 100)).fit(hours)
        >>> bool(np.allclose(np.sort(model.cluster_centers_[:, 0]), [20.5, 80.5], atol=1))
        True

    References:
        [BDMN05] for noisy steps; [SCLBJ16] for starts and the division of the budget.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        bounds: Bounds | None = None,
        norm: Number | None = None,
        l1_norm: Number | None = None,
        iterations: int | None = None,
        init: Any = None,
        neighboring_relation: str = "add_or_remove_one",
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.norm = norm
        self.l1_norm = l1_norm
        self.iterations = iterations
        self.init = init
        self.neighboring_relation = neighboring_relation

    def predict(self, X: Any) -> npt.NDArray[np.int64]:  # noqa: N803 # scikit-learn's name
        """The number of the nearest center of each row; rows are clamped as in the fit."""
        codes = self._codes(X)
        return nearest(self._design.rows(codes), self._steps)

    def transform(self, X: Any) -> Matrix:  # noqa: N803 # scikit-learn's name
        """The distance of each row to each center, in units of scaled features."""
        codes = self._codes(X)
        rows = self._design.rows(codes)
        squares = np.einsum("ij,ij->i", rows, rows)[:, None] + np.einsum("ij,ij->i", self._steps, self._steps)
        found: Matrix = np.sqrt(np.maximum(squares - 2 * rows @ self._steps.T, 0.0)) / UNIT
        return found

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002, N803 # scikit-learn's names
        """Minus the sum of the squared distances of rows to their nearest centers; as exact as the rows are."""
        return -float((self.transform(X).min(axis=1) ** 2).sum())

    def fit_predict(self, X: Any, y: Any = None) -> npt.NDArray[np.int64]:  # noqa: N803 # scikit-learn's names
        """Fit, and predict for the same rows; only the fit is private."""
        return self.fit(X, y).predict(X)

    def _array_target(self, y: Any) -> tuple[None, None]:  # noqa: ARG002 # there is nothing to predict
        return None, None

    def _planned(self, data: TrainingData, total: PureDP | ApproxDP) -> NoisyLloyd:
        clusters = positive_integer(self.n_clusters, "n_clusters", most=_MOST_CLUSTERS)
        steps = ITERATIONS
        if self.iterations is not None:
            steps = positive_integer(self.iterations, "iterations", most=_MOST_ITERATIONS)
        is_array = not isinstance(data, TrainingSet)
        design = centered_design(
            data.columns, norm=self.norm, l1_norm=self.l1_norm, is_of_columns=is_array and self.bounds is None
        )
        if clusters * design.width > _LARGEST_SIZE:
            size = f"{clusters * design.width:,} numbers in all centers"
            raise ParameterError("n_clusters", size, f"must have {_LARGEST_SIZE:,} at most")
        start = packed_starts(design, clusters) if self.init is None else self._stated(data, design, clusters)
        return lloyd(design, start=start, iterations=steps, moved_rows=moved_rows(data), total=total)

    def _stated(self, data: TrainingData, design: Design, clusters: int) -> tuple[tuple[int, ...], ...]:
        """The centers that the caller states, in lattice steps."""
        centers = floats(self.init, "init")
        if centers.shape != (clusters, len(data.columns)) or not np.isfinite(centers).all():
            requirement = f"must have {clusters} rows of {len(data.columns)} finite numbers"
            raise ParameterError("init", f"an array of shape {centers.shape}", requirement)
        rows = design.rows(codes_of(centers, data.columns))
        return tuple(tuple(int(step) for step in row) for row in rows)

    @property
    def _n_features_out(self) -> int:
        """For the names of what is transformed."""
        return len(self._steps)

    def _adopt(self, fit: NoisyLloyd, model: Mapping[str, Any]) -> None:
        self._design = fit.design
        self._steps = np.array(model["centers"], dtype=np.float64)
        slopes = fit.design.scales()[0]
        self.cluster_centers_ = middles(self.columns_) + self._steps / UNIT / slopes
        self.noise_ = fit.noise_stated
