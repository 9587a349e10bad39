"""What the owner hears of tables: what of the data does not count, and how far answers to typical queries would err.

All of it is exact, and for the owner alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from types import MappingProxyType
from typing import Final

from sfumato.errors import SfumatoError
from sfumato.numeric.rationals import decimal_text, set_fields
from sfumato.query.model.kinds import NUMBERS, Kind
from sfumato.query.model.schema import Table
from sfumato.query.policy.policy import Claim
from sfumato.query.python.frame import Frame
from sfumato.query.statistics.counts import count as count_of
from sfumato.query.statistics.means import mean
from sfumato.query.statistics.means import sum as total
from sfumato.session.asking.question import Question
from sfumato.session.opening.examination import BindingLimit, ColumnLosses, Examination

_LABEL: Final = "Exact numbers of private rows, for the owner only: do not show them to anybody else."

EPSILONS: Final = (Fraction(1, 10), Fraction(1, 2), Fraction(1))
"""The ε at which errors are told, of each query alone."""

_MOST: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TypicalError:
    """How far the answer to one query would err.

    Attributes:
        question: The query in SQL.
        half_widths: For each of `EPSILONS` the error that is not passed with 95%, in the column's own unit; None where
            no noise can be drawn for it.
        assumption: What the figures presume; a mean is said to be over as many values as there are, which is exact.
    """

    question: str
    half_widths: tuple[float | None, ...] = field(repr=False)
    assumption: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """For the owner alone: exact numbers of private rows, shown by `print` and kept nowhere.

    Attributes:
        violations: For each table, its claims and how many rows break each of them.
        examinations: For each table, what of its rows does not count as it is stored.
        errors: For each table, how far the answers to typical queries would err.
    """

    violations: Mapping[str, Mapping[Claim, int]] = field(repr=False)
    examinations: Mapping[str, Examination] = field(default_factory=dict, repr=False)
    errors: Mapping[str, tuple[TypicalError, ...]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        frozen = {name: MappingProxyType(dict(claims)) for name, claims in self.violations.items()}
        set_fields(
            self, violations=MappingProxyType(frozen), examinations=MappingProxyType(dict(self.examinations)),
            errors=MappingProxyType(dict(self.errors)),
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<Preparation of {', '.join(self.violations)}: print it to see which data do not count; for the owner>"

    def __str__(self) -> str:
        lines = [_LABEL]
        for name, claims in self.violations.items():
            lines += ["", *_claims(name, claims)]
            if name in self.examinations:
                lines += _examination(self.examinations[name])
            lines += _errors(self.errors.get(name, ()))
        return "\n".join(lines)


def _claims(name: str, claims: Mapping[Claim, int]) -> Iterator[str]:
    yield f"{name}:" if claims else f"{name}: no claims to check"
    for claim, count in claims.items():
        yield f"  {claim}: {_rows(count)} {'violates' if count == 1 else 'violate'} it"


def _examination(found: Examination) -> Iterator[str]:
    units = "" if found.units is None else f" of {_several(found.units, 'unit')}"
    yield f"  stored: {_rows(found.rows)}{units}"
    for column in found.columns:
        losses = [f"{_rows(count)} {text}" for count, text in _losses(column) if count]
        yield f"  column {column.column}: {', '.join(losses) or 'every row counts as stored'}"
    for limit in found.limits:
        yield f"  {_limit(limit)}"


def _losses(column: ColumnLosses) -> Iterator[tuple[int | None, str]]:
    yield column.missing, "NULL" if column.unparsed is not None else "NULL or not of the declared type"
    yield column.unparsed, "not of the declared type (read as NULL)"
    yield column.below, "below the bounds (clamped)"
    yield column.above, "above the bounds (clamped)"
    yield column.unlisted, "not in values (in no group)"
    yield column.cut, "longer than max_length (shortened)"


def _limit(limit: BindingLimit) -> str:
    """The limit, who is above it, and how much that is."""
    shown = f"{limit.limit} = {limit.most}" + ("" if limit.by is None else f", grouped by {limit.by} alone")
    if limit.units == 0:
        return f"{shown}: affects nobody"
    who = _several(limit.units, "group of units" if limit.what == "rows of a group" else "unit")
    return f"{shown}: affects {who}, {_several(limit.beyond, 'group' if limit.what == 'groups' else 'row')} above it"


def _errors(errors: tuple[TypicalError, ...]) -> Iterator[str]:
    if errors:
        yield f"  errors at ε {', '.join(map(decimal_text, EPSILONS))}, each query alone, 95% intervals:"
    for error in errors:
        widths = ", ".join(
            "no such noise exists" if width is None else f"± {width:,.6g}" for width in error.half_widths
        )
        yield f"    {error.question}: {widths}" + (f" ({error.assumption})" if error.assumption else "")


def _several(count: int, noun: str) -> str:
    """A count and what is counted, such as "1 row" or "1,234 groups of units"."""
    first, *rest = noun.split(" ", 1)
    return f"{count:,} {' '.join([first if count == 1 else f'{first}s', *rest])}"


def _rows(count: int) -> str:
    return _several(count, "row")


def typical_errors(frame: Frame[Question], table: Table, present: Mapping[str, int]) -> tuple[TypicalError, ...]:
    """The errors of three queries at most; of none about a public table, whose answers are exact.

    Args:
        frame: The table, to be asked.
        table: What is declared of it.
        present: For each column, how many rows have a value.
    """
    if table.is_public:
        return ()
    return tuple(_error(question, size) for question, size in islice(_questions(frame, table, present), _MOST))


def _questions(frame: Frame[Question], table: Table, present: Mapping[str, int]) -> Iterator[tuple[Question, int]]:
    """How many rows there are, the mean of a number, rows by a key, a sum, and how many values; as far as declared."""
    bounded = [name for name, column in table.columns.items() if column.kind in NUMBERS and column.lower is not None]
    listed = [name for name, column in table.columns.items() if column.values is not None]
    keys = [name for name in listed if table.columns[name].kind is not Kind.BOOLEAN] or listed
    yield frame.agg(n=count_of()), 1
    for name in bounded[:1]:
        yield frame.agg(mean=mean(name)), max(1, present[name])
    for name in keys[:1]:
        yield frame.group_by(name).agg(n=count_of()), 1
    for name in bounded[:1]:
        yield frame.agg(total=total(name)), 1
    for name in table.columns:
        yield frame.agg(n=count_of(name)), 1


def _error(question: Question, size: int) -> TypicalError:
    half_widths: list[float | None] = []
    assumption = ""
    for epsilon in EPSILONS:
        try:
            (found,) = question.error(epsilon=epsilon, size=size)
        except SfumatoError:  # no noise is drawn so wide, or so narrow
            half_widths.append(None)
        else:
            half_widths.append(found.half_width)
            assumption = found.assumption
    return TypicalError(question=question.text, half_widths=tuple(half_widths), assumption=assumption)
