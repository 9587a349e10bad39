"""Aggregates of SQL: as statistics that are released, and as exact folds inside of sub-queries.

Which there are, and how each is spelled, says `statistics.registry`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from sqlglot import exp

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.shape import Shape
from sfumato.query.analysis.units import holds_unit, ties_of
from sfumato.query.model.expressions import And, Case, Condition, Expression, Null
from sfumato.query.model.relations import Folded, Relation
from sfumato.query.planning.grouping import folded
from sfumato.query.sql.expressions.scalars import Scalars
from sfumato.query.sql.parsing import require_only, shown
from sfumato.query.statistics.registry import SPELLINGS
from sfumato.query.statistics.statistic import Ordering, Spelling, Statistic

MAX_QUANTILES: Final = 100
"""How many parts APPROX_QUANTILES may make."""

_PLACES: Final = {"OFFSET": 0, "SAFE_OFFSET": 0, "ORDINAL": 1}
"""What the first of several quantiles has for a number."""

_AGGREGATES: Final = (exp.AggFunc, exp.Filter, exp.WithinGroup)
_OF_WINDOWS: Final = (
    exp.Grouping, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile, exp.Lag, exp.Lead, exp.FirstValue,
    exp.LastValue,
)  # fmt: skip
"""What the parser takes for aggregates, though it is of the rows of an answer."""

_SPELLINGS: Final[Mapping[str, tuple[type[Any], Spelling]]] = {
    spelling.node: (statistic, spelling) for statistic, spelling in SPELLINGS
}


@dataclass(frozen=True, slots=True)
class AggregateArguments:
    """What an aggregate reads: expressions over the rows, only of those for which FILTER's condition is true."""

    scalars: Scalars
    rows: Relation | None = None
    condition: Condition | None = None

    @property
    def is_filtered(self) -> bool:
        """Whether FILTER leaves rows out."""
        return self.condition is not None

    def single(self, node: exp.Expr) -> Expression:
        """The `value` of the only argument of a call, which has no DISTINCT and no ORDER.

        Raises:
            NotPrivateError: It has one.
        """
        if isinstance(node, exp.Distinct):
            raise self.refusal(
                node.parent, "DISTINCT values of several people cannot be added up", "Use COUNT(DISTINCT …)."
            )
        if isinstance(node, exp.Order):
            raise self.refusal(node.parent, "ORDER BY inside an aggregate is not supported", "Leave it out.")
        return self.value(node)

    def value(self, node: exp.Expr) -> Expression:
        """The value that an argument means; NULL in rows that FILTER leaves out."""
        return self.filtered(self.scalars.lower(node))

    def unfiltered(self, node: exp.Expr) -> Expression:
        """The value that an argument means in all rows."""
        return self.scalars.lower(node)

    def filtered(self, value: Expression) -> Expression:
        """A value in rows that FILTER keeps, else NULL."""
        if self.condition is None:
            return value
        return Case(((self.condition, value),), Null(self.scalars.kind(value)))

    def number(self, node: exp.Expr) -> Fraction | None:
        """The constant number that an argument is; None if it is another constant."""
        value = self.scalars.constant(node).value
        return value if isinstance(value, Fraction) else None

    def holds_unit(self, value: Expression) -> bool:
        """Whether a value tells the privacy unit of its row."""
        return self.rows is not None and holds_unit(value, ties_of(self.rows))

    def require_only(self, node: exp.Expr, *arguments: str) -> None:
        """Refuse a node of which the parser noted more than some arguments.

        Raises:
            NotPrivateError: The node has other arguments.
        """
        require_only(node, arguments)

    def shown(self, node: object) -> str:
        """A node as errors show it."""
        return shown(node)

    def refusal(self, node: object, reason: str, suggestion: str) -> NotPrivateError:
        """The error that shows a node, why it is refused and what to write instead."""
        return NotPrivateError(shown(node), reason, suggestion)

    def where(self, node: exp.Filter) -> "AggregateArguments":
        """The values of an aggregate with FILTER."""
        require_only(node, {"this", "expression"})
        condition = self.scalars.condition(node.expression.this)
        return replace(self, condition=condition if self.condition is None else And((self.condition, condition)))


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is an aggregate, supported or not; what a window computes of rows is none."""
    is_own = isinstance(node.parent, exp.Window) and node.parent.this is node
    return isinstance(node, _AGGREGATES) and not isinstance(node, _OF_WINDOWS) and not is_own


def has_aggregate(node: exp.Expr) -> bool:
    """Whether there is an aggregate in an expression; those of sub-queries are their own."""
    return any(is_aggregate(inner) for inner in node.walk(prune=lambda inner: isinstance(inner, exp.Query)))


def write_quantiles_out(query: exp.Query) -> None:
    """APPROX_QUANTILES(x, n)[OFFSET(k)] becomes QUANTILE(x, k / n); alone in SELECT, a column for each k.

    Raises:
        ParameterError: There is no such quantile.
    """
    if query.find(exp.ApproxQuantiles) is None:
        return
    for bracket in [node for node in query.find_all(exp.Bracket) if isinstance(node.this, exp.ApproxQuantiles)]:
        bracket.replace(_quantile(bracket.this, _place(bracket)))
    for select in query.find_all(exp.Select):
        outputs = [column for output in select.expressions for column in _quantiles(output)]
        if len(outputs) != len(select.expressions):
            select.set("expressions", outputs)


def _quantiles(output: exp.Expr) -> list[exp.Expr]:
    node = output.unalias()
    if not isinstance(node, exp.ApproxQuantiles):
        return [output]
    name = output.alias or "approx_quantiles"
    places = range(_part_count(node) + 1)
    return [exp.alias_(_quantile(node.copy(), place), f"{name}_{place}", quoted=True) for place in places]


def _quantile(node: exp.ApproxQuantiles, place: int) -> exp.Expr:
    count = _part_count(node)
    if not 0 <= place <= count:
        raise ParameterError("APPROX_QUANTILES", shown(node), f"has quantiles from OFFSET(0) to OFFSET({count})")
    return exp.Quantile(this=node.this, quantile=exp.Literal.number(str(Fraction(place, count))))


def _part_count(node: exp.ApproxQuantiles) -> int:
    count = node.expression.name if isinstance(node.expression, exp.Literal) else ""
    if not count.isdecimal() or not 1 <= int(count) <= MAX_QUANTILES:
        raise ParameterError("APPROX_QUANTILES", shown(node), f"must have a whole number from 1 to {MAX_QUANTILES}")
    return int(count)


def _place(bracket: exp.Bracket) -> int:
    """Which quantile of several brackets mean, from 0; the parser itself takes one off where a number stands alone."""
    index, first = bracket.expressions[0] if len(bracket.expressions) == 1 else None, 0
    if isinstance(index, exp.Anonymous) and index.name.upper() in _PLACES and len(index.expressions) == 1:
        index, first = index.expressions[0], _PLACES[index.name.upper()]
    if not isinstance(index, exp.Literal) or not index.name.isdecimal():
        raise ParameterError("APPROX_QUANTILES", shown(bracket), "must say which; [OFFSET(0)] is the least")
    return int(index.name) - first


def statistic_of(node: exp.Expr, values: AggregateArguments) -> Statistic:
    """The statistic that an aggregate means.

    Raises:
        NotPrivateError: It is not supported.
    """
    if isinstance(node, exp.CountIf):
        node = _filtered_count(node)
    if isinstance(node, exp.Filter):
        return statistic_of(node.this, values.where(node))
    if isinstance(node, exp.WithinGroup):
        return _within_group(node, values)
    statistic, spelling = _spelled(node, node)
    if spelling.read is None:
        raise _refused(node)
    require_only(node, spelling.arguments)
    return spelling.read(statistic, values, node)


def fold_of(node: exp.Expr, values: AggregateArguments, shape: Shape) -> Folded:
    """The fold that an aggregate in a sub-query means; its name is to be replaced.

    Raises:
        NotPrivateError: It is not supported there.
    """
    node = _filtered_count(node) if isinstance(node, exp.CountIf) else node
    aggregate = node.this if isinstance(node, exp.Filter) else node
    known = _SPELLINGS.get(type(aggregate).__name__)
    if known is None or not known[1].is_fold:
        raise NotPrivateError(
            shown(node), "this aggregate is not supported in sub-queries", "Use COUNT, SUM, AVG, MIN or MAX there."
        )
    return folded("value", statistic_of(node, values), shape)


def _filtered_count(node: exp.CountIf) -> exp.Filter:
    """COUNT(*) FILTER (WHERE c) for COUNT_IF(c)."""
    require_only(node, {"this"})
    return exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=node.this.copy()))


def _within_group(node: exp.WithinGroup, values: AggregateArguments) -> Statistic:
    require_only(node, {"this", "expression"})
    order = node.expression
    if not isinstance(order, exp.Order) or len(order.expressions) != 1:
        raise NotPrivateError(shown(node), "it must be ordered by one column", "Write WITHIN GROUP (ORDER BY column).")
    ordered = order.expressions[0]
    require_only(ordered, {"this", "desc", "nulls_first"})
    ordering = Ordering(values.value(ordered.this), bool(ordered.args.get("desc")))
    statistic, spelling = _spelled(node.this, node)
    if spelling.ordered is None:
        raise _refused(node)
    return spelling.ordered(statistic, values, node.this, ordering)


def _spelled(call: exp.Expr, node: exp.Expr) -> tuple[type[Any], Spelling]:
    """The statistic that a call means, and how; errors show `node`."""
    known = _SPELLINGS.get(type(call).__name__)
    if known is None:
        raise _refused(node)
    return known


def _refused(node: exp.Expr) -> NotPrivateError:
    return NotPrivateError(
        shown(node), "this statistic is not supported",
        "Use COUNT, SUM, AVG, VARIANCE, STDDEV, MIN, MAX, MEDIAN, MODE, CORR, or PERCENTILE_CONT WITHIN GROUP.",
    )  # fmt: skip
