"""`LinearSVC`: classes told apart by linear scores with a margin, fitted with privacy."""

from sfumato.errors import ParameterError
from sfumato.learn.core.inputs import TrainingData
from sfumato.learn.linear.classifier import LinearClassifier
from sfumato.learn.linear.descent import NoisyDescent
from sfumato.privacy.guarantees import ApproxDP, PureDP


class LinearSVC(LinearClassifier):
    """Linear support vector classification under differential privacy, for two classes or more.

        minimize Σ L(s·⟨θ, x⟩) + (λ/2)·‖θ‖²,   s = 1 for the class and −1 for the rest,
        L(m) = 0 for m ≥ 3/2,   (3/2 − m)²/2 for 1/2 ≤ m ≤ 3/2,   1 − m for m ≤ 1/2

    L is the hinge loss with its corner rounded, x is scaled by its bounds and clipped to its norms. Discrete Gaussian
    noise is added to the sum of clipped gradients in each step, as in `LogisticRegression`.

    With more than two classes, each has a score against the rest. All scores are learned together: the gradient of a
    row has a part for each class, and is clipped as a whole. So K classes cost no more ε than two. The price is in
    accuracy: the same clip holds for K parts, and each of them has its own noise.

    **Guarantee**: (ε, δ)-differential privacy for the neighboring relation, for the arithmetic and the noise that are
    used: rows are whole numbers on a lattice, and sums of gradients are exact. Proof: proofs/learn/linear/descent.md.

    ==================================  ======================================================
    Edge case                           Behavior
    ==================================  ======================================================
    a value beyond its bounds           clamped, when fitting and when predicting
    a row beyond a norm                 scaled down to it, likewise
    NaN or ±∞ in an array               ValueError before anything is spent
    a NULL, or a category not listed    through a session the row is left out
    a label that is no class            ParameterError; through a session the row is left out
    δ = 0                               ParameterError
    no rows, or one class only          a model of noise, at the same cost
    ==================================  ======================================================

    Args:
        epsilon: The ε of the fit; must be stated.
        delta: The δ of the fit, above 0.
        bounds: For arrays, the lower and the upper bound: two numbers, or two lists with a number a column.
        norm: The largest L2 norm of a row: of scaled features, or without bounds of the row as it is.
        l1_norm: The largest L1 norm of a row of scaled features, if it is smaller than the bounds imply.
        classes: For arrays, all classes; with a session the default is the listed values of the target.
        fit_intercept: Whether there is an intercept.
        regularization: λ; default: none. scikit-learn's C is 1/λ.
        clip: The largest L2 norm of a row's gradient; default: four fifths of the largest norm of a row.
        steps: How many steps there are; default: 60.
        neighboring_relation: For arrays, what may change: "add_or_remove_one" or "replace_one", of rows; a session has
            its own.

    Attributes:
        coef_: The weights of the features: one row for two classes, else one a class.
        intercept_: The intercepts, as many.
        noise_: The standard deviations of the noise, the number of steps and the clip.

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> hours = np.arange(2_000).reshape(-1, 1) % 100
        >>> model = LinearSVC(epsilon=1, delta="1e-6", bounds=(0, 100), classes=[False, True])
        >>> model.fit(hours, hours[:, 0] >= 50).predict([[10], [90]]).tolist()
        [False, True]

    References:
        [CMS11] for the rounded hinge loss; [BST14] for noisy gradient descent.
    """

    def _planned(self, data: TrainingData, total: PureDP | ApproxDP) -> NoisyDescent:
        self._design_of(data, total)
        if total.delta == 0:
            raise ParameterError("delta", 0, "must be above 0, such as 1e-6; or take LogisticRegression")
        return self._descent(data, total, "hinge")
