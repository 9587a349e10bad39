"""Counts and sums of a section as linear functions of one table: what a stored answer says of others.

A noisy number is a factor times a *basis* of the rows in one group: how many they are, in how many of them values are
present, or the sum of a number on its lattice. Rows are those of one table for which a condition holds, so that what
two sections say of the same basis can be compared, whatever they group by. It is only made where each row is a unit:
then no row is ever left out because its unit has too many. A number of a workload is a sum over groups of one basis.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any, Final, TypeAlias

import numpy as np

from sfumato.errors import LedgerError
from sfumato.mechanisms.workloads.codec import decode_strategy, encode_strategy
from sfumato.mechanisms.workloads.components import Total
from sfumato.mechanisms.workloads.queries import Floats
from sfumato.mechanisms.workloads.strategies import Strategy
from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.analysis.simplify import document_of, expression_of, text
from sfumato.query.handles.conditions import literal
from sfumato.query.model.expressions import And, ColumnRef, Condition, Expression, Literal, replaced
from sfumato.query.model.relations import Filter, PeoplePart, Relation, Select, Source
from sfumato.query.model.schema import Key
from sfumato.query.model.statement import LatticeValue, Measure, RowCount, Statement, StepSum, ValueCount
from sfumato.query.planning.workloads import over_base
from sfumato.query.statistics.measurements import LAWS, Additive, Law, Section, noise_of
from sfumato.query.statistics.workloads import Workload
from sfumato.query.values.evaluation import constant

Basis: TypeAlias = str
"""A count or a sum of rows by its canonical text; `ROWS` is their number."""

ROWS: Final[Basis] = text(["rows"])
_LAWS: Final[Mapping[str, Law]] = {law: law for law in LAWS}

_MISTAKES: Final = (KeyError, TypeError, ValueError, ArithmeticError)
_UNREADABLE: Final = ("a stored answer", "says of itself what this version cannot read")

MOST_NUMBERS: Final = 4_000
"""So many noisy numbers are combined at most; a workload that measures more says nothing of other questions."""

MOST_TEXT: Final = 1 << 20
"""Nor does one whose strategy is longer than this when it is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearSection:
    """What the noisy numbers of a section are of the rows of one table.

    Attributes:
        table: The table.
        part: The partition and the part of it that is read; empty: the whole table.
        where: The condition, over the columns of the table.
        keys: What it groups by, over these columns.
        numbers: For each measurement, for each of its numbers: bases and their factors; None where it is none of these.
        noises: The noise of each measurement; None where it has none that does not depend on data, or releases nothing.
    """

    table: str
    part: str
    where: Condition
    keys: tuple[Expression, ...]
    numbers: tuple[tuple[tuple[tuple[Basis, Fraction], ...] | None, ...], ...]
    noises: tuple[IntegerNoise | None, ...]

    @property
    def signature(self) -> str:
        """What says which row is in which group."""
        return text([document_of(self.where), *map(document_of, self.keys)])

    def document(self) -> dict[str, Any]:
        """The section as JSON values."""
        numbers = [
            [None if one is None else [[basis, str(factor)] for basis, factor in one] for one in own]
            for own in self.numbers
        ]
        keys = list(map(document_of, self.keys))
        noises = [None if one is None else [one.law, str(one.scale)] for one in self.noises]
        return {
            "table": self.table, "part": self.part, "where": document_of(self.where), "keys": keys, "of": numbers,
            "noise": noises,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearWorkload:
    """What the noisy numbers of a workload are of the rows of one table.

    Attributes:
        histogram: The histogram of which they are sums: one number, whose noise is that of each measured number.
        values: The values of each of its keys.
        strategy: What is measured.
    """

    histogram: LinearSection
    values: tuple[tuple[Key, ...], ...]
    strategy: Strategy

    def marginals(self) -> Iterator[tuple[LinearSection, tuple[tuple[Key, ...], ...], Floats]]:
        """For each measurement what it is of, by the keys that it does not total: its groups, and each number's row.

        Every row is in some cell of each key (`planning.axes`), so a total over a key is one over all rows.
        """
        for measurement in self.strategy.measurements:
            parts = measurement.components
            kept = [axis for axis, part in enumerate(parts) if not isinstance(part, Total)]
            matrices = [parts[axis].measure(np.eye(parts[axis].cells, dtype=np.int64), 0) for axis in kept]
            sums: Floats = reduce(np.kron, matrices, np.full((1, 1), measurement.multiplier)).astype(np.float64)
            section = replace(self.histogram, keys=tuple(self.histogram.keys[axis] for axis in kept))
            yield section, tuple(product(*(self.values[axis] for axis in kept))), sums

    def document(self) -> dict[str, Any]:
        """The workload as JSON values."""
        values = [[document_of(literal(value)) for value in own] for own in self.values]
        return {
            "histogram": self.histogram.document(), "values": values, "strategy": encode_strategy(self.strategy),
        }  # fmt: skip


def linear_workload(workload: Workload) -> LinearWorkload | None:
    """What a workload says of one table; None as for a section, and where it is too much to be kept."""
    statement, strategy, noise = workload.statement, workload.mechanism.plan.strategy, workload.mechanism.noise
    found = _over_table(statement.rows) if shape_of(statement.rows).metric is Metric.ROWS else None
    if found is None or strategy.size > MOST_NUMBERS or len(json.dumps(encode_strategy(strategy))) > MOST_TEXT:
        return None
    return LinearWorkload(
        histogram=_linear(statement, found, ((0,),), (noise_of(noise),)),
        values=tuple(key.values or () for key in statement.keys), strategy=strategy,
    )  # fmt: skip


def linear_section(section: Section) -> LinearSection | None:
    """What a section says of one table; None where it reads several, selects its groups or bounds the rows of units."""
    main = section.statements[0]
    if section.selection is not None or section.is_fitted or shape_of(main.rows).metric is not Metric.ROWS:
        return None
    found = _over_table(main.rows)
    if found is None:
        return None
    places, noises = list[tuple[int, ...]](), list[IntegerNoise | None]()
    for number, one in enumerate(section.measurements):
        is_plain = isinstance(one, Additive) and one.statement == 0 and main.cell is None
        places.append(one.measures if isinstance(one, Additive) and is_plain else ())
        noises.append(section.noise(number) if places[-1] else None)
    return _linear(main, found, tuple(places), tuple(noises))


def _linear(
    statement: Statement, rows: "_Rows", places: tuple[tuple[int, ...], ...], noises: tuple[IntegerNoise | None, ...]
) -> LinearSection:
    """Some measures of a statement over the rows of one table."""
    return LinearSection(
        table=rows.table, part=rows.part, where=And(rows.conditions),
        keys=tuple(rows.columns[key.name] for key in statement.keys),
        numbers=tuple(
            tuple(_bases(over_base(statement.measures[place], rows.columns)) for place in own) for own in places
        ),
        noises=noises,
    )  # fmt: skip


def read_linear(document: Any) -> LinearSection:
    """The section that `LinearSection.document` wrote.

    Raises:
        LedgerError: It is none.
    """
    try:
        where = expression_of(document["where"])
        if not isinstance(where, And):
            raise TypeError("a condition is a conjunction")  # as whatever else is not as it was written
        return LinearSection(
            table=str(document["table"]), part=str(document["part"]), where=where,
            keys=tuple(map(expression_of, document["keys"])),
            numbers=tuple(
                tuple(None if one is None else tuple((str(b), Fraction(f)) for b, f in one) for one in own)
                for own in document["of"]
            ),
            noises=tuple(
                None if one is None else IntegerNoise(_LAWS[one[0]], Fraction(one[1]))
                for one in document["noise"]
            ),
        )  # fmt: skip
    except _MISTAKES:
        raise LedgerError(*_UNREADABLE) from None


def read_workload(document: Any) -> LinearWorkload:
    """The workload that `LinearWorkload.document` wrote.

    Raises:
        LedgerError: It is none.
    """
    try:
        return LinearWorkload(
            histogram=read_linear(document["histogram"]), strategy=decode_strategy(document["strategy"]),
            values=tuple(tuple(map(_value, own)) for own in document["values"]),
        )  # fmt: skip
    except _MISTAKES:
        raise LedgerError(*_UNREADABLE) from None


def _value(document: Any) -> Key:
    found = expression_of(document)
    value = constant(found.value) if isinstance(found, Literal) else None
    if value is None or isinstance(value, float):
        raise TypeError("a key has whole numbers, truths, texts or dates")
    return value


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of one table: which, and their columns over those of the table."""

    table: str
    part: str
    columns: Mapping[str, Expression]
    conditions: tuple[Condition, ...] = ()


def _over_table(rows: Relation) -> _Rows | None:
    """The rows of one table; None if there are more tables, or rows are combined."""
    match rows:
        case Source(table):
            return _Rows(table.name, "", {name: ColumnRef(name) for name in table.columns})
        case PeoplePart(child=Source(table)):
            part = text([rows.by, repr(rows.value), rows.salt])
            return _Rows(table.name, part, {name: ColumnRef(name) for name in table.columns})
        case Filter(child, condition):
            below = _over_table(child)
            if below is None:
                return None
            return replace(below, conditions=(*below.conditions, replaced(condition, below.columns)))
        case Select(child, selected):
            below = _over_table(child)
            if below is None:
                return None
            return replace(below, columns={name: replaced(one, below.columns) for name, one in selected})
        case _:
            return None


def _bases(measure: Measure) -> tuple[tuple[Basis, Fraction], ...] | None:
    """A measure as a sum of bases: one around a middle is the plain sum less the middle times a count."""
    match measure:
        case RowCount() | ValueCount(()):
            return ((ROWS, Fraction(1)),)
        case ValueCount(present):
            return ((_present(*present), Fraction(1)),)
        case StepSum(steps):
            count = _present(steps.value) if steps.nullable else ROWS
            plain = (_sum(steps), Fraction(1))
            return (plain, (count, Fraction(-steps.offset))) if steps.offset else (plain,)
        case _:
            return None


def _present(*values: Expression) -> Basis:
    return text(["present", *sorted(map(document_of, values), key=text)])


def _sum(steps: LatticeValue) -> Basis:
    return text([
        "sum", document_of(steps.value), str(steps.resolution), steps.lower, steps.upper, steps.nullable,
    ])  # fmt: skip
