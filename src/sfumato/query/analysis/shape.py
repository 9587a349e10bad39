"""What is publicly known of a relation: its columns, and whose rows it holds; those that mean nothing are refused."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache, partial
from itertools import chain
from types import MappingProxyType
from typing import Final, assert_never

from sfumato.errors import NotPrivateError, ParameterError, UnboundedSensitivityError
from sfumato.numeric.arguments import is_one_of
from sfumato.query.analysis.bounding import limits_of, most_rows
from sfumato.query.analysis.inference import KnownColumns, facts_of, narrowed_by
from sfumato.query.model.expressions import And, ColumnRef, Expression, IsNull, Not, columns_of, replaced
from sfumato.query.model.facts import Edition, Facts, family, literal_facts, merged, of_column
from sfumato.query.model.intervals import Interval
from sfumato.query.model.kinds import NUMBERS, Kind
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    Fold,
    Folded,
    Grouped,
    Intersect,
    Join,
    JoinKind,
    PeoplePart,
    Relation,
    RowFunction,
    RowWindow,
    Select,
    SemiJoin,
    Source,
    UnionAll,
)
from sfumato.query.model.schema import Table, unicode_text
from sfumato.query.model.statement import HOW_TO_BOUND, steps_of


class Metric(StrEnum):
    """Whose rows a relation holds, and so what neighboring databases can change in it."""

    PUBLIC = "public"
    """Nobody's: nothing changes."""

    ROWS = "rows"
    """Each row of a table is a unit of its own: some rows are added or removed."""

    UNITS = "units"
    """Each row belongs to one unit, by a column of its own that no query sees: all rows of one unit change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The columns of a relation, and whose rows it holds.

    Attributes:
        columns: The facts of each column, and of expressions over columns of which conditions say more.
        metric: Whose rows they are.
        unit_kind: Of rows that have owners, the kind of those.
        edition: By which rules the facts were found.
    """

    columns: Mapping[str, Facts]
    metric: Metric
    unit_kind: Kind | None = None
    edition: Edition = Edition.LATEST

    def facts(self, expression: Expression) -> Facts:
        """The facts of an expression over the columns.

        Raises:
            ParameterError: It mixes kinds, or reads a column that does not exist.
        """
        return facts_of(expression, self.columns, self.edition)

    def column(self, name: str) -> Facts:
        """The facts of one column.

        Raises:
            ParameterError: There is no such column.
        """
        if not is_one_of(name, self.columns):
            raise ParameterError("column", name, f"must be one of: {', '.join(self.columns)}")
        return self.columns[name]


class Itself:
    """A relation as the key of a cache: equal to itself only, as to compare relations is to walk through them."""

    __slots__ = ("relation",)

    def __init__(self, relation: Relation) -> None:
        self.relation = relation

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.relation is other.relation

    def __hash__(self) -> int:
        return id(self.relation)


def shape_of(relation: Relation, edition: Edition = Edition.LATEST) -> Shape:
    """What is publicly known of a relation.

    Args:
        relation: Any relation over tables of the policy.
        edition: By which rules.

    Raises:
        ParameterError: A column does not exist, is named twice, or is of a kind that cannot stand there.
        NotPrivateError: It would look at the rows of two units at once.
    """
    return _shape_of(Itself(relation), edition)


@lru_cache(maxsize=256)  # one question asks for its relations again and again, and nothing about them can change
def _shape_of(itself: Itself, edition: Edition) -> Shape:
    relation, of = itself.relation, partial(shape_of, edition=edition)
    match relation:
        case Source(table):
            return _of_table(table, edition)
        case PeoplePart():
            shape = of(relation.child)
            shape.column(relation.by)
            if isinstance(relation.value, str):
                literal_facts(relation.value)  # which refuses text that not every database has
            return shape
        case Filter(child, condition):
            return _filtered(of(child), condition)
        case Select(child, columns):
            return _selected(of(child), columns)
        case Join():
            return _joined(relation, of(relation.left), of(relation.right))
        case SemiJoin():
            return _semi_joined(relation, of(relation.child), of(relation.other))
        case UnionAll(left, right):
            return _united(of(left), of(right))
        case Intersect(left, right) | Except(left, right):
            return _taken(of(left), of(right))
        case Distinct(child):
            return of(child)
        case BoundRows(child, _):
            return _of_units(of(child), "a limit of rows")
        case Grouped():
            return _grouped(relation, of(relation.child))
        case RowWindow():
            return _in_order(relation, of(relation.child))
        case _:
            assert_never(relation)


def _of_table(table: Table, edition: Edition) -> Shape:
    columns = MappingProxyType({name: of_column(column, edition) for name, column in table.columns.items()})
    if table.is_public:
        return Shape(columns=columns, metric=Metric.PUBLIC, edition=edition)
    if table.has_owners:
        return Shape(columns=columns, metric=Metric.UNITS, unit_kind=table.unit_kind, edition=edition)
    return Shape(columns=columns, metric=Metric.ROWS, edition=edition)


def _filtered(shape: Shape, condition: Expression) -> Shape:
    if shape.facts(condition).kind is not Kind.BOOLEAN:
        raise ParameterError("condition", "an expression", "must be true or false; compare it with something")
    return replace(shape, columns=narrowed_by(shape.columns, condition, shape.edition))


def _selected(shape: Shape, columns: tuple[tuple[str, Expression], ...]) -> Shape:
    _check_names([name for name, _ in columns])
    facts = {name: shape.facts(expression) for name, expression in columns}
    kept = {expression.name: ColumnRef(name) for name, expression in columns if isinstance(expression, ColumnRef)}
    return replace(shape, columns=KnownColumns(facts, _of_kept(shape, kept)))


def _expressions(shape: Shape) -> Mapping[Expression, Facts]:
    return shape.columns.expressions if isinstance(shape.columns, KnownColumns) else {}


def _of_kept(shape: Shape, kept: Mapping[str, ColumnRef]) -> Mapping[Expression, Facts]:
    """What conditions say of expressions over columns that are kept, perhaps under other names."""
    return {replaced(one, kept): facts for one, facts in _expressions(shape).items() if columns_of(one) <= kept.keys()}


def _present(shape: Shape, names: Iterable[str]) -> Shape:
    """Of rows in which some columns equal others, as NULL does not."""
    condition = And(tuple(Not(IsNull(ColumnRef(name))) for name in names))
    return replace(shape, columns=narrowed_by(shape.columns, condition, shape.edition))


def _check_names(names: list[str]) -> None:
    if not names:
        raise ParameterError("columns", names, "must be at least one")
    if len({unicode_text(name, "columns").lower() for name in names}) != len(names):  # engines ignore case
        raise ParameterError("columns", names, "must have names that differ in more than case")


def _joined(join: Join, left: Shape, right: Shape) -> Shape:
    _check_keys(join.on, left, right)
    _check_kinds(join.on, left, right)
    _check_names([*left.columns, *right.columns])
    if left.metric is Metric.PUBLIC and right.metric is not Metric.PUBLIC:
        raise NotPrivateError(
            "a join of a public table with a private one",
            "each row of the public table would repeat private rows without limit",
            "Put the private table on the left side.",
        )
    if right.metric is not Metric.PUBLIC:
        _check_units(left, right, is_keyed=_is_keyed(join))
    if join.kind is JoinKind.LEFT:  # a row without a partner has NULL there, of which no condition was true
        missing = {name: replace(facts, nullable=True) for name, facts in right.columns.items()}
        return replace(left, columns=KnownColumns({**left.columns, **missing}, _expressions(left)))
    columns = KnownColumns({**left.columns, **right.columns}, {**_expressions(left), **_expressions(right)})
    return _present(replace(left, columns=columns), chain.from_iterable(join.on))


def _check_keys(on: tuple[tuple[str, str], ...], left: Shape, right: Shape) -> None:
    for first, second in on:
        if family(left.column(first).kind) != family(right.column(second).kind):
            raise ParameterError("join", f"{first} = {second}", "must compare columns of one kind")


def _check_kinds(on: tuple[tuple[str, str], ...], left: Shape, right: Shape) -> None:
    """Compared as doubles, many whole numbers may equal one, and then a row has more partners than is declared."""
    for first, second in on:
        if left.column(first).kind is not right.column(second).kind:
            raise ParameterError(
                "join", f"{first} = {second}", "must compare columns of one kind, not whole numbers with floats"
            )


def _check_units(left: Shape, right: Shape, *, is_keyed: bool) -> None:
    """Two private sides may only meet within a unit; or, where each row is one, as groups with the same keys."""
    if left.metric is not right.metric or left.unit_kind is not right.unit_kind:
        raise NotPrivateError(
            "a join of two private tables",
            "their rows belong to different kinds of units",
            "Join tables that the policy gives the same privacy unit.",
        )
    if left.metric is Metric.ROWS and not is_keyed:
        raise NotPrivateError(
            "a join of two private tables",
            "each row is a unit, and one row could meet any number of others",
            "Declare a privacy unit, or join sub-queries that are grouped by the keys of the join.",
        )


def _is_keyed(join: Join) -> bool:
    """Whether both sides have at most one row for each value of the columns of the join."""
    sides = [(join.left, {first for first, _ in join.on}), (join.right, {second for _, second in join.on})]
    return all(_keys_of(side) == on for side, on in sides)


def _keys_of(relation: Relation) -> set[str] | None:
    """By what groups are told apart, under the names that they have now; None of what is no groups."""
    match relation:
        case Grouped(_, keys, _):
            return set(keys)
        case Filter(child, _):
            return _keys_of(child)
        case Select(child, columns):
            inner = _keys_of(child)
            names = {e.name: name for name, e in columns if isinstance(e, ColumnRef)}
            return None if inner is None or not inner <= names.keys() else {names[key] for key in inner}
        case _:
            return None


def _semi_joined(join: SemiJoin, child: Shape, other: Shape) -> Shape:
    _check_keys(join.on, child, other)
    kept = child if join.negated else _present(child, [first for first, _ in join.on])
    if other.metric is Metric.PUBLIC:
        return kept
    if child.metric is not Metric.UNITS:
        raise NotPrivateError(
            "EXISTS or IN on a private table",
            "rows of another unit would decide which rows count",
            "Query tables with a privacy unit; the sub-query then sees rows of the same unit.",
        )
    _check_units(child, other, is_keyed=False)
    return kept


def _united(left: Shape, right: Shape) -> Shape:
    if len(left.columns) != len(right.columns):
        raise ParameterError(
            "UNION", f"{len(left.columns)} and {len(right.columns)} columns", "must have as many on both sides"
        )
    if left.metric is not right.metric or left.unit_kind is not right.unit_kind:
        raise NotPrivateError(
            "a union of two tables", "their rows belong to different kinds of units", "Query each of them alone."
        )
    both = zip(left.columns.items(), right.columns.values(), strict=True)
    columns = {name: merged([first, second]) for (name, first), second in both}
    return replace(left, columns=MappingProxyType(columns))


def _taken(left: Shape, right: Shape) -> Shape:
    """Of rows of the left side, converted where the right side makes it necessary."""
    united = _united(left, right)
    own = {name: facts if facts.kind is united.columns[name].kind else united.columns[name]
           for name, facts in left.columns.items()}  # fmt: skip
    return replace(united, columns=MappingProxyType(own))


def _of_units(shape: Shape, what: str) -> Shape:
    if shape.metric is not Metric.UNITS:
        raise ParameterError("relation", what, "belongs to rows that have owners")
    return shape


def _grouped(grouped: Grouped, shape: Shape) -> Shape:
    _check_names([*grouped.keys, *(column.name for column in grouped.columns)])
    columns = {key: shape.column(key) for key in grouped.keys}
    most = most_rows(limits_of(grouped.child)) if shape.metric is Metric.UNITS else None
    columns |= {column.name: _folded(column, shape, most) for column in grouped.columns}
    return replace(shape, columns=KnownColumns(columns, _of_kept(shape, {key: ColumnRef(key) for key in grouped.keys})))


_MOVES: Final = frozenset({RowFunction.LAG, RowFunction.LEAD, RowFunction.FIRST_VALUE})


def _in_order(window: RowWindow, shape: Shape) -> Shape:
    """A column more, of rows of one unit or of public ones."""
    if shape.metric is Metric.ROWS:
        raise NotPrivateError(
            "a window over rows", "each row is a unit, and rows of several people would be compared",
            "Declare a privacy unit, or put the window over groups.",
        )  # fmt: skip
    for name in (*window.within, *(name for name, _ in window.order)):
        shape.column(name)
    _check_names([*shape.columns, window.name])
    if window.function in _MOVES:
        if window.value is None or window.distance < 0:
            raise ParameterError(window.function.value, window.value, "must move a column by a number of rows")
        facts = replace(shape.column(window.value), nullable=True)
    else:
        most = most_rows(limits_of(window.child)) if shape.metric is Metric.UNITS else None
        facts = _counted(1, most)
    return replace(shape, columns=KnownColumns({**shape.columns, window.name: facts}, _expressions(shape)))


def _folded(column: Folded, shape: Shape, most: int | None) -> Facts:
    """What is known of a fold of at most `most` rows."""
    if column.fold is Fold.COUNT_ROWS and column.value is None:
        return _counted(1, most)
    if column.value is None or column.fold is Fold.COUNT_ROWS:
        raise ParameterError(column.fold.value, column.name, "must aggregate the values of an expression")
    facts = shape.facts(column.value)
    match column.fold:
        case Fold.COUNT | Fold.COUNT_DISTINCT:
            return _counted(0, most)
        case Fold.MIN | Fold.MAX:
            if facts.kind is Kind.BOOLEAN:
                raise ParameterError(column.fold.value, "a boolean", "must aggregate numbers, text or times")
            return facts
        case Fold.SUM | Fold.MEAN:
            return _of_summed(column, column.value, facts, most, shape.edition)


def _counted(least: int, most: int | None) -> Facts:
    """A number of rows: as many as there are, though limits would leave at most so many."""
    lower, upper = Fraction(least), None if most is None else Fraction(most)
    return Facts(
        kind=Kind.INTEGER, interval=Interval(lower, upper), nullable=False, certain=Interval(lower, None)
    )  # fmt: skip


def _of_summed(column: Folded, value: Expression, facts: Facts, most: int | None, edition: Edition) -> Facts:
    if facts.kind not in NUMBERS:
        raise ParameterError(column.fold.value, f"a {facts.kind}", "must aggregate numbers")
    if edition is not Edition.FIRST:  # whose facts nothing is summed by
        if not facts.interval.is_bounded:
            raise UnboundedSensitivityError("sub-query", column.name, HOW_TO_BOUND)
        steps_of(value, facts, bounds=None, what=column.name)  # refuses a lattice that doubles cannot hold
    if column.fold is Fold.MEAN:
        return replace(facts, kind=Kind.FLOAT, values=None, resolution=None, certain=None)
    return replace(  # each value is clamped to the interval before it is folded, and only their number is presumed
        facts, interval=_of_sums(facts.interval, most), values=None, nullable=True,
        certain=_of_sums(facts.interval, None),
    )  # fmt: skip


def _of_sums(interval: Interval, most: int | None) -> Interval:
    """Of sums of 1 to `most` numbers."""
    one, many = interval, interval if most is None else interval * Interval(Fraction(most), Fraction(most))
    if most is not None:
        return one | many
    lower, upper = one.lower, one.upper
    return Interval(
        lower if lower is not None and lower >= 0 else None, upper if upper is not None and upper <= 0 else None
    )
