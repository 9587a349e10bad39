"""The DataFrame front end: immutable, it only builds relations."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace as with_fields
from typing import Generic, Self, TypeVar

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of, listed, of_kind
from sfumato.numeric.rationals import Number, positive
from sfumato.query.analysis.bounding import narrowed
from sfumato.query.analysis.shape import shape_of
from sfumato.query.handles.columns import expression_of
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import fresh
from sfumato.query.model.schema import Limits
from sfumato.query.planning.grouping import cube, folded, grouped, rollup, with_columns
from sfumato.query.planning.questions import check_limits, presented
from sfumato.query.python.row_steps import RowSteps, column_name
from sfumato.query.statistics.statistic import Statistic, Value

Q = TypeVar("Q")


class Frame(RowSteps[Q]):
    """Rows to be filtered, joined, grouped and aggregated; every method returns a new frame and reads no data.

    A column is ``frame.age`` or ``frame["age"]``. Tables with the same privacy unit are joined, united and compared
    within each unit: rows of two units never meet.

    Example:
        >>> from sfumato.query.model.relations import Source
        >>> from sfumato.query.model.schema import Table, integer
        >>> from sfumato.query.statistics.means import mean
        >>> table = Table(name="people", columns={"age": integer(0, 120), "pay": integer(0, 100)})
        >>> people = Frame(Source(table), ask=lambda question: question)
        >>> question = people.filter(people.age > 50).group_by(decade=people.age // 10).agg(pay=mean("pay"))
        >>> question.child.child.keys
        ('decade',)
    """

    __slots__ = ()

    def per_unit(
        self, *, rows: int | None = None, groups: int | None = None, rows_per_group: int | None = None
    ) -> Self:
        """Lower the contribution bounds of the policy: less noise, but more is left out of units with many rows.

        Args:
            rows: The most rows of one unit that count.
            groups: The most groups of one unit that count.
            rows_per_group: The most rows of one unit that count in one group.

        Raises:
            ParameterError: Each row is a unit, or no bound is given.
        """
        asked = Limits(max_rows_per_unit=rows, max_groups_per_unit=groups, max_rows_per_group_per_unit=rows_per_group)
        check_limits(asked, self.shape.metric)
        return type(self)(self.relation, self.ask, narrowed(asked, self.limits))

    def group_by(self, *keys: Value, **named: Value) -> "Groups[Q]":
        """Group by keys: one group for each combination of their values.

        Keys are columns or named expressions: ``people.group_by("sex", decade=people.age // 10)``.

        Raises:
            ParameterError: An unknown column, or a computed key without a name.
        """
        labels = (*map(column_name, keys), *named)
        columns = self._columns()
        names = []
        for label, value in zip(labels, (*keys, *named.values()), strict=True):
            expression = expression_of(value)
            names.append(expression.name if isinstance(expression, ColumnRef) else fresh(label, columns))
            columns.setdefault(names[-1], expression)
        is_computed = len(columns) > len(self.shape.columns)
        return Groups(self._selected(columns) if is_computed else self, tuple(names), labels)

    def agg(self, *, weights: Mapping[str, Number] | None = None, **statistics: Statistic) -> Q:
        """A query for statistics of all rows; see `Groups.agg`."""
        return self.group_by().agg(weights=weights, **statistics)

    def fold(self, **statistics: Statistic) -> "Frame[Q]":
        """One row of exact statistics, per unit where rows have owners; see `Groups.fold`."""
        return self.group_by().fold(**statistics)


@dataclass(frozen=True, slots=True)
class Groups(Generic[Q]):
    """The groups of a frame, to be aggregated into a query, or folded into a sub-query.

    Attributes:
        frame: The rows, with the keys as columns.
        keys: The names of the key columns.
        labels: The names of the keys in the answer.
        sets: The GROUPING SETS; empty: one set of all keys.
        consistent: Whether sums over GROUPING SETS are fitted so that they add up.
    """

    frame: Frame[Q]
    keys: tuple[str, ...]
    labels: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...] = ()
    consistent: bool = False

    def rollup(self, *, consistent: bool = False) -> "Groups[Q]":
        """Add totals: by all keys, then without the last key, down to all rows together.

        Args:
            consistent: Whether sums are fitted so that they add up to their totals, at no cost.
        """
        return with_fields(self, sets=rollup(self.keys), consistent=consistent)

    def cube(self, *, consistent: bool = False) -> "Groups[Q]":
        """Add totals by every subset of the keys."""
        return with_fields(self, sets=cube(self.keys), consistent=consistent)

    def grouping_sets(self, *sets: tuple[str, ...], consistent: bool = False) -> "Groups[Q]":
        """Group by some subsets of the keys, by their names in the answer: ``grouping_sets(("sex",), ())``."""
        keys = dict(zip(self.labels, self.keys, strict=True))
        chosen = [listed(kept, "grouping_sets", of="keys") for kept in sets]
        for label in (label for kept in chosen for label in kept):
            if not is_one_of(label, keys):
                raise ParameterError("grouping_sets", label, f"must be one of the keys: {', '.join(keys)}")
        by_key = tuple(tuple(keys[label] for label in kept) for kept in chosen)
        return with_fields(self, sets=by_key, consistent=consistent)

    def agg(self, *, weights: Mapping[str, Number] | None = None, **statistics: Statistic) -> Q:
        """A query for statistics of each group, by their names in the answer.

        Args:
            weights: Relative shares of ε by name; default: 1.
            statistics: Statistics by name, such as ``n=sf.count()``.

        Raises:
            ParameterError: No statistic, an unknown column, or a repeated name.
        """
        checked = _checked(statistics)
        stated = {} if weights is None else of_kind(weights, "weights", Mapping, "shares by the names of statistics")
        for name in stated:
            if name not in checked:
                raise ParameterError("weights", name, f"must be one of the statistics: {', '.join(checked)}")
        shares = tuple(positive(stated.get(name, 1), "weights") for name in checked) if stated else ()
        question = presented(
            self.frame.relation, keys=self.keys, labels=() if self.labels == self.keys else self.labels,
            sets=self.sets, statistics=tuple(checked.items()), limits=self.frame.limits, weights=shares,
            consistent=self.consistent,
        )  # fmt: skip
        return self.frame.ask(question)

    def fold(self, **statistics: Statistic) -> Frame[Q]:
        """A sub-query: one row per group with exact statistics, which only further steps see.

        Where rows have owners, each group belongs to one unit: ``visits.group_by("day").fold(n=sf.count())`` has a row
        for each day of each visitor. Without keys there is one row per visitor.

        Args:
            statistics: count, count_distinct, sum, mean, min or max, by name.

        Raises:
            NotPrivateError: Another statistic.
            ParameterError: `per_unit` or grouping sets come before.
        """
        if self.frame.limits is not None or self.sets:
            raise ParameterError("fold", "limits or grouping sets", "must come after it: they belong to the answer")
        shape = shape_of(self.frame.relation)
        columns = tuple(folded(name, statistic, shape) for name, statistic in _checked(statistics).items())
        groups = grouped(self.frame.relation, self.keys, columns, used=self.keys)
        names = (*zip(self.labels, self.keys, strict=True), *((column.name, column.name) for column in columns))
        return Frame(with_columns(groups, tuple((label, ColumnRef(name)) for label, name in names)), self.frame.ask)


def _checked(statistics: Mapping[str, Statistic]) -> Mapping[str, Statistic]:
    for name, statistic in statistics.items():
        if not isinstance(statistic, Statistic):
            raise ParameterError(name, type(statistic).__name__, "must be a statistic, such as sf.count()")
    return statistics
