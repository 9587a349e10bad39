"""What attacks make of models: a score for each row, higher where the row looks as if the model had seen it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from sfumato.attacks.core.outcome import Outcome
from sfumato.attacks.disclosure.attribute import attribute_from_model
from sfumato.attacks.members.models import lira_scores, logits
from sfumato.errors import ParameterError
from sfumato.learn.attacks.fits import Booleans, Floats, LabeledRows, probabilities
from sfumato.numeric.arguments import whole

_MOST_VALUES: Final = 100
_TINY: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadows:
    """Models of the adversary's own: how sure each is of every row, and which rows it saw.

    Attributes:
        confidences: One row a model, one column a row.
        seen: As many.
    """

    confidences: Floats
    seen: Booleans

    def scores(self, observed: Floats, *, one_sided: bool) -> Floats:
        """The likelihood ratio of each row for each attacked model; one-sided, how unusual it is for a row not seen.

        Args:
            observed: How sure each attacked model is of every row.
            one_sided: Whether only shadow models count that did not see the row.
        """
        without = np.where(self.seen, np.nan, self.confidences)
        included = None if one_sided else np.where(self.seen, self.confidences, np.nan)
        return np.stack([lira_scores(one, without=without, included=included) for one in observed])


@dataclass(frozen=True, slots=True, kw_only=True)
class Inverted:
    """What models say of one column of each row, given the others and the class.

    Attributes:
        likelihoods: For each model, row and value of the column, the probability of the row's class.
        values: The values that the column has.
        truths: The place of each row's value among them.
        prior: The share of each value among all rows.
    """

    likelihoods: Floats
    values: Floats
    truths: Any
    prior: Floats

    @property
    def scores(self) -> Floats:
        """How sure the adversary gets of the true value: ln(p/(1 − p))."""
        posterior = self.prior * np.maximum(self.likelihoods, _TINY)
        posterior /= posterior.sum(axis=2, keepdims=True)
        return logits(np.take_along_axis(posterior, self.truths[None, :, None], axis=2)[:, :, 0])

    def outcome(self, asked: Booleans) -> Outcome:
        """How often the likeliest value is the true one.

        Args:
            asked: For each model, of which rows: those that it saw, or those that it did not.
        """
        models, rows = np.nonzero(asked)
        values = self.values.tolist()
        places = {value: place for place, value in enumerate(values)}
        return attribute_from_model(
            lambda at, value: float(self.likelihoods[at[0], at[1], places[value]]),
            rows=list(zip(models.tolist(), rows.tolist(), strict=True)),
            truths=[values[place] for place in self.truths[rows]],
            prior=dict(zip(values, self.prior.tolist(), strict=True)),
        )


def sensitive_column(rows: LabeledRows, sensitive: Any) -> int:
    """The place of the column that model inversion is after.

    Raises:
        ParameterError: There is no such column, or it has one value, or more than a hundred.
    """
    place = whole(sensitive, "sensitive", most=rows.features.shape[1] - 1)
    values = len(np.unique(rows.features[:, place]))
    if not 1 < values <= _MOST_VALUES:
        raise ParameterError("sensitive", f"a column of {values} values", f"must have from 2 to {_MOST_VALUES} values")
    return place


def inverted(models: Sequence[Any], rows: LabeledRows, sensitive: int) -> Inverted:
    """Ask each model for the class of each row, with every value that the column may have.

    Args:
        models: With `predict_proba`.
        rows: The rows that are attacked.
        sensitive: The place of the column.

    Raises:
        ParameterError: A model has no probabilities.
    """
    values, truths, counts = np.unique(rows.features[:, sensitive], return_inverse=True, return_counts=True)
    found = np.empty((len(models), len(rows), len(values)))
    for place, value in enumerate(values):
        changed = rows.features.copy()
        changed[:, sensitive] = value
        for at, model in enumerate(models):
            if not hasattr(model, "predict_proba"):
                raise ParameterError("attacks", "inversion", "needs a model with predict_proba")
            found[at, :, place] = probabilities(model, replace(rows, features=changed))
    return Inverted(likelihoods=found, values=values, truths=truths, prior=counts / len(rows))
