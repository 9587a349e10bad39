"""EXISTS and IN: rows that have a partner in a sub-query, which for people must be a row of the same one."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sfumato.errors import NotPrivateError
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.units import NO_TIES, determines_unit, ties_of
from sfumato.query.model.expressions import ColumnRef, Condition, Expression, IsNull, Not
from sfumato.query.model.relations import SemiJoin
from sfumato.query.sql.joins import Link, linked, require_same_unit
from sfumato.query.sql.names import Scope, scope_of
from sfumato.query.sql.parsing import require_only, shown, unnested


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
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
class Membership:
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


def membership_of(condition: exp.Expr) -> Membership | None:
    """The EXISTS or IN that a condition is, if it is one."""
    node, negated = unnested(condition), False
    while isinstance(node, exp.Not):
        node, negated = unnested(node.this), not negated
    match node:
        case exp.Exists():
            require_only(node, {"this"})
            return Membership(node=condition, query=node.this, values=(), negated=negated)
        case exp.In() if node.args.get("query") is not None:
            require_only(node, {"this", "query"})
            value = unnested(node.this)
            values = tuple(value.expressions) if isinstance(value, exp.Tuple) else (value,)
            return Membership(node=condition, query=node.args["query"], values=values, negated=negated)
        case _:
            return None


def semi_joined(outer: Rows, inner: Rows, *, equal: Sequence[Link], membership: Membership) -> Scope:
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
                    shown_as, "NOT IN is true of nothing where a value is NULL, which is hardly meant",
                    "Write NOT EXISTS, or say … IS NOT NULL of both sides.",
                )  # fmt: skip
    child, other, on = linked(outer.scope, inner.scope, links)
    relation = SemiJoin(child=child, other=other, on=on, negated=membership.negated)
    return scope_of(relation, outer.scope.visible, shown_as=shown_as)


def _is_present(rows: Rows, value: Expression) -> bool:
    """Whether a value is known not to be NULL: declared so, said so, or what tells whose a row is."""
    ties = ties_of(rows.scope.relation)
    if isinstance(value, ColumnRef) and determines_unit(ties.get(value.name, NO_TIES)):
        return True
    return Not(IsNull(value)) in rows.conditions or not facts_of(value, rows.scope.shape.columns).nullable
