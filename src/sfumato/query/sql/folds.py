"""GROUP BY in a sub-query: one row for each group of one unit, computed exactly, with HAVING as a filter on them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from sqlglot import exp

from sfumato.errors import NotPrivateError
from sfumato.query.expressions import ColumnRef, Expression, columns_of
from sfumato.query.facts import Facts
from sfumato.query.relations import Fold, Folded, Grouped, Relation, Select
from sfumato.query.shape import Metric, shape_of
from sfumato.query.sql.context import Context
from sfumato.query.sql.grouping import Grouping, grouping
from sfumato.query.sql.groups import Groups, Keys
from sfumato.query.sql.joins import filtered
from sfumato.query.sql.names import Scope, check_labels, scope_of
from sfumato.query.sql.outputs import named_outputs
from sfumato.query.sql.parsing import shown
from sfumato.query.sql.statistics import Values, fold_of, has_aggregate
from sfumato.query.sql.units import NO_TIES, UNIT, Ties, determines_unit, ties_of, unit_columns


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
    rows, ties = made.scope, ties_of(made.scope.relation)
    _require_groups(made, select)
    outputs = named_outputs(scope, select)
    values = Values(context.of_rows(rows), {})

    def aggregate(node: exp.Expr) -> tuple[Folded, Facts]:
        fold = fold_of(node, values, rows.shape)
        return fold, shape_of(Grouped(rows.relation, (), (fold,))).column(fold.name)

    keys = Keys(context, made)
    labels = {key: key.column for key in made.keys}
    groups = Groups(context, keys, labels=labels, taken=[name for name, _ in outputs], aggregate=aggregate)
    columns = groups.outputs(outputs)
    having = select.args.get("having")
    conditions = [] if having is None else [groups.scalars.condition(having.this)]
    used = frozenset().union(*(columns_of(e) for e in (*(e for _, e in columns), *conditions)))
    grouped = scope_of(_grouped(made, ties, groups.aggregates, used))
    return selected(filtered(grouped, conditions).relation, columns)


def selected(relation: Relation, columns: tuple[tuple[str, Expression], ...]) -> Scope:
    """The scope of some columns of a relation, which stays as it is if they are its own in their order.

    Raises:
        ParameterError: Two have names that differ in case at most.
    """
    check_labels(name for name, _ in columns)
    own = tuple((name, ColumnRef(name)) for name in shape_of(relation).columns)
    return scope_of(relation if columns == own else Select(relation, columns))


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
        NotPrivateError: None does.
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
        made.scope, made.scope, columns, shown_as, "a group of this sub-query would hold rows of two people", "GROUP BY"
    )
    if made.scope.shape.metric is Metric.ROWS and not columns:
        raise NotPrivateError(
            shown_as, "a total over all people is exact inside of a question", "Ask for it as a question of its own."
        )


def _grouped(made: Grouping, ties: Mapping[str, Ties], folds: Mapping[Folded, str], used: Collection[str]) -> Grouped:
    """Units are kept apart anyway, so a key that holds the unit is none: it is the one value that a group has of it."""
    units = [key.column for key in made.keys if UNIT in ties.get(key.column, NO_TIES)]
    keys = tuple(key.column for key in made.keys if key.column not in units)
    has_columns = bool(keys or folds)
    carried = [Folded(name, Fold.MIN, ColumnRef(name)) for name in units if name in used or not has_columns]
    return Grouped(made.scope.relation, keys, (*carried, *(replace(fold, name=name) for fold, name in folds.items())))
