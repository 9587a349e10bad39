"""What a budget buys: three typical questions about a table, and how far their answers would err, for its owner."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import Final

from sfumato.errors import SfumatoError
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Table
from sfumato.query.python.frame import Frame
from sfumato.query.python.statistics import count, mean
from sfumato.query.python.statistics import sum as total
from sfumato.session.asking.question import Question

EPSILONS: Final = (Fraction(1, 10), Fraction(1, 2), Fraction(1))
"""The ε at which errors are told, of each question alone."""

_MOST: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TypicalError:
    """How far the answer to one question would err.

    Attributes:
        question: The question in SQL.
        half_widths: For each of `EPSILONS` the error that is not passed with 95%, in the column's own unit; None where
            no noise can be drawn for it.
        assumption: What the figures presume; a mean is said to be over as many values as there are, which is exact.
    """

    question: str
    half_widths: tuple[float | None, ...] = field(repr=False)
    assumption: str = field(repr=False)


def typical_errors(frame: Frame[Question], table: Table, present: Mapping[str, int]) -> tuple[TypicalError, ...]:
    """The errors of three questions at most; of none about a public table, whose answers are exact.

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
    bounded = [name for name, column in table.columns.items() if column.lower is not None]
    listed = [name for name, column in table.columns.items() if column.values is not None]
    keys = [name for name in listed if table.columns[name].kind is not Kind.BOOLEAN] or listed
    yield frame.agg(n=count()), 1
    for name in bounded[:1]:
        yield frame.agg(mean=mean(name)), max(1, present[name])
    for name in keys[:1]:
        yield frame.group_by(name).agg(n=count()), 1
    for name in bounded[:1]:
        yield frame.agg(total=total(name)), 1
    for name in table.columns:
        yield frame.agg(n=count(name)), 1


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
