"""The steps of a frame from rows to rows: filters, columns, joins, unions."""

from collections.abc import Callable, Mapping
from typing import Generic, Self, TypeVar

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind
from sfumato.query.analysis.joining import On, joined, pairs, renamed
from sfumato.query.analysis.shape import shape_of
from sfumato.query.analysis.sizes import check_size
from sfumato.query.handles.columns import ColumnExpression, expression_of
from sfumato.query.model.expressions import And, ColumnRef, Expression
from sfumato.query.model.relations import Distinct, Except, Filter, Intersect, Relation, Select, SemiJoin, UnionAll
from sfumato.query.model.schema import Limits
from sfumato.query.planning.questions import Presented
from sfumato.query.statistics.statistic import Value

Q = TypeVar("Q")


class RowSteps(Generic[Q]):
    """Rows, with the methods that derive other rows.

    Args:
        relation: The relation of the rows.
        ask: A function that makes a query of a finished relation.
        limits: Contribution bounds for the query, lower than those of the policy.

    Raises:
        ParameterError: An unknown column, one of the wrong type, or a repeated name.
        NotPrivateError: The relation would combine rows of two units.
    """

    __slots__ = ("ask", "limits", "relation", "shape")

    def __init__(self, relation: Relation, ask: Callable[[Presented], Q], limits: Limits | None = None) -> None:
        check_size(relation)
        self.relation, self.shape = relation, shape_of(relation)
        self.ask, self.limits = ask, limits

    def __setattr__(self, name: str, value: object) -> None:
        if name not in RowSteps.__slots__ or hasattr(self, name):
            raise AttributeError(f"{name} cannot be set: a frame does not change; with_columns() makes a new frame")
        super().__setattr__(name, value)

    def __getitem__(self, name: str) -> ColumnExpression:
        return ColumnExpression(ColumnRef(name), self.shape.column(name))

    def __getattr__(self, name: str) -> ColumnExpression:
        if name in RowSteps.__slots__:  # not yet set: of a copy that is being made
            raise AttributeError(name)
        if name not in self.shape.columns:
            raise AttributeError(f"{name} is not a column; there are {', '.join(self.shape.columns)}")
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.shape.columns]

    def where(self, *conditions: ColumnExpression) -> Self:
        """Keep the rows for which all conditions are true."""
        for condition in conditions:
            if not isinstance(condition, ColumnExpression):
                raise ParameterError("filter", type(condition).__name__, "must be a condition, such as people.age > 50")
        made = tuple(condition.expression for condition in conditions)
        return self._next(Filter(self.relation, made[0] if len(made) == 1 else And(made)))

    filter = where

    def select(self, *columns: Value, **named: Value) -> Self:
        """Keep some columns: by name, or as a named expression."""
        chosen = {column_name(column): expression_of(column) for column in columns}
        return self._selected(chosen | _expressions(named))

    def with_columns(self, **named: Value) -> Self:
        """Add computed columns; a column of the same name is replaced."""
        return self._selected(self._columns() | _expressions(named))

    def drop(self, *columns: str) -> Self:
        """Remove some columns."""
        for name in columns:
            self.shape.column(name)
        return self._selected({name: column for name, column in self._columns().items() if name not in columns})

    def rename(self, **names: str) -> Self:
        """Rename columns: ``rename(old="new")``."""
        for name, new in names.items():
            self.shape.column(name)
            of_kind(new, name, str, "the column's new name")
        return self._next(renamed(self.relation, self.shape, names))

    def join(self, other: "RowSteps[Q]", *, on: On, how: str = "inner", suffix: str | None = None) -> Self:
        """Join with other rows on equal values of some columns; NULL equals nothing.

        Rows of two tables with owners are joined within one unit only; with ``on=()`` all rows of a unit are joined
        with each other. Rows of a public table are joined by values; the policy says how many of them may match.

        Args:
            other: The rows on the right.
            on: Names of columns, or a mapping of names on the left to names on the right.
            how: "inner", or "left" to keep rows without a match.
            suffix: A suffix for names on the right that the left side has too.

        Raises:
            ParameterError: Columns of both sides have the same name, and there is no suffix.
            NotPrivateError: Private rows of different units would be joined.
        """
        left, right = (_whole(self, "join"), self.shape), (_whole(other, "join"), other.shape)
        return self._next(joined(left, right, on=on, how=how, suffix=suffix))

    def semi_join(self, other: "RowSteps[Q]", *, on: On) -> Self:
        """Keep the rows that match other rows, as in `join`; the columns stay."""
        return self._semi_joined(other, on, "semi_join")

    def anti_join(self, other: "RowSteps[Q]", *, on: On) -> Self:
        """Keep the rows that match no other rows."""
        return self._semi_joined(other, on, "anti_join", negated=True)

    def union(self, other: "RowSteps[Q]") -> Self:
        """The rows of both frames, with repeats (UNION ALL); columns match by position, named as here."""
        return self._next(UnionAll(_whole(self, "union"), _whole(other, "union")))

    def intersect(self, other: "RowSteps[Q]") -> Self:
        """The rows that are in both frames, within each unit (INTERSECT ALL)."""
        return self._next(Intersect(_whole(self, "intersect"), _whole(other, "intersect")))

    def except_(self, other: "RowSteps[Q]") -> Self:
        """The rows of this frame without those of the other one, within each unit (EXCEPT ALL)."""
        return self._next(Except(_whole(self, "except_"), _whole(other, "except_")))

    def distinct(self) -> Self:
        """Remove repeated rows, within each unit where rows have owners."""
        return self._next(Distinct(_whole(self, "distinct")))

    def _next(self, relation: Relation) -> Self:
        """Other rows, of which the same limits are asked."""
        return type(self)(relation, self.ask, self.limits)

    def _columns(self) -> dict[str, Expression]:
        return {name: ColumnRef(name) for name in self.shape.columns}

    def _selected(self, columns: Mapping[str, Expression]) -> Self:
        if not columns:
            raise ParameterError("columns", "none", "must be at least one")
        return self._next(Select(self.relation, tuple(columns.items())))

    def _semi_joined(self, other: "RowSteps[Q]", on: On, step: str, *, negated: bool = False) -> Self:
        right = _whole(other, step)
        return self._next(SemiJoin(child=_whole(self, step), other=right, on=pairs(on), negated=negated))


def column_name(column: Value) -> str:
    """The name of a column that was not given one.

    Raises:
        ParameterError: It is computed.
    """
    expression = expression_of(column)
    if not isinstance(expression, ColumnRef):
        raise ParameterError("column", "an expression", "must have a name, as in decade=people.age // 10")
    return expression.name


def _expressions(named: Mapping[str, Value]) -> dict[str, Expression]:
    return {name: expression_of(value) for name, value in named.items()}


def _whole(rows: RowSteps[Q], step: str) -> Relation:
    """The rows of a frame of which no limits are asked yet."""
    if not isinstance(rows, RowSteps):
        raise ParameterError(step, type(rows).__name__, "must be another frame")
    if rows.limits is not None:
        raise ParameterError("per_unit", f"before {step}", "must come after it: it limits the rows of the answer")
    return rows.relation
