"""What statistics may be asked of which rows."""

from fractions import Fraction
from itertools import pairwise

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import positive_integer, probability
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.keys import candidates
from sfumato.query.analysis.shape import Metric, Shape
from sfumato.query.model.facts import Facts
from sfumato.query.model.kinds import NUMBERS
from sfumato.query.model.relations import (
    AUTO,
    Bounds,
    CountDistinct,
    CountRows,
    CountUnits,
    CountValues,
    Covariance,
    Histogram,
    Mean,
    Quantile,
    Statistic,
    Sum,
    TopK,
    Variance,
    VectorSum,
    values_of,
)


def check_statistic(name: str, statistic: Statistic, shape: Shape) -> None:
    """Refuse a statistic that means nothing for rows of this shape.

    Raises:
        ParameterError: A column does not exist or is of the wrong kind, or a parameter is out of range.
    """
    facts = [facts_of(value, shape.columns) for value in values_of(statistic)]
    match statistic:
        case CountRows() | CountValues():
            return
        case CountUnits():
            if shape.metric is Metric.PUBLIC:
                raise ParameterError(name, "COUNT(DISTINCT unit)", "belongs to rows of people; these are public")
        case CountDistinct(_, most):
            if most is not None:
                positive_integer(most, "max_values_per_unit")
        case TopK(_, k):
            candidates(name, facts[0], k)
        case Sum() | Mean() | Variance() | Covariance() | Quantile() | Histogram() | VectorSum():
            _check_numeric(name, statistic, facts)


def _check_numeric(
    name: str, statistic: Sum | Mean | Variance | Covariance | Quantile | Histogram | VectorSum, facts: list[Facts]
) -> None:
    for own in facts:
        if own.kind not in NUMBERS:
            raise ParameterError(name, f"{type(statistic).__name__} of a {own.kind}", "must be of numbers")
    match statistic:
        case Sum(_, bounds) | Mean(_, bounds):
            _check_bounds(name, bounds)
        case Variance():
            _check_bounds(name, statistic.bounds)
        case Quantile(_, quantile, bounds, interval):
            probability(quantile, "quantile")
            _check_bounds(name, bounds)
            if interval and quantile in {0, 1}:
                requirement = "belongs to quantiles between 0 and 1; of MIN and MAX the answer shows the error in ranks"
                raise ParameterError("interval", interval, requirement)
        case Histogram(_, edges):
            _check_edges(edges)
        case VectorSum(values) if not values:
            raise ParameterError(name, "no values", "must sum at least one expression")
        case VectorSum() | Covariance():
            return


def _check_bounds(name: str, bounds: Bounds) -> None:
    if bounds is not None and bounds is not AUTO and not bounds[0] < bounds[1]:
        shown = (str(bounds[0]), str(bounds[1]))
        raise ParameterError(f"bounds of {name}", shown, "must have the lower end below the upper one")


def _check_edges(edges: tuple[Fraction, ...]) -> None:
    bins = tuple(pairwise(edges))
    if not bins or any(low >= high for low, high in bins):
        raise ParameterError("edges", f"{len(edges)} edges", "must be at least two, each above the one before")
