"""GROUP BY: keys that are columns or expressions, ordinals, aliases, GROUPING SETS, ROLLUP, CUBE.

Above it stand keys by their labels, and aggregates by names, each computed once.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Final, Generic, TypeAlias, TypeVar

from sqlglot import exp

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.model.expressions import Call, Case, ColumnRef, Condition, Expression, IsNull, Literal
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.relations import Select, fresh
from sfumato.query.planning.grouping import MAX_GROUPING_SETS, cube, rollup
from sfumato.query.planning.windows import Window, window_facts
from sfumato.query.sql.context import Context, Scope, found, label_of, name_of, named_outputs, same, scope_of
from sfumato.query.sql.parsing import require_only, shown, unnested
from sfumato.query.sql.statistics import has_aggregate, is_aggregate
from sfumato.query.sql.windows import window_of

MAX_KEYS: Final = 64
"""How many keys one query may group by."""

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
    if group.args.get("all") and not group.expressions:
        require_only(group, {"all"})
        return grouped_by(context, scope, select, _all_keys(scope, select))
    if group.args.get("all") is not None:
        raise NotPrivateError(
            shown(group), "GROUP BY ALL and DISTINCT of listed columns are not supported", "Leave ALL or DISTINCT out."
        )
    require_only(group, {"expressions"})
    sets = _product([_sets(item) for item in group.expressions])
    made = grouped_by(context, scope, select, [node for kept in sets for node in kept])
    if not any(isinstance(item, _SETS) for item in group.expressions):
        return made
    rows = context.of_rows(scope)
    column = {key.expression: key.column for key in made.keys}
    named = tuple(tuple(column[rows.lower(meant(scope, select, node))] for node in kept) for kept in sets)
    return Grouping(made.scope, made.keys, named)


def _all_keys(scope: Scope, select: exp.Select) -> list[exp.Expr]:
    """GROUP BY ALL: what SELECT lists without an aggregate or a window in it, but for constants."""
    return [
        node
        for _, node in named_outputs(scope, select)
        if node.find(exp.Column) is not None and not has_aggregate(node) and node.find(exp.Window) is None
    ]


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
                "GROUP BY", shown(node), "must be a column, a position in SELECT, or an expression of columns"
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
        raise NotPrivateError(shown(target), "an aggregate cannot be a key of its own groups", "Group by columns.")
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


A = TypeVar("A")


class Keys:
    """The keys of some groups, as expressions above GROUP BY can mean them."""

    def __init__(self, context: Context, grouping: Grouping) -> None:
        self.scope = grouping.scope
        self.has_sets = bool(grouping.sets)
        self._rows = context.of_rows(grouping.scope)
        self._by_expression = {key.expression: key for key in grouping.keys}
        self._classes = {type(key.node) for key in grouping.keys} | {exp.Column}

    def of(self, node: exp.Expr) -> GroupKey | None:
        """The key that an expression is, if it is one."""
        if type(node) not in self._classes or has_aggregate(node):
            return None
        return self._by_expression.get(self._rows.lower(node))

    def has_column(self, node: exp.Column) -> bool:
        """Whether a name means a column of the rows."""
        return found(self.scope, node) is not None

    def refused(self, node: exp.Column) -> NotPrivateError:
        """The error for a column that is no key."""
        self._rows.lower(node)
        return NotPrivateError(
            shown(node), "values of single rows are never released",
            f"Add it to GROUP BY, or write AVG({shown(node)}).",
        )  # fmt: skip


class AskedGroups(Generic[A]):
    """The groups of one query, the aggregates that are asked of them, and the windows over both.

    Args:
        context: What the query may name.
        keys: The keys.
        labels: What each key is called above GROUP BY.
        taken: Names that hidden aggregates must not have.
        aggregate: What an aggregate means, and what is known of its values.
        has_windows: Whether OVER may stand above GROUP BY: in the question itself, whose groups are released.
    """

    def __init__(
        self, context: Context, keys: Keys, *, labels: Mapping[GroupKey, str], taken: Collection[str],
        aggregate: Callable[[exp.Expr], tuple[A, Facts]], has_windows: bool = False,
    ) -> None:  # fmt: skip
        self.aggregates: dict[A, str] = {}
        self.windows: dict[Window, str] = {}
        self._has_windows = has_windows
        self._keys, self._labels, self._taken, self._aggregate = keys, labels, taken, aggregate
        self._facts = {label: keys.scope.shape.column(key.column) for key, label in labels.items()}
        self._outputs: Mapping[str, Expression] = {}
        self.scalars = context.scalars(self._leaf, self._facts)

    def outputs(self, named: Iterable[tuple[str, exp.Expr]]) -> tuple[tuple[str, Expression], ...]:
        """The columns of SELECT; an aggregate that stands alone is computed under the column's name.

        From then on names that are no columns of the rows may mean these, as HAVING and ORDER BY do.
        """
        nodes = [(name, unnested(node)) for name, node in named]
        alone = [ColumnRef(self._named(node, name)) if is_aggregate(node) else None for name, node in nodes]
        columns = tuple(
            (name, known or self.scalars.lower(node)) for (name, node), known in zip(nodes, alone, strict=True)
        )
        self._outputs = dict(columns)
        return columns

    def alias(self, node: exp.Expr) -> Expression | None:
        """The column of SELECT that a bare name means."""
        if not isinstance(node, exp.Column) or node.args.get("table") or not isinstance(node.this, exp.Identifier):
            return None
        return next((output for name, output in self._outputs.items() if same(node.this, name)), None)

    def having(self, node: exp.Expr) -> Condition:
        """What HAVING says.

        Raises:
            NotPrivateError: It reads a window, which is computed of the rows that it leaves.
        """
        if node.find(exp.Window) is not None:
            raise NotPrivateError(
                shown(node), "a window is computed after HAVING", "Compare the aggregate itself, as in COUNT(*) > 100."
            )
        return self.scalars.condition(node)

    def _leaf(self, node: exp.Expr) -> Expression | None:
        match node:
            case exp.Window() if self._has_windows:
                return ColumnRef(self._window(node))
            case exp.Grouping():
                return self._grouping(node)
            case _ if is_aggregate(node):
                return ColumnRef(self._named(node, None))
            case _:
                return self._key(node)

    def _key(self, node: exp.Expr) -> Expression | None:
        """A key, or a column of SELECT by its name."""
        if isinstance(node, exp.Column) and not self._keys.has_column(node):
            alias = self.alias(node)
            if alias is not None:
                return alias
        key = self._keys.of(node)
        if key is not None:
            return ColumnRef(self._labels[key])
        if isinstance(node, exp.Column):
            raise self._keys.refused(node)
        return None

    def _window(self, node: exp.Window) -> str:
        """The name under which a window is computed."""
        window = window_of(self.scalars, node)
        if window not in self.windows:
            name = fresh(name_of(node), [*self._taken, *self._facts])
            self.windows[window], self._facts[name] = name, window_facts(window, self._facts)
        return self.windows[window]

    def _grouping(self, node: exp.Grouping) -> Expression:
        """A bit for each key, 1 where the row is a total over it: there, and only there, it is NULL."""
        require_only(node, {"expressions"})
        bits: list[Expression] = []
        for place, part in enumerate(reversed(node.expressions)):
            key = self._keys.of(unnested(part))
            if key is None:
                raise ParameterError("GROUPING", shown(part), "must be a key of GROUP BY")
            if self._keys.has_sets:
                label, bit = ColumnRef(self._labels[key]), Literal(Fraction(2**place))
                bits.append(Case(((IsNull(label), bit),), Literal(Fraction(0))))
        if not bits:
            return Literal(Fraction(0))
        total = bits[0]
        for other in bits[1:]:
            total = Call(Function.ADD, (total, other))
        return total

    def _named(self, node: exp.Expr, wanted: str | None) -> str:
        """The name under which an aggregate is computed; the first one wanted, or a hidden one."""
        aggregate, facts = self._aggregate(node)
        if aggregate not in self.aggregates:
            is_own = wanted is not None and wanted.lower() not in map(str.lower, self._facts)
            name = (wanted if is_own else None) or fresh(name_of(node), [*self._taken, *self._facts])
            self.aggregates[aggregate], self._facts[name] = name, facts
        return self.aggregates[aggregate]
