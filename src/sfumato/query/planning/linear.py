"""Counts and sums of a section as linear functions of one table: what a stored answer says of others.

A noisy number is a factor times a *basis* of the rows in one group: how many they are, in how many of them values are
present, or the sum of a number on its lattice. Rows are those of one table for which a condition holds, so that what
two sections say of the same basis can be compared, whatever they group by. It is only made where each row is a unit:
then no row is ever left out because its unit has too many.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

from sfumato.errors import LedgerError
from sfumato.numeric.noise_sums import IntegerNoise
from sfumato.query.analysis.shape import Metric, shape_of
from sfumato.query.analysis.simplify import document_of, expression_of, text
from sfumato.query.model.expressions import And, ColumnRef, Condition, Expression, replaced
from sfumato.query.model.relations import Filter, PeoplePart, Relation, Select, Source
from sfumato.query.model.statement import LatticeValue, Measure, RowCount, StepSum, ValueCount
from sfumato.query.planning.workloads import over_base
from sfumato.query.statistics.measurements import LAWS, Additive, Law, Section

Basis: TypeAlias = str
"""A count or a sum of rows by its canonical text; `ROWS` is their number."""

ROWS: Final[Basis] = text(["rows"])
_LAWS: Final[Mapping[str, Law]] = {law: law for law in LAWS}


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


def linear_section(section: Section) -> LinearSection | None:
    """What a section says of one table; None where it reads several, selects its groups or bounds the rows of units."""
    main = section.statements[0]
    if section.selection is not None or section.is_fitted or shape_of(main.rows).metric is not Metric.ROWS:
        return None
    found = _over_table(main.rows)
    if found is None:
        return None
    numbers, noises = [], list[IntegerNoise | None]()
    for number, one in enumerate(section.measurements):
        is_plain = isinstance(one, Additive) and one.statement == 0 and main.cell is None
        places = one.measures if isinstance(one, Additive) and is_plain else ()
        noises.append(section.noise(number) if places else None)
        numbers.append(tuple(_bases(over_base(main.measures[place], found.columns)) for place in places))
    return LinearSection(
        table=found.table, part=found.part, where=And(found.conditions),
        keys=tuple(found.columns[key.name] for key in main.keys), numbers=tuple(numbers), noises=tuple(noises),
    )  # fmt: skip


def read_linear(document: Any) -> LinearSection:
    """The section that `LinearSection.document` wrote.

    Raises:
        LedgerError: It is none.
    """
    try:
        where = expression_of(document["where"])
        if not isinstance(where, And):
            raise TypeError("a condition is a conjunction")  # noqa: TRY301 # as whatever else is not as it was written
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
    except (KeyError, TypeError, ValueError, ArithmeticError):
        raise LedgerError("a stored answer", "says of itself what this version cannot read") from None


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
