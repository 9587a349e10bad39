"""Sub-queries of EXISTS, of IN, and in the place of a value: of rows of the same unit, or of public rows.

One in the place of a value is an exact aggregate. `(SELECT MAX(v.hours) FROM visits v WHERE v.patient = p.patient)`
becomes a LEFT JOIN with the groups of the inner rows by the columns that its WHERE compares with those around it. So it
is made of joins within a unit and of groups within a unit, and moves as far as they do; no rule of its own says how
far. Of no rows, COUNT is 0 and all else is NULL.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias

from sqlglot import exp

from sfumato.errors import NotPrivateError
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.analysis.units import NO_TIES, determines_unit, ties_of
from sfumato.query.model.expressions import (
    Call,
    Case,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    Expression,
    IsNull,
    Literal,
    Not,
    Null,
    Or,
    replaced,
)
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import (
    Filter,
    Fold,
    Folded,
    Grouped,
    Join,
    JoinKind,
    Relation,
    Select,
    SemiJoin,
    fresh,
)
from sfumato.query.planning.grouping import grouped
from sfumato.query.sql.context import Context, Scope, Visible, name_of, named_outputs, scope_of
from sfumato.query.sql.grouping import AskedGroups, Grouping, GroupKey, Keys
from sfumato.query.sql.joins import Link, linked, require_same_unit
from sfumato.query.sql.parsing import require_only, shown, unnested
from sfumato.query.sql.statistics import AggregateArguments, fold_of, has_aggregate

_OTHERS: Final = "a sub-query as a value would read other people's rows"
_NAME_BOTH: Final = "Name both tables, and compare their privacy units in its WHERE: inner.unit = outer.unit."
_ASK_FIRST: Final = "Send it as its own query, and write the released number here."
_COUNTS: Final = frozenset({Fold.COUNT_ROWS, Fold.COUNT, Fold.COUNT_DISTINCT})
_NO_VALUES: Final = (exp.In, exp.Exists, exp.Any, exp.All, exp.From, exp.Join)


@dataclass(frozen=True, slots=True, kw_only=True)
class FromRows:
    """The rows of FROM and WHERE.

    Attributes:
        scope: The rows.
        conditions: What is known to be true of them.
        links: What must be equal between the rows around a sub-query and its own.
        comparisons: What must compare otherwise: how the second of each pair, its own, compares with the first.
    """

    scope: Scope
    conditions: tuple[Condition, ...] = ()
    links: tuple[Link, ...] = ()
    comparisons: tuple[tuple[Comparison, Link], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InSubquery:
    """EXISTS, IN, or NOT of them, as they are written.

    Attributes:
        node: The whole condition.
        query: The sub-query.
        values: What IN looks for; empty for EXISTS.
        negated: Whether rows without a partner are kept.
    """

    node: exp.Expr
    query: exp.Expr
    values: tuple[exp.Expr, ...]
    negated: bool


def membership_of(condition: exp.Expr) -> InSubquery | None:
    """The EXISTS or IN that a condition is, if it is one."""
    node, negated = unnested(condition), False
    while isinstance(node, exp.Not):
        node, negated = unnested(node.this), not negated
    match node:
        case exp.Exists():
            require_only(node, {"this"})
            return InSubquery(node=condition, query=node.this, values=(), negated=negated)
        case exp.In() if node.args.get("query") is not None:
            require_only(node, {"this", "query"})
            value = unnested(node.this)
            values = tuple(value.expressions) if isinstance(value, exp.Tuple) else (value,)
            return InSubquery(node=condition, query=node.args["query"], values=values, negated=negated)
        case _:
            return None


def semi_joined(outer: FromRows, inner: FromRows, *, equal: Sequence[Link], membership: InSubquery) -> Scope:
    """The rows that have a partner, or have none.

    Args:
        outer: The rows of the query around.
        inner: The rows of the sub-query, and what links them to those around.
        equal: What IN compares.
        membership: How it is written.

    Raises:
        NotPrivateError: A partner may be a row of another unit.
    """
    links = (*inner.links, *equal)
    shown_as = shown(membership.node)
    require_same_unit(outer.scope, inner.scope, links, shown_as)
    kept = _kept(outer.scope, inner.scope, links, membership)
    if membership.negated:
        for first, second in equal:
            kept = _where_not_in_is_true(kept, replace(outer, scope=kept), inner, (first, second), membership)
    return kept


def _kept(outer: Scope, inner: Scope, links: Iterable[Link], membership: InSubquery) -> Scope:
    child, other, on = linked(outer, inner, links)
    relation = SemiJoin(child=child, other=other, on=on, negated=membership.negated)
    return scope_of(relation, outer.visible, shown_as=shown(membership.node))


def _where_not_in_is_true(
    kept: Scope, outer: FromRows, inner: FromRows, link: Link, membership: InSubquery
) -> Scope:  # fmt: skip
    """Without rows for which NOT IN is NULL: those with a NULL among what it lists, and a NULL itself if it lists any.

    Raises:
        NotPrivateError: Of several columns, or of rows of other people.
    """
    first, second = link
    is_listed, is_asked = _is_present(inner, second), _is_present(outer, first)
    if is_listed and is_asked:
        return kept
    if len(membership.values) > 1:
        raise NotPrivateError(
            shown(membership.node), "NOT IN of several columns is never true if a value is NULL",
            "Write NOT EXISTS, or add … IS NOT NULL for both sides.",
        )  # fmt: skip
    require_same_unit(kept, inner.scope, inner.links, shown(membership.node))
    if not is_listed:
        nulls = scope_of(Filter(inner.scope.relation, IsNull(second)), inner.scope.visible)
        kept = _kept(kept, nulls, inner.links, membership)
    if not is_asked:
        one = Literal(Fraction(1))
        missing = Case(((IsNull(first), one),), Null(Kind.INTEGER))
        kept = _kept(kept, inner.scope, (*inner.links, (missing, one)), membership)
    return kept


def _is_present(rows: FromRows, value: Expression) -> bool:
    """Whether a value is known not to be NULL: declared so, said so, or what tells whose a row is."""
    ties = ties_of(rows.scope.relation)
    if isinstance(value, ColumnRef) and determines_unit(ties.get(value.name, NO_TIES)):
        return True
    return Not(IsNull(value)) in rows.conditions or not facts_of(value, rows.scope.shape.columns).nullable


Inside: TypeAlias = Callable[[Context, Scope, exp.Expr], tuple[Context, FromRows, exp.Select]]
"""Reads FROM and WHERE of a sub-query, by what it may name and the rows of the query around it."""


def with_values(context: Context, scope: Scope, nodes: Iterable[exp.Expr], inside: Inside) -> Scope:
    """The rows with a column for each sub-query that stands for a value; the nodes then name these columns.

    Args:
        context: What the query around may name.
        scope: Its rows.
        nodes: What it computes of them.
        inside: What reads the rows of a sub-query.

    Raises:
        NotPrivateError: One reads rows of other units, or is no aggregate.
        ParameterError: One names what does not exist, or mixes kinds.
    """
    for node in nodes:
        if node.find(exp.Subquery) is None:
            continue
        for query in list(_values(node)):
            scope, label = _with_value(context, scope, query, inside)
            query.replace(exp.Column(this=exp.to_identifier(label, quoted=True)))
    return scope


def _values(node: exp.Expr) -> Iterator[exp.Subquery]:
    """The outermost sub-queries of an expression that stand for values."""
    for inner in node.walk(prune=lambda inner: isinstance(inner, exp.Query | exp.Exists)):
        if isinstance(inner, exp.Subquery) and not isinstance(inner.parent, _NO_VALUES) and inner.parent is not None:
            yield inner


def _with_value(context: Context, around: Scope, query: exp.Subquery, inside: Inside) -> tuple[Scope, str]:
    """The rows with one more column, and what the query around calls it."""
    shown_as = shown(query)
    context, inner, select = inside(context, around, query)
    node = _aggregate(inner.scope, select, shown_as)
    _require_own_rows(around, inner, shown_as)
    left, right, on = linked(around, inner.scope, inner.links)
    keys = tuple(dict.fromkeys(second for _, second in on))
    relation, value = _folded(context, scope_of(right, inner.scope.visible), keys, node)
    joined, names = _joined(left, relation, on)
    taken = [*shape_of(left).columns, *names.values(), *(visible.label for visible in around.visible)]
    label = fresh(name_of(node), taken)
    own = [(name, ColumnRef(name)) for name in around.shape.columns]
    folds = {column.name: column.fold for column in relation.columns}
    meant: dict[str, Expression] = {column: ColumnRef(name) for column, name in names.items()}
    for name, fold in folds.items():
        if fold in _COUNTS:  # of no rows
            meant[name] = Call(Function.COALESCE, (meant[name], Literal(Fraction(0))))
    rows = Select(joined, (*own, (label, replaced(value, meant))))
    # not merged with a column of the same name, but out of sight for * as if it were
    return scope_of(rows, [*around.visible, Visible("", label, label, merged=True)], shown_as=shown_as), label


_DECISIVE: Final[Mapping[Comparison, tuple[Fold, ...]]] = {
    Comparison.NOT_EQUAL: (Fold.MIN, Fold.MAX), Comparison.LESS: (Fold.MIN,), Comparison.LESS_EQUAL: (Fold.MIN,),
    Comparison.GREATER: (Fold.MAX,), Comparison.GREATER_EQUAL: (Fold.MAX,),
}  # fmt: skip
"""Of all values those that compare so with another one if any does."""


def compared_rows(
    outer: FromRows, inner: FromRows, *, equal: Sequence[Link], membership: InSubquery
) -> Scope:  # fmt: skip
    """The rows for which EXISTS is true of a sub-query that compares one of its values otherwise than by equality.

    Some value is less than x if the least is, and another than x if the least or the greatest is. So these are joined,
    of the inner rows by what must be equal.

    Args:
        outer: The rows of the query around.
        inner: The rows of the sub-query, and what links them to those around.
        equal: What IN compares.
        membership: How it is written.

    Raises:
        NotPrivateError: A partner may be a row of another unit, or there are several such comparisons.
    """
    shown_as, around = shown(membership.node), outer.scope
    if len(inner.comparisons) > 1 or (equal and membership.negated):
        raise NotPrivateError(
            shown_as, "a sub-query can only compare one of its values otherwise than for equality",
            "Write EXISTS or NOT EXISTS with inner.column = outer.column, and at most one other comparison.",
        )  # fmt: skip
    require_same_unit(around, inner.scope, (*inner.links, *equal), shown_as)
    ((comparison, (first, second)),) = inner.comparisons
    left, right, on = linked(around, inner.scope, (*inner.links, *equal))
    keys = tuple(dict.fromkeys(name for _, name in on))
    folds = [Folded(fresh(fold.value, keys), fold, second) for fold in _DECISIVE[comparison]]
    joined, names = _joined(left, grouped(right, keys, folds, used=keys), on)
    compared = [Compare(comparison, ColumnRef(names[fold.name]), first) for fold in folds]
    exists: Condition = Or(tuple(compared)) if len(compared) > 1 else compared[0]
    condition = Or((IsNull(exists), Not(exists))) if membership.negated else exists
    own = tuple((name, ColumnRef(name)) for name in around.shape.columns)
    return scope_of(Select(Filter(joined, condition), own), around.visible, shown_as=shown_as)


def _joined(
    left: Relation, relation: Grouped, on: Sequence[tuple[str, str]]
) -> tuple[Join, dict[str, str]]:  # fmt: skip
    """A LEFT JOIN with groups, whose columns get names that the left side does not have."""
    names: dict[str, str] = {}
    for column in shape_of(relation).columns:
        names[column] = fresh(column, [*shape_of(left).columns, *names.values()])
    renamed = Select(relation, tuple((name, ColumnRef(column)) for column, name in names.items()))
    pairs = tuple((first, names[second]) for first, second in on)
    return Join(left=left, right=renamed, on=pairs, kind=JoinKind.LEFT), names


def _aggregate(scope: Scope, select: exp.Select, shown_as: str) -> exp.Expr:
    """What it selects: one value of all of its rows."""
    outputs = named_outputs(scope, select)
    if len(outputs) != 1 or not has_aggregate(outputs[0][1]):
        raise NotPrivateError(
            shown_as, "a sub-query as a value may have several rows",
            "Let it select one aggregate, such as MAX(column), without GROUP BY.",
        )  # fmt: skip
    return outputs[0][1]


def _require_own_rows(around: Scope, inner: FromRows, shown_as: str) -> None:
    """The rows of a sub-query are public, or those of the unit whose row is around it."""
    if inner.scope.shape.metric is Metric.PUBLIC:
        return
    if around.shape.metric is not Metric.UNITS or inner.scope.shape.metric is not Metric.UNITS:
        raise NotPrivateError(shown_as, _OTHERS, _ASK_FIRST)
    try:
        require_same_unit(around, inner.scope, inner.links, shown_as)
    except NotPrivateError:
        raise NotPrivateError(shown_as, _OTHERS, _NAME_BOTH) from None


def _folded(context: Context, rows: Scope, columns: Sequence[str], node: exp.Expr) -> tuple[Grouped, Expression]:
    """The groups of some rows by columns of theirs, and what the aggregate is of a group."""
    made = Grouping(rows, tuple(GroupKey(exp.Null(), ColumnRef(column), column, column) for column in columns))
    values = AggregateArguments(context.of_rows(rows))

    def aggregate(inner: exp.Expr) -> tuple[Folded, Facts]:
        fold = fold_of(inner, values, rows.shape)
        return fold, shape_of(Grouped(rows.relation, (), (fold,))).column(fold.name)

    labels = {key: key.column for key in made.keys}
    groups = AskedGroups(context, Keys(context, made), labels=labels, taken=[], aggregate=aggregate)
    ((_, value),) = groups.outputs([(name_of(node), node)])
    folds = [Folded(name, fold.fold, fold.value) for fold, name in groups.aggregates.items()]
    return grouped(rows.relation, columns, folds, used=columns), value
