"""Joins, EXISTS and IN: which columns must be equal, and that rows of two people never meet."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from sqlglot import exp

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.shape import Metric
from sfumato.query.analysis.units import NO_TIES, Ties, determines_unit, same_unit, ties_of
from sfumato.query.model.expressions import TRUE, And, ColumnRef, Condition, Expression, IsNull, Not
from sfumato.query.model.relations import Filter, Join, JoinKind, Relation, Select, SemiJoin, fresh
from sfumato.query.sql.context import Context, Scope, found, qualified, same, scope_of, unit_columns
from sfumato.query.sql.parsing import conjuncts, require_only, shown, unnested

Link = tuple[Expression, Expression]
"""Two expressions that must be equal: over the left rows, and over the right ones."""

Side = OneOf["left", "right"]


def joined(
    context: Context, left: Scope, right: Scope, *, conditions: Sequence[exp.Expr],
    using: Sequence[exp.Identifier] = (), kind: JoinKind = JoinKind.INNER, shown_as: str,
) -> Scope:  # fmt: skip
    """The pairs of rows of two scopes for which some conditions hold.

    Args:
        context: What the query may name.
        left: The rows before JOIN.
        right: The rows behind it.
        conditions: What ON says.
        using: What USING says.
        kind: Whether rows without a partner are kept.
        shown_as: What errors call the join.

    Raises:
        NotPrivateError: The rows of a pair may belong to two units.
        ParameterError: A column does not exist.
    """
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


def link_of(context: Context, condition: exp.Expr, left: Scope, right: Scope, *, shadows: bool = False) -> Link | None:
    """The two sides of an equality between something of the left rows and something of the right ones, if it is one."""
    equality = unnested(condition)
    if not isinstance(equality, exp.EQ) or equality.find(exp.Query) is not None:
        return None
    places = [sides_of(side, left, right, shadows=shadows) for side in (equality.this, equality.expression)]
    if places == [{"left"}, {"right"}]:
        return context.of_rows(left).lower(equality.this), context.of_rows(right).lower(equality.expression)
    if places == [{"right"}, {"left"}]:
        return context.of_rows(left).lower(equality.expression), context.of_rows(right).lower(equality.this)
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


def join_clause(join: exp.Join) -> tuple[JoinKind, list[exp.Expr] | None, list[exp.Identifier]]:
    """The kind of a join, and what ON and USING say.

    Raises:
        NotPrivateError: It is another kind of join.
        ParameterError: A LEFT JOIN without either.
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
    if side not in {"", "LEFT"}:
        raise NotPrivateError(shown(join), f"{side} JOIN is not supported", "Swap both sides and write LEFT JOIN.")
    if kind not in {"", "INNER", "OUTER", "CROSS"}:
        raise NotPrivateError(shown(join), f"{kind} JOIN is not supported", "Write JOIN … ON, or EXISTS in WHERE.")
    on, using = join.args.get("on"), list(join.args.get("using") or [])
    if side == "LEFT" and on is None and not using:
        raise ParameterError("JOIN", shown(join), "must say with ON or USING which rows match")
    return JoinKind.LEFT if side == "LEFT" else JoinKind.INNER, None if on is None else conjuncts(on), using


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
    """An inner join of a public table with a private one is one of the private with the public."""
    if kind is JoinKind.INNER and left.shape.metric is Metric.PUBLIC:
        left, right, links = right, left, [(second, first) for first, second in links]
    first, second, on = linked(left, right, links)
    return Join(left=first, right=second, on=on, kind=kind)


def _of_using(left: Scope, right: Scope, column: exp.Identifier) -> Link:
    first, second = (found(scope, exp.Column(this=column.copy())) for scope in (left, right))
    if first is None or second is None:
        raise ParameterError("USING", column.name, "must be a column of both sides")
    return ColumnRef(first.column), ColumnRef(second.column)


def _filtered_right(context: Context, left: Scope, right: Scope, conditions: Iterable[exp.Expr]) -> Scope:
    """What ON of a LEFT JOIN says of the right rows alone keeps those; it can say nothing else."""
    kept = []
    for condition in conditions:
        if "left" in sides_of(condition, left, right):
            raise NotPrivateError(
                shown(condition), "a LEFT JOIN can only compare columns of both sides for equality",
                "Move the condition to WHERE, or join a sub-query.",
            )  # fmt: skip
        kept.append(context.of_rows(right).condition(condition))
    return filtered(right, kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class FromRows:
    """The rows of FROM and WHERE.

    Attributes:
        scope: The rows.
        conditions: What is known to be true of them.
        links: What must be equal between the rows around a sub-query and its own.
    """

    scope: Scope
    conditions: tuple[Condition, ...] = ()
    links: tuple[Link, ...] = ()


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
        NotPrivateError: A partner may be a row of another unit, or NOT IN meets values that may be NULL.
    """
    links = (*inner.links, *equal)
    shown_as = shown(membership.node)
    require_same_unit(outer.scope, inner.scope, links, shown_as)
    if membership.negated:
        for first, second in equal:
            if not (_is_present(outer, first) and _is_present(inner, second)):
                raise NotPrivateError(
                    shown_as, "NOT IN is never true if a value is NULL, which is rarely intended",
                    "Write NOT EXISTS, or add … IS NOT NULL for both sides.",
                )  # fmt: skip
    child, other, on = linked(outer.scope, inner.scope, links)
    relation = SemiJoin(child=child, other=other, on=on, negated=membership.negated)
    return scope_of(relation, outer.scope.visible, shown_as=shown_as)


def _is_present(rows: FromRows, value: Expression) -> bool:
    """Whether a value is known not to be NULL: declared so, said so, or what tells whose a row is."""
    ties = ties_of(rows.scope.relation)
    if isinstance(value, ColumnRef) and determines_unit(ties.get(value.name, NO_TIES)):
        return True
    return Not(IsNull(value)) in rows.conditions or not facts_of(value, rows.scope.shape.columns).nullable
