"""Membership in a study from its published means: was this person's record averaged?

With d attributes of n people and d of the order of n, means that are exact give nearly everybody away, although each is
a harmless statistic. The adversary knows one record whole, and how common each attribute is among people at large.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.core.answers import Answer
from sfumato.attacks.core.membership_game import Game, Rates, TestStatistic
from sfumato.attacks.core.outcome import Outcome, largest_success
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import floats, real, result, truths
from sfumato.numeric.rationals import Number, probability
from sfumato.plots.losses import trade_off

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats: TypeAlias = NDArray[np.float64]
Records: TypeAlias = NDArray[Any]
Score: TypeAlias = Callable[[Records, Floats, Floats], Floats]
"""Of records (one a row), the released means and those of the population: higher for records that look averaged."""

_EDGE: Final = 1e-6  # how near to 0 and 1 a noisy frequency is believed to be
_MATRIX: Final = 2  # dimensions


def homer(records: Records, released: Floats, population: Floats) -> Floats:
    """Σ |x − p| − |x − a|: how much nearer the record is to the released means a than to the population's p.

    Example:
        >>> homer(np.array([[1, 0], [0, 1]]), np.array([0.8, 0.2]), np.array([0.5, 0.5])).round(1).tolist()
        [0.6, -0.6]

    References:
        [HSRDTMPSNC08].
    """
    records, released, population = _scored(records, released, population)
    return _summed(np.abs(records - population) - np.abs(records - released))


def tracing(records: Records, released: Floats, population: Floats) -> Floats:
    """Σ (x − p)·(a − p): how much the record leans to where the means lean.

    Example:
        >>> tracing(np.array([[1, 0], [0, 1]]), np.array([0.8, 0.2]), np.array([0.5, 0.5])).round(1).tolist()
        [0.3, -0.3]

    References:
        [DSSUV15].
    """
    records, released, population = _scored(records, released, population)
    return _summed((records - population) * (released - population))


def likelihood_ratio(records: Records, released: Floats, population: Floats) -> Floats:
    """Σ x·ln(a/p) + (1 − x)·ln((1 − a)/(1 − p)): the logarithm of the best test for independent bits.

    Frequencies are kept a millionth away from 0 and 1, which noise may pass.

    Example:
        >>> likelihood_ratio(np.array([[1, 0]]), np.array([0.8, 0.2]), np.array([0.5, 0.5])).round(2).tolist()
        [0.94]

    References:
        [SOJH09].
    """
    records, released, population = _scored(records, released, population)
    a, p = (np.clip(means, _EDGE, 1 - _EDGE) for means in (released, population))
    return _summed(records * np.log(a / p) + (1 - records) * np.log((1 - a) / (1 - p)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Roc:
    """How well scores distinguish members: true positives over false positives, for every threshold.

    Args:
        scores: One score per person, higher if they look present.
        present: Whether each person was present.

    Raises:
        ParameterError: Lengths differ, or nobody was there, or everybody, or a score is no number.

    Example:
        >>> curve = Roc(scores=[3.0, 2.0, 1.0, 0.0], present=[True, False, True, False])
        >>> curve.true_positive_rate_at(0.0), curve.true_positive_rate_at(0.5), curve.area
        (0.5, 1.0, 0.75)
    """

    scores: Sequence[float] | Floats
    present: Sequence[bool] | NDArray[np.bool_]

    def __post_init__(self) -> None:
        scores, there = floats(self.scores, "scores"), truths(self.present, "present")
        if np.isnan(scores).any():
            raise ParameterError("scores", "NaN", "must be numbers; use −inf for a person without a score")
        if there.ndim != 1 or there.shape != scores.shape or not 0 < np.count_nonzero(there) < there.size:
            raise ParameterError("present", there.shape, "must be one for each score, and hold both True and False")

    def rates(self) -> tuple[Floats, Floats]:
        """False and true positive rates of all thresholds, both growing from 0 to 1; ties are passed together."""
        scores, there = floats(self.scores, "scores"), truths(self.present, "present")
        order = np.argsort(-scores, kind="stable")
        last = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)
        hits, alarms = np.cumsum(there[order])[last], np.cumsum(~there[order])[last]
        return np.append(0.0, alarms / alarms[-1]), np.append(0.0, hits / hits[-1])

    def true_positive_rate_at(self, false_positive_rate: float) -> float:
        """The most true positives at no more than this rate of false ones."""
        probability(false_positive_rate, "false_positive_rate")
        false, true = self.rates()
        return float(true[false <= false_positive_rate].max())

    @property
    def area(self) -> float:
        """The area under the curve: ½ for blind guessing, 1 for certainty."""
        false, true = self.rates()
        return float(np.sum(np.diff(false) * (true[1:] + true[:-1]) / 2))

    def picture(self, *, title: str | None = None) -> "Figure":
        """A chart of misses over false alarms.

        Args:
            title: The title; None states the largest advantage of a threshold.
        """
        false, true = self.rates()
        return trade_off({"measured": (false, 1 - true)}, title=title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """The result of a membership test.

    Attributes:
        game: The success at the test's threshold, also separately for members and outsiders.
        roc: The success at every threshold.
    """

    game: Game
    roc: Roc

    @property
    def outcome(self) -> Outcome:
        """The success rate of the test."""
        return self.game.outcome

    def __str__(self) -> str:
        return f"{self.game}\n  area under the curve {self.roc.area:.3f}"


def membership(
    released: Sequence[float] | Floats,
    *,
    members: Records,
    outsiders: Records,
    reference: Records,
    score: Score = tracing,
    false_positive_rate: float = 0.05,
    epsilon: Number | None = None,
    delta: Number = 0,
) -> Membership:
    """Tell members from outsiders by the released means of all attributes.

    From one half of a reference sample the adversary learns how common attributes are; the threshold is what a share
    of `false_positive_rate` of the other half exceeds.

    Args:
        released: The mean of each attribute, exact or noisy.
        members: Records that were averaged, one a row; for the score alone.
        outsiders: Records that were not; the same.
        reference: Records of other people.
        score: `tracing`, `homer` or `likelihood_ratio`.
        false_positive_rate: Between 0 and 1.
        epsilon: The claimed ε of all the means together; None claims no guarantee. Its limit holds for people whose
            presence was decided by independent coins, with the share of members as probability.
        delta: The claimed δ of all the means together.

    Raises:
        ParameterError: Records have not as many attributes as there are means, the reference is too small, the rate
            lies outside, something is no number, or the score gives not one to each record.

    Example:
        >>> people = np.random.default_rng(1).integers(2, size=(150, 5000))
        >>> study, others, reference = np.split(people, 3)
        >>> membership(study.mean(axis=0), members=study, outsiders=others, reference=reference).roc.area
        1.0

    References:
        [HSRDTMPSNC08]; [SOJH09]; [DSSUV15].
    """
    means = floats(released, "released")
    members, outsiders = _records(members, "members"), _records(outsiders, "outsiders")
    reference = _records(reference, "reference")
    share(false_positive_rate)
    if means.ndim != 1 or any(records.shape[1:] != means.shape for records in (members, outsiders, reference)):
        raise ParameterError("released", means.shape, "must have a mean for each attribute of the records")
    if not np.isfinite(means).all():
        raise ParameterError("released", released, "must be finite numbers")
    if len(reference) < 2:  # noqa: PLR2004 # one for each half
        raise ParameterError("reference", len(reference), "must be two people or more")
    population = reference[::2].mean(axis=0)  # the others are outsiders to it, as those are whom the threshold is for
    inside, outside, known = (
        _scores(score, records, means, population) for records in (members, outsiders, reference[1::2])
    )
    return judged(
        inside,
        outside,
        threshold=threshold_at(false_positive_rate, known),
        attack=f"membership by {getattr(score, '__name__', 'a score').replace('_', ' ')}",
        epsilon=epsilon,
        delta=delta,
    )


def estimate(record: Records, *, population: Floats, questions: Sequence[Any], score: Score = tracing) -> TestStatistic:
    """The same test for `membership_game.play`: asks for the mean of each attribute, and scores one record.

    Args:
        record: The record of the person whose presence is guessed.
        population: The mean of each attribute among people at large.
        questions: The query for the mean of each attribute.
        score: `tracing`, `homer` or `likelihood_ratio`.
    """

    def scored(answer: Answer) -> float:
        means = np.array([float(answer(question)) for question in questions])
        return float(score(record[np.newaxis], means, population)[0])

    return scored


def threshold_at(false_positive_rate: float, scores: Floats) -> float:
    """The least threshold at or above which no more than this share of the scores lies.

    Raises:
        ParameterError: The rate is out of range.

    Example:
        >>> threshold_at(0.5, np.array([1.0, 2.0, 3.0, 4.0])) > 2
        True
    """
    passed = int(share(false_positive_rate) * len(scores))
    return float(np.nextafter(np.sort(scores)[len(scores) - 1 - passed], np.inf))


def judged(
    members: Floats,
    outsiders: Floats,
    *,
    threshold: float,
    attack: str,
    epsilon: Number | None = None,
    delta: Number = 0,
) -> Membership:
    """What comes of scores and a threshold, at or above which somebody is said to have been there.

    Args:
        members: Scores of those who were.
        outsiders: Scores of those who were not.
        threshold: Chosen without either.
        attack: The name of the attack, in words.
        epsilon: The claimed ε of all that the adversary saw; None claims no guarantee.
        delta: The claimed δ of all that the adversary saw.

    Raises:
        ParameterError: There is nobody on one of the sides, or a score is NaN.
    """
    if np.isnan(members).any() or np.isnan(outsiders).any():
        raise ParameterError("scores", "NaN", "must be numbers; use −inf for a person without a score")
    hits, alarms = int(np.sum(members >= threshold)), int(np.sum(outsiders >= threshold))
    total = len(members) + len(outsiders)
    larger = max(len(members), len(outsiders)) / max(total, 1)
    allowed = None if epsilon is None else largest_success(epsilon=epsilon, delta=delta, prior=larger)
    outcome = Outcome(
        attack=attack,
        successes=hits + len(outsiders) - alarms,
        trials=total,
        baseline=larger,
        allowed=allowed,
    )
    rates = Rates(hits=hits, present=len(members), false_alarms=alarms, absent=len(outsiders))
    roc = Roc(scores=np.append(members, outsiders), present=np.arange(total) < len(members))
    return Membership(game=Game(outcome=outcome, rates=rates), roc=roc)


def share(false_positive_rate: float) -> float:
    """The rate as a float, at least 0 and below 1.

    Raises:
        ParameterError: It is out of range.

    Example:
        >>> share(0.05)
        0.05
    """
    found = real(false_positive_rate, "false_positive_rate")
    if not 0 <= found < 1:
        raise ParameterError("false_positive_rate", false_positive_rate, "must be at least 0 and below 1")
    return found


def _records(records: Records, name: str) -> Records:
    """A matrix of numbers, a person in each row. The error shows none of them."""
    try:
        found = np.asarray(records)
        if found.ndim == _MATRIX:
            return found if found.dtype.kind in "biuf" else floats(found, name)
    except ValueError:  # rows of several lengths, or what is no number
        pass
    raise ParameterError(name, type(records), "must be numbers, a row for each person")


def _scored(records: Records, released: Floats, population: Floats) -> tuple[Records, Floats, Floats]:
    """What a score is made of: records, and two means for each of their attributes."""
    found, means, common = _records(records, "records"), floats(released, "released"), floats(population, "population")
    for values, name in ((means, "released"), (common, "population")):
        if values.shape != found.shape[1:]:
            raise ParameterError(name, values.shape, f"must be a mean for each of {found.shape[1]} attributes")
    return found, means, common


def _scores(score: Score, records: Records, released: Floats, population: Floats) -> Floats:
    found = floats(result(score, "score", records, released, population), "score(records, …)")
    if found.shape != records.shape[:1]:
        raise ParameterError("score(records, …)", found.shape, f"must be a number for each of {len(records)} records")
    return found


def _summed(terms: Floats) -> Floats:
    found: Floats = np.sum(terms, axis=1, dtype=np.float64)
    return found
