"""`LinearRegression` and `Ridge`: numbers that are linear in declared features, fitted with privacy."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.errors import ParameterError
from sfumato.learn.core.bounds import Bounds
from sfumato.learn.core.inputs import TrainingData, moved_rows
from sfumato.learn.core.regressors import PrivateRegressor, ends_of
from sfumato.learn.linear.design import UNIT, Matrix, design_of
from sfumato.learn.linear.least_squares import NoisySums
from sfumato.numeric.rationals import Number, flag, nonnegative, positive
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.asking.training_set import TrainingSet
from sfumato.session.training.columns import Codes


class LinearRegression(PrivateRegressor):
    """Linear regression under differential privacy, from noisy sums of products.

        minimize Σ (y − ⟨θ, x⟩ − intercept)²,   x and y scaled by their bounds, x clipped to its norms

    One vector is released: the sums of all products of two features, and of a feature and the target. Its noise is
    discrete Laplace noise, or with δ the narrower of that and discrete Gaussian noise. Where the smallest eigenvalue of
    the noisy matrix is no larger than noise makes it, a penalty on all weights lifts it above that.

    **Guarantee**: (ε, δ)-differential privacy for the neighboring relation, for the arithmetic and the noise that are
    used: rows are whole numbers on a lattice, and their sums are exact. Proof: proofs/learn/linear/least_squares.md.

    ==================================  ======================================================
    Edge case                           Behavior
    ==================================  ======================================================
    a value beyond its bounds           clamped, when fitting and when predicting
    a row beyond a norm                 scaled down to it, likewise
    a target beyond its bounds          clamped; predictions are clamped to the same bounds
    NaN or ±∞ in an array               ValueError before anything is spent
    a NULL, or a category not listed    through a session the row is left out
    no rows, or columns that are equal  a penalty makes the solution unique, at the same cost
    eigenvalues are not found           weights of 0, never an error
    ==================================  ======================================================

    Args:
        epsilon: The ε of the fit; must be stated.
        delta: The δ of the fit; 0 for a pure guarantee.
        bounds: For arrays, the lower and the upper bound: two numbers, or two lists with a number a column.
        norm: The largest L2 norm of a row: of scaled features, or without bounds of the row as it is.
        l1_norm: The largest L1 norm of a row of scaled features. State it where few of them are not 0, as of 0/1
            columns: the smaller it is, the less Laplace noise is needed.
        target_bounds: For arrays, the lower and the upper bound of the target.
        fit_intercept: Whether there is an intercept. Without one, the prediction is 0 where all scaled features are.
        neighboring_relation: For arrays, what may change: "add_or_remove_one" or "replace_one", of rows; a session has
            its own.

    Attributes:
        coef_: The weight of each feature.
        intercept_: The intercept.
        noise_: The distribution of the noise, its standard deviation on each sum of scaled products, and the penalty
            that was added because of it.

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> hours = np.arange(20_000).reshape(-1, 1) % 100
        >>> model = LinearRegression(epsilon=1, bounds=(0, 100), target_bounds=(0, 300))
        >>> pay = model.fit(hours, 3 * hours[:, 0]).predict([[50]])
        >>> bool(abs(pay[0] - 150) < 15)
        True

    References:
        [Wan18] for the penalty that follows from the smallest eigenvalue.
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        bounds: Bounds | None = None,
        norm: Number | None = None,
        l1_norm: Number | None = None,
        target_bounds: tuple[Number, Number] | None = None,
        fit_intercept: bool = True,
        neighboring_relation: str = "add_or_remove_one",
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.norm = norm
        self.l1_norm = l1_norm
        self.target_bounds = target_bounds
        self.fit_intercept = fit_intercept
        self.neighboring_relation = neighboring_relation

    def predict(self, X: Any) -> Matrix:  # noqa: N803 # scikit-learn's name
        """The prediction of each row; rows are clamped to the declared bounds, and predictions to the target's."""
        codes = self._codes(X)
        scaled = self._design.rows(codes) @ self._weights / UNIT
        middle, half = self._center
        found: Matrix = np.clip(middle + half * scaled, *self._ends)
        return found

    def row_scores(self, codes: Codes) -> Matrix:
        """The prediction of each row, each by itself, as one column."""
        middle, half = self._center
        found: Matrix = np.clip(middle + half * self._design.products(codes, self._weights[:, None]), *self._ends)
        return found

    def _planned(self, data: TrainingData, total: PureDP | ApproxDP) -> NoisySums:
        target = self._number_of(data)
        if total.epsilon == 0:
            raise ParameterError("epsilon", 0, "must be above 0 for a model to be fitted")
        l1_norm = None if self.l1_norm is None else positive(self.l1_norm, "l1_norm")
        norm = None if self.norm is None else positive(self.norm, "norm")
        scaled_norm = norm if self.bounds is not None or norm is None or isinstance(data, TrainingSet) else Fraction(1)
        design = design_of(
            data.columns, norm=scaled_norm, l1_norm=l1_norm, intercept=flag(self.fit_intercept, "fit_intercept")
        )
        penalty, moved = self._penalty(), moved_rows(data)
        pure = NoisySums(
            design=design, target=target, moved_rows=moved, charge=PureDP(total.epsilon), penalty=penalty
        )  # fmt: skip
        if total.delta == 0:
            return pure
        charge = ApproxDP(total.epsilon, total.delta)
        smooth = NoisySums(design=design, target=target, moved_rows=moved, charge=charge, penalty=penalty)
        return smooth if smooth.stddev <= pure.stddev else pure

    def _penalty(self) -> Fraction:
        """α, which is 0 where nothing is said."""
        return Fraction(0)

    def _adopt(self, fit: NoisySums, model: Mapping[str, Any]) -> None:
        self._design, self._center = fit.design, fit.center
        self._weights = np.array(model["weights"], dtype=np.float64)
        self._ends = ends_of(fit.target)
        self.noise_ = {**fit.noise_stated, "penalty": float(model["strength"])}
        slopes, starts = fit.design.scales()
        features = self._weights[: len(slopes)]
        middle, half = fit.center
        self.coef_ = half * features * slopes
        base = float(self._weights[-1]) if fit.design.intercept else 0.0
        self.intercept_ = middle + half * (base + float(starts @ features))


class Ridge(LinearRegression):
    """Ridge regression under differential privacy: `LinearRegression` with a stated penalty on the weights.

        minimize Σ (y − ⟨θ, x⟩ − intercept)² + α‖θ‖²,   x and y scaled by their bounds, x clipped to its norms

    The penalty that `LinearRegression` adds because of noise comes on top, if α leaves a need for it.

    **Guarantee**: that of `LinearRegression`, as for its edge cases. Proof: proofs/learn/linear/least_squares.md.

    Args:
        epsilon: The ε of the fit; must be stated.
        alpha: α, 0 or more; the intercept has no such penalty.
        delta: The δ of the fit; 0 for a pure guarantee.
        bounds: For arrays, the lower and the upper bound: two numbers, or two lists with a number a column.
        norm: The largest L2 norm of a row: of scaled features, or without bounds of the row as it is.
        l1_norm: The largest L1 norm of a row of scaled features.
        target_bounds: For arrays, the lower and the upper bound of the target.
        fit_intercept: Whether there is an intercept.
        neighboring_relation: For arrays, what may change: "add_or_remove_one" or "replace_one", of rows.

    Attributes:
        coef_: The weight of each feature.
        intercept_: The intercept.
        noise_: The noise, as in `LinearRegression`.

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> hours = np.arange(20_000).reshape(-1, 1) % 100
        >>> model = Ridge(epsilon=1, alpha=10, bounds=(0, 100), target_bounds=(0, 300))
        >>> pay = model.fit(hours, 3 * hours[:, 0]).predict([[50]])
        >>> bool(abs(pay[0] - 150) < 15)
        True

    References:
        [Wan18].
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        alpha: Number = 1,
        delta: Number = 0,
        bounds: Bounds | None = None,
        norm: Number | None = None,
        l1_norm: Number | None = None,
        target_bounds: tuple[Number, Number] | None = None,
        fit_intercept: bool = True,
        neighboring_relation: str = "add_or_remove_one",
    ) -> None:
        super().__init__(
            epsilon=epsilon, delta=delta, bounds=bounds, norm=norm, l1_norm=l1_norm, target_bounds=target_bounds,
            fit_intercept=fit_intercept, neighboring_relation=neighboring_relation,
        )  # fmt: skip
        self.alpha = alpha

    def _penalty(self) -> Fraction:
        return nonnegative(self.alpha, "alpha")
