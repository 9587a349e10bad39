"""`ExplainableBoosting`: an additive model whose curves can be read and drawn, fitted with privacy."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from sfumato.errors import ParameterError
from sfumato.learn.boosting.bins import MAX_BINS, FeatureBins, padded
from sfumato.learn.boosting.calibrated import MOST_SUMS, charge_of, clip_of
from sfumato.learn.boosting.curves import NoisyCurves
from sfumato.learn.boosting.losses import Loss
from sfumato.learn.core.bounds import Bounds
from sfumato.learn.core.classifiers import LogitClassifier
from sfumato.learn.core.inputs import TrainingData, moved_rows
from sfumato.learn.core.residuals import Matrix
from sfumato.numeric.arguments import listed, whole
from sfumato.numeric.rationals import Number, positive, positive_integer
from sfumato.plots.effects import feature_effects
from sfumato.plots.panels import save
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.session.training.columns import Codes


class ExplainableBoosting(LogitClassifier):
    """An additive model under differential privacy, for two classes or more: each feature adds its own curve.

        P(y = 1 | x) = σ(β + Σ f_j(x_j)),   of more classes a softmax of such sums

    A curve has one value for each bin of a number, and for each value of a category. Bins are equally wide parts of
    the declared bounds. Curves start at 0. In each round each of them is improved in turn: its bins are cut into random
    parts, the gradients of the rows of each part are added up with noise, and the part moves against the sum. What the
    model does is therefore the sum of curves that can be drawn.

    **Guarantee**: (ε, δ)-differential privacy for the neighboring relation, for the arithmetic and the noise that are
    used: gradients are whole numbers, clipped row by row, and their sums are exact. The noise on all sums is certified
    jointly. Proof: proofs/learn/boosting/curves.md.

    ==================================  ======================================================
    Edge case                           Behavior
    ==================================  ======================================================
    a value beyond its bounds           clamped, when fitting and when predicting
    NaN or ±∞ in an array               ValueError before anything is spent
    a NULL, or a category not listed    through a session the row is left out; when predicting,
                                        the feature adds 0
    a label that is no class            ParameterError; through a session the row is left out
    no rows, or one class only          a model of noise, at the same cost
    delta = 0                           ParameterError: the noise is Gaussian
    ==================================  ======================================================

    Args:
        epsilon: The ε of the fit; must be stated.
        delta: The δ of the fit, above 0; far below one over the number of people.
        bounds: For arrays, the lower and the upper bound: two numbers, or two lists with a number a column.
        norm: For arrays without bounds, what no value exceeds in size.
        classes: For arrays, all classes; with a session the default is the listed values of the target.
        rounds: How often each curve is improved.
        bins: How many bins a number has, at most; from 2 to 1,024.
        leaves: How many parts the bins of a number are cut into at a time, at most; 2 or more.
        learning_rate: How much of each step is taken, above 0.
        clip: The largest L2 norm of a row's gradient: a residual, whose norm is at most 1, of several classes √2.
        neighboring_relation: For arrays, what may change: "add_or_remove_one" or "replace_one", of rows; a session has
            its own.

    Attributes:
        intercept_: β, one a score.
        curves_: For each column what each of its bins or values adds: one row a bin, one column a score.
        edges_: For each column the edges of its bins; the values of a category.
        noise_: The rounds, the clip, and the standard deviations of the noise: on counts of rows, and on sums of
            gradients.

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> hours = np.arange(2_000).reshape(-1, 1) % 100
        >>> model = ExplainableBoosting(epsilon=1, delta="1e-6", bounds=(0, 100), classes=["day", "night"])
        >>> night = (hours[:, 0] < 20) | (hours[:, 0] > 70)
        >>> model.fit(hours, np.where(night, "night", "day")).predict([[5], [45], [90]]).tolist()
        ['night', 'day', 'night']

    References:
        [NCBSK21]; [LCGH13] for models whose curves are read.
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        delta: Number = 0,
        bounds: Bounds | None = None,
        norm: Number | None = None,
        classes: Any = None,
        rounds: int = 30,
        bins: int = 64,
        leaves: int = 8,
        learning_rate: Number = 1,
        clip: Number = "0.4",
        neighboring_relation: str = "add_or_remove_one",
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.norm = norm
        self.classes = classes
        self.rounds = rounds
        self.bins = bins
        self.leaves = leaves
        self.learning_rate = learning_rate
        self.clip = clip
        self.neighboring_relation = neighboring_relation

    def contributions(self, X: Any) -> Matrix:  # noqa: N803 # scikit-learn's name
        """What each feature adds to the score of each row; of several classes, to the scores of each, on a third axis.

        With `intercept_` they add up to `decision_function`.
        """
        codes = self._codes(X)
        placed = self._bins.places(codes)
        found = np.stack(
            [padded(curve)[own] for curve, own in zip(self.curves_, placed, strict=True)], axis=1
        )  # fmt: skip
        return found[:, :, 0] if found.shape[2] == 1 else found

    def _scores(self, codes: Codes) -> Matrix:
        """Curves are added one after another, so that a row's score is the same whatever other rows there are."""
        scores = np.tile(self.intercept_, (len(codes), 1))
        for curve, own in zip(self.curves_, self._bins.places(codes), strict=True):
            scores += padded(curve)[own]
        return scores

    def plot(self, path: str | Path | None = None, *, columns: Any = None, title: str = "") -> Any:
        """The curves, a panel a feature; at most 24. It costs nothing, and needs the extra `plots`.

        Args:
            path: A file to save the chart to, as .png, .svg or .pdf; default: it is not saved.
            columns: The names of the features to draw; default: all.
            title: The finding; default: what is drawn.

        Returns:
            The matplotlib figure.

        Raises:
            ParameterError: A name is no feature, or there are too many for panels.
        """
        check_is_fitted(self, "columns_")
        names = [column.name for column in self.columns_]
        wanted = names if columns is None else list(listed(columns, "columns", of="names"))
        for name in wanted:
            if name not in names:
                raise ParameterError("columns", name, f"must be names of features: {', '.join(names)}")
        labels = [str(one) for one in self.classes_] if len(self.intercept_) > 1 else [""]
        drawn = {names[place]: place for place in map(names.index, wanted)}
        figure = feature_effects(
            {name: dict(zip(labels, self.curves_[place].T, strict=True)) for name, place in drawn.items()},
            {name: self.edges_[place] for name, place in drawn.items()},
            title=title or "What each feature adds to the score",
            y_label="added to the log-odds" if len(labels) == 1 else "added to the score",
            caption=f"{self.guarantee_} for all curves together",
        )
        if path is not None:
            save(figure, path)
        return figure

    def _planned(self, data: TrainingData, total: PureDP | ApproxDP) -> NoisyCurves:
        classes = self._class_values(data)
        fit = NoisyCurves(
            bins=FeatureBins(columns=data.columns, most=whole(self.bins, "bins", least=2, most=MAX_BINS)),
            loss=Loss(classes=len(classes), clip=clip_of(self.clip)),
            moved_rows=moved_rows(data), charge=charge_of(total),
            rounds=positive_integer(self.rounds, "rounds", most=MOST_SUMS),
            leaves=whole(self.leaves, "leaves", least=2, most=MAX_BINS),
            rate=positive(self.learning_rate, "learning_rate"),
        )  # fmt: skip
        self.classes_ = np.array(classes)
        return fit

    def _adopt(self, fit: NoisyCurves, model: Mapping[str, Any]) -> None:
        self._bins, self.noise_ = fit.bins, fit.noise_stated
        self.intercept_ = np.array(model["intercept"], dtype=np.float64)
        self.curves_: list[npt.NDArray[np.float64]] = [np.array(one, dtype=np.float64) for one in model["curves"]]
        self.edges_ = [
            fit.bins.edges(place) if column.values is None else [str(value) for value in column.values]
            for place, column in enumerate(fit.bins.columns)
        ]
