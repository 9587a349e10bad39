"""A survey on paper: people toss real coins, and write down an answer that convicts nobody."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import Final

import numpy as np

from sfumato.errors import ParameterError
from sfumato.local.core.domain import Domain, Label
from sfumato.mechanisms.response.kary_randomized_response import KaryRandomizedResponse
from sfumato.mechanisms.response.survey import SurveyEstimate
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.rationals import Number, positive, set_fields
from sfumato.privacy.events import RandomizedResponseEvent

_COIN: Final = 2
_DIE: Final = 6
_MOST_ANSWERS: Final = 100
_MOST_TICKETS: Final = 1000
_MOST_PAPERS: Final = 10**8


@dataclass(frozen=True, slots=True, init=False)
class Survey:
    """A question with k answers: with probability t a person writes the truth, otherwise a uniform answer of all k.

    Whoever collects the papers learns how many people hold each answer. What a single paper says may be chance. People
    use coins, dice or tickets, so that they need to trust no program.

    **Guarantee**: a paper has ε-differential privacy in its answer, with e^ε = 1 + kt/(1 − t), if the coins are fair
    and nobody sees them, or how often a person throws. Proof: proofs/mechanisms/response/kary_randomized_response.md.

    Args:
        question: What people are asked.
        answers: 2 to 100 different answers.
        truth: t, above 0 and below 1, with a denominator of at most 1000.

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> survey = Survey("Did you ever smoke marijuana?")
        >>> print(survey.form())
        Did you ever smoke marijuana?
        1. Where nobody sees you, toss a coin. Heads: write your true answer, and stop.
        2. Otherwise toss a coin again, and write what it says. Heads: yes. Tails: no.
        >>> round(float(survey.epsilon), 4), survey.people_for(error="0.1")
        (1.0986, 877)

    References:
        [War65]; [DR14] Section 3.2.
    """

    question: str
    answers: tuple[Label, ...]
    truth: Fraction

    def __init__(self, question: str, answers: Iterable[Label] = ("yes", "no"), *, truth: Number = "1/2") -> None:
        listed = Domain(answers).values()
        told = positive(truth, "truth")
        if isinstance(answers, int) or len(listed) > _MOST_ANSWERS:
            raise ParameterError("answers", answers, f"must be a list of 2 to {_MOST_ANSWERS} different answers")
        if told >= 1 or told.denominator > _MOST_TICKETS:
            requirement = f"must be above 0 and below 1, with a denominator of at most {_MOST_TICKETS}"
            raise ParameterError("truth", truth, requirement)
        set_fields(self, question=of_kind(question, "question", str, "a text"), answers=listed, truth=told)

    @property
    def epsilon(self) -> Fraction:
        """What a paper reveals of its person, rounded up."""
        return self._mechanism.epsilon

    @property
    def event(self) -> RandomizedResponseEvent:
        """The event of one paper, for its person."""
        return RandomizedResponseEvent(self.truth, len(self.answers))

    def form(self) -> str:
        """The question and what to do, for a sheet of paper."""
        first, tells = _tool(self.truth.denominator, [""] * self.truth.numerator)
        again, says = _tool(len(self.answers), self.answers)
        repeat = " again" if first == again else ""
        returned, returned_again = (", {}put it back" if tool.startswith("draw") else "" for tool in (first, again))
        unseen = f"1. Where nobody sees you, {first}{returned.format('and ')}."
        return "\n".join(
            (
                self.question,
                f"{unseen} {tells}: write your true answer, and stop.",
                f"2. Otherwise {again}{repeat}{returned_again.format('')}, and write what it says. {says}.",
            )
        )

    def estimate(
        self, papers: Iterable[Label] | Mapping[Label, int], confidence: Number = "0.95"
    ) -> dict[Label, SurveyEstimate]:
        """The fraction of the people who hold each answer, with intervals that each hold with the confidence.

        Args:
            papers: What each paper says, or how many papers say each answer. Leave out who gave none.
            confidence: Between 0 and 1, both excluded.

        Raises:
            ParameterError: There are no papers or more than 10^8, one has no answer of the survey, or the confidence is
                out of range.

        Example:
            >>> found = Survey("Did you ever smoke marijuana?").estimate({"yes": 45, "no": 55})
            >>> round(found["yes"].fraction, 3)
            0.4
        """
        answers = Domain(self.answers)
        if isinstance(papers, Mapping):
            counts = [_counted(count) for count in papers.values()]
            if sum(counts) > _MOST_PAPERS:
                raise ParameterError("papers", sum(counts), f"must be at most {_MOST_PAPERS:,} in all")
            given = np.repeat(answers.indexes(papers), counts)
        else:
            given = answers.indexes(papers)
        estimates = self._mechanism.estimate(given, confidence)
        return dict(zip(self.answers, estimates, strict=True))

    def accuracy(self, confidence: Number = "0.95", *, people: int) -> float:
        """How far any of the estimated fractions may lie from those of these people, before anyone is asked."""
        return self._mechanism.accuracy(confidence, respondents=people)

    def people_for(self, *, error: Number, confidence: Number = "0.95") -> int:
        """How many people must answer, so that no estimated fraction is off by more than the error.

        ⌈ln(2k/(1 − confidence))/(2·(error·t)²)⌉, by Hoeffding's bound.

        Raises:
            ParameterError: The error is not above 0, or the confidence out of range.

        References:
            [Hoe63] Theorem 1.
        """
        wanted, failure = float(positive(error, "error")), float(failure_probability(confidence))
        return ceil(log(2 * len(self.answers) / failure) / (2 * (wanted * float(self.truth)) ** 2))

    @property
    def _mechanism(self) -> KaryRandomizedResponse:
        return KaryRandomizedResponse(categories=len(self.answers), probability=self.truth)


def _tool(sides: int, meanings: "list[str] | tuple[Label, ...]") -> tuple[str, str]:
    """What is thrown or drawn, and what each outcome means; a meaning "" is left out, as all of them are the same."""
    each = 1
    if sides == _COIN:
        action, names = "toss a coin", ["Heads", "Tails"]
    elif _DIE % sides == 0:
        action, each = "roll a die", _DIE // sides
        names = [_range(place * each + 1, each) for place in range(sides)]
    else:
        action, names = f"draw one of {sides} tickets", [str(place + 1) for place in range(sides)]
    if not any(meanings):
        return action, names[0] if len(meanings) == 1 else _range(1, each * len(meanings))
    return action, ". ".join(f"{name}: {meaning}" for name, meaning in zip(names, meanings, strict=True))


def _range(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first} to {first + count - 1}"


def _counted(count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise ParameterError("papers", count, "must say how many papers have each answer, 0 or more")
    return count
