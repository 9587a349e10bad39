"""Whole questions, everything about them checked before any data is touched."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Final

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import positive
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.keys import grouping_sets, key_columns
from sfumato.query.analysis.shape import Metric, Shape, shape_of
from sfumato.query.analysis.sizes import check_size
from sfumato.query.analysis.totals import check_whole_groups, with_listed_keys
from sfumato.query.model.expressions import ColumnRef, Condition, Expression
from sfumato.query.model.facts import Facts
from sfumato.query.model.kinds import Kind
from sfumato.query.model.measures import is_whole_sum
from sfumato.query.model.names import INTERVAL_ENDS
from sfumato.query.model.relations import (
    Aggregate,
    Bounds,
    CountDistinct,
    CountRows,
    CountUnits,
    CountValues,
    GroupBy,
    Histogram,
    OrderKey,
    Presented,
    Quantile,
    Relation,
    Statistic,
    Sum,
    TopK,
    VectorSum,
    values_of,
)
from sfumato.query.model.schema import Limits, unicode_text
from sfumato.query.planning.grouping_sets import checked_sets
from sfumato.query.planning.statistic_checks import check_statistic

MAX_COLUMNS: Final = 1_000
"""How many columns an answer may have."""


def presented(
    child: Relation,
    *,
    keys: tuple[str, ...] = (),
    labels: tuple[str, ...] = (),
    sets: tuple[tuple[str, ...], ...] = (),
    statistics: tuple[tuple[str, Statistic], ...],
    columns: tuple[tuple[str, Expression], ...] = (),
    having: Condition | None = None,
    order: tuple[OrderKey, ...] = (),
    limit: int | None = None,
    offset: int = 0,
    limits: Limits | None = None,
    weights: tuple[Fraction, ...] = (),
    consistent: bool = False,
) -> Presented:
    """A whole question, if it means something.

    Args:
        child: The rows.
        keys: Columns of the rows to group by.
        labels: What the answer calls the keys; their own names if empty.
        sets: GROUPING SETS of the keys.
        statistics: What is released of each group, by name.
        columns: The columns of the answer, of labels and statistics; those themselves if empty.
        having: Which rows of the answer are shown.
        order: What they are sorted by.
        limit: How many are shown.
        offset: How many are left out first.
        limits: Narrower limits of one unit than the policy's.
        weights: Shares of the budget, one a statistic; equal ones if empty.
        consistent: Whether sums over GROUPING SETS are made to add up, over the rows with listed keys alone.

    Raises:
        ParameterError: A column does not exist or is of the wrong kind, a name stands twice, a number is out of range.
        NotPrivateError: It would look at the rows of two units at once, or groups by fractions.

    Example:
        >>> from sfumato.query.model.relations import CountRows, Source
        >>> from sfumato.query.model.schema import Table, integer
        >>> people = Source(Table(name="people", columns={"age": integer(0, 120)}))
        >>> presented(people, keys=("age",), statistics=(("n", CountRows()),)).child.child.keys
        ('age',)
    """
    statistic_values = [value for _, statistic in statistics for value in values_of(statistic)]
    outputs = [expression for _, expression in columns] + [key.value for key in order]
    check_size(child, *statistic_values, *outputs, *(() if having is None else (having,)))
    shape = shape_of(child)
    group_by = GroupBy(child, keys, labels, checked_sets(keys, sets))
    _check_keys(group_by, shape)
    for name, statistic in statistics:
        check_statistic(name, statistic, shape)
    if limits is not None and shape.metric is not Metric.UNITS:
        raise ParameterError("limits", "of a unit", "belong to rows that have owners; each row is a unit here")
    if consistent:
        check_whole_groups(child, limits)
        group_by = replace(group_by, child=with_listed_keys(group_by, statistics, shape))
    aggregate = Aggregate(group_by, statistics, limits, _checked_weights(weights, statistics))
    _check_names(group_by, statistics, columns)
    _check_presentation(answer_facts(aggregate, consistent=consistent), columns, having, order)
    return Presented(
        aggregate, columns=columns, having=having, order=order, limit=None if limit is None else _count(limit, "limit"),
        offset=_count(offset, "offset"), consistent=consistent,
    )  # fmt: skip


def with_intervals(question: Presented) -> Presented:
    """The same question with an interval for each quantile between 0 and 1, which takes two thirds of its ε.

    Raises:
        ParameterError: It has no such quantile.
    """
    aggregate = question.child
    statistics = tuple(
        (name, replace(one, interval=True) if isinstance(one, Quantile) and one.quantile not in {0, 1} else one)
        for name, one in aggregate.statistics
    )
    if statistics == aggregate.statistics and not buys_interval(question):
        requirement = "buys intervals of quantiles between 0 and 1, and the query has none; leave it out"
        raise ParameterError("intervals", value=True, requirement=requirement)
    return replace(question, child=replace(aggregate, statistics=statistics))


def buys_interval(question: Presented) -> bool:
    """Whether it has a quantile with an interval.

    Example:
        >>> from sfumato.query.model.relations import Source
        >>> from sfumato.query.model.schema import Table, integer
        >>> people = Source(Table(name="people", columns={"age": integer(0, 120)}))
        >>> median = Quantile(ColumnRef("age"), Fraction(1, 2))
        >>> asked = presented(people, statistics=(("m", median),))
        >>> buys_interval(asked), buys_interval(with_intervals(asked))
        (False, True)
    """
    return any(isinstance(one, Quantile) and one.interval for _, one in question.child.statistics)


def column_names(name: str, statistic: Statistic) -> tuple[str, ...]:
    """What the columns of a statistic are called: by its name, or numbered from 1 where it has several.

    Example:
        >>> column_names("n", CountRows()), column_names("word", TopK(ColumnRef("word"), k=2))
        (('n',), ('word_1', 'word_2'))
    """
    match statistic:
        case Histogram(_, edges):
            return _numbered(name, len(edges) - 1)
        case VectorSum(values):
            return _numbered(name, len(values))
        case TopK(_, k) if k > 1:
            return _numbered(name, k)
        case _:
            return (name,)


def answer_facts(aggregate: Aggregate, *, consistent: bool = False) -> Mapping[str, Facts]:
    """What is known of the columns that are released: keys by their labels, statistics by their names.

    A sum of whole numbers is one; it is a FLOAT where 64 bits may not hold it, or where sums are made to add up.
    """
    group_by = aggregate.child
    shape = shape_of(group_by.child)
    facts = {}
    for key, label in zip(group_by.keys, group_by.labels or group_by.keys, strict=True):
        is_total = any(key not in kept for kept in group_by.sets)
        facts[label] = replace(shape.column(key), nullable=is_total)
    for name, statistic in aggregate.statistics:
        own = _statistic_facts(statistic, shape)
        own = tuple(_number(Kind.FLOAT) for _ in own) if consistent else own
        facts |= dict(zip(column_names(name, statistic), own, strict=True))
    return facts


def wide_sums(aggregate: Aggregate) -> tuple[str, ...]:
    """The sums of whole numbers between known bounds that are FLOATs because 64 bits may not hold them."""
    columns = shape_of(aggregate.child.child).columns
    wide = []
    for name, statistic in aggregate.statistics:
        if isinstance(statistic, Sum | VectorSum):
            bounds = statistic.bounds if isinstance(statistic, Sum) else None
            facts = [facts_of(value, columns) for value in values_of(statistic)]
            named = zip(column_names(name, statistic), facts, strict=True)
            wide += [own for own, known in named if known.kind is Kind.INTEGER and not is_whole_sum(known, bounds)]
    return tuple(wide)


def _numbered(name: str, count: int) -> tuple[str, ...]:
    return tuple(f"{name}_{number}" for number in range(1, count + 1))


def _statistic_facts(statistic: Statistic, shape: Shape) -> tuple[Facts, ...]:
    """Of each of its columns; NULL is what an ε of 0 releases."""
    count = len(column_names("", statistic))
    match statistic:
        case CountRows() | CountValues() | CountUnits() | CountDistinct() | Histogram():
            return (_number(Kind.INTEGER),) * count
        case Sum(value, bounds):
            return (_sum(value, bounds, shape),)
        case VectorSum(values):
            return tuple(_sum(value, None, shape) for value in values)
        case Quantile(value):
            return (_number(facts_of(value, shape.columns).kind),)
        case TopK(value, _):
            return (replace(facts_of(value, shape.columns), nullable=True),) * count
        case _:
            return (_number(Kind.FLOAT),)


def _sum(value: Expression, bounds: Bounds, shape: Shape) -> Facts:
    return _number(Kind.INTEGER if is_whole_sum(facts_of(value, shape.columns), bounds) else Kind.FLOAT)


def _number(kind: Kind) -> Facts:
    return Facts(kind=kind, resolution=None if kind is Kind.FLOAT else Fraction(1))


def _check_keys(group_by: GroupBy, shape: Shape) -> None:
    keys, labels = group_by.keys, group_by.labels
    if len(set(keys)) != len(keys):
        raise ParameterError("keys", keys, "must name each column once")
    if labels and len(labels) != len(keys):
        raise ParameterError("labels", labels, f"must be as many as the keys, {len(keys)}")
    for kept in grouping_sets(group_by):
        key_columns(shape, kept)


def _checked_weights(
    weights: tuple[Fraction, ...], statistics: tuple[tuple[str, Statistic], ...]
) -> tuple[Fraction, ...]:
    if weights and len(weights) != len(statistics):
        raise ParameterError("weights", f"{len(weights)} weights", f"must be as many as statistics, {len(statistics)}")
    return tuple(positive(weight, "weights") for weight in weights)


def _check_names(
    group_by: GroupBy, statistics: tuple[tuple[str, Statistic], ...], columns: tuple[tuple[str, Expression], ...]
) -> None:
    """Names differ, in what is released and in what is shown of it; from those of the ends of intervals too."""
    if not statistics:
        raise ParameterError("statistics", "none", "must ask for at least one, such as n=sf.count()")
    labels = group_by.labels or group_by.keys
    released = [column for name, statistic in statistics for column in column_names(name, statistic)]
    _check_distinct([*labels], released)
    is_key = [isinstance(expression, ColumnRef) and expression.name in labels for _, expression in columns]
    shown = list(zip((name for name, _ in columns), is_key, strict=True))
    _check_distinct([name for name, key in shown if key], [name for name, key in shown if not key])
    if len(labels) + len(released) + len(columns) > MAX_COLUMNS:
        raise ParameterError("statistics", "too many columns", f"must make at most {MAX_COLUMNS}")


def _check_distinct(labels: list[str], names: list[str]) -> None:
    for name in (*labels, *names):
        unicode_text(name, "statistics")
    everything = [*labels, *names, *(name + end for name in names for end in INTERVAL_ENDS)]
    if len(set(everything)) != len(everything):
        requirement = "must have names that differ from each other and from …_low and …_high"
        raise ParameterError("statistics", [*labels, *names], requirement)


def _check_presentation(
    facts: Mapping[str, Facts],
    columns: tuple[tuple[str, Expression], ...],
    having: Condition | None,
    order: tuple[OrderKey, ...],
) -> None:
    """What is shown is made of what is released."""
    for _, expression in columns:
        facts_of(expression, facts)
    for key in order:
        facts_of(key.value, facts)
    if having is not None and facts_of(having, facts).kind is not Kind.BOOLEAN:
        raise ParameterError("HAVING", "an expression", "must be true or false; compare it with something")


def _count(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ParameterError(name, value, "must be a whole number of at least 0")
    return value
