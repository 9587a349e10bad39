"""From randomized answers back to the fraction of whom a thing is true: pure post-processing, which costs nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from sfumato.errors import ParameterError
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.rationals import Number, positive_integer


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyEstimate:
    """What randomized answers say about the fraction of "yes".

    Attributes:
        fraction: The estimate, unbiased, and thus sometimes below 0 or above 1.
        standard_error: The standard deviation of `fraction`, estimated.
        low: Lower end of the interval, at least 0.
        high: Upper end of the interval, at most 1.
        confidence: How often such an interval holds the true fraction.
    """

    fraction: float
    standard_error: float
    low: float
    high: float
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Randomization:
    """An answer is given with probability `when_false` where it is false, and with `gain` more where it is true."""

    when_false: float
    gain: float

    def estimate(self, said: int, count: int, confidence: Number) -> SurveyEstimate:
        """The fraction of whom the answer is true, when `said` of `count` gave it: (said/count − when_false)/gain.

        The interval is that of Clopper and Pearson for the fraction who said so, mapped to the fraction of whom it is
        true.

        Raises:
            ParameterError: The count is below 1, the gain is 0, or the confidence is out of range.

        References:
            [CP34].
        """
        if self.gain == 0:
            requirement = "an answer that reveals nothing allows no estimate; raise ε or the probability"
            raise ParameterError("answers", "mere noise", requirement)
        failure = float(failure_probability(confidence))
        positive_integer(count, "answers")
        low = float(betaincinv(said, count - said + 1, failure / 2)) if said else 0.0
        high = float(betaincinv(said + 1, count - said, 1 - failure / 2)) if said < count else 1.0
        return SurveyEstimate(
            fraction=self._truth_behind(said / count),
            standard_error=sqrt(said * (count - said) / count**3) / self.gain,
            low=min(1.0, max(0.0, self._truth_behind(low))),
            high=min(1.0, max(0.0, self._truth_behind(high))),
            confidence=1 - failure,
        )

    def accuracy(self, respondents: int, confidence: Number, *, fractions: int = 1) -> float:
        """How far the estimates of `fractions` fractions may lie from those of these respondents, all at once.

        √(ln(2·fractions/(1 − confidence)) / (2·respondents)) / gain, by Hoeffding's bound and a union bound; infinite
        without a gain.

        References:
            [Hoe63] Theorem 1.
        """
        people, failure = positive_integer(respondents, "respondents"), float(failure_probability(confidence))
        return sqrt(log(2 * fractions / failure) / (2 * people)) / self.gain if self.gain else inf

    def _truth_behind(self, said: float) -> float:
        return (said - self.when_false) / self.gain


def answers_of(answers: Sequence[Any] | NDArray[Any], *, categories: int) -> NDArray[np.int64]:
    """Released answers as categories. A missing one is an error: it would count as an answer that nobody gave.

    Raises:
        ParameterError: One is missing, or is no bit or whole number from 0 to categories − 1.
    """
    is_plain = type(answers) is np.ndarray and answers.ndim == 1 and answers.dtype.kind in "biu"
    listed = answers if is_plain else list(answers)
    kinds: set[type] = set() if is_plain else set(map(type, listed))
    if all(issubclass(kind, int | np.integer | np.bool_) for kind in kinds) and np.timedelta64 not in kinds:
        given = np.array(listed)
        if ((given >= 0) & (given < categories)).all():
            return given.astype(np.int64)
    requirement = f"must be released categories, whole numbers from 0 to {categories - 1}; leave out missing ones"
    raise ParameterError("answers", "some", requirement)
