"""Randomized response with many categories: everyone answers, the truth a little more often than anything else."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import opened
from sfumato.mechanisms.lattice import column, integer_column, lattice_steps
from sfumato.mechanisms.response.survey import Randomization, SurveyEstimate, answers_of
from sfumato.noise.uniform.bernoulli import Booleans, bernoulli, bernoulli_within
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.rationals import Number, nonnegative, positive_integer, set_fields
from sfumato.numeric.rationals import probability as as_probability
from sfumato.numeric.rounding import exp_bounds, log_up
from sfumato.privacy.events import PureEvent, RandomizedResponseEvent
from sfumato.privacy.secret import Secret

Categories: TypeAlias = Sequence[Any] | NDArray[Any]
"""The category of each respondent: numbers from 0 to categories − 1."""

_MOST_CATEGORIES: Final = 1 << 31
_BLOCK: Final = 1 << 14  # respondents whose arrays stay in the processor's cache
_LARGEST_EXPONENT: Final = Fraction(700)  # beyond it lies are too rare for floats


@dataclass(frozen=True, slots=True, init=False)
class KaryRandomizedResponse:
    """Says the true one of k categories e^ε times as often as each other one: with probability e^ε/(e^ε + k − 1).

    Or, given a probability p in place of ε: says the truth with probability p, and otherwise a uniform one of all k
    categories, so that e^ε = 1 + kp/(1 − p). Also called direct encoding. The probabilities are exact.

    **Guarantee**: ε-differential privacy of each respondent's category (which is replaced, REPLACE_ONE). `epsilon` is
    as given, or of the probability, rounded up. Proof: proofs/mechanisms/response/kary_randomized_response.md.

    ============================  ==================================================================
    Edge case                     Behavior
    ============================  ==================================================================
    epsilon or probability = 0    uniform answers, which allow no estimate; the accuracy is ∞
    probability = 1               always the truth: refused
    a category below 0, above     counts as the nearest of 0 and categories − 1
    a category between two        counts as the nearer one, halves as the upper one
    a category NaN or None        counts as 0
    ============================  ==================================================================

    Args:
        categories: k, from 2 to 2^31.
        epsilon: 0 or more, if no probability is given.
        probability: p, at least 0 and below 1, if no ε is given. The event then says more than its ε, which helps
            accountants of many answers.

    Raises:
        ParameterError: A parameter is out of range, or not exactly one of ε and p is given.

    Example:
        >>> survey = KaryRandomizedResponse(categories=4, epsilon=1)
        >>> len(survey.release([0, 3, 3, 1])), round(survey.truth_probability, 4)
        (4, 0.4754)

    References:
        [War65] for two categories; [KOV16] and [KBR16] for many; [WBLJ17], where it is called direct encoding.
    """

    categories: int
    epsilon: Fraction
    probability: Fraction | None

    def __init__(self, *, categories: int, epsilon: Number | None = None, probability: Number | None = None) -> None:
        if not 1 < positive_integer(categories, "categories") <= _MOST_CATEGORIES:
            raise ParameterError("categories", categories, "must be from 2 to 2^31")
        if (epsilon is None) == (probability is None):
            raise ParameterError("epsilon", epsilon, "must be given, or else a probability, and not both")
        chance = None if probability is None else _below_one(probability)
        ratio = Fraction(1) if chance is None else 1 + categories * chance / (1 - chance)
        set_fields(
            self,
            categories=categories,
            epsilon=log_up(ratio) if epsilon is None else nonnegative(epsilon, "epsilon"),
            probability=chance,
        )

    @property
    def event(self) -> RandomizedResponseEvent | PureEvent:
        """The event of one answer, for its respondent."""
        if self.probability is None:
            return PureEvent(self.epsilon)
        return RandomizedResponseEvent(self.probability, self.categories)

    @property
    def truth_probability(self) -> float:
        """How often the answer is true, in floats."""
        chances = self._randomization
        return chances.when_false + chances.gain

    def release(self, values: Categories | Secret[Categories]) -> NDArray[np.int64]:
        """One answer for each respondent.

        Raises:
            ParameterError: The values have not one dimension, or one is no number.
        """
        answers = self._in_range(opened(values))
        for start in range(0, len(answers), _BLOCK):
            self._randomize(answers[start : start + _BLOCK])
        return answers

    def estimate(self, answers: Categories, confidence: Number = "0.95") -> tuple[SurveyEstimate, ...]:
        """The fraction of each category behind released answers: (its share of answers − q)/(t − q).

        t is how often the truth is told, q = (1 − t)/(k − 1) how often each other category. Each interval holds with
        the confidence on its own. Post-processing, so it costs nothing.

        Args:
            answers: What `release` returned, at least one. Leave out who gave none.
            confidence: Between 0 and 1, both excluded.

        Raises:
            ParameterError: There is no answer, one is no category, ε is 0, or the confidence is out of range.

        Example:
            >>> survey = KaryRandomizedResponse(categories=3, probability=0.5)
            >>> [round(estimate.fraction, 3) for estimate in survey.estimate([0] * 4 + [1] * 3 + [2] * 3)]
            [0.467, 0.267, 0.267]
        """
        given = answers_of(answers, categories=self.categories)
        said = np.bincount(given, minlength=self.categories).tolist()
        return tuple(self._randomization.estimate(count, len(given), confidence) for count in said)

    def accuracy(self, confidence: Number = "0.95", *, respondents: int) -> float:
        """How far any of the k estimated fractions may lie from the true ones of these respondents.

        √(ln(2k/(1 − confidence)) / (2·respondents)) / (t − q), known before anyone is asked; infinite at ε = 0.

        References:
            [Hoe63] Theorem 1.
        """
        return self._randomization.accuracy(respondents, confidence, fractions=self.categories)

    @property
    def _randomization(self) -> Randomization:
        """The truth is as a uniform category, but for a `gain` of p, or of (e^ε − 1)/(e^ε + k − 1)."""
        if self.probability is None:
            exponent = float(min(self.epsilon, _LARGEST_EXPONENT))
            gain = -expm1(-exponent) / (1 + (self.categories - 1) * exp(-exponent))
        else:
            gain = float(self.probability)
        return Randomization(when_false=(1 - gain) / self.categories, gain=gain)

    def _randomize(self, truths: NDArray[np.int64]) -> None:
        """Turn truths into answers, in place."""
        liars = np.flatnonzero(self._lies(len(truths)))
        others = uniform_below(self.categories - 1, len(liars))
        others += others >= truths[liars]  # skips the truth
        truths[liars] = others

    def _lies(self, count: int) -> Booleans:
        """Who answers with another category than the true one."""
        if self.probability is None and self.epsilon:
            return bernoulli_within(self._lie_bounds, count)
        return bernoulli((1 - (self.probability or 0)) * Fraction(self.categories - 1, self.categories), count)

    def _lie_bounds(self, bits: int) -> tuple[int, int]:
        """Integers around 2^bits·(k − 1)/(e^ε + k − 1), which is irrational."""
        precision = bits + self.categories.bit_length()
        lower, upper = ((self.categories - 1) * bound for bound in exp_bounds(self.epsilon, precision))
        one = 1 << precision
        return (lower << bits) // (one + lower), -(-(upper << bits) // (one + upper))

    def _in_range(self, values: Iterable[Any]) -> NDArray[np.int64]:
        numbers = column(values, "values")
        integers = integer_column(numbers)
        steps = lattice_steps(numbers, Fraction(1)) if integers is None else integers
        return np.clip(steps, 0, self.categories - 1).astype(np.int64)


def _below_one(probability: Number) -> Fraction:
    exact = as_probability(probability, "probability")
    if exact == 1:
        raise ParameterError(
            "probability", 1, "always releases the true answer, without any guarantee; choose less than 1"
        )
    return exact
