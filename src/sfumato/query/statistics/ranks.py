"""The error of a chosen value: how many ranks, or rows, it may be off, by the guarantee of its mechanism."""

from collections.abc import Callable
from fractions import Fraction
from math import inf
from typing import Literal

from sfumato.mechanisms.quantiles.extreme import Extreme
from sfumato.mechanisms.quantiles.joint import JointQuantiles
from sfumato.mechanisms.quantiles.quantile import QuantileEnd
from sfumato.query.model.statement import RowCount, ValueCount
from sfumato.query.statistics.estimates import Misrank, Row
from sfumato.query.statistics.measurements import Additive, QuantileChoice, Section, TopChoice


def misranked(
    choice: QuantileChoice | TopChoice, confidence: Fraction, *, coordinate: int = 0, candidates: int = 1
) -> float:
    """How many ranks, or rows, a choice is off, at most, with a confidence; infinite where ε is 0.

    Of a largest value, so many values may be larger: those that it is meant to leave above it, too. Of several
    quantiles, that at a coordinate.
    """
    if not choice.mechanism.epsilon:
        return inf
    if isinstance(choice, TopChoice):
        return float(choice.mechanism.accuracy(confidence, candidates=candidates))
    if isinstance(choice.mechanism, JointQuantiles):
        return choice.mechanism.accuracies(confidence)[coordinate]
    beyond = choice.mechanism.rank - 1 if isinstance(choice.mechanism, Extreme) else 0
    return beyond + float(choice.mechanism.accuracy(confidence))


def misrank_of(
    section: Section,
    measurement: int,
    confidence: Fraction,
    *,
    coordinate: int = 0,
    size: int | None = None,
    candidates: int = 1,
) -> Callable[[Row], Misrank]:
    """What is known of the error of a choice, group by group.

    Args:
        section: What was released.
        measurement: Which of it is the choice.
        confidence: How often the error is not passed.
        coordinate: Which of several quantiles.
        size: How many values somebody says there are; a count that was released says more.
        candidates: From how many public values it was chosen.
    """
    choice, counted = choice_of(section, measurement), _count_of(section)
    error = misranked(choice, confidence, coordinate=coordinate, candidates=candidates)
    is_quantile = isinstance(choice, QuantileChoice)
    unit: Literal["ranks", "rows"] = "ranks" if is_quantile else "rows"
    share = _worst_share(choice, coordinate) if isinstance(choice, QuantileChoice) else Fraction(1)

    def of(row: Row) -> Misrank:
        known = size if counted is None else row[counted][0]
        return Misrank(error=error, unit=unit, size=known, share=share)

    return of


def choice_of(section: Section, measurement: int) -> QuantileChoice | TopChoice:
    """A measurement that is a choice.

    Raises:
        TypeError: It is none, so that it has no rank.
    """
    choice = section.measurements[measurement]
    if not isinstance(choice, QuantileChoice | TopChoice):
        raise TypeError("only what is chosen has a rank")
    return choice


def _worst_share(choice: QuantileChoice, coordinate: int) -> Fraction:
    """The share of the values on the longer side of what is asked for."""
    mechanism = choice.mechanism
    if isinstance(mechanism, Extreme):
        return Fraction(1)
    if isinstance(mechanism, QuantileEnd):
        raise TypeError("an end is no answer of its own")
    quantile = mechanism.quantiles[coordinate] if isinstance(mechanism, JointQuantiles) else mechanism.quantile
    return max(quantile, 1 - quantile)


def _count_of(section: Section) -> int | None:
    """The first noisy count of the rows, or of values, of each group."""
    for place, one in enumerate(section.measurements):
        if isinstance(one, Additive) and len(one.measures) == 1:
            statement = section.statements[one.statement]
            measure = statement.measures[one.measures[0]]
            if statement.cell is None and isinstance(measure, RowCount | ValueCount):
                return place
    return None
