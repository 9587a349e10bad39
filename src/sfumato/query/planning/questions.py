"""Whole questions: what they are made of, everything about them checked before any data is touched."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import positive
from sfumato.query.analysis.folding import folded_rows
from sfumato.query.analysis.inference import facts_of
from sfumato.query.analysis.keys import grouping_sets, key_columns
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.analysis.sizes import check_size
from sfumato.query.model.expressions import ColumnRef, Condition, Expression
from sfumato.query.model.facts import Edition, Facts
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import INTERVAL_ENDS, Filter, GroupBy, Relation
from sfumato.query.model.schema import Limits, unicode_text
from sfumato.query.planning.grouping import check_whole_groups, checked_sets, with_listed_keys
from sfumato.query.planning.windows import OrderKey, Window, check_window, window_facts
from sfumato.query.statistics.statistic import Statistic, number_facts

MAX_COLUMNS: Final = 1_000
"""How many columns an answer may have."""

MAX_SHOWN: Final = 10**9
"""The most rows that LIMIT and OFFSET can name."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Named statistics of each group: all that is released.

    Attributes:
        child: The rows and their groups.
        statistics: Names and what they are.
        limits: Limits of a unit narrower than the policy's, as the analyst asks; None leaves the policy's.
        weights: Shares of the budget, one a statistic, above 0; equal ones if empty.
    """

    child: GroupBy
    statistics: tuple[tuple[str, Statistic], ...]
    limits: Limits | None = None
    weights: tuple[Fraction, ...] = ()


@dataclass(frozen=True, slots=True)
class Presented:
    """A whole question: what is released, and how the answer is shown, which is free.

    Expressions here read released columns: keys by their labels, statistics by their names.

    Attributes:
        child: What is released.
        columns: The columns of the answer; empty for all keys, then all statistics.
        having: Which rows of the answer are shown.
        windows: What is computed of several rows of the answer, by names that `columns` and `order` can read.
        order: What the rows are sorted by; else by keys.
        limit: How many are shown.
        offset: How many are left out first.
        consistent: Whether sums over GROUPING SETS are made to add up.
    """

    child: Aggregate
    columns: tuple[tuple[str, Expression], ...] = ()
    having: Condition | None = None
    windows: tuple[tuple[str, Window], ...] = ()
    order: tuple[OrderKey, ...] = ()
    limit: int | None = None
    offset: int = 0
    consistent: bool = False


def presented(  # noqa: PLR0913 # a whole question, each part by name
    child: Relation,
    *,
    keys: tuple[str, ...] = (),
    labels: tuple[str, ...] = (),
    sets: tuple[tuple[str, ...], ...] = (),
    statistics: tuple[tuple[str, Statistic], ...],
    columns: tuple[tuple[str, Expression], ...] = (),
    having: Condition | None = None,
    windows: tuple[tuple[str, Window], ...] = (),
    order: tuple[OrderKey, ...] = (),
    limit: int | None = None,
    offset: int = 0,
    limits: Limits | None = None,
    weights: tuple[Fraction, ...] = (),
    consistent: bool = False,
) -> Presented:
    """A whole query, if it means something.

    Args:
        child: The rows.
        keys: Columns of the rows to group by.
        labels: What the answer calls the keys; their own names if empty.
        sets: GROUPING SETS of the keys.
        statistics: What is released of each group, by name.
        columns: The columns of the answer, of labels and statistics; those themselves if empty.
        having: Which rows of the answer are shown.
        windows: What is computed of several rows of the answer, by name.
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
        >>> from sfumato.query.model.relations import Source
        >>> from sfumato.query.model.schema import Table, integer
        >>> from sfumato.query.statistics.counts import CountRows
        >>> people = Source(Table(name="people", columns={"age": integer(0, 120)}))
        >>> presented(people, keys=("age",), statistics=(("n", CountRows()),)).child.child.keys
        ('age',)
    """
    statistic_values = [value for _, statistic in statistics for value in statistic.expressions]
    outputs = [expression for _, expression in columns] + [key.value for key in order]
    outputs += [part for _, window in windows for part in (*window.arguments, *window.places)]
    check_size(child, *statistic_values, *outputs, *(() if having is None else (having,)))
    shape = shape_of(child)
    group_by = GroupBy(child, keys, () if labels == keys else labels, checked_sets(keys, sets))
    _check_keys(group_by)
    for name, statistic in statistics:
        statistic.check(name, shape)
    if limits is not None:
        check_limits(limits, shape.metric)
    if consistent:
        check_whole_groups(child, limits)
        group_by = replace(group_by, child=with_listed_keys(group_by, statistics))
    aggregate = Aggregate(group_by, statistics, limits, _checked_weights(weights, statistics))
    _check_names(group_by, statistics, columns, [name for name, _ in windows])
    _check_presentation(answer_facts(aggregate, consistent=consistent), columns, having, windows, order)
    return Presented(
        aggregate, columns=columns, having=having, windows=windows, order=order,
        limit=None if limit is None else _count(limit, "limit"), offset=_count(offset, "offset"), consistent=consistent,
    )  # fmt: skip


def check_limits(limits: Limits, metric: Metric) -> None:
    """Refuse limits of a unit that say nothing, or are asked of rows without owners.

    Raises:
        ParameterError: They are such.
    """
    if metric is not Metric.UNITS:
        raise ParameterError("limits", "of a unit", "belong to rows that have owners; each row is a unit here")
    if limits == Limits():
        raise ParameterError("limits", "no limit", "must state at least one, such as groups=3")


def folded_question(question: Aggregate) -> Aggregate:
    """The same question with constants computed and what changes nothing left out; itself if there is none of these.

    Args:
        question: One that `presented` made.
    """
    rows, shape = question.child.child, shape_of(question.child.child)
    folded = replace(
        question,
        child=replace(question.child, child=folded_rows(rows)),
        statistics=tuple((name, statistic.folded(shape)) for name, statistic in question.statistics),
    )
    return question if folded == question else folded  # whose shapes are known


def by_first_rules(question: Presented) -> Aggregate:
    """What the first rules made of a question: sums that add up were of the rows with keys that those rules listed."""
    group_by = question.child.child
    if not question.consistent or not isinstance(group_by.child, Filter):
        return question.child
    all_rows = replace(group_by, child=group_by.child.child)
    try:
        listed = with_listed_keys(all_rows, question.child.statistics, Edition.FIRST)
    except ParameterError:  # a key had no public values
        return question.child
    return replace(question.child, child=replace(all_rows, child=listed))


def with_intervals(question: Presented) -> Presented:
    """The same query with an interval for each quantile between 0 and 1, which takes two thirds of its ε.

    Raises:
        ParameterError: It has no such quantile.
    """
    aggregate = question.child
    statistics = tuple((name, statistic.with_bought_interval()) for name, statistic in aggregate.statistics)
    if statistics == aggregate.statistics and not buys_interval(question):
        requirement = "adds intervals to quantiles between 0 and 1, and the query has none; leave it out"
        raise ParameterError("intervals", value=True, requirement=requirement)
    return replace(question, child=replace(aggregate, statistics=statistics))


def buys_interval(question: Presented) -> bool:
    """Whether it has a quantile with an interval.

    Example:
        >>> from sfumato.query.model.relations import Source
        >>> from sfumato.query.model.schema import Table, integer
        >>> people = Source(Table(name="people", columns={"age": integer(0, 120)}))
        >>> from sfumato.query.statistics.quantiles import median
        >>> asked = presented(people, statistics=(("m", median("age")),))
        >>> buys_interval(asked), buys_interval(with_intervals(asked))
        (False, True)
    """
    return any(statistic.has_bought_interval for _, statistic in question.child.statistics)


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
        columns = statistic.facts(shape)
        columns = (number_facts(Kind.FLOAT),) * len(columns) if consistent else columns
        facts |= dict(zip(statistic.columns(name), columns, strict=True))
    return facts


def shown_facts(question: Presented, *, is_fitted: bool = False) -> Mapping[str, Facts]:
    """What is known of the columns that the columns of an answer read: what is released, and windows over it.

    Args:
        question: What is asked.
        is_fitted: Whether its counts and sums follow from a workload, as FLOATs.
    """
    return _with_windows(answer_facts(question.child, consistent=question.consistent or is_fitted), question.windows)


def _with_windows(released: Mapping[str, Facts], windows: tuple[tuple[str, Window], ...]) -> Mapping[str, Facts]:
    """What is known of the columns that are released, and of windows over them."""
    return {**released, **{name: window_facts(window, released) for name, window in windows}}


def wide_sums(aggregate: Aggregate) -> tuple[str, ...]:
    """The sums of whole numbers between known bounds that are FLOATs because 64 bits may not hold them."""
    shape = shape_of(aggregate.child.child)
    return tuple(column for name, statistic in aggregate.statistics for column in statistic.wide_columns(name, shape))


def _check_keys(group_by: GroupBy) -> None:
    keys, labels = group_by.keys, group_by.labels
    if len(set(keys)) != len(keys):
        raise ParameterError("keys", keys, "must name each column once")
    if labels and len(labels) != len(keys):
        raise ParameterError("labels", labels, f"must be as many as the keys: {len(keys)}")
    for kept in grouping_sets(group_by):
        key_columns(group_by.child, kept)


def _checked_weights(
    weights: tuple[Fraction, ...], statistics: tuple[tuple[str, Statistic], ...]
) -> tuple[Fraction, ...]:
    if weights and len(weights) != len(statistics):
        raise ParameterError("weights", f"{len(weights)} weights", f"must be as many as statistics, {len(statistics)}")
    return tuple(positive(weight, "weights") for weight in weights)


def _check_names(
    group_by: GroupBy, statistics: tuple[tuple[str, Statistic], ...], columns: tuple[tuple[str, Expression], ...],
    windows: list[str],
) -> None:  # fmt: skip
    """Names differ, in what is released and in what is shown of it; from those of the ends of intervals too."""
    if not statistics:
        raise ParameterError("statistics", "none", "must have at least one statistic, such as n=sf.count()")
    labels = group_by.labels or group_by.keys
    released = [column for name, statistic in statistics for column in statistic.columns(name)]
    _check_distinct([*labels], [*released, *windows])
    shown = [(name, isinstance(value, ColumnRef) and value.name in labels) for name, value in columns]
    _check_distinct([name for name, key in shown if key], [name for name, key in shown if not key])
    if len(labels) + len(released) + len(windows) + len(columns) > MAX_COLUMNS:
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
    windows: tuple[tuple[str, Window], ...],
    order: tuple[OrderKey, ...],
) -> None:
    """What is shown is made of what is released."""
    for _, window in windows:
        check_window(window)
    seen = _with_windows(facts, windows)
    for _, expression in columns:
        facts_of(expression, seen)
    for key in order:
        facts_of(key.value, seen)
    if having is not None and facts_of(having, facts).kind is not Kind.BOOLEAN:
        raise ParameterError("HAVING", "an expression", "must be true or false; compare it with something")


def _count(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_SHOWN:
        raise ParameterError(name, value, f"must be a whole number of at least 0, and at most {MAX_SHOWN:,}")
    return value
