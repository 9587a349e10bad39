"""`LogisticRegression`: probabilities of classes that are linear in declared features, fitted with privacy."""

from typing import Any, Literal, TypeAlias

from sfumato.errors import ParameterError
from sfumato.learn.core.bounds import Bounds
from sfumato.learn.core.classifiers import LogitClassifier
from sfumato.learn.core.inputs import TrainingData, moved_rows
from sfumato.learn.linear.classifier import LinearClassifier
from sfumato.learn.linear.descent import NoisyDescent
from sfumato.learn.linear.objective import PerturbedObjective, perturbed
from sfumato.numeric.arguments import one_of
from sfumato.numeric.rationals import Number
from sfumato.privacy.guarantees import ApproxDP, PureDP

Method: TypeAlias = Literal["auto", "descent", "objective"]
_METHODS = ("auto", "descent", "objective")


class LogisticRegression(LinearClassifier, LogitClassifier):
    """Logistic regression under differential privacy, for two classes or more.

        P(y | x) ∝ exp(⟨θ_y, x⟩),   x scaled by its bounds and clipped to its norms

    Two methods: "descent" adds discrete Gaussian noise to the sum of clipped gradients in each of its steps, and needs
    δ; "objective" perturbs the loss once, and is ε-private alone. "auto" takes "objective" where δ is 0, else the one
    with less noise on a score, which follows from ε, δ, the number of features and their norms.

    **Guarantee**: (ε, δ)-differential privacy for the neighboring relation, for the arithmetic and the noise that are
    used: rows are whole numbers on a lattice, sums of gradients are exact, and the minimum of a perturbed loss is
    certified. Proof: proofs/learn/linear/descent.md and proofs/learn/linear/objective.md.

    ==================================  ======================================================
    Edge case                           Behavior
    ==================================  ======================================================
    a value beyond its bounds           clamped, when fitting and when predicting
    a row beyond a norm                 scaled down to it, likewise
    NaN or ±∞ in an array               ValueError before anything is spent
    a NULL, or a category not listed    through a session the row is left out
    a label that is no class            ParameterError; through a session the row is left out
    no rows, or one class only          a model of noise, at the same cost
    the search does not converge        slower steps that do, never an error
    ==================================  ======================================================

    Args:
        epsilon: The ε of the fit; must be stated.
        delta: The δ of the fit; 0 for a pure guarantee.
        bounds: For arrays, the lower and the upper bound: two numbers, or two lists with a number a column.
        norm: The largest L2 norm of a row: of scaled features, or without bounds of the row as it is.
        l1_norm: The largest L1 norm of a row of scaled features. State it where few of them are not 0, as of 0/1
            columns: the smaller it is, the less noise "objective" needs.
        classes: For arrays, all classes; with a session the default is the listed values of the target.
        fit_intercept: Whether there is an intercept.
        method: "auto", "descent" or "objective".
        regularization: λ of a penalty (λ/2)·‖θ‖² on the sum of all losses; default: what suits the method.
        clip: For "descent", the largest L2 norm of a row's gradient; default: two fifths of the largest norm of a row.
        steps: For "descent", how many steps it takes; default: 60.
        neighboring_relation: For arrays, what may change: "add_or_remove_one" or "replace_one", of rows; a session has
            its own.

    Attributes:
        coef_: The weights of the features: one row for two classes, else one a class.
        intercept_: The intercepts, as many.
        noise_: The method, and the standard deviations of its noise.

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> hours = np.arange(2_000).reshape(-1, 1) % 100
        >>> model = LogisticRegression(epsilon=1, bounds=(0, 100), classes=[False, True])
        >>> model.fit(hours, hours[:, 0] >= 50).predict([[10], [90]]).tolist()
        [False, True]

    References:
        [BST14] for noisy gradient descent; [CMS11], [KST12] and [INSTTW19] for objective perturbation.
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        bounds: Bounds | None = None,
        norm: Number | None = None,
        l1_norm: Number | None = None,
        classes: Any = None,
        fit_intercept: bool = True,
        method: Method = "auto",
        regularization: Number | None = None,
        clip: Number | None = None,
        steps: int | None = None,
        neighboring_relation: str = "add_or_remove_one",
    ) -> None:
        super().__init__(
            epsilon=epsilon, delta=delta, bounds=bounds, norm=norm, l1_norm=l1_norm, classes=classes,
            fit_intercept=fit_intercept, regularization=regularization, clip=clip, steps=steps,
            neighboring_relation=neighboring_relation,
        )  # fmt: skip
        self.method = method

    def _planned(self, data: TrainingData, total: PureDP | ApproxDP) -> NoisyDescent | PerturbedObjective:
        one_of(self.method, "method", _METHODS)
        design = self._design_of(data, total)
        if total.delta == 0 and self.method == "descent":
            raise ParameterError("delta", 0, 'must be above 0 for method="descent"; take method="objective"')
        by_descent = None if total.delta == 0 or self.method == "objective" else self._descent(data, total, "logistic")
        if self.method == "descent" and by_descent is not None:
            return by_descent
        by_objective = perturbed(
            design, classes=len(self.classes_), moved_rows=moved_rows(data), rows_per_unit=data.rows_per_unit,
            charge=PureDP(total.epsilon), strength=self._stated()[2],
        )  # fmt: skip
        if by_descent is not None and by_descent.score_noise <= by_objective.score_noise:
            return by_descent
        return by_objective
