"""A statistic as people read it: SQL, with what that has no words for in comments."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final, TypeAlias

from sfumato.query.model.expressions import Expression, replaced
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
from sfumato.query.printing.expression_sql import expression_sql, number_sql

_NAMED_QUANTILES: Final = {Fraction(0): "MIN", Fraction(1, 2): "MEDIAN", Fraction(1): "MAX"}
_Count: TypeAlias = CountRows | CountUnits | CountValues | CountDistinct


def statistic_sql(statistic: Statistic, columns: Mapping[str, Expression]) -> str:
    """A statistic as SQL.

    Args:
        statistic: What is asked.
        columns: What the columns that it reads stand for.

    Example:
        >>> from sfumato.query.model.expressions import ColumnRef
        >>> statistic_sql(Sum(ColumnRef("pay"), (Fraction(0), Fraction(100))), {})
        'SUM(pay /* bounds: 0 to 100 */)'
    """
    values = [expression_sql(replaced(value, columns)) for value in values_of(statistic)]
    match statistic:
        case CountRows() | CountUnits() | CountValues() | CountDistinct():
            return _count(statistic, values)
        case Sum(_, bounds):
            return f"SUM({values[0]}{_bounds(bounds)})"
        case Mean(_, bounds):
            return f"AVG({values[0]}{_bounds(bounds)})"
        case Variance():
            name = f"{'STDDEV' if statistic.root else 'VAR'}_{'POP' if statistic.population else 'SAMP'}"
            return f"{name}({values[0]}{_bounds(statistic.bounds)})"
        case Covariance():
            name = "CORR" if statistic.normalized else "COVAR_POP" if statistic.population else "COVAR_SAMP"
            return f"{name}({', '.join(values)})"
        case Quantile():
            return _quantile(statistic, values[0])
        case Histogram(_, edges):
            return f"HISTOGRAM({values[0]}, ARRAY[{', '.join(map(number_sql, edges))}])"
        case TopK(_, k):
            return f"MODE() WITHIN GROUP (ORDER BY {values[0]})" if k == 1 else f"TOP_K({values[0]}, {k})"
        case VectorSum():
            return f"VECTOR_SUM({', '.join(values)})"


def _count(statistic: _Count, values: list[str]) -> str:
    match statistic:
        case CountRows():
            return "COUNT(*)"
        case CountUnits():
            return "COUNT(DISTINCT /* unit */)"
        case CountValues():
            return f"COUNT({values[0]})"
        case CountDistinct(_, most):
            return f"COUNT(DISTINCT {values[0]}{'' if most is None else f' /* at most {most} of a unit */'})"


def _quantile(statistic: Quantile, value: str) -> str:
    bounds = f"{_bounds(statistic.bounds)}{' /* with an interval */' if statistic.interval else ''}"
    if statistic.quantile in _NAMED_QUANTILES:
        return f"{_NAMED_QUANTILES[statistic.quantile]}({value}{bounds})"
    return f"PERCENTILE_CONT({number_sql(statistic.quantile)}) WITHIN GROUP (ORDER BY {value}{bounds})"


def _bounds(bounds: Bounds) -> str:
    if bounds is None:
        return ""
    return (
        " /* bounds: auto */"
        if bounds is AUTO
        else f" /* bounds: {number_sql(bounds[0])} to {number_sql(bounds[1])} */"
    )
