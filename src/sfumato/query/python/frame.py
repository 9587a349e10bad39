"""The DataFrame front end: immutable, it only builds relations."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace as with_fields
from typing import Generic, Self, TypeVar

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of, listed, of_kind
from sfumato.numeric.rationals import Number, positive
from sfumato.query.analysis.bounding import narrowed
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.handles.columns import expression_of
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.relations import fresh
from sfumato.query.model.schema import Limits
from sfumato.query.planning.grouping import cube, folded, grouped, rollup, with_columns
from sfumato.query.planning.questions import presented
from sfumato.query.python.row_steps import RowSteps, column_name
from sfumato.query.statistics.statistic import Statistic, Value

Q = TypeVar("Q")


class Frame(RowSteps[Q]):
    """Rows, to be filtered, joined, grouped and aggregated; every step is a new frame and looks at no data.

    A column is ``frame.age`` or ``frame["age"]``. Tables that belong to the same privacy unit are joined, united and
    compared within each unit: what a unit has never meets what another one has.

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
        """Count less of each unit than the policy allows: less noise, and less of those that have much.

        Args:
            rows: How many of its rows count.
            groups: In how many groups.
            rows_per_group: How many rows in each of them.

        Raises:
            ParameterError: Each row is a unit, or no limit is stated.
        """
        asked = Limits(max_rows_per_unit=rows, max_groups_per_unit=groups, max_rows_per_group_per_unit=rows_per_group)
        if self.shape.metric is not Metric.UNITS:
            raise ParameterError("per_unit", "limits", "belong to rows that have owners")
        if asked == Limits():
            raise ParameterError("per_unit", "no limit", "must state at least one, such as groups=3")
        return type(self)(self.relation, self.ask, narrowed(asked, self.limits))

    def group_by(self, *keys: Value, **named: Value) -> "Groups[Q]":
        """One group for each combination of the values of some keys.

        Keys are columns or, by a name, what is computed of them: ``people.group_by("sex", decade=people.age // 10)``.

        Raises:
            ParameterError: A column does not exist, or a computed key has no name.
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
        """The query for some statistics of all rows; see `Groups.agg`."""
        return self.group_by().agg(weights=weights, **statistics)

    def fold(self, **statistics: Statistic) -> "Frame[Q]":
        """One row of exact statistics, of each unit where rows have owners; see `Groups.fold`."""
        return self.group_by().fold(**statistics)


@dataclass(frozen=True, slots=True)
class Groups(Generic[Q]):
    """The groups of a frame, to be aggregated for an answer, or folded into other rows.

    Attributes:
        frame: The rows, with the keys as columns.
        keys: The names of those columns.
        labels: What the answer calls them.
        sets: GROUPING SETS of the keys, if there are any.
        consistent: Whether sums over GROUPING SETS are made to add up.
    """

    frame: Frame[Q]
    keys: tuple[str, ...]
    labels: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...] = ()
    consistent: bool = False

    def rollup(self, *, consistent: bool = False) -> "Groups[Q]":
        """Totals too: by all keys, then without the last one, down to all rows together.

        Args:
            consistent: Whether sums are made to add up to their totals, which is free.
        """
        return with_fields(self, sets=rollup(self.keys), consistent=consistent)

    def cube(self, *, consistent: bool = False) -> "Groups[Q]":
        """Totals too: by every choice of the keys."""
        return with_fields(self, sets=cube(self.keys), consistent=consistent)

    def grouping_sets(self, *sets: tuple[str, ...], consistent: bool = False) -> "Groups[Q]":
        """Only some choices of the keys, by their names in the answer: ``grouping_sets(("sex",), ())``."""
        keys = dict(zip(self.labels, self.keys, strict=True))
        chosen = [listed(kept, "grouping_sets", of="keys") for kept in sets]
        for label in (label for kept in chosen for label in kept):
            if not is_one_of(label, keys):
                raise ParameterError("grouping_sets", label, f"must be one of the keys: {', '.join(keys)}")
        by_key = tuple(tuple(keys[label] for label in kept) for kept in chosen)
        return with_fields(self, sets=by_key, consistent=consistent)

    def agg(self, *, weights: Mapping[str, Number] | None = None, **statistics: Statistic) -> Q:
        """The query for some statistics of each group, by the names they are to have.

        Args:
            weights: Shares of the budget, by those names; 1 for those left out.
            statistics: Such as ``n=sf.count()``.

        Raises:
            ParameterError: No statistic, a column that does not exist, or a name twice.
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
        """A row for each group, with exact statistics of it that only further steps see: a sub-query.

        Where rows have owners, the groups are of one unit each: ``visits.group_by("day").fold(n=sf.count())`` has a row
        for each day of each visitor, and without keys there is one row a visitor.

        Args:
            statistics: count, count_distinct, sum, mean, min and max.

        Raises:
            NotPrivateError: It is another statistic.
            ParameterError: Limits or grouping sets are asked for before.
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
