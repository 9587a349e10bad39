"""GROUP BY: keys that are columns or expressions, ordinals, aliases, GROUPING SETS, ROLLUP, CUBE."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, TypeAlias

from sqlglot import exp

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import ColumnRef, Expression, Literal
from sfumato.query.model.names import fresh
from sfumato.query.model.relations import Select
from sfumato.query.planning.grouping_sets import MAX_GROUPING_SETS, cube, rollup
from sfumato.query.sql.context import Context
from sfumato.query.sql.names import Scope, found, label_of, same, scope_of
from sfumato.query.sql.outputs import name_of
from sfumato.query.sql.parsing import require_only, shown, unnested
from sfumato.query.sql.statistics import has_aggregate

MAX_KEYS: Final = 64
"""How many keys one question may group by."""

Nodes: TypeAlias = tuple[exp.Expr, ...]
"""What one grouping set groups by."""


@dataclass(frozen=True, slots=True)
class GroupKey:
    """A key: as it is written, over the rows, as a column of the grouped rows, and as PostgreSQL calls it."""

    node: exp.Expr
    expression: Expression
    column: str
    label: str


@dataclass(frozen=True, slots=True)
class Grouping:
    """Rows with a column for each key; `sets` is empty if there is one of all keys."""

    scope: Scope
    keys: tuple[GroupKey, ...]
    sets: tuple[tuple[str, ...], ...] = ()


def grouping(context: Context, scope: Scope, select: exp.Select) -> Grouping:
    """The groups that GROUP BY makes of some rows.

    Raises:
        NotPrivateError: It groups by something that is not supported.
        ParameterError: It names what does not exist.
    """
    group = select.args.get("group")
    if group is None:
        return Grouping(scope, ())
    if group.args.get("all") is not None:
        raise NotPrivateError(shown(group), "GROUP BY ALL and DISTINCT are not supported", "List the columns.")
    require_only(group, {"expressions"})
    sets = _product([_sets(item) for item in group.expressions])
    made = grouped_by(context, scope, select, [node for kept in sets for node in kept])
    if not any(isinstance(item, _SETS) for item in group.expressions):
        return made
    rows = context.of_rows(scope)
    column = {key.expression: key.column for key in made.keys}
    named = tuple(tuple(column[rows.lower(meant(scope, select, node))] for node in kept) for kept in sets)
    return Grouping(made.scope, made.keys, named)


def grouped_by(context: Context, scope: Scope, select: exp.Select, nodes: Iterable[exp.Expr]) -> Grouping:
    """The groups by some keys, each taken once.

    Raises:
        NotPrivateError: A key is an aggregate.
        ParameterError: A key is a constant, or does not exist.
    """
    rows = context.of_rows(scope)
    keys: dict[Expression, GroupKey] = {}
    added: list[tuple[str, Expression]] = []
    for node in nodes:
        target = meant(scope, select, node)
        expression = rows.lower(target)
        if isinstance(expression, Literal):
            raise ParameterError(
                "GROUP BY", shown(node), "must be a column, a place in SELECT, or an expression of columns"
            )
        if expression in keys:
            continue
        if len(keys) == MAX_KEYS:
            raise ParameterError("GROUP BY", "too many keys", f"must list at most {MAX_KEYS}")
        if isinstance(expression, ColumnRef):
            keys[expression] = GroupKey(target, expression, expression.name, label_of(scope, expression.name))
        else:
            name = fresh(shown(target), [*scope.shape.columns, *(name for name, _ in added)])
            added.append((name, expression))
            keys[expression] = GroupKey(target, expression, name, name_of(target))
    if added:
        own = ((name, ColumnRef(name)) for name in scope.shape.columns)
        scope = scope_of(Select(scope.relation, (*own, *added)), scope.visible)
    return Grouping(scope, tuple(keys.values()))


def meant(scope: Scope, select: exp.Select, node: exp.Expr) -> exp.Expr:
    """What a key means: a place in SELECT, a column of the rows, an alias in SELECT, or itself.

    Raises:
        ParameterError: There is no such place.
        NotPrivateError: It is an aggregate.
    """
    target = unnested(node)
    if isinstance(target, exp.Literal) and not target.is_string:
        target = unnested(at_place(select, target))
    elif isinstance(target, exp.Column) and not target.args.get("table") and found(scope, target) is None:
        target = unnested(_of_alias(select, target) or target)
    if has_aggregate(target):
        raise NotPrivateError(shown(target), "an aggregate is no key of the groups it is of", "Group by columns.")
    return target


def at_place(select: exp.Select, ordinal: exp.Literal) -> exp.Expr:
    """The column of SELECT at a place, counted from 1.

    Raises:
        ParameterError: There is none.
    """
    places: dict[str, exp.Expr] = {str(place): output for place, output in enumerate(select.expressions, start=1)}
    if ordinal.name not in places:
        raise ParameterError("place", shown(ordinal), f"must be a whole number from 1 to {len(places)}")
    return places[ordinal.name].unalias()


def _of_alias(select: exp.Select, column: exp.Column) -> exp.Expr | None:
    aliases = (output for output in select.expressions if isinstance(output, exp.Alias))
    return next((output.this for output in aliases if same(column.this, output.alias)), None)


_SETS: Final = exp.Rollup | exp.Cube | exp.GroupingSets


def _sets(item: exp.Expr) -> list[Nodes]:
    """The grouping sets of one item of GROUP BY."""
    match item:
        case exp.Rollup() | exp.Cube():
            require_only(item, {"expressions"})
            parts = [_composite(part) for part in item.expressions]
            places = tuple(map(str, range(len(parts))))
            chosen = rollup(places) if isinstance(item, exp.Rollup) else cube(places)
            return [tuple(node for place in kept for node in parts[int(place)]) for kept in chosen]
        case exp.GroupingSets():
            require_only(item, {"expressions"})
            return [kept for inner in item.expressions for kept in _sets(inner)]
        case _:
            return [_composite(item)]


def _composite(item: exp.Expr) -> Nodes:
    """(a, b) groups by both at once, and () by nothing."""
    return tuple(item.expressions) if isinstance(item, exp.Tuple) else (item,)


def _product(items: Sequence[list[Nodes]]) -> list[Nodes]:
    """The grouping sets of several items side by side: each of one with each of the others."""
    count = 1
    for item in items:
        count *= len(item)
    if count > MAX_GROUPING_SETS:
        raise ParameterError("GROUP BY", f"{count} grouping sets", f"must make at most {MAX_GROUPING_SETS}")
    return [tuple(node for kept in choice for node in kept) for choice in product(*items)]
