"""A question and a price to a `PrivatePlan`: the passes in order, and nothing else."""

from collections.abc import Callable, Sequence
from typing import Final

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.privacy.guarantees import ApproxDP, PureDP
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.query.allocation import allocate
from sfumato.query.bounding import enforce_limits
from sfumato.query.measures import Measure, RowCount, ValueCount, numeric_column, step_sum
from sfumato.query.plan import CountOutput, KeyColumn, MeanOutput, Output, PrivatePlan, Statement, SumOutput
from sfumato.query.relations import Aggregate, CountRows, CountValues, GroupBy, Mean, Statistic, Sum, table_of
from sfumato.query.schema import Table
from sfumato.query.stability import sensitivity

MAX_GROUPS: Final = 1_000_000
PASSES: Final[tuple[Callable[[Aggregate], Aggregate], ...]] = (enforce_limits,)


def compile_plan(
    question: Aggregate, total: PureDP | ApproxDP, *, neighboring_relation: NeighboringRelation
) -> PrivatePlan:
    """The plan that answers a question for at most `total`.

    Raises:
        NotPrivateError: A key column without public keys.
        UnboundedSensitivityError: A sum without bounds, or a unit without limits.
        ParameterError: An unknown column, a sum over one that is no number, or more groups than an answer can hold.
    """
    for rewrite in PASSES:
        question = rewrite(question)
    statement, columns, outputs = exact_half(question)
    sensitivities = tuple(
        tuple(
            sensitivity(
                statement.rows, statement.measures[index], group_count=statement.group_count,
                neighboring_relation=neighboring_relation, grouped=bool(statement.keys),
            )
            for index in column
        )
        for column in columns
    )  # fmt: skip
    allocation = allocate(sensitivities, total)
    return PrivatePlan(
        question=question, statement=statement, outputs=outputs, mechanisms=allocation.mechanisms,
        sensitivities=tuple(s for column in sensitivities for s in column), charge=allocation.charge,
    )  # fmt: skip


def exact_half(question: Aggregate) -> tuple[Statement, tuple[tuple[int, ...], ...], tuple[Output, ...]]:
    """What the engine computes; for each column its measures; and how the answer is made of them."""
    table = table_of(question.child.child)
    measures: list[Measure] = []
    columns: list[tuple[int, ...]] = []
    outputs: list[Output] = []
    for name, statistic in question.statistics:
        first = len(measures)
        own, output = _lowered(table, name, statistic, first)
        measures.extend(own)
        columns.append(tuple(range(first, first + len(own))))
        outputs.append(output)
    statement = Statement(rows=question.child.child, keys=key_columns(table, question.child), measures=tuple(measures))
    if statement.group_count > MAX_GROUPS:
        groups = f"{statement.group_count:,} groups"
        raise ParameterError("GROUP BY", groups, f"must make at most {MAX_GROUPS:,}; every listed one is in the answer")
    return statement, tuple(columns), tuple(outputs)


def key_columns(table: Table, groups: GroupBy) -> tuple[KeyColumn, ...]:
    """The columns to group by, with the keys that the policy lists.

    Raises:
        NotPrivateError: A column has no listed keys, so that the presence of a group would tell of a person.
    """
    columns = []
    for name in groups.keys:
        values = table.column(name).values
        if values is None:
            raise NotPrivateError(
                f"GROUP BY {name}",
                "which groups exist would tell who is in the data",
                f"List the public keys in the policy: values = [...] for {name}.",
            )
        columns.append(KeyColumn(name=name, values=values))
    return tuple(columns)


def _lowered(table: Table, name: str, statistic: Statistic, at: int) -> tuple[Sequence[Measure], Output]:
    match statistic:
        case CountRows():
            return [RowCount()], CountOutput(name=name, count=at)
        case CountValues(column):
            return [ValueCount(column, table.column(column).nullable)], CountOutput(name=name, count=at)
        case Sum(column):
            total = step_sum(table, column, centred=False)
            return [total], SumOutput(name=name, total=at, resolution=table.column(column).resolution)
        case Mean(column):
            facts = numeric_column(table, column)
            centred = step_sum(table, column, centred=True)
            output = MeanOutput(
                name=name, count=at, total=at + 1, resolution=facts.resolution, centre=centred.offset,
                lower=centred.lower, upper=centred.upper,
            )  # fmt: skip
            return [ValueCount(column, facts.nullable), centred], output
