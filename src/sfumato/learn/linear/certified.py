"""The minimum of a logistic loss with a linear term, and a bound, rounded outward, of how far from it a point is.

    J(θ) = Σ ℓ(θ; x, y) + (λ/2)‖θ‖² + ⟨b, θ⟩

is λ-strongly convex, so that a point with ‖∇J‖ ≤ γ lies within γ/λ of the minimum. Newton's method finds one; where it
does not, gradient descent with a proved step does.

Proof: proofs/learn/linear/objective.md.
"""

from dataclasses import dataclass
from math import inf, sqrt
from typing import Final

import numpy as np

from sfumato.learn.core.residuals import probabilities
from sfumato.learn.linear.design import UNIT, Matrix
from sfumato.session.training.columns import Codes

_BLOCK: Final = 4096
_FINE: Final = 2.0**26
"""Weights are split here: products of the larger parts are whole numbers that doubles hold."""

_SPLIT: Final = 2.0**20
"""Residuals likewise."""

_UNIT_ROUNDOFF: Final = 2.0**-53
_PROBABILITY_ERROR: Final = 32 * _UNIT_ROUNDOFF
"""Of a probability from an exact score: exp is right to four units in the last place, and a few steps follow."""

_NEWTON: Final = 60
_HALVINGS: Final = 40
_SUFFICIENT: Final = 1e-4
LARGEST_HESSIAN: Final = 1_500
"""With more weights than these the search goes down the slope alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """A loss over rows, with what perturbs it.

    Attributes:
        rows: The rows in lattice steps.
        target: The class of each row, from 0.
        linear: b: one row a feature, one column a vector of weights.
        strength: λ, above 0.
        l1: What no row exceeds in L1, in units.
        square: What the square of no row's L2 norm exceeds, in units.
    """

    rows: Matrix
    target: Codes
    linear: Matrix
    strength: float
    l1: float
    square: float

    @property
    def smoothness(self) -> float:
        """What no eigenvalue of the Hessian exceeds."""
        return len(self.rows) * self.square / 2 + self.strength

    def value(self, weights: Matrix) -> float:
        """J, in floats: it guides the search, and no bound depends on it."""
        scores = self.rows @ weights / UNIT
        if weights.shape[1] == 1:
            losses = np.logaddexp(0.0, scores[:, 0]) - scores[:, 0] * self.target
        else:
            most = scores.max(axis=1)
            own = scores[np.arange(len(scores)), self.target]
            losses = np.log(np.exp(scores - most[:, None]).sum(axis=1)) + most - own
        return float(losses.sum() + self.strength / 2 * (weights**2).sum() + (self.linear * weights).sum())

    def gradient(self, weights: Matrix) -> tuple[Matrix, float]:
        """∇J in floats, and a bound of the error of each of its numbers.

        Scores are sums of exact products of the larger parts of weights, and of small products of the rest; so are the
        sums over rows. Hence the bound hardly grows with the number of features or of rows.
        """
        large = np.floor(weights * _FINE + 0.5)
        small = weights - large / _FINE
        exact, rest = np.zeros(weights.shape), np.zeros(weights.shape)
        largest = 0.0
        for start in range(0, len(self.rows), _BLOCK):
            own = slice(start, start + _BLOCK)
            block = self.rows[own]
            scores = block @ large / (_FINE * UNIT) + block @ small / UNIT
            largest = max(largest, float(np.abs(scores).max(initial=0.0)))
            residuals = probabilities(scores)
            if weights.shape[1] == 1:
                residuals -= self.target[own, None]
            else:
                residuals[np.arange(len(residuals)), self.target[own]] -= 1
            head = np.floor(residuals * _SPLIT + 0.5)
            exact += block.T @ head
            rest += block.T @ (residuals - head / _SPLIT)
        regular = self.strength * weights + self.linear
        found = exact / (_SPLIT * UNIT) + rest / UNIT + regular
        count = len(self.rows)
        in_score = _UNIT_ROUNDOFF * (3 * largest + self.l1 * (weights.shape[0] + 4) / _FINE)
        in_sums = _UNIT_ROUNDOFF * count / _SPLIT * (_BLOCK + count / _BLOCK + 4)
        in_terms = 8 * _UNIT_ROUNDOFF * float(
            np.abs(exact).max(initial=0.0) / (_SPLIT * UNIT) + np.abs(regular).max(initial=0.0)
            + np.abs(self.linear).max(initial=0.0)
        )  # fmt: skip
        return found, (count * (2 * in_score + _PROBABILITY_ERROR) + in_sums + in_terms) * 1.001

    def hessian(self, weights: Matrix) -> Matrix:
        """∇²J as a square matrix, features fastest; it guides the search, and no bound depends on it."""
        size, outputs = weights.shape
        found = np.zeros((outputs * size, outputs * size))
        for start in range(0, len(self.rows), _BLOCK):
            block = self.rows[start : start + _BLOCK]
            shares = probabilities(block @ weights / UNIT)
            for first in range(outputs):
                for second in range(first + 1):
                    weight = shares[:, first] * ((first == second) - shares[:, second]) / UNIT**2
                    part = (block * weight[:, None]).T @ block
                    across, down = slice(first * size, (first + 1) * size), slice(second * size, (second + 1) * size)
                    found[across, down] += part
                    if first != second:
                        found[down, across] += part.T
        found[np.diag_indices(outputs * size)] += self.strength
        return found

    def norm_up(self, weights: Matrix) -> float:
        """A bound of ‖∇J‖ at a point; infinite where that is no number."""
        return _norm_up(*self.gradient(weights))


def _norm_up(gradient: Matrix, error: float) -> float:
    norm = sqrt(float((gradient**2).sum())) * (1 + 2.0**-40) + sqrt(gradient.size) * error
    return norm if norm == norm else inf  # noqa: PLR0124 # NaN alone differs from itself


def minimum(objective: Objective, *, within: float) -> Matrix:
    """A point at which the norm of the gradient is certified to be at most `within`.

    Newton's method with halved steps comes first. Where it ends without a certificate, or there are too many weights
    for it, gradient descent goes on from 0, with the step 1/smoothness: it converges whatever the rows.
    """
    found = _by_newton(objective, within) if objective.linear.size <= LARGEST_HESSIAN else None
    return _by_descent(objective, within) if found is None else found


def _by_newton(objective: Objective, within: float) -> Matrix | None:
    weights = np.zeros(objective.linear.shape)
    value = objective.value(weights)
    for _ in range(_NEWTON):
        gradient, error = objective.gradient(weights)
        if _norm_up(gradient, error) <= within:
            return weights
        flat = gradient.T.reshape(-1)
        try:
            step = np.linalg.solve(objective.hessian(weights), flat)
        except np.linalg.LinAlgError:  # by rounding alone: its eigenvalues are at least λ
            return None
        slope, length = float(flat @ step), 1.0
        move = step.reshape(weights.T.shape).T
        for _ in range(_HALVINGS):
            lower = objective.value(weights - length * move)
            if lower <= value - _SUFFICIENT * length * slope or slope < abs(value) * 2.0**-40:
                break
            length /= 2
        weights, value = weights - length * move, lower
    return None


def _by_descent(objective: Objective, within: float) -> Matrix:
    """Accelerated gradient descent; its number of steps is bounded by the theorem of its convergence."""
    smoothness, strength = objective.smoothness, objective.strength
    ratio = sqrt(strength / smoothness)
    momentum = (1 - ratio) / (1 + ratio)
    weights = ahead = np.zeros(objective.linear.shape)
    start = objective.norm_up(weights)
    most = int(2 / ratio * (2 * np.log(smoothness / strength) + np.log(max(start / within, 1.0)) + 8)) + 1
    for count in range(most):
        following = ahead - objective.gradient(ahead)[0] / smoothness
        ahead = following + momentum * (following - weights)
        weights = following
        if count % 16 == 0 and objective.norm_up(weights) <= within:
            break
    return weights
