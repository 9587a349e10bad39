"""Draws of probabilities from tempered posteriors: of each class, and in each class of each value of a column.

Values come in a public order. The probability of each but the last, given that no earlier one occurs, is one parameter.
Proof: proofs/learn/bayes/draws.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.learn.bayes.tallies import COUNT_SHARE, table_of, values_of
from sfumato.mechanisms.posterior.models import BetaBernoulli
from sfumato.mechanisms.posterior.sampling import PosteriorSampling
from sfumato.numeric.rationals import set_fields
from sfumato.privacy.codec import Json
from sfumato.privacy.events import ComposedEvent, ExponentialEvent
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE
from sfumato.privacy.secret import Secret
from sfumato.session.training.columns import TrainingColumn, TrainingRows

Matrix: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PosteriorDraws:
    """A fit that releases one draw of each parameter of naive Bayes; it is the `PrivateFit` of a session.

    A parameter is the probability θ that a value occurs where no earlier one does. Its posterior is that of `coin`, the
    likelihood raised to a power. A row is one observation of each parameter up to that of its value.

    **Guarantee**: ε-differential privacy where at most `moved_rows` rows enter or leave between neighboring databases.
    Proof: proofs/learn/bayes/draws.md.

    Attributes:
        columns: The features.
        classes: How many classes there are.
        moved_rows: How many rows enter or leave between neighbors, at most.
        charge: The cost, which covers all draws; they cost less where no likelihood has to be tempered so far.
        coin: The prior of each parameter, its grid and its bounds.
        prior: The draws for classes.
        draws: The draws for each column.
        event: All draws.
    """

    columns: tuple[TrainingColumn, ...]
    classes: int
    moved_rows: int
    charge: PureDP
    coin: BetaBernoulli
    prior: PosteriorSampling = field(init=False, repr=False)
    draws: tuple[PosteriorSampling, ...] = field(init=False, repr=False)
    event: ComposedEvent = field(init=False, repr=False)

    def __post_init__(self) -> None:
        sizes = [self.classes, *map(values_of, self.columns)]
        shares = [COUNT_SHARE, *[(1 - COUNT_SHARE) / len(self.columns)] * len(self.columns)]
        parameters = [size - 1 for size in sizes]
        prior, *draws = (
            PosteriorSampling(
                self.coin, epsilon=self.charge.epsilon * share / (self.moved_rows * max(count, 1)),
                neighboring_relation=ADD_OR_REMOVE_ONE,
            )
            for share, count in zip(shares, parameters, strict=True)
        )  # fmt: skip
        costs = [self.moved_rows * count * one.epsilon for count, one in zip(parameters, (prior, *draws), strict=True)]
        event = ComposedEvent(tuple(ExponentialEvent(cost) for cost in costs))
        set_fields(self, prior=prior, draws=tuple(draws), event=event)

    @property
    def name(self) -> str:
        """What ledgers and receipts call the method."""
        return "naive Bayes by draws from posteriors"

    def document(self) -> dict[str, Json]:
        """All parameters on which the draws depend; columns are in the key of a stored model anyway."""
        coin = self.coin
        prior: list[Json] = [str(one) for one in (coin.low, coin.high, coin.alpha, coin.beta, len(coin.grid))]
        return {"classes": self.classes, "moved_rows": self.moved_rows, "prior": prior}

    def release(self, rows: Secret[TrainingRows], /) -> dict[str, Json]:
        """The parameters: of classes, and of each column one row a class."""
        drawn = iter([float(one.release(seen)) for one, seen in self.observed(rows.open_for_noise())])
        prior: list[Json] = [next(drawn) for _ in range(self.classes - 1)]
        columns: list[Json] = [
            [[next(drawn) for _ in range(values_of(column) - 1)] for _ in range(self.classes)]
            for column in self.columns
        ]  # fmt: skip
        return {"prior": prior, "columns": columns}

    def observed(self, rows: TrainingRows) -> Iterator[tuple[PosteriorSampling, Whole]]:
        """What each parameter is drawn by, and its observations; for draws alone.

        Whatever stands in a row, it counts for one class and one value of each column: those that there are not are
        taken for the nearest that there is.
        """
        target = np.zeros(len(rows.codes), dtype=np.int32) if rows.target is None else rows.target
        labels = np.clip(target, 0, self.classes - 1)
        for seen in _each_value(labels, self.classes):
            yield self.prior, seen
        for place, (column, draw) in enumerate(zip(self.columns, self.draws, strict=True)):
            places = table_of(column, "values").argmax(axis=1)
            values = places[np.clip(rows.codes[:, place], 0, len(places) - 1)]
            for label in range(self.classes):
                for seen in _each_value(values[labels == label], values_of(column)):
                    yield draw, seen


def _each_value(values: npt.NDArray[Any], size: int) -> Iterator[Whole]:
    """For each value but the last: whether a row has it, of all rows that have no earlier one."""
    for value in range(size - 1):
        yield (values[values >= value] == value).astype(np.int64)


def probabilities_of(parameters: Matrix) -> Matrix:
    """The probability of each value on the last axis, from its probability where no earlier one occurs.

    Example:
        >>> probabilities_of(np.array([0.5, 0.25])).tolist()
        [0.5, 0.125, 0.375]
    """
    one = np.ones((*parameters.shape[:-1], 1))
    found: Matrix = np.concatenate([parameters, one], axis=-1)
    found *= np.concatenate([one, np.cumprod(1 - parameters, axis=-1)], axis=-1)
    return found
