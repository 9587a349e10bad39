"""Questions that come as trees: made again from their tables up, by the steps that make every question.

A tree that somebody else made may be anything that its types allow. Frames and SQL check columns, kinds, sizes, units
and numbers while they build, and nothing below them looks again. So whoever gets a tree takes it for a claim, and uses
what is built here in its place.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import assert_never

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.query.analysis.shape import shape_of
from sfumato.query.analysis.sizes import check_size
from sfumato.query.handles.conditions import literal
from sfumato.query.model.expressions import Expression, Literal, children
from sfumato.query.model.relations import (
    BoundRows,
    Distinct,
    Except,
    Filter,
    Grouped,
    Intersect,
    Join,
    PeoplePart,
    Relation,
    RowWindow,
    Select,
    SemiJoin,
    Source,
    UnionAll,
    lineage,
)
from sfumato.query.model.schema import Table
from sfumato.query.planning.grouping import grouped
from sfumato.query.planning.questions import Presented, presented
from sfumato.query.planning.windows import row_window


def rebuilt_question(claim: Presented, tables: Mapping[str, Table]) -> Presented:
    """The question that a tree claims to be, built here.

    It is made by `presented` of rows that `rebuilt_rows` made, so whatever frames and SQL refuse is refused. It need
    not equal the claim, which may be written as neither of them writes it.

    Args:
        claim: Any tree whose fields are of their declared types.
        tables: The tables that may be asked, by name.

    Raises:
        ParameterError: A table is another one, a column does not exist or is of the wrong kind, or a number is out of
            its range.
        NotPrivateError: It would look at the rows of two units at once, or means nothing.
        UnboundedSensitivityError: Nothing bounds what a sub-query sums.
    """
    of, groups, rows = claim.child, claim.child.child, claim.child.child.child
    check_size(rows)  # before anything walks through it
    if claim.consistent and isinstance(rows, Filter):
        rows = rows.child  # by listed keys, which `presented` lists itself
    made = presented(
        rebuilt_rows(rows, tables), keys=groups.keys, labels=groups.labels, sets=groups.sets,
        statistics=of.statistics, columns=claim.columns, having=claim.having, windows=claim.windows, order=claim.order,
        limit=claim.limit, offset=claim.offset, limits=of.limits, weights=of.weights, consistent=claim.consistent,
    )  # fmt: skip
    waiting = list(_expressions(made))
    while waiting:
        expression = waiting.pop()
        if isinstance(expression, Literal):
            literal(expression.value)
        waiting += children(expression)
    return made


def rebuilt_rows(claim: Relation, tables: Mapping[str, Table]) -> Relation:
    """The relation that a tree claims to be, built here, whose shape is known.

    Args:
        claim: Any relation that is not too large.
        tables: The tables that may be read, by name.

    Raises:
        ParameterError: A table is another one, or a column does not exist or is of the wrong kind.
        NotPrivateError: It would look at the rows of two units at once.
        UnboundedSensitivityError: Nothing bounds what a sub-query sums.
    """
    made = _rebuilt(claim, tables)
    shape_of(made)
    return made


def _rebuilt(claim: Relation, tables: Mapping[str, Table]) -> Relation:
    match claim:
        case Source(table):
            if tables.get(table.name) != table:
                requirement = "must be declared as here; ask for the tables again, and build the query of those"
                raise ParameterError("table", table.name, requirement)
            return Source(tables[table.name])
        case Filter(child, _) | Select(child, _) | Distinct(child):
            return replace(claim, child=rebuilt_rows(child, tables))
        case Grouped(child, keys, columns):
            return grouped(rebuilt_rows(child, tables), keys, columns, used=keys)
        case RowWindow():
            return row_window(
                rebuilt_rows(claim.child, tables), name=claim.name, function=claim.function, order=claim.order,
                value=claim.value, distance=claim.distance, within=claim.within,
            )  # fmt: skip
        case Join() | UnionAll() | Intersect() | Except():
            return replace(claim, left=rebuilt_rows(claim.left, tables), right=rebuilt_rows(claim.right, tables))
        case SemiJoin():
            return replace(claim, child=rebuilt_rows(claim.child, tables), other=rebuilt_rows(claim.other, tables))
        case PeoplePart() | BoundRows():
            raise NotPrivateError(
                "a part or a sample of a table", "a session chooses whose rows are in it, and no query can",
                "Build the query of the tables and views there are.",
            )  # fmt: skip
        case _:
            assert_never(claim)


def _expressions(question: Presented) -> Iterator[Expression]:
    """All expressions that a question holds, outermost ones."""
    for step in lineage(question.child.child.child):
        match step:
            case Filter(_, condition):
                yield condition
            case Select(_, columns):
                yield from (value for _, value in columns)
            case Grouped(_, _, folds):
                yield from (fold.value for fold in folds if fold.value is not None)
            case _:
                pass
    for _, statistic in question.child.statistics:
        yield from statistic.expressions
    yield from (value for _, value in question.columns)
    yield from () if question.having is None else (question.having,)
    for _, window in question.windows:
        yield from (*window.arguments, *window.places)
    yield from (key.value for key in question.order)
