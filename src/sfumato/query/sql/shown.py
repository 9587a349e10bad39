"""How an answer is shown: what ORDER BY and LIMIT say, and a SELECT without aggregates from a query of groups.

`SELECT n FROM (SELECT COUNT(*) AS n FROM t GROUP BY k) WHERE n > 9` shows what the inner query releases: its WHERE is a
HAVING, and all that it computes is computed of released numbers. That is free.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import And, ColumnRef, Condition, Expression, children, columns_of
from sfumato.query.model.facts import Facts
from sfumato.query.model.relations import fresh
from sfumato.query.planning.questions import MAX_SHOWN, Presented, presented, shown_facts
from sfumato.query.planning.windows import OrderKey, Window, window_facts
from sfumato.query.sql.context import Context, name_of, same
from sfumato.query.sql.expressions.scalars import Scalars
from sfumato.query.sql.grouping import at_place
from sfumato.query.sql.parsing import require_only, shown, unnested
from sfumato.query.sql.refusals import one_of
from sfumato.query.sql.statistics import has_aggregate, is_aggregate
from sfumato.query.sql.windows import ordered_by, window_of

_OF_ANSWERS: Final = frozenset({"expressions", "from_", "where", "with_", "order", "limit", "offset"})
"""What a SELECT may say that only shows what another one releases."""

_OF_GROUPS: Final = frozenset({"expressions", "from_", "joins", "where", "group", "having", "windows", "with_"})
"""What that other one may say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsBehind:
    """A query of groups that stands behind FROM of another, which only shows what it releases.

    Attributes:
        query: The query.
        cte: The CTE that it is, if it is one.
        table: What it is called.
        labels: What the first of its columns are called.
    """

    query: exp.Select
    cte: exp.CTE | None
    table: str
    labels: tuple[str, ...]


def groups_behind(select: exp.Select) -> GroupsBehind | None:
    """The query of groups behind FROM, if there is nothing else, and SELECT computes no aggregates of it."""
    clause = select.args.get("from_")
    if clause is None:
        return None
    source, cte = clause.this, _cte(select)
    query = cte.this if cte is not None else source.this if isinstance(source, exp.Subquery) else None
    if not isinstance(query, exp.Select):
        return None
    if not _says_only(select, _OF_ANSWERS) or any(map(has_aggregate, select.expressions)):
        return None
    if not _says_only(query, _OF_GROUPS):
        return None
    if not query.args.get("group") and not any(map(has_aggregate, query.expressions)):
        return None
    labels: list[str] = []
    for alias in (None if cte is None else cte.args.get("alias"), source.args.get("alias")):
        names = [column.name for column in alias.columns] if alias is not None else []
        labels = [*names, *labels[len(names) :]]
    return GroupsBehind(query=query, cte=cte, table=source.alias_or_name, labels=tuple(labels))


def _says_only(select: exp.Select, clauses: frozenset[str]) -> bool:
    return all(not value or clause in clauses for clause, value in select.args.items())


def _cte(select: exp.Select) -> exp.CTE | None:
    """The CTE that FROM names."""
    clause, source = select.args.get("with_"), select.args["from_"].this
    if clause is None or not isinstance(source, exp.Table) or source.args.get("db"):
        return None
    return next((cte for cte in clause.expressions if same(source.this, cte.alias)), None)


def over_groups(context: Context, select: exp.Select, inner: Presented, behind: GroupsBehind) -> Presented:
    """The question of a query of groups, as another query shows it.

    Args:
        context: What that query may name.
        select: That query.
        inner: The question of the query of groups.
        behind: How it is written.

    Raises:
        NotPrivateError: It filters by a window, or is not supported.
        ParameterError: It names what does not exist, or mixes kinds.
    """
    over = _OverGroups(context, inner, behind)
    columns = tuple(over.outputs(select))
    where = select.args.get("where")
    conditions = [] if inner.having is None else [inner.having]
    if where is not None:
        conditions.append(over.condition(where.this))
    of, group_by = inner.child, inner.child.child
    return presented(
        group_by.child, keys=group_by.keys, labels=group_by.labels, sets=group_by.sets, statistics=of.statistics,
        columns=columns, having=And(tuple(conditions)) if len(conditions) > 1 else next(iter(conditions), None),
        order=order_of(over.scalars, over.alias, select, columns),
        windows=tuple((name, window) for window, name in over.windows.items()), limits=of.limits, weights=of.weights,
        limit=rows_shown(over.scalars, select, "limit"), offset=rows_shown(over.scalars, select, "offset") or 0,
    )  # fmt: skip


class _OverGroups:
    """What a query can say of the columns that a query of groups behind it has."""

    def __init__(self, context: Context, inner: Presented, behind: GroupsBehind) -> None:
        self._behind, self._effort = behind, context.effort
        self._facts = dict[str, Facts](shown_facts(inner))
        columns = inner.columns or tuple((name, ColumnRef(name)) for name in self._facts)
        if len(behind.labels) > len(columns):
            raise ParameterError("alias", ", ".join(behind.labels), f"must name at most {len(columns)} columns")
        names = [*behind.labels, *(name for name, _ in columns[len(behind.labels) :])]
        self._columns = dict(zip(names, (value for _, value in columns), strict=True))
        self._sizes = {name: _size(value) for name, value in self._columns.items()}
        self._outputs: Mapping[str, Expression] = {}
        self.windows: dict[Window, str] = {window: name for name, window in inner.windows}
        self.scalars = context.scalars(self._leaf, self._facts)

    def outputs(self, select: exp.Select) -> Iterator[tuple[str, Expression]]:
        """The columns of SELECT, under their names."""
        found: list[tuple[str, Expression]] = []
        for output in select.expressions:
            if isinstance(output, exp.Star):
                found += self._columns.items()
                continue
            node = unnested(output.unalias())
            name = output.alias or fresh(name_of(node), [name for name, _ in found])
            found.append((name, self.scalars.lower(node)))
        self._outputs = dict(found)
        return iter(found)

    def alias(self, node: exp.Expr) -> Expression | None:
        """The column of SELECT that a bare name means."""
        if not isinstance(node, exp.Column) or node.args.get("table") or not isinstance(node.this, exp.Identifier):
            return None
        return next((value for name, value in self._outputs.items() if same(node.this, name)), None)

    def condition(self, node: exp.Expr) -> Condition:
        """What WHERE says.

        Raises:
            NotPrivateError: It reads a window, which is computed of the rows that it leaves.
        """
        condition = self.scalars.condition(node)
        if not columns_of(condition).isdisjoint(self.windows.values()):
            raise NotPrivateError(
                shown(node), "a window is computed after HAVING", "Compare the aggregate itself, as in COUNT(*) > 100."
            )
        return condition

    def _leaf(self, node: exp.Expr) -> Expression | None:
        match node:
            case exp.Window():
                return self._window(node)
            case exp.Column(this=exp.Identifier() as name):
                require_only(node, {"this", "table"})
                table = node.args.get("table")
                if table is not None and not same(table, self._behind.table):
                    raise ParameterError("table", table.name, one_of(table.name, [self._behind.table]))
                known = next((known for known in self._columns if same(name, known)), None)
                if known is None:
                    raise ParameterError("column", name.name, one_of(name.name, list(self._columns)))
                self._effort.spend(self._sizes[known])  # as if it were written out
                return self._columns[known]
            case _ if is_aggregate(node):
                raise NotPrivateError(
                    shown(node), "an aggregate of released groups cannot be here", "Compute it with OVER ()."
                )
            case _:
                return None

    def _window(self, node: exp.Window) -> Expression:
        window = window_of(self.scalars, node)
        read = frozenset[str]().union(*map(columns_of, (*window.arguments, *window.places)))
        if not read.isdisjoint(self.windows.values()):
            raise NotPrivateError(
                shown(node), "a window of windows is not supported",
                "Use keys and aggregates in OVER, as in SUM(COUNT(*)).",
            )  # fmt: skip
        if window not in self.windows:
            name = fresh(name_of(node), [*self._facts, *self._columns])
            self.windows[window], self._facts[name] = name, window_facts(window, self._facts)
        return ColumnRef(self.windows[window])


def _size(expression: Expression) -> int:
    """How many columns, constants and functions an expression is made of."""
    return 1 + sum(map(_size, children(expression)))


def order_of(
    scalars: Scalars,
    alias: Callable[[exp.Expr], Expression | None],
    select: exp.Select,
    columns: tuple[tuple[str, Expression], ...],
) -> tuple[OrderKey, ...]:
    """What ORDER BY says: places and names of columns of the answer, or expressions of what is released.

    Args:
        scalars: What lowers these.
        alias: The column of SELECT that a bare name means.
        select: The query.
        columns: The columns of its answer.

    Raises:
        ParameterError: There is no such place, or text stands there.
    """
    order = select.args.get("order")
    if order is None:
        return ()
    require_only(order, {"expressions"})
    keys: list[OrderKey] = []
    for ordered in order.expressions:
        node = unnested(ordered.this)
        if isinstance(node, exp.Literal) and node.is_string:
            raise ParameterError("ORDER BY", shown(node), "is text, the same for all rows; write names without quotes")
        if isinstance(node, exp.Literal):
            at_place(select, node)
            value: Expression | None = columns[int(node.name) - 1][1]
        else:
            value = alias(node)
        keys += ordered_by(ordered, scalars.lower(node) if value is None else value)
    return tuple(keys)


def rows_shown(scalars: Scalars, select: exp.Select, clause: str) -> int | None:
    """The number that LIMIT, FETCH or OFFSET says; None for all.

    Raises:
        ParameterError: It is none, or too large.
    """
    node = select.args.get(clause)
    match node:
        case None:
            return None
        case exp.Fetch():
            options = node.args.get("limit_options")
            if options is not None:
                require_only(options, {"rows"})
            require_only(node, {"direction", "count", "limit_options"})
            count = node.args.get("count") or exp.Literal.number(1)
        case _:
            require_only(node, {"expression"})
            count = node.expression
    if isinstance(count, exp.Var) and count.name.upper() == "ALL":
        return None
    return scalars.whole(count, lower=0, upper=MAX_SHOWN, name=clause.upper())
