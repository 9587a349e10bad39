"""GROUP BY in a sub-query: one row for each group of one unit, computed exactly, with HAVING as a filter on them."""

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from sfumato.errors import NotPrivateError
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.analysis.units import NO_TIES, determines_unit, ties_of
from sfumato.query.model.expressions import Expression, columns_of
from sfumato.query.model.facts import Facts
from sfumato.query.model.relations import Folded, Grouped, Relation
from sfumato.query.planning.folds import grouped, with_columns
from sfumato.query.sql.context import Context
from sfumato.query.sql.grouping import Grouping, grouping
from sfumato.query.sql.groups import Groups, Keys
from sfumato.query.sql.joins import filtered
from sfumato.query.sql.names import Scope, check_labels, scope_of, unit_columns
from sfumato.query.sql.outputs import named_outputs
from sfumato.query.sql.parsing import shown
from sfumato.query.sql.statistics import Values, fold_of, has_aggregate


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
