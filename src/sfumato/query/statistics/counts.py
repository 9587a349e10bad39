"""Counts: of rows, of values, of units, of different values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import positive_integer
from sfumato.privacy.stored_names import Names
from sfumato.query.analysis.bounding import least
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.shape import Metric, Shape
from sfumato.query.handles.columns import expression_of
from sfumato.query.model.expressions import ColumnRef, Expression, Literal
from sfumato.query.model.facts import Facts
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Distinct, Fold, Folded, Select, fresh
from sfumato.query.model.statement import CellCount, RowCount, Statement, UnitCount, Values
from sfumato.query.statistics.recipes import GroupedRows, NoisyCells, NoisyMeasures, Recipe, single
from sfumato.query.statistics.statistic import Spelling, SqlReader, Statistic, Value, number_facts


class CountStatistic(Statistic):
    """What all counts have in common: one whole number."""

    __slots__ = ()

    def facts(self, shape: Shape) -> tuple[Facts, ...]:
        """One whole number."""
        return (number_facts(Kind.INTEGER),)


def _read(_: type[Any], sql: SqlReader, call: Any) -> Statistic:
    """A count of what COUNT is given."""
    argument = call.this
    if call.expressions or argument is None:
        raise sql.refusal(call, "COUNT takes one column", "Write COUNT(*) or COUNT(column).")
    if argument.key == "distinct":
        return _read_distinct(sql, call, argument)
    if argument.key == "star":
        sql.require_only(argument)
        value = sql.filtered(Literal(Fraction(1)))
    else:
        value = sql.value(argument)
    return CountRows() if isinstance(value, Literal) else CountValues(value)


def _read_distinct(sql: SqlReader, call: Any, distinct: Any) -> Statistic:
    sql.require_only(distinct, "expressions")
    if len(distinct.expressions) != 1:
        raise sql.refusal(call, "DISTINCT counts the values of one column only", "Count the values of one column.")
    value = sql.unfiltered(distinct.expressions[0])
    if not sql.holds_unit(value):
        return CountDistinct(sql.filtered(value))
    return CountDistinct(sql.filtered(value), max_values_per_unit=1) if sql.is_filtered else CountUnits()


@dataclass(frozen=True, slots=True)
class CountRows(CountStatistic):
    """COUNT(*)."""

    stored: ClassVar = Names("CountRows")
    spellings: ClassVar = (
        Spelling(names=("COUNT",), node="Count", arguments=("this", "expressions"), read=_read, is_fold=True),
    )
    adds_up: ClassVar = True

    def sql(self, values: Sequence[str]) -> str:
        """COUNT(*)."""
        return "COUNT(*)"

    def recipe(self, rows: GroupedRows, name: str) -> Recipe:
        """One noisy count of rows."""
        return single(NoisyMeasures((RowCount(),)), name)

    def fold(self, name: str, shape: Shape) -> Folded:
        """The rows of one group."""
        return Folded(name, Fold.COUNT_ROWS)


@dataclass(frozen=True, slots=True)
class CountValues(CountStatistic):
    """COUNT(x): the rows in which it is not NULL."""

    stored: ClassVar = Names("CountValues", unwritten=("value",))
    adds_up: ClassVar = True

    value: Expression

    def sql(self, values: Sequence[str]) -> str:
        """COUNT(x)."""
        return f"COUNT({values[0]})"

    def folded(self, shape: Shape) -> Statistic:
        """COUNT(*), where the value is never NULL."""
        return Statistic.folded(self, shape) if facts_of(self.value, shape.columns).nullable else CountRows()

    def recipe(self, rows: GroupedRows, name: str) -> Recipe:
        """Rows in which it is not NULL."""
        return single(NoisyMeasures((rows.present(self.value),)), name)

    def fold(self, name: str, shape: Shape) -> Folded:
        """The values of one group."""
        return Folded(name, Fold.COUNT, self.value)


@dataclass(frozen=True, slots=True)
class CountUnits(CountStatistic):
    """COUNT(DISTINCT unit): how many units have a row."""

    stored: ClassVar = Names("CountUnits")

    def sql(self, values: Sequence[str]) -> str:
        """COUNT(DISTINCT unit)."""
        return "COUNT(DISTINCT /* unit */)"

    def check_parameters(self, name: str, shape: Shape, facts: Sequence[Facts]) -> None:
        """Refuse a count of units where rows have no owners."""
        if shape.metric is Metric.PUBLIC:
            raise ParameterError(name, "COUNT(DISTINCT unit)", "needs rows of people; these are public")

    def recipe(self, rows: GroupedRows, name: str) -> Recipe:
        """Units with a row."""
        return single(NoisyMeasures((UnitCount(),)), name)


@dataclass(frozen=True, slots=True)
class CountDistinct(CountStatistic):
    """COUNT(DISTINCT x): how many different values there are, at most `max_values_per_unit` of one unit counted.

    None counts as many as a unit may have rows in a group.
    """

    stored: ClassVar = Names("CountDistinct", "max_values_per_unit", unwritten=("value",))

    value: Expression
    max_values_per_unit: int | None = None

    def sql(self, values: Sequence[str]) -> str:
        """COUNT(DISTINCT x)."""
        most = self.max_values_per_unit
        return f"COUNT(DISTINCT {values[0]}{'' if most is None else f' /* at most {most} of a unit */'})"

    def check_parameters(self, name: str, shape: Shape, facts: Sequence[Facts]) -> None:
        """The limit is a whole number above 0."""
        if self.max_values_per_unit is not None:
            positive_integer(self.max_values_per_unit, "max_values_per_unit")

    def recipe(self, rows: GroupedRows, name: str) -> Recipe:
        """Each unit's different values are rows of their own, of which the limits then keep some."""
        kept = tuple(key.name for key in rows.keys)
        value = fresh("value", kept)
        columns = (*((key, ColumnRef(key)) for key in kept), (value, self.value))
        limits = rows.limits
        if self.max_values_per_unit is not None and rows.shape.metric is Metric.UNITS:
            fewest = least(limits.max_rows_per_group_per_unit, self.max_values_per_unit)
            limits = replace(limits, max_rows_per_group_per_unit=fewest)
        statement = Statement(
            rows=Distinct(Select(rows.rows, columns)), keys=rows.keys, measures=(CellCount(),), limits=limits,
            cell=Values(value=ColumnRef(value), values=None),
        )  # fmt: skip
        return single(NoisyCells(statement), name)

    def fold(self, name: str, shape: Shape) -> Folded | None:
        """The different values of one group, all of them."""
        return Folded(name, Fold.COUNT_DISTINCT, self.value) if self.max_values_per_unit is None else None


def count(value: Value | None = None) -> Statistic:
    """The number of rows, or of values that are not NULL.

    Example:
        >>> count()
        CountRows()
    """
    return CountRows() if value is None else CountValues(expression_of(value))


def count_units() -> Statistic:
    """The number of privacy units that have a row, such as patients; where each row is a unit, the number of rows."""
    return CountUnits()


def count_distinct(value: Value, *, max_values_per_unit: int | None = None) -> Statistic:
    """The number of distinct values.

    Args:
        value: A column, or an expression of columns.
        max_values_per_unit: The most values of one unit that count; default: as many as it may have rows.
    """
    return CountDistinct(expression_of(value), max_values_per_unit)
