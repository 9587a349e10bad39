"""Randomized response with two tosses of one coin: everyone answers, and no answer convicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import opened
from sfumato.mechanisms.lattice import Column, as_rational, column
from sfumato.mechanisms.response.survey import Randomization, SurveyEstimate, answers_of
from sfumato.noise.uniform.bernoulli import Booleans, bernoulli
from sfumato.numeric.rationals import Number, probability, set_fields
from sfumato.numeric.rounding import log_up
from sfumato.privacy.events import PureEvent, RandomizedResponseEvent
from sfumato.privacy.secret import Secret

__all__ = ["RandomizedResponse", "SurveyEstimate"]

_FAIR: Final = Fraction(1, 2)
_FALSEHOOD: Final = _FAIR * (1 - _FAIR)
"""How often fair coins give the wrong answer, the same whichever is right: one coin does for two."""

Bits: TypeAlias = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True, slots=True, init=False)
class RandomizedResponse:
    """Heads: the truth. Tails: toss the same coin again and say "yes" on heads, "no" on tails.

    With p the probability of heads, "yes" is said with probability p + (1−p)p by whom it is true of, and (1−p)p by
    others. With a fair coin the truth is told three times out of four.

    **Guarantee**: ε-differential privacy of each respondent's bit (a respondent's bit is replaced, REPLACE_ONE), with
    e^ε = max(1 + 1/(1−p), 1 + p/(1−p)²): 3 for a fair coin, 21 for p = 0.8. `epsilon` is rounded up. Proof:
    proofs/mechanisms/response/randomized_response.md.

    Edge cases: p = 0 always says "no", ε = 0, and allows no estimate; p = 1 always tells the truth and is refused.
    ε does not go to 0 with p: a "yes" stays at least twice as likely from a yes-person.

    Args:
        heads_probability: p, at least 0 and below 1.

    Raises:
        ParameterError: The probability is out of range.

    Example:
        >>> survey = RandomizedResponse()
        >>> survey.exp_epsilon, len(survey.release([True, False, True]))
        (Fraction(3, 1), 3)

    References:
        [War65]; [DR14] Section 3.2.
    """

    heads_probability: Fraction

    def __init__(self, *, heads_probability: Number = _FAIR) -> None:
        set_fields(self, heads_probability=probability(heads_probability, "heads_probability"))
        if self.heads_probability == 1:
            raise ParameterError(
                "heads_probability", 1, "always releases the true answer, without any guarantee; choose less than 1"
            )

    @property
    def exp_epsilon(self) -> Fraction:
        """e^ε, exactly: the largest ratio of the probabilities of one answer from two different truths."""
        heads = self.heads_probability
        tails = 1 - heads
        return max(1 + 1 / tails, 1 + heads / tails**2) if heads else Fraction(1)

    @property
    def epsilon(self) -> Fraction:
        """The ε of one answer, rounded up."""
        return log_up(self.exp_epsilon)

    @property
    def event(self) -> RandomizedResponseEvent | PureEvent:
        """The event of one answer, for its respondent."""
        if self.heads_probability == _FAIR:
            return RandomizedResponseEvent(probability=_FAIR, categories=2)
        return PureEvent(self.epsilon)

    def release(self, bits: Bits | Secret[Bits]) -> Booleans:
        """One answer for each respondent; a missing bit (None) counts as "no".

        Raises:
            ParameterError: The bits are not one-dimensional.
        """
        truths = _truths(column(opened(bits), "bits"))
        if self.heads_probability == _FAIR:
            return truths ^ bernoulli(_FALSEHOOD, len(truths))
        first, second = (bernoulli(self.heads_probability, len(truths)) for _ in range(2))
        return second ^ (first & (truths ^ second))  # where(first, truths, second), without a branch

    def estimate(self, answers: Bits, confidence: Number = "0.95") -> SurveyEstimate:
        """The fraction of true "yes" behind released answers: (said yes − (1−p)p) / p.

        The interval is that of Clopper and Pearson for the fraction who said yes, mapped to the fraction of whom it is
        true; post-processing, so it costs nothing.

        Args:
            answers: What `release` returned, at least one. Leave out who gave none.
            confidence: Between 0 and 1, both excluded.

        Raises:
            ParameterError: There is no answer, one is missing, p is 0, or the confidence is out of range.

        Example:
            >>> RandomizedResponse().estimate([True] * 5 + [False] * 5).fraction
            0.5
        """
        given = answers_of(answers, categories=2)
        return self._randomization.estimate(int(given.sum()), len(given), confidence)

    def accuracy(self, confidence: Number = "0.95", *, respondents: int) -> float:
        """How far the estimated fraction may lie from the true one of these respondents, by Hoeffding's bound.

        √(ln(2/(1 − confidence)) / (2·respondents)) / p, known before anyone is asked; infinite at p = 0.

        References:
            [Hoe63] Theorem 1.
        """
        return self._randomization.accuracy(respondents, confidence)

    @property
    def _randomization(self) -> Randomization:
        heads = float(self.heads_probability)
        return Randomization(when_false=(1 - heads) * heads, gain=heads)


def _truths(bits: Column) -> Booleans:
    """What is not 0; NaN is missing, so it is a "no"."""
    if not isinstance(bits, np.ndarray):
        return np.array([as_rational(bit) != 0 for bit in bits], dtype=np.bool_)
    said: Booleans = bits if bits.dtype == np.bool_ else (bits != 0).astype(np.bool_, copy=False)
    return said & ~np.isnan(bits) if bits.dtype.kind == "f" else said
