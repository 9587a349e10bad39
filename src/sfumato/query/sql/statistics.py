"""Aggregates of SQL: as statistics that are released, and as exact folds inside of sub-queries."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from sqlglot import exp

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.shape import Shape
from sfumato.query.analysis.units import Ties, holds_unit
from sfumato.query.model.expressions import Case, Condition, Expression, Literal, Null
from sfumato.query.model.relations import (
    CountDistinct,
    CountRows,
    CountUnits,
    CountValues,
    Covariance,
    Folded,
    Mean,
    Quantile,
    Statistic,
    Sum,
    TopK,
    Variance,
)
from sfumato.query.planning.folds import folded
from sfumato.query.sql.parsing import require_only, shown
from sfumato.query.sql.scalars import Scalars

_AGGREGATES: Final = (exp.AggFunc, exp.Filter, exp.WithinGroup)
_FOLDS: Final = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)


@dataclass(frozen=True, slots=True)
class Values:
    """What an aggregate reads: expressions over the rows, only of those for which FILTER's condition is true."""

    scalars: Scalars
    ties: Mapping[str, Ties]
    condition: Condition | None = None

    def of(self, node: exp.Expr) -> Expression:
        """The value that an argument means; NULL in rows that FILTER leaves out."""
        return self.kept(self.scalars.lower(node))

    def kept(self, value: Expression) -> Expression:
        """The value in rows that FILTER keeps, else NULL."""
        if self.condition is None:
            return value
        return Case(((self.condition, value),), Null(self.scalars.kind(value)))

    def where(self, node: exp.Filter) -> "Values":
        """The values of an aggregate with FILTER."""
        require_only(node, {"this", "expression"})
        return replace(self, condition=self.scalars.condition(node.expression.this))


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the nodes of one class may hold, and what they mean as a statistic."""

    arguments: frozenset[str]
    lower: Callable[[Values, Any], Statistic]


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is an aggregate, supported or not."""
    return isinstance(node, _AGGREGATES)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether there is an aggregate in an expression; those of sub-queries are their own."""
    return any(is_aggregate(inner) for inner in node.walk(prune=lambda inner: isinstance(inner, exp.Query)))


def statistic_of(node: exp.Expr, values: Values) -> Statistic:
    """The statistic that an aggregate means.

    Raises:
        NotPrivateError: It is not supported.
    """
    if isinstance(node, exp.Filter):
        return statistic_of(node.this, values.where(node))
    aggregate = _STATISTICS.get(type(node))
    if aggregate is None:
        raise _refused(node)
    require_only(node, aggregate.arguments)
    return aggregate.lower(values, node)


def fold_of(node: exp.Expr, values: Values, shape: Shape) -> Folded:
    """The fold that an aggregate in a sub-query means; its name is to be replaced.

    Raises:
        NotPrivateError: It is not supported there.
    """
    aggregate = node.this if isinstance(node, exp.Filter) else node
    if not isinstance(aggregate, _FOLDS):
        raise NotPrivateError(
            shown(node), "this aggregate is not supported in sub-queries", "Use COUNT, SUM, AVG, MIN or MAX there."
        )
    return folded("value", statistic_of(node, values), shape)


def _refused(node: exp.Expr) -> NotPrivateError:
    return NotPrivateError(
        shown(node), "this is no statistic that is released here",
        "Ask for COUNT, SUM, AVG, VARIANCE, STDDEV, MIN, MAX, MEDIAN, MODE, CORR, or PERCENTILE_CONT WITHIN GROUP.",
    )  # fmt: skip


def _count(values: Values, node: exp.Count) -> Statistic:
    argument = node.this
    if node.expressions or argument is None:
        raise NotPrivateError(shown(node), "COUNT takes one column", "Write COUNT(*) or COUNT(column).")
    if isinstance(argument, exp.Star):
        require_only(argument, ())
        argument = exp.Literal.number(1)
    if isinstance(argument, exp.Distinct):
        return _count_distinct(values, node, argument)
    value = values.of(argument)
    return CountRows() if isinstance(value, Literal) else CountValues(value)


def _count_distinct(values: Values, node: exp.Count, distinct: exp.Distinct) -> Statistic:
    require_only(distinct, {"expressions"})
    if len(distinct.expressions) != 1:
        raise NotPrivateError(shown(node), "only one column can be counted so", "Count the values of one column.")
    value = values.scalars.lower(distinct.expressions[0])
    if not holds_unit(value, values.ties):
        return CountDistinct(values.kept(value))
    return CountUnits() if values.condition is None else CountDistinct(values.kept(value), max_values_per_unit=1)


def _of_one(statistic: Callable[[Expression], Statistic]) -> Meaning:
    def lower(values: Values, node: exp.Expr) -> Statistic:
        if isinstance(node.this, exp.Distinct):
            raise NotPrivateError(
                shown(node), "DISTINCT values of several people cannot be added up", "Ask for COUNT(DISTINCT …)."
            )
        if isinstance(node.this, exp.Order):
            raise NotPrivateError(shown(node), "an ORDER inside of an aggregate is not supported", "Leave it out.")
        return statistic(values.of(node.this))

    return Meaning(frozenset({"this"}), lower)


def _of_two(*, population: bool = False, normalized: bool = False) -> Meaning:
    def lower(values: Values, node: exp.Binary) -> Statistic:
        first, second = values.of(node.this), values.scalars.lower(node.expression)
        return Covariance(first, second, population=population, normalized=normalized)

    return Meaning(frozenset({"this", "expression"}), lower)


def _variance(*, population: bool = False, root: bool = False) -> Meaning:
    return _of_one(lambda value: Variance(value, population=population, root=root))


def _quantile(values: Values, node: exp.Quantile) -> Statistic:
    return Quantile(values.of(node.this), _share(values, node.args["quantile"]))


def _mode(values: Values, node: exp.Mode) -> Statistic:
    if node.this is None:
        raise NotPrivateError(shown(node), "of which column?", "Write MODE() WITHIN GROUP (ORDER BY column).")
    return TopK(values.of(node.this))


def _within_group(values: Values, node: exp.WithinGroup) -> Statistic:
    order, inner = node.expression, node.this
    if not isinstance(order, exp.Order) or len(order.expressions) != 1:
        raise NotPrivateError(shown(node), "it must be ordered by one column", "Write WITHIN GROUP (ORDER BY column).")
    ordered = order.expressions[0]
    require_only(ordered, {"this", "desc", "nulls_first"})
    value = values.of(ordered.this)
    match inner:
        case exp.PercentileCont() | exp.PercentileDisc():
            require_only(inner, {"this"})
            share = _share(values, inner.this)
            return Quantile(value, 1 - share if ordered.args.get("desc") else share)
        case exp.Mode():
            require_only(inner, ())
            return TopK(value)
        case _:
            raise _refused(node)


def _share(values: Values, node: exp.Expr) -> Fraction:
    share = values.scalars.constant(node).value
    if not isinstance(share, Fraction) or not 0 <= share <= 1:
        raise ParameterError("quantile", shown(node), "must be a number from 0 to 1, such as 0.5")
    return share


_STATISTICS: Final[Mapping[type[exp.Expr], Meaning]] = {
    exp.Count: Meaning(frozenset({"this", "expressions", "big_int"}), _count),
    exp.Sum: _of_one(Sum),
    exp.Avg: _of_one(Mean),
    exp.Min: _of_one(lambda value: Quantile(value, Fraction(0))),
    exp.Max: _of_one(lambda value: Quantile(value, Fraction(1))),
    exp.Median: _of_one(lambda value: Quantile(value, Fraction(1, 2))),
    exp.Variance: _variance(),
    exp.VariancePop: _variance(population=True),
    exp.Stddev: _variance(root=True),
    exp.StddevSamp: _variance(root=True),
    exp.StddevPop: _variance(population=True, root=True),
    exp.CovarSamp: _of_two(),
    exp.CovarPop: _of_two(population=True),
    exp.Corr: _of_two(normalized=True),
    exp.Quantile: Meaning(frozenset({"this", "quantile"}), _quantile),
    exp.Mode: Meaning(frozenset({"this"}), _mode),
    exp.WithinGroup: Meaning(frozenset({"this", "expression"}), _within_group),
}
