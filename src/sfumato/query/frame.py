"""The DataFrame front end: immutable, it only builds relations."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Generic, NoReturn, TypeVar

from sfumato.errors import ParameterError
from sfumato.query.conditions import checked, compare, is_in, is_true, literal
from sfumato.query.expressions import And, ColumnRef, Comparison, Condition, IsNull, Not, Or, depth
from sfumato.query.relations import (
    Aggregate,
    CountRows,
    CountValues,
    Filter,
    GroupBy,
    Mean,
    Rows,
    Source,
    Statistic,
    Sum,
    table_of,
)
from sfumato.query.schema import Table, unicode_text

INTERVAL_ENDS: Final = ("_low", "_high")
"""What the two ends of an answer's interval are called, behind its name."""

MAX_DEPTH: Final = 40
"""How deep conditions and filters may be nested: engines and the stack of Python have room for twice as much."""

Q = TypeVar("Q")


def count(column: str | None = None) -> Statistic:
    """The number of rows, or of values that are not NULL.

    Example:
        >>> count()
        CountRows()
    """
    return CountRows() if column is None else CountValues(column)


def sum(column: str) -> Statistic:  # noqa: A001 # the field's word, used as sf.sum
    """The sum of a column, each value clamped to its declared bounds.

    Example:
        >>> sum("hours")
        Sum(column='hours')
    """
    return Sum(column)


def mean(column: str) -> Statistic:
    """The mean of a column, each value clamped to its declared bounds.

    Example:
        >>> mean("hours")
        Mean(column='hours')
    """
    return Mean(column)


@dataclass(frozen=True, slots=True)
class Where:
    """A condition on rows; combine with &, | and ~."""

    condition: Condition

    def __and__(self, other: "Where") -> "Where":
        return Where(And((*_side_by_side(And, self), *_side_by_side(And, other))))

    def __or__(self, other: "Where") -> "Where":
        return Where(Or((*_side_by_side(Or, self), *_side_by_side(Or, other))))

    def __invert__(self) -> "Where":
        return Where(Not(self.condition))

    def __bool__(self) -> NoReturn:
        raise ParameterError("condition", "and / or / not", "must be combined with &, | and ~")


def _side_by_side(kind: type[And] | type[Or], where: Where) -> tuple[Condition, ...]:
    """So that a long chain of one connective is wide and not deep."""
    return where.condition.conditions if isinstance(where.condition, kind) else (where.condition,)


class ColumnHandle:
    """A column of a table, to be compared."""

    __slots__ = ("_table", "reference")

    def __init__(self, table: Table, name: str) -> None:
        table.column(name)
        self._table, self.reference = table, ColumnRef(name)

    def _compare(self, comparison: Comparison, other: object) -> Where:
        right = other.reference if isinstance(other, ColumnHandle) else literal(other)
        return Where(compare(self._table, comparison, self.reference, right))

    def __eq__(self, other: object) -> Where:  # type: ignore[override] # a comparison of columns is a condition
        return self._compare(Comparison.EQUAL, other)

    def __ne__(self, other: object) -> Where:  # type: ignore[override] # the same
        return self._compare(Comparison.NOT_EQUAL, other)

    __hash__ = None  # type: ignore[assignment] # columns are compared, never looked up

    def __lt__(self, other: object) -> Where:
        return self._compare(Comparison.LESS, other)

    def __le__(self, other: object) -> Where:
        return self._compare(Comparison.LESS_EQUAL, other)

    def __gt__(self, other: object) -> Where:
        return self._compare(Comparison.GREATER, other)

    def __ge__(self, other: object) -> Where:
        return self._compare(Comparison.GREATER_EQUAL, other)

    def between(self, lower: object, upper: object) -> Where:
        """Between two constants, both included."""
        return (self >= lower) & (self <= upper)

    def is_in(self, values: Iterable[object]) -> Where:
        """One of some constants."""
        return Where(is_in(self._table, self.reference, tuple(map(literal, values))))

    def is_null(self) -> Where:
        """NULL: absent, NaN, or not convertible to the declared type."""
        return Where(IsNull(self.reference))

    def is_true(self) -> Where:
        """A boolean column as a condition."""
        return Where(is_true(self._table, self.reference))


class Frame(Generic[Q]):
    """Rows of a table, to be filtered, grouped and aggregated; every step is a new frame.

    Args:
        rows: The relation so far.
        ask: Makes a question of a finished relation.
    """

    __slots__ = ("_ask", "_keys", "_rows")

    def __init__(self, rows: Rows, ask: Callable[[Aggregate], Q], keys: tuple[str, ...] = ()) -> None:
        self._rows, self._ask, self._keys = rows, ask, keys

    def __getitem__(self, name: str) -> ColumnHandle:
        return ColumnHandle(table_of(self._rows), name)

    def __getattr__(self, name: str) -> ColumnHandle:
        columns = table_of(self._rows).columns
        if name not in columns:
            raise AttributeError(f"{name} is no column; the table has {', '.join(columns)}")
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *table_of(self._rows).columns]

    def filter(self, where: Where) -> "Frame[Q]":
        """Only the rows for which a condition is true."""
        if not isinstance(where, Where):
            raise ParameterError("where", type(where).__name__, "must be a condition, such as people.age > 50")
        filtered = Filter(self._rows, where.condition)
        check_depth(filtered)
        checked(table_of(self._rows), where.condition)
        return Frame(filtered, self._ask, self._keys)

    def group_by(self, *keys: str) -> "Frame[Q]":
        """One group for each combination of the public keys of some columns.

        Raises:
            ParameterError: A column does not exist, or is named twice.
        """
        return Frame(self._rows, self._ask, checked_keys(table_of(self._rows), keys))

    def agg(self, **statistics: Statistic) -> Q:
        """The question for some statistics of each group, by the names they are to have.

        Raises:
            ParameterError: No statistic, or a column that does not exist.
        """
        return self._ask(aggregate(self._rows, self._keys, tuple(statistics.items())))


def checked_keys(table: Table, keys: tuple[str, ...]) -> tuple[str, ...]:
    """Keys that exist, each once.

    Raises:
        ParameterError: One does not.
    """
    for key in keys:
        table.column(key)
    if len(set(keys)) != len(keys):
        raise ParameterError("keys", keys, "must name each column once")
    return keys


def check_depth(rows: Rows) -> None:
    """Refuse what is nested deeper than every later step can follow, before it costs anything.

    Raises:
        ParameterError: Too many filters one after the other, or AND, OR and NOT nested too deeply.
    """
    steps = 0
    while not isinstance(rows, Source):
        steps += 1 + (depth(rows.condition) if isinstance(rows, Filter) else 0)
        rows = rows.child
    if steps > MAX_DEPTH:
        raise ParameterError(
            "condition", f"{steps} levels", f"must be nested at most {MAX_DEPTH} deep; combine conditions side by side"
        )


def aggregate(
    rows: Rows, keys: tuple[str, ...], statistics: tuple[tuple[str, Statistic], ...], labels: tuple[str, ...] = ()
) -> Aggregate:
    """A whole question, its names checked.

    Raises:
        ParameterError: No statistic, an unknown column, or an output name twice.
    """
    check_depth(rows)
    table = table_of(rows)
    if not statistics:
        raise ParameterError("statistics", "none", "must ask for at least one, such as n=sf.count()")
    for _, statistic in statistics:
        if not isinstance(statistic, CountRows):
            table.column(statistic.column)
    names = [unicode_text(name, "statistics") for name, _ in statistics]
    columns = [*(labels or keys), *names, *(name + end for name in names for end in INTERVAL_ENDS)]
    if len(set(columns)) != len(columns):
        requirement = "must have names that differ from each other and from …_low and …_high"
        raise ParameterError("statistics", [*(labels or keys), *names], requirement)
    return Aggregate(GroupBy(rows, keys, labels), statistics)
