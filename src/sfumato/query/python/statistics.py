"""The statistics that frames ask for; each takes the name of a column, or what is computed of columns."""

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, exact, flag
from sfumato.query.handles.columns import ColumnHandle, expression_of
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
)

Value: TypeAlias = str | ColumnHandle
"""The name of a column, or what is computed of columns."""

StatedBounds: TypeAlias = tuple[Number, Number] | str | None
"""What values are clamped to: a pair, or "auto" for bounds chosen privately; None for what the policy says."""


def count(value: Value | None = None) -> Statistic:
    """The number of rows, or of values that are not NULL.

    Example:
        >>> count()
        CountRows()
    """
    return CountRows() if value is None else CountValues(expression_of(value))


def count_units() -> Statistic:
    """The number of privacy units that have a row, such as patients; where each row is a unit, of rows."""
    return CountUnits()


def count_distinct(value: Value, *, max_values_per_unit: int | None = None) -> Statistic:
    """The number of different values.

    Args:
        value: Of what.
        max_values_per_unit: How many of one unit's values count; as many as it may have rows if left out.
    """
    return CountDistinct(expression_of(value), max_values_per_unit)


def sum(value: Value, *, bounds: StatedBounds = None) -> Statistic:  # noqa: A001 # the field's word, used as sf.sum
    """The sum of values clamped to bounds; 0 over nothing.

    Example:
        >>> sum("hours", bounds=(0, 100))
        Sum(value=ColumnRef(name='hours'), bounds=(Fraction(0, 1), Fraction(100, 1)))
    """
    return Sum(expression_of(value), _bounds(bounds))


def mean(value: Value, *, bounds: StatedBounds = None) -> Statistic:
    """The mean of values clamped to bounds, from one noisy sum and one noisy count.

    Example:
        >>> mean("hours")
        Mean(value=ColumnRef(name='hours'), bounds=None)
    """
    return Mean(expression_of(value), _bounds(bounds))


def variance(value: Value, *, bounds: StatedBounds = None, population: bool = False) -> Statistic:
    """The variance of values clamped to bounds: of a sample (over n − 1), or of a whole population (over n)."""
    return Variance(expression_of(value), _bounds(bounds), population=flag(population, "population"))


def stddev(value: Value, *, bounds: StatedBounds = None, population: bool = False) -> Statistic:
    """The standard deviation: the square root of `variance`."""
    return Variance(expression_of(value), _bounds(bounds), population=flag(population, "population"), root=True)


def quantile(
    value: Value, quantile: Number, *, bounds: StatedBounds = None, interval: bool = False
) -> Statistic:  # fmt: skip
    """A value below which about a share of the values lie.

    Args:
        value: Of what.
        quantile: The share, from 0 to 1.
        bounds: What values are clamped to.
        interval: Whether to buy an interval of 95% with it, for two thirds of its ε, a third for each end; for shares
            between 0 and 1. Without one, the answer shows how many ranks it may be off.

    Example:
        >>> quantile("hours", 0.9).quantile
        Fraction(9, 10)
    """
    share, is_bought = exact(quantile, "quantile"), flag(interval, "interval")
    return Quantile(expression_of(value), share, _bounds(bounds), is_bought)


def median(value: Value, *, bounds: StatedBounds = None, interval: bool = False) -> Statistic:
    """The value in the middle: `quantile` of 1/2; with an `interval` of 95% for two thirds of its ε.

    Example:
        >>> median("hours", interval=True).interval
        True
    """
    return Quantile(expression_of(value), Fraction(1, 2), _bounds(bounds), flag(interval, "interval"))


def min(value: Value, *, bounds: StatedBounds = None) -> Statistic:  # noqa: A001 # the field's word, used as sf.min
    """A value below nearly all: `quantile` of 0. In a sub-query (`fold`) the least, exactly."""
    return Quantile(expression_of(value), Fraction(0), _bounds(bounds))


def max(value: Value, *, bounds: StatedBounds = None) -> Statistic:  # noqa: A001 # the field's word, used as sf.max
    """A value above nearly all: `quantile` of 1. In a sub-query (`fold`) the greatest, exactly."""
    return Quantile(expression_of(value), Fraction(1), _bounds(bounds))


def histogram(value: Value, *, edges: Iterable[Number]) -> Statistic:
    """The numbers of values between public edges, in ascending order; the last bin holds its upper edge too.

    Example:
        >>> histogram("age", edges=[0, 18, 65, 120]).edges[1]
        Fraction(18, 1)
    """
    return Histogram(expression_of(value), tuple(exact(edge, "edges") for edge in listed(edges, "edges")))


def mode(value: Value) -> Statistic:
    """The most frequent of the public values of a column."""
    return TopK(expression_of(value))


def top_k(value: Value, k: int) -> Statistic:
    """The `k` most frequent of the public values of a column, most frequent first."""
    return TopK(expression_of(value), k)


def covariance(first: Value, second: Value, *, population: bool = False) -> Statistic:
    """The covariance of two values: of a sample, or of a whole population."""
    return Covariance(expression_of(first), expression_of(second), population=flag(population, "population"))


def correlation(first: Value, second: Value) -> Statistic:
    """The correlation of two values, between −1 and 1."""
    return Covariance(expression_of(first), expression_of(second), normalized=True)


def vector_sum(*values: Value) -> Statistic:
    """The sums of several values, as one vector with one noise."""
    return VectorSum(tuple(map(expression_of, values)))


def _bounds(bounds: StatedBounds) -> Bounds:
    match bounds:
        case None:
            return None
        case str("auto"):  # an array of NumPy compares each of its elements
            return AUTO
        case (lower, upper) if isinstance(bounds, tuple | list):  # NumPy 2.5 makes an array a sequence
            return exact(lower, "bounds"), exact(upper, "bounds")
        case _:
            raise ParameterError("bounds", bounds, 'must be a pair such as (0, 100), or "auto"')
