"""A statement as a question: what its outermost SELECT releases, and how the answer is shown, which is free."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from sqlglot import exp

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.sizes import check_size
from sfumato.query.model.expressions import ColumnRef
from sfumato.query.model.facts import Facts
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import GroupBy, Relation, fresh
from sfumato.query.model.schema import Limits
from sfumato.query.planning.questions import MAX_COLUMNS, Aggregate, Presented, answer_facts, presented
from sfumato.query.sql.context import Context, Scope, named_outputs
from sfumato.query.sql.expressions.constants import Parameters
from sfumato.query.sql.grouping import AskedGroups, Grouping, GroupKey, Keys, grouped_by, grouping
from sfumato.query.sql.options import Options
from sfumato.query.sql.parsing import parsed, require_only, shortened, shown, unnested
from sfumato.query.sql.refusals import is_distinct, refusal, require_clauses
from sfumato.query.sql.relations import ROWS_CLAUSES, has_groups, relation_of, rows_of, with_ctes
from sfumato.query.sql.shown import groups_behind, order_of, over_groups, rows_shown
from sfumato.query.sql.statistics import AggregateArguments, statistic_of, write_quantiles_out
from sfumato.query.sql.windows import write_names_out
from sfumato.query.statistics.counts import CountRows
from sfumato.query.statistics.quantiles import Percentile
from sfumato.query.statistics.statistic import Statistic


def parse_question(
    text: str,
    sources: Mapping[str, Relation],
    *,
    parameters: Sequence[object] | Mapping[str, object] = (),
    options: Options | None = None,
) -> Presented:
    """The query that a SELECT statement asks.

    Args:
        text: One statement, such as ``SELECT sex, AVG(age) FROM people WHERE age > 50 GROUP BY sex``.
        sources: The relation behind each name of a table or a view.
        parameters: The values of ``$1``, ``$2``, …, or those of ``:name`` by name; each must be used.
        options: What a header said that `parse_options` took off.

    Raises:
        ParameterError: The text does not parse, names what does not exist, or mixes kinds.
        NotPrivateError: It asks for something that is not released here.
        UnboundedSensitivityError: A sub-query sums what has no bounds.

    Example:
        >>> from sfumato.query.model.relations import Source
        >>> from sfumato.query.model.schema import Table, integer
        >>> people = Source(Table(name="people", columns={"age": integer(0, 120)}))
        >>> parse_question("SELECT AVG(age) AS a FROM people", {"people": people}).child.statistics
        (('a', Mean(value=ColumnRef(name='age'), bounds=None)),)
    """
    values = Parameters(parameters)
    context = Context(sources=MappingProxyType(dict(sources)), parameters=values)
    asked = options or Options()
    try:
        query = parsed(text)
        write_quantiles_out(query)
        question = question_of(context, query, asked.limits)
    except RecursionError:
        raise _too_deep(text) from None
    asked.check_unit(question.child.child.child)
    values.check_used()
    return question


def parse_view(text: str, sources: Mapping[str, Relation]) -> Relation:
    """The relation that a SELECT statement of the policy defines: rows, each of the unit that it belonged to before.

    Args:
        text: One statement without aggregates over all people, such as ``SELECT * FROM people WHERE age >= 18``.
        sources: The relation behind each name of a table, or of a view defined before.

    Raises:
        ParameterError: The text does not parse, names what does not exist, or mixes kinds.
        NotPrivateError: It would put rows of two people together.
        UnboundedSensitivityError: It sums what has no bounds.

    Example:
        >>> from sfumato.query.model.relations import Source
        >>> from sfumato.query.model.schema import Table, integer
        >>> people = Source(Table(name="people", columns={"age": integer(0, 120)}))
        >>> type(parse_view("SELECT * FROM people WHERE age >= 18", {"people": people})).__name__
        'Filter'
    """
    context = Context(sources=MappingProxyType(dict(sources)))
    try:
        relation = relation_of(context, parsed(text)).relation
    except RecursionError:
        raise _too_deep(text) from None
    check_size(relation)
    return relation


def _too_deep(text: str) -> ParameterError:
    return ParameterError("sql", shortened(text), "must not be nested so deeply")


_CLAUSES: Final = ROWS_CLAUSES | {"group", "having", "distinct", "windows", "order", "limit", "offset"}


def question_of(context: Context, query: exp.Query, limits: Limits | None = None) -> Presented:
    """The question that the outermost query asks.

    Raises:
        NotPrivateError: It asks for something that is not released.
        ParameterError: It names what does not exist, or mixes kinds.
    """
    while isinstance(query, exp.Subquery):
        require_only(query, {"this", "with_"})
        context, query = with_ctes(context, query), query.this
    if not isinstance(query, exp.Select):
        raise NotPrivateError(
            shown(query), "only a single SELECT is answered", "Send each query alone, or put the UNION into FROM."
        )
    require_clauses(query, _CLAUSES)
    write_names_out(query)
    behind = groups_behind(query)
    if behind is not None:
        inner = question_of(with_ctes(context, query, until=behind.cte), behind.query, limits)
        return over_groups(context, query, inner, behind)
    _require_no_rows(query)
    if len(query.expressions) > MAX_COLUMNS:
        raise ParameterError("SELECT", f"{len(query.expressions)} columns", f"must list at most {MAX_COLUMNS}")
    context = with_ctes(context, query)
    return _asked(context, query, _groups(context, rows_of(context, query).scope, query), limits)


def _asked(context: Context, select: exp.Select, made: Grouping, limits: Limits | None) -> Presented:
    """The query about some groups."""
    keys, outputs = Keys(context, made), named_outputs(made.scope, select)
    labels = _labels(made, [(name, keys.of(unnested(node))) for name, node in outputs])
    names = [*(name for name, _ in outputs), *labels.values()]
    groups = AskedGroups(
        context, keys, labels=labels, taken=names, aggregate=_statistics(context, made.scope), has_windows=True
    )
    columns = groups.outputs(outputs)
    having = select.args.get("having")
    condition = None if having is None else groups.having(having.this)
    order = order_of(groups.scalars, groups.alias, select, columns)
    statistics = tuple((name, statistic) for statistic, name in groups.aggregates.items())
    if not statistics:
        statistics = ((fresh("count", [*names, *groups.windows.values()]), _of_keys_alone(made, select)),)
    new_labels = () if all(key.column == label for key, label in labels.items()) else tuple(labels.values())
    all_columns = tuple((name, ColumnRef(name)) for name in (*labels.values(), *(name for name, _ in statistics)))
    return presented(
        made.scope.relation, keys=tuple(key.column for key in made.keys), labels=new_labels,
        sets=made.sets, statistics=statistics, columns=() if columns == all_columns else columns, having=condition,
        windows=tuple((name, window) for window, name in groups.windows.items()), order=order,
        limit=rows_shown(groups.scalars, select, "limit"), offset=rows_shown(groups.scalars, select, "offset") or 0,
        limits=limits,
    )  # fmt: skip


def _require_no_rows(select: exp.Select) -> None:
    """Neither columns of single rows, nor windows over them: those of an answer are over groups."""
    for output in select.expressions:
        window = output.find(exp.Window)
        if window is not None and not has_groups(select):
            raise refusal(window)
        if isinstance(output, exp.Star) or (isinstance(output, exp.Column) and isinstance(output.this, exp.Star)):
            raise refusal(exp.Star())


def _groups(context: Context, scope: Scope, select: exp.Select) -> Grouping:
    """The groups of an answer; those of SELECT DISTINCT are by all of its columns."""
    if not is_distinct(select):
        return grouping(context, scope, select)
    if has_groups(select):
        raise NotPrivateError(
            shown(select), "DISTINCT beside aggregates is not supported", "Group by the columns instead."
        )
    return grouped_by(context, scope, select, [output.unalias() for output in select.expressions])


def _labels(made: Grouping, outputs: Sequence[tuple[str, GroupKey | None]]) -> dict[GroupKey, str]:
    """What the answer calls each key: as SELECT does where it is first, else by its own name, made unique."""
    labels: dict[GroupKey, str] = {}
    for key in made.keys:
        named = (name for name, own in outputs if own == key)
        taken = [*(name for name, _ in outputs), *labels.values()]
        labels[key] = next(named, None) or fresh(key.label, taken)
    return labels


def _statistics(context: Context, scope: Scope) -> Callable[[exp.Expr], tuple[Statistic, Facts]]:
    """What aggregates of some rows mean, and what is known of what is released of them."""
    values = AggregateArguments(context.of_rows(scope), scope.relation)

    def statistic(node: exp.Expr) -> tuple[Statistic, Facts]:
        found = statistic_of(node, values)
        if isinstance(found, Percentile) and values.scalars.kind(found.value) is Kind.TEXT:
            raise NotPrivateError(
                shown(node), "a value of a text column is that of some person, and there is no public range of texts",
                "Use COUNT(DISTINCT column), or MODE() WITHIN GROUP (ORDER BY column) of public values.",
            )  # fmt: skip
        return found, answer_facts(Aggregate(GroupBy(scope.relation), (("value", found),)))["value"]

    return statistic


def _of_keys_alone(made: Grouping, select: exp.Select) -> Statistic:
    """A query for keys alone asks for their counts, and does not show them."""
    if not made.keys:
        fragment = shown(select.expressions[0]) if select.expressions else shown(select)
        raise NotPrivateError(fragment, "values of single rows are never released", "Use COUNT(*), SUM or AVG.")
    return CountRows()
