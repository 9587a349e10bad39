"""`TheilSen`: a line that outliers hardly move, from private medians of lines through pairs of rows.

Proof: proofs/learn/linear/theil_sen.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.learn.core.bounds import Bounds
from sfumato.learn.core.inputs import TrainingData
from sfumato.learn.core.regressors import PrivateRegressor, ends_of
from sfumato.mechanisms.quantiles.quantile import Quantile
from sfumato.noise.entropy import random_words
from sfumato.numeric.rationals import Number, positive_integer, set_fields
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ComposedEvent, PureEvent
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import REPLACE_ONE
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import Codes, TrainingColumn, TrainingRows

Matrix: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.intp]

MATCHINGS: Final = 10
"""How many times all rows are paired, if nothing is said."""

_MOST_MATCHINGS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedLines:
    """A fit that releases the heights of a line at a quarter and at three quarters of the feature's range.

    In each matching all rows are paired uniformly at random; one is left over where their number is odd. The line
    through a pair has a height at both places, clamped to the bounds of the target. Both released numbers are private
    medians of these heights.

    **Guarantee**: ε-differential privacy where at most `rows_per_unit` rows enter and as many leave. A row changes at
    most one pair of each matching, and what enters or leaves with a changed pair is at most one replaced height.
    Proof: proofs/learn/linear/theil_sen.md.

    Attributes:
        column: The feature.
        target: What is predicted.
        rows_per_unit: How many rows one unit has, at most.
        matchings: How many times all rows are paired.
        charge: The cost, half of it for each median.
        median: The private median of the heights at one place, at what one replaced height may cost.
        event: Both medians.
    """

    column: TrainingColumn
    target: TrainingColumn
    rows_per_unit: int
    matchings: int
    charge: PureDP
    median: Quantile = field(init=False, repr=False)
    event: ComposedEvent = field(init=False, repr=False)

    def __post_init__(self) -> None:
        half = self.charge.epsilon / 2
        median = Quantile(
            quantile=Fraction(1, 2), lower=0, upper=self.target.steps,
            epsilon=half / (self.rows_per_unit * self.matchings), neighboring_relation=REPLACE_ONE,
        )  # fmt: skip
        set_fields(self, median=median, event=ComposedEvent((PureEvent(half), PureEvent(half))))

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return "Theil-Sen regression by private medians"

    @property
    def places(self) -> tuple[int, int]:
        """The codes of the feature at which heights are released."""
        steps = self.column.steps
        return steps // 4, steps - steps // 4

    def document(self) -> dict[str, Json]:
        """All parameters on which the model depends."""
        ends: list[Json] = [
            [str(one.lower), str(one.upper), one.steps] for one in (self.column, self.target)
        ]  # fmt: skip
        return {"columns": ends, "matchings": self.matchings, "rows_per_unit": self.rows_per_unit}

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        """The two heights in steps of the target."""
        opened = rows.open_for_noise()
        pairs = np.concatenate([matching(len(opened.codes)) for _ in range(self.matchings)])
        return {"heights": [int(self.median.release(heights)) for heights in self.exact(opened, pairs)]}

    def exact(self, rows: TrainingRows, pairs: Places) -> tuple[Codes, Codes]:
        """How high the lines through pairs are at both places, to the nearest step and clamped; for noise alone.

        Pairs with one value of the feature have no line, and are left out.
        """
        target = np.zeros(len(rows.codes), dtype=np.int64) if rows.target is None else rows.target
        start, end = (rows.codes[pairs[:, side], 0].astype(np.int64) for side in (0, 1))
        low, high = (target[pairs[:, side]].astype(np.int64) for side in (0, 1))
        is_line = start != end
        start, low, run, rise = start[is_line], low[is_line], (end - start)[is_line], (high - low)[is_line]
        first, second = (
            np.clip(low + (2 * (place - start) * rise + run) // (2 * run), 0, self.target.steps).astype(np.int32)
            for place in self.places
        )
        return first, second


def matching(size: int) -> Places:
    """Disjoint pairs of the numbers below `size`, uniformly at random: of all of them, or of all but one.

    Example:
        >>> sorted(matching(4).reshape(-1).tolist()), len(matching(5))
        ([0, 1, 2, 3], 2)
    """
    while True:
        words = random_words(size)
        order = np.argsort(words)
        if not (np.diff(words[order]) == 0).any():  # an order of equal words would not be uniform
            return order[: size - size % 2].reshape(-1, 2)


class TheilSen(PrivateRegressor):
    """Theil-Sen regression on one feature under differential privacy: a line that outliers hardly move.

        f(x) is the line through (x₁, m₁) and (x₂, m₂),   m_k the median height at x_k of lines through pairs of rows

    x₁ and x₂ lie at a quarter and at three quarters of the range of the feature. All rows are paired at random, ten
    times over. Heights are clamped to the bounds of the target. A row changes at most one pair of each matching, so it
    changes ten heights of each median. Each median has half of ε.

    **Guarantee**: ε-differential privacy for the neighboring relation, for the arithmetic and the noise that are used:
    heights are whole numbers on a lattice, and medians are chosen with exact probabilities. Proof:
    proofs/learn/linear/theil_sen.md.

    ==================================  ======================================================
    Edge case                           Behavior
    ==================================  ======================================================
    more than one feature, a category   ParameterError
    a value beyond its bounds           clamped, when fitting and when predicting
    a target beyond its bounds          clamped; predictions are clamped to the same bounds
    NaN or ±∞ in an array               ValueError before anything is spent
    a NULL                              through a session the row is left out
    pairs of rows with one x            have no line, and are left out
    no line at all                      heights are uniform between the bounds, at the same cost
    ==================================  ======================================================

    Args:
        epsilon: The ε of the fit; must be stated.
        bounds: For arrays, the lower and the upper bound of the feature.
        norm: Without bounds, the largest size of the feature: it then lies within ±norm.
        target_bounds: For arrays, the lower and the upper bound of the target.
        matchings: How often all rows are paired. More pairs give a steadier median, at the same ε.
        neighboring_relation: For arrays, what may change: "add_or_remove_one" or "replace_one", of rows; a session has
            its own.

    Attributes:
        coef_: The slope, as a list of one.
        intercept_: The intercept.
        noise_: By how many heights, of all matchings together, each median may be off with 95% confidence
            (`rank_error`).

    Raises:
        ParameterError: An argument cannot be used; nothing was read or charged.

    Example:
        >>> import numpy as np
        >>> hours = np.arange(5_000).reshape(-1, 1) % 100
        >>> model = TheilSen(epsilon=1, bounds=(0, 100), target_bounds=(0, 300))
        >>> pay = model.fit(hours, 2 * hours[:, 0] + 20).predict([[50]])
        >>> bool(abs(pay[0] - 120) < 10)
        True

    References:
        [AMSSV22] for private medians of lines through matched pairs; [Sen68] for the estimator.
    """

    delta = 0
    """The guarantee has no δ."""

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        bounds: Bounds | None = None,
        norm: Number | None = None,
        target_bounds: tuple[Number, Number] | None = None,
        matchings: int = MATCHINGS,
        neighboring_relation: str = "add_or_remove_one",
    ) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.norm = norm
        self.target_bounds = target_bounds
        self.matchings = matchings
        self.neighboring_relation = neighboring_relation

    def predict(self, X: Any) -> Matrix:  # noqa: N803 # scikit-learn's name
        """The prediction of each row; rows are clamped to the declared bounds, and predictions to the target's."""
        return self.row_scores(self._codes(X))[:, 0]

    def row_scores(self, codes: Codes) -> Matrix:
        """The prediction of each row, each by itself, as one column."""
        found: Matrix = np.clip(self.columns_[0].decode(codes[:, :1]) * self.coef_ + self.intercept_, *self._ends)
        return found

    def _planned(self, data: TrainingData, total: PureDP | ApproxDP) -> MatchedLines:
        target = self._number_of(data)
        matchings = positive_integer(self.matchings, "matchings", most=_MOST_MATCHINGS)
        if len(data.columns) != 1 or not data.columns[0].is_number:
            requirement = "must have one column, a number; LinearRegression takes others"
            raise ParameterError("X", f"{len(data.columns)} columns", requirement)
        if total.epsilon == 0:
            raise ParameterError("epsilon", 0, "must be above 0 for a model to be fitted")
        return MatchedLines(
            column=data.columns[0], target=target, rows_per_unit=data.rows_per_unit, matchings=matchings,
            charge=PureDP(total.epsilon),
        )  # fmt: skip

    def _adopt(self, fit: MatchedLines, model: Mapping[str, Any]) -> None:
        first, second = fit.column.decode(np.array(fit.places, dtype=np.int32))
        low, high = fit.target.decode(np.array(model["heights"], dtype=np.int32))
        self.coef_ = np.array([(high - low) / (second - first)])
        self.intercept_ = float(low - self.coef_[0] * first)
        self._ends = ends_of(fit.target)
        self.noise_ = {"method": "exponential", "rank_error": fit.median.accuracy()}
