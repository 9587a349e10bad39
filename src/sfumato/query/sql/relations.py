"""Queries inside of a question to relations: FROM, WHERE, CTEs, unions, and sub-queries with GROUP BY.

GROUP BY makes one row for each group of one unit there, computed exactly; HAVING is a filter on these rows.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.analysis.units import NO_TIES, determines_unit, ties_of
from sfumato.query.model.expressions import ColumnRef, Condition, Expression, columns_of
from sfumato.query.model.facts import Facts
from sfumato.query.model.relations import Distinct, Except, Folded, Grouped, Intersect, Relation, UnionAll
from sfumato.query.planning.grouping import grouped, with_columns
from sfumato.query.sql.context import (
    Context,
    Named,
    Scope,
    aliased,
    check_labels,
    named_outputs,
    scope_of,
    unit_columns,
)
from sfumato.query.sql.grouping import AskedGroups, Grouping, Keys, grouping
from sfumato.query.sql.joins import (
    Link,
    comparison_of,
    filtered,
    join_clause,
    join_order,
    joined,
    link_of,
    require_no_comma_before_right,
    sides_of,
    told_apart,
)
from sfumato.query.sql.parsing import conjuncts, require_only, shown
from sfumato.query.sql.refusals import is_distinct, refusal, require_clauses
from sfumato.query.sql.statistics import AggregateArguments, fold_of, has_aggregate
from sfumato.query.sql.subqueries import (
    FromRows,
    InSubquery,
    compared_rows,
    membership_of,
    semi_joined,
    with_values,
)
from sfumato.query.sql.windows import with_row_windows


def has_groups(select: exp.Select) -> bool:
    """Whether a query computes aggregates."""
    return bool(select.args.get("group") or select.args.get("having")) or any(map(has_aggregate, select.expressions))


def folded(context: Context, scope: Scope, select: exp.Select) -> Scope:
    """The rows of a sub-query with GROUP BY or aggregates.

    Raises:
        NotPrivateError: A group would hold rows of two people.
        ParameterError: A name does not exist, or kinds do not go together.
    """
    made = grouping(context, scope, select)
    if made.sets:
        raise NotPrivateError(
            shown(select.args["group"]), "GROUPING SETS are not supported in sub-queries", "Group by columns there."
        )
    rows = made.scope
    _require_groups(made, select)
    outputs = named_outputs(scope, select)
    values = AggregateArguments(context.of_rows(rows))

    def aggregate(node: exp.Expr) -> tuple[Folded, Facts]:
        fold = fold_of(node, values, rows.shape)
        return fold, shape_of(Grouped(rows.relation, (), (fold,))).column(fold.name)

    keys = Keys(context, made)
    labels = {key: key.column for key in made.keys}
    groups = AskedGroups(context, keys, labels=labels, taken=[name for name, _ in outputs], aggregate=aggregate)
    columns = groups.outputs(outputs)
    having = select.args.get("having")
    conditions = [] if having is None else [groups.scalars.condition(having.this)]
    used = frozenset().union(*(columns_of(e) for e in (*(e for _, e in columns), *conditions)))
    folds = [replace(fold, name=name) for fold, name in groups.aggregates.items()]
    rows_of_groups = scope_of(grouped(rows.relation, [key.column for key in made.keys], folds, used=used))
    return selected(filtered(rows_of_groups, conditions).relation, columns)


def selected(relation: Relation, columns: tuple[tuple[str, Expression], ...]) -> Scope:
    """The scope of some columns of a relation, which stays as it is if they are its own in their order.

    Raises:
        ParameterError: Two have names that differ in case at most.
    """
    check_labels(name for name, _ in columns)
    return scope_of(with_columns(relation, columns))


def require_unit(scope: Scope, rows: Scope, columns: Iterable[str], shown_as: str, reason: str, where: str) -> None:
    """Refuse what puts rows of two people together, unless one of some columns of a scope says whose a row is.

    Args:
        scope: What is put together.
        rows: What it is made of, whose columns a suggestion can name.
        columns: Some columns of the scope.
        shown_as: The fragment.
        reason: What is wrong without such a column.
        where: Where the suggestion adds one.

    Raises:
        NotPrivateError: None of the columns identifies the unit.
    """
    ties = ties_of(scope.relation)
    if scope.shape.metric is not Metric.UNITS or any(determines_unit(ties.get(name, NO_TIES)) for name in columns):
        return
    names = " or ".join(unit_columns(rows)) or "the column of the privacy unit"
    raise NotPrivateError(shown_as, reason, f"Add {names} to {where}.")


def _require_groups(made: Grouping, select: exp.Select) -> None:
    """Groups are each of one unit; where each row is one, there are keys."""
    group = select.args.get("group")
    shown_as = shown(select if group is None else group)
    columns = [key.column for key in made.keys]
    require_unit(
        made.scope,
        made.scope,
        columns,
        shown_as,
        "a group of this sub-query would contain rows of two people",
        "GROUP BY",
    )
    if made.scope.shape.metric is Metric.ROWS and not columns:
        raise NotPrivateError(
            shown_as, "a total over all people would be exact inside a query", "Send it as its own query."
        )


ROWS_CLAUSES: Final = frozenset({"expressions", "from_", "joins", "where", "with_"})
"""The clauses that say which rows a query reads, and what it makes of each."""

_CLAUSES: Final = ROWS_CLAUSES | {"group", "having", "distinct"}


def relation_of(context: Context, query: exp.Expr) -> Scope:
    """The rows of a query inside of a question; its columns are the relation's, in order.

    Raises:
        NotPrivateError: It would put rows of two people together, or is not supported.
        ParameterError: It names what does not exist, or mixes kinds.
    """
    match query:
        case exp.Subquery():
            require_only(query, {"this", "with_"})
            return relation_of(with_ctes(context, query), query.this)
        case exp.Select():
            require_clauses(query, _CLAUSES)
            return _selected(with_ctes(context, query), query)
        case exp.SetOperation():
            require_clauses(query, {"this", "expression", "distinct", "with_"})
            return _combined(with_ctes(context, query), query)
        case _:
            raise _no_rows(query)


def with_ctes(context: Context, query: exp.Expr, until: exp.CTE | None = None) -> Context:
    """What a query sees that starts with WITH; each CTE sees those before it.

    Args:
        context: What it sees anyway.
        query: The query.
        until: Before which CTE the names end; None for all of them.

    Raises:
        NotPrivateError: WITH RECURSIVE, or a query that is not supported.
        ParameterError: A name stands twice, or does not exist.
    """
    clause = query.args.get("with_")
    if clause is None:
        return context
    if clause.args.get("recursive"):
        raise NotPrivateError(
            shown(clause), "nothing bounds what one person adds to a recursive query", "Write it without RECURSIVE."
        )
    require_only(clause, {"expressions"})
    names = [cte.alias.lower() for cte in clause.expressions]
    if len(set(names)) != len(names):
        raise ParameterError("WITH", names, "must name each query once")
    for cte in clause.expressions:
        if cte is until:
            break
        require_only(cte, {"this", "alias", "materialized"})
        before = context.effort.spent
        scope = aliased(relation_of(context, cte.this), cte.args["alias"], cte.alias)
        named = Named(cte.alias, scope, context.effort.spent - before)
        context = replace(context, ctes=(named, *context.ctes))
    return context


def rows_of(
    context: Context, select: exp.Select, around: Scope | None = None, *, is_membership: bool = False
) -> FromRows:  # fmt: skip
    """The rows of FROM and WHERE.

    Args:
        context: What the query may name.
        select: The query.
        around: The rows of the query around it, to which equalities in WHERE may link.
        is_membership: Whether it is a sub-query of EXISTS or IN, in which other comparisons may link too.

    Raises:
        NotPrivateError: Rows of two people could meet, or something is not supported.
        ParameterError: It names what does not exist, or mixes kinds.
    """
    where = select.args.get("where")
    scope, remaining = _from(context, select, conjuncts(None if where is None else where.this))
    scope = with_values(context, scope, [*remaining, *select.expressions], _inside_value)
    plain: list[Condition] = []
    links: list[Link] = []
    comparisons = []
    memberships = []
    for condition in remaining:
        membership = membership_of(condition)
        if membership is not None:
            memberships.append(membership)
        elif around is not None and "left" in sides_of(condition, around, scope, shadows=True):
            compared = comparison_of(context, condition, around, scope) if is_membership else None
            if compared is None:
                links.append(_link(context, condition, around, scope))
            else:
                comparisons.append(compared)
        else:
            plain.append(context.of_rows(scope).condition(condition))
    rows = FromRows(
        scope=filtered(scope, plain), conditions=tuple(plain), links=tuple(links), comparisons=tuple(comparisons)
    )
    for membership in memberships:
        rows = replace(rows, scope=_kept(context, rows, membership))
    return rows


def _from(context: Context, select: exp.Select, conditions: list[exp.Expr]) -> tuple[Scope, list[exp.Expr]]:
    """The rows of FROM, and what WHERE says beside the equalities by which tables without ON are joined."""
    clause = select.args.get("from_")
    if clause is None:
        raise NotPrivateError(shown(select), "a SELECT without FROM reads no table", "Name a table after FROM.")
    require_only(clause, {"this"})
    joins = select.args.get("joins") or []
    if not joins:
        return _item(context, clause.this), conditions
    items = told_apart([_item(context, table.this) for table in (clause, *joins)])
    clauses = [join_clause(join) for join in joins]
    require_no_comma_before_right(joins, clauses)
    scope, used = items[0], []
    for place in join_order(items, clauses, conditions):
        join, clause, item = joins[place - 1], clauses[place - 1], items[place]
        on = clause.on
        if on is None and not clause.using:
            links = [condition for condition in conditions if link_of(context, condition, scope, item) is not None]
            conditions = [condition for condition in conditions if not any(condition is own for own in links)]
            used += links
            on = tuple(links)
        scope = joined(
            context, scope, item, conditions=on or (), using=clause.using, kind=clause.kind, is_right=clause.is_right,
            shown_as=shown(join).strip(" ,"),
        )  # fmt: skip
    if not any(clause.is_right for clause in clauses):  # in the order in which they are written
        tables = [item.visible[0].table if item.visible else "" for item in items]
        scope = replace(scope, visible=tuple(sorted(scope.visible, key=lambda one: tables.index(one.table))))
    for condition in used:  # it must mean the same among all tables
        context.of_rows(scope).condition(condition)
    return scope, conditions


def _inside(context: Context, outer: FromRows, query: exp.Expr) -> tuple[FromRows, list[Expression]]:
    """The rows of a sub-query of EXISTS or IN, and the columns that it selects."""
    while isinstance(query, exp.Subquery):
        require_only(query, {"this", "with_"})
        context, query = with_ctes(context, query), query.this
    if not isinstance(query, exp.Select) or has_groups(query):
        scope = relation_of(context, query)
        return FromRows(scope=scope), [ColumnRef(visible.column) for visible in scope.visible]
    require_clauses(query, ROWS_CLAUSES | {"distinct"})
    context = with_ctes(context, query)
    inner = rows_of(context, query, outer.scope, is_membership=True)
    scalars, outputs = context.of_rows(inner.scope), named_outputs(inner.scope, query)
    return inner, [scalars.lower(node) for _, node in outputs if not isinstance(node, exp.Null)]


def _inside_value(context: Context, around: Scope, query: exp.Expr) -> tuple[Context, FromRows, exp.Select]:
    """The rows of a sub-query in the place of a value, and its SELECT."""
    while isinstance(query, exp.Subquery):
        require_only(query, {"this", "with_"})
        context, query = with_ctes(context, query), query.this
    if not isinstance(query, exp.Select):
        raise refusal(query)
    context.effort.spend_relation()
    require_clauses(query, ROWS_CLAUSES)
    context = with_ctes(context, query)
    return context, rows_of(context, query, around), query


def _selected(context: Context, select: exp.Select) -> Scope:
    """SELECT over the rows of FROM and WHERE."""
    rows = rows_of(context, select).scope
    if has_groups(select):
        scope = folded(context, rows, select)
    else:
        rows = with_row_windows(context, rows, select.expressions)
        scalars = context.of_rows(rows)
        scope = selected(
            rows.relation, tuple((name, scalars.lower(node)) for name, node in named_outputs(rows, select))
        )
    if not is_distinct(select):
        return scope
    _require_unit(scope, rows, select)
    return scope_of(Distinct(scope.relation))


def _combined(context: Context, node: exp.SetOperation) -> Scope:
    """UNION, INTERSECT, EXCEPT; without ALL, of rows that differ."""
    left, right = relation_of(context, node.this), relation_of(context, node.expression)
    first, second, is_distinct = left.relation, right.relation, bool(node.args.get("distinct"))
    relation: Relation
    match node:
        case exp.Union():
            relation = UnionAll(first, second)
        case exp.Intersect():
            relation = Intersect(first, second)
        case exp.Except():
            relation = Except(Distinct(first) if is_distinct else first, second)
        case _:
            raise _no_rows(node)
    scope = scope_of(relation, shown_as=shown(node))
    if is_distinct or not isinstance(node, exp.Union):
        _require_unit(scope, scope, node)
    return scope if not is_distinct or isinstance(node, exp.Except) else scope_of(Distinct(relation))


def _require_unit(scope: Scope, rows: Scope, node: exp.Expr) -> None:
    require_unit(scope, rows, scope.shape.columns, shown(node), "equal rows of two people would count as one", "SELECT")


def _item(context: Context, node: exp.Expr) -> Scope:
    """A table, a view, a CTE or a sub-query in FROM."""
    context.effort.spend_relation()
    alias = node.args.get("alias")
    match node:
        case exp.Table(this=exp.Identifier() as name) if not node.args.get("db"):
            require_only(node, {"this", "alias"})
            cte = context.cte(name)
            if cte is not None:
                context.effort.spend(cte.effort)
                return aliased(cte.scope, alias, cte.name)
            known, relation = context.source(name)
            return aliased(scope_of(relation), alias, known)
        case exp.Subquery() if not isinstance(node.this, exp.Table):
            require_only(node, {"this", "alias", "with_"})
            return aliased(relation_of(with_ctes(context, node), node.this), alias, "")
        case _:
            raise _no_rows(node)


def _no_rows(node: exp.Expr) -> NotPrivateError:
    return NotPrivateError(
        shown(node),
        "only tables and views of the policy, and sub-queries of them, can be queried",
        "Name a table after FROM.",
    )


def _link(context: Context, condition: exp.Expr, around: Scope, scope: Scope) -> Link:
    link = link_of(context, condition, around, scope, shadows=True)
    if link is None:
        raise NotPrivateError(
            shown(condition), "a sub-query can only compare its columns with outer columns for equality",
            "Write inner.column = outer.column, connected by AND.",
        )  # fmt: skip
    return link


def _kept(context: Context, outer: FromRows, membership: InSubquery) -> Scope:
    """The rows that EXISTS or IN keeps."""
    inner, outputs = _inside(context, outer, membership.query)
    values = [context.of_rows(outer.scope).lower(value) for value in membership.values]
    if values and len(values) != len(outputs):
        raise ParameterError("IN", shown(membership.node), f"must select as many columns as it compares, {len(values)}")
    equal = list(zip(values, outputs, strict=False))
    if inner.comparisons:
        return compared_rows(outer, inner, equal=equal, membership=membership)
    return semi_joined(outer, inner, equal=equal, membership=membership)
