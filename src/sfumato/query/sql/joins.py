"""Joins, EXISTS and IN: which columns must be equal, and that rows of two people never meet."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from typing import Literal as OneOf

from sqlglot import exp

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.bounding import matches_of
from sfumato.query.analysis.shape import Metric
from sfumato.query.analysis.units import NO_TIES, Ties, same_unit, ties_of
from sfumato.query.model.expressions import (
    TRUE,
    And,
    ColumnRef,
    Comparison,
    Condition,
    Expression,
)
from sfumato.query.model.relations import Filter, Join, JoinKind, Relation, Select, fresh
from sfumato.query.sql.context import Context, Scope, found, qualified, same, scope_of, unit_columns
from sfumato.query.sql.expressions.logic import COMPARISONS
from sfumato.query.sql.parsing import conjuncts, require_only, shown, unnested

Link = tuple[Expression, Expression]
"""Two expressions that must be equal: over the left rows, and over the right ones."""

Side = OneOf["left", "right"]


def joined(
    context: Context, left: Scope, right: Scope, *, conditions: Sequence[exp.Expr],
    using: Sequence[exp.Identifier] = (), kind: JoinKind = JoinKind.INNER, is_right: bool = False, shown_as: str,
) -> Scope:  # fmt: skip
    """The pairs of rows of two scopes for which some conditions hold.

    A RIGHT JOIN is the LEFT JOIN of the sides the other way round, with the columns in the order in which they stand.

    Args:
        context: What the query may name.
        left: The rows before JOIN.
        right: The rows behind it.
        conditions: What ON says.
        using: What USING says.
        kind: Whether rows without a partner are kept.
        is_right: Whether those are the rows behind JOIN.
        shown_as: What errors call the join.

    Raises:
        NotPrivateError: The rows of a pair may belong to two units.
        ParameterError: A column does not exist.
    """
    if is_right and right.shape.metric is Metric.PUBLIC and left.shape.metric is not Metric.PUBLIC:
        raise NotPrivateError(
            shown_as, "each row of the public table would repeat private rows without limit",
            "Put the private table on the right side of RIGHT JOIN.",
        )  # fmt: skip
    if is_right:
        pairs = joined(context, right, left, conditions=conditions, using=using, kind=kind, shown_as=shown_as)
        count = len(right.visible)
        return replace(pairs, visible=(*pairs.visible[count:], *pairs.visible[:count]))
    links = [_of_using(left, right, column) for column in using]
    others = []
    for condition in conditions:
        link = link_of(context, condition, left, right)
        if link is None:
            others.append(condition)
        else:
            links.append(link)
    if kind is JoinKind.LEFT:
        right = _filtered_right(context, left, right, others)
        others = []
    require_same_unit(left, right, links, shown_as)
    of_right = (
        replace(visible, merged=visible.merged or any(same(column, visible.label) for column in using))
        for visible in right.visible
    )
    scope = scope_of(_join(left, right, links, kind), [*left.visible, *of_right], shown_as=shown_as)
    return filtered(scope, [context.of_rows(scope).condition(condition) for condition in others])


def link_sides(condition: exp.Expr, left: Scope, right: Scope, *, shadows: bool = False) -> list[set[Side]]:
    """Whose columns both sides of an equality read; nothing of any other condition."""
    equality = unnested(condition)
    if not isinstance(equality, exp.EQ) or equality.find(exp.Query) is not None:
        return []
    return [sides_of(side, left, right, shadows=shadows) for side in (equality.this, equality.expression)]


def link_of(context: Context, condition: exp.Expr, left: Scope, right: Scope, *, shadows: bool = False) -> Link | None:
    """The two sides of an equality between something of the left rows and something of the right ones, if it is one."""
    equality, places = unnested(condition), link_sides(condition, left, right, shadows=shadows)
    if places == [{"left"}, {"right"}]:
        return context.of_rows(left).lower(equality.this), context.of_rows(right).lower(equality.expression)
    if places == [{"right"}, {"left"}]:
        return context.of_rows(left).lower(equality.expression), context.of_rows(right).lower(equality.this)
    return None


_MIRRORED: Final[Mapping[Comparison, Comparison]] = {
    Comparison.NOT_EQUAL: Comparison.NOT_EQUAL, Comparison.LESS: Comparison.GREATER,
    Comparison.GREATER: Comparison.LESS, Comparison.LESS_EQUAL: Comparison.GREATER_EQUAL,
    Comparison.GREATER_EQUAL: Comparison.LESS_EQUAL,
}  # fmt: skip


def comparison_of(
    context: Context, condition: exp.Expr, around: Scope, own: Scope
) -> tuple[Comparison, Link] | None:  # fmt: skip
    """How something of the rows of a sub-query compares with something around it, if that is what a condition says."""
    node = unnested(condition)
    comparison = COMPARISONS.get(type(node), Comparison.EQUAL)
    if comparison is Comparison.EQUAL or not isinstance(node, exp.Binary) or node.find(exp.Query) is not None:
        return None
    places = [sides_of(side, around, own, shadows=True) for side in (node.this, node.expression)]
    outer, inner = context.of_rows(around), context.of_rows(own)
    if places == [{"right"}, {"left"}]:
        return comparison, (outer.lower(node.expression), inner.lower(node.this))
    if places == [{"left"}, {"right"}]:
        return _MIRRORED[comparison], (outer.lower(node.this), inner.lower(node.expression))
    return None


def sides_of(node: exp.Expr, left: Scope, right: Scope, *, shadows: bool = False) -> set[Side]:
    """Whose columns an expression reads; those of the right side hide those of the left if it `shadows` them.

    Raises:
        ParameterError: A name is one of several columns.
    """
    sides: set[Side] = set()
    for column in node.find_all(exp.Column):
        second = found(right, column)
        first = None if shadows and second is not None else found(left, column)
        if first is not None and second is not None:
            choices = f"{first.table}.{first.label}, {second.table}.{second.label}"
            raise ParameterError("column", shown(column), f"is the name of several columns; write one of: {choices}")
        sides |= {"left"} if first is not None else set()
        sides |= {"right"} if second is not None else set()
    return sides


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinClause:
    """A join as it is written.

    Attributes:
        kind: Whether rows without a partner are kept.
        is_right: Whether those are the rows behind JOIN.
        on: What ON says; None without it.
        using: What USING says.
    """

    kind: JoinKind
    is_right: bool
    on: tuple[exp.Expr, ...] | None
    using: tuple[exp.Identifier, ...]


def join_clause(join: exp.Join) -> JoinClause:
    """How a join is written.

    Raises:
        NotPrivateError: It is another kind of join.
        ParameterError: A LEFT or RIGHT JOIN without ON and USING.
    """
    if join.args.get("method"):
        raise NotPrivateError(shown(join), "this join is not supported", "Write JOIN … USING (column).")
    require_only(join, {"this", "side", "kind", "on", "using"})
    side, kind = join.args.get("side") or "", join.args.get("kind") or ""
    if side == "FULL":
        raise NotPrivateError(
            shown(join), "FULL JOIN is not supported",
            "Write LEFT JOIN, and select the rows without a match on the other side with NOT EXISTS.",
        )  # fmt: skip
    if kind not in {"", "INNER", "OUTER", "CROSS"}:
        raise NotPrivateError(shown(join), f"{kind} JOIN is not supported", "Write JOIN … ON, or EXISTS in WHERE.")
    on, using = join.args.get("on"), tuple(join.args.get("using") or ())
    if side and on is None and not using:
        raise ParameterError("JOIN", shown(join), "must say with ON or USING which rows match")
    return JoinClause(
        kind=JoinKind.LEFT if side else JoinKind.INNER, is_right=side == "RIGHT",
        on=None if on is None else tuple(conjuncts(on)), using=using,
    )  # fmt: skip


def join_order(items: Sequence[Scope], clauses: Sequence[JoinClause], conditions: Sequence[exp.Expr]) -> list[int]:
    """In which order the tables behind the first one are joined.

    Of tables that are joined by commas alone, one comes after another that it has an equality with, if there is any.

    Args:
        items: The tables.
        clauses: How each but the first is joined.
        conditions: What WHERE says.
    """
    written = list(range(1, len(items)))
    if any(clause.on is not None or clause.using for clause in clauses):
        return written
    seen, order, rest = items[0], list[int](), list(written)
    while rest:
        linked = (place for place in rest if _has_link(conditions, seen, items[place]))
        place = next(linked, rest[0])
        rest.remove(place)
        order.append(place)
        seen = replace(seen, visible=(*seen.visible, *items[place].visible))
    return order


def _has_link(conditions: Sequence[exp.Expr], seen: Scope, item: Scope) -> bool:
    both: list[set[Side]] = [{"left"}, {"right"}]
    return any(link_sides(condition, seen, item) in (both, both[::-1]) for condition in conditions)


def require_no_comma_before_right(joins: Sequence[exp.Join], clauses: Sequence[JoinClause]) -> None:
    """A comma binds less than JOIN, and only a RIGHT JOIN means something else for what stands before it.

    Raises:
        NotPrivateError: There is a RIGHT JOIN behind a comma.
    """
    has_comma = False
    for join, clause in zip(joins, clauses, strict=True):
        if has_comma and clause.is_right:
            raise NotPrivateError(
                shown(join), "a RIGHT JOIN behind a comma is not supported", "Write JOIN … ON in place of the comma."
            )
        has_comma = has_comma or (clause.on is None and not clause.using and not join.args.get("kind"))


def told_apart(items: list[Scope]) -> list[Scope]:
    """Tables side by side have names that differ; where they share names of columns, these are written in full.

    Raises:
        ParameterError: Two tables have one name, or one has none.
    """
    tables = [item.visible[0].table.lower() for item in items if item.visible]
    if len(items) > 1 and (len(set(tables)) != len(tables) or "" in tables):
        raise ParameterError("FROM", ", ".join(tables), "must give each table its own name, with AS")
    columns = [name.lower() for item in items for name in item.shape.columns]
    return items if len(set(columns)) == len(columns) else [qualified(item) for item in items]


def require_same_unit(left: Scope, right: Scope, links: Iterable[Link], shown_as: str) -> None:
    """Refuse rows of people to meet, unless some equality says that they are the same person's.

    Raises:
        NotPrivateError: Nothing says so.
    """
    if not left.shape.metric is right.shape.metric is Metric.UNITS:
        return
    first, second = ties_of(left.relation), ties_of(right.relation)
    if any(same_unit(_tie(one, first), _tie(other, second)) for one, other in links):
        return
    raise NotPrivateError(shown_as, "rows of two people could be joined", _unit_equality(left, right))


def _tie(expression: Expression, ties: Mapping[str, Ties]) -> Ties:
    return ties.get(expression.name, NO_TIES) if isinstance(expression, ColumnRef) else NO_TIES


def _unit_equality(left: Scope, right: Scope) -> str:
    """The equality to add, from the columns that hold the unit."""
    first, second = unit_columns(left, exactly=True), unit_columns(right, exactly=True)
    if first and second:
        return f"Add the equality of their privacy units: {first[0]} = {second[0]}."
    return "Compare the privacy unit of both sides, or the foreign key by which the policy finds it."


def filtered(scope: Scope, conditions: Iterable[Condition]) -> Scope:
    """The rows for which all conditions are true."""
    decisive = [condition for condition in conditions if condition != TRUE]
    if not decisive:
        return scope
    condition = decisive[0] if len(decisive) == 1 else And(tuple(decisive))
    return scope_of(Filter(scope.relation, condition), scope.visible)


def linked(left: Scope, right: Scope, links: Iterable[Link]) -> tuple[Relation, Relation, tuple[tuple[str, str], ...]]:
    """Two relations with a column for each side of each link, and the pairs of their names."""
    taken = [*left.shape.columns, *right.shape.columns]
    added: tuple[dict[str, Expression], dict[str, Expression]] = ({}, {})
    on = []
    for link in links:
        names = []
        for expression, own in zip(link, added, strict=True):
            name = expression.name if isinstance(expression, ColumnRef) else fresh("key", taken)
            if not isinstance(expression, ColumnRef):
                taken.append(name)
                own[name] = expression
            names.append(name)
        on.append((names[0], names[1]))
    return _with(left, added[0]), _with(right, added[1]), tuple(dict.fromkeys(on))


def _with(scope: Scope, added: dict[str, Expression]) -> Relation:
    own = ((name, ColumnRef(name)) for name in scope.shape.columns)
    return Select(scope.relation, (*own, *added.items())) if added else scope.relation


def _join(left: Scope, right: Scope, links: Sequence[Link], kind: JoinKind) -> Join:
    """An inner join of a public table with a private one is one of the private with the public.

    Of two public ones the right side is the one of which it is declared how many rows may match, if only one is.
    """
    first, second, on = linked(left, right, links)
    if kind is JoinKind.INNER and left.shape.metric is Metric.PUBLIC:
        is_private = right.shape.metric is not Metric.PUBLIC
        if is_private or matches_of(first, frozenset(name for name, _ in on)) is not None:
            first, second, on = linked(right, left, [(other, one) for one, other in links])
    return Join(left=first, right=second, on=on, kind=kind)


def _of_using(left: Scope, right: Scope, column: exp.Identifier) -> Link:
    first, second = (found(scope, exp.Column(this=column.copy())) for scope in (left, right))
    if first is None or second is None:
        raise ParameterError("USING", column.name, "must be a column of both sides")
    return ColumnRef(first.column), ColumnRef(second.column)


def _filtered_right(context: Context, left: Scope, right: Scope, conditions: Iterable[exp.Expr]) -> Scope:
    """What ON of an outer join says of the right rows alone keeps those; it can say nothing else."""
    kept = []
    for condition in conditions:
        if "left" in sides_of(condition, left, right):
            raise NotPrivateError(
                shown(condition), "a LEFT or RIGHT JOIN can only compare columns of both sides for equality",
                "Move the condition to WHERE, or join a sub-query.",
            )  # fmt: skip
        kept.append(context.of_rows(right).condition(condition))
    return filtered(right, kept)
