"""An axis of a histogram: into which cells one expression puts rows, and which of them each question asks for.

A key that all questions list alike has a cell for each of its values, and one for whatever else rows hold. If some
questions compare the expression with constants instead, or list other values, then all these cut the line of values
into parts. Parts that no question tells apart are one cell, and NULL, of which no comparison is true, is in a cell too.
So every row is in exactly one cell, and for each question a cell is asked for as a whole or not at all.

Proof: proofs/query/planning/batch.md.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from math import ceil
from numbers import Rational
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.mechanisms.workloads.queries import Kind as Queries
from sfumato.mechanisms.workloads.queries import Subsets
from sfumato.query.analysis.keys import MAX_GROUPS
from sfumato.query.analysis.simplify import MIRRORED
from sfumato.query.handles.conditions import literal
from sfumato.query.model.expressions import (
    OPERATORS,
    And,
    Case,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
    Value,
    children,
)
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Key
from sfumato.query.values.cells import MAX_INT64, MIN_INT64
from sfumato.query.values.comparing import EXACT
from sfumato.query.values.evaluation import constant

_OTHER: Final = "other"
_EQUALITY: Final = frozenset({Comparison.EQUAL, Comparison.NOT_EQUAL})
Cut: TypeAlias = tuple[Any, int]
"""A place on the line of values: before a value (0) or behind it (1)."""
Truths: TypeAlias = npt.NDArray[np.bool_]
Signs: TypeAlias = npt.NDArray[np.int64]

_FAMILIES: Final[Mapping[Kind, type]] = {
    Kind.BOOLEAN: bool, Kind.TEXT: str, Kind.TIMESTAMP: datetime, Kind.DATE: date, Kind.INTEGER: Rational,
    Kind.FLOAT: Rational,
}  # fmt: skip
"""Of which type constants of each kind are, the narrower types first."""


@dataclass(frozen=True, slots=True)
class Want:
    """What one question asks of an axis: each of some values, or all rows of which some conditions hold.

    Attributes:
        values: The values of its key; None if it only has conditions.
        conditions: What must be true, all of it.
    """

    values: tuple[Key, ...] | None
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CellAxis:
    """A column with few values, and what each question asks of it.

    Attributes:
        column: In which cell a row is.
        cells: The values of that column.
        subsets: For each want the cells of each of its values; None where each value is a cell of its own.
    """

    column: Expression
    cells: tuple[Key, ...]
    subsets: Mapping[Want, tuple[tuple[int, ...], ...]] | None

    def answers(self, want: Want) -> int:
        """How many queries `queries` are."""
        return len(self.cells) if self.subsets is None else len(self.subsets[want])

    def queries(self, want: Want, *, is_running: bool = False) -> Queries:
        """The queries that are the values of a key in ascending order, or running sums of them."""
        if self.subsets is None:
            return "prefix" if is_running else "cells"
        own = self.subsets[want]
        if is_running:
            own = tuple(tuple({place for one in own[: last + 1] for place in one}) for last in range(len(own)))
        return Subsets(own)


def axis_of(expression: Expression, kind: Kind, wants: Sequence[Want]) -> CellAxis | None:
    """The axis of an expression; None where it cannot be cut so that each question has whole cells.

    Args:
        expression: What keys and conditions are about.
        kind: Its kind.
        wants: What is asked, at least one.
    """
    first, *others = set(wants)
    if first.values is not None and not first.conditions and not others:
        listed, cells = _coded(first.values, expression)
        return CellAxis(column=listed, cells=cells, subsets=None)
    constants = [value for want in wants for value in (*(want.values or ()), *_constants(want.conditions))]
    families = (next((one for one in _FAMILIES.values() if isinstance(value, one)), None) for value in constants)
    if any(family is not _FAMILIES[kind] for family in families):
        return None
    if kind is Kind.INTEGER and not all(map(_has_next, constants)):
        return None
    constants += [False, True] if kind is Kind.BOOLEAN else []
    line = _Line(expression, kind, sorted({cut for value in constants for cut in _around(value, kind)}))
    rows = {want: line.rows(want) for want in wants}
    if not all(own.any(axis=1).all() for own in rows.values()):
        return None
    seen = [tuple(part) for part in np.concatenate([*rows.values()]).T.tolist()]
    code_of = {signature: code for code, signature in enumerate(dict.fromkeys(seen))}
    codes = [code_of[signature] for signature in seen]
    return CellAxis(
        column=line.coded(codes), cells=tuple(range(len(code_of))),
        subsets={
            want: tuple(tuple(dict.fromkeys(codes[part] for part in np.flatnonzero(row))) for row in own)
            for want, own in rows.items()
        },
    )  # fmt: skip


def compared(condition: Condition) -> Expression | None:
    """The one expression that a condition compares with constants; None if it says anything else.

    Texts may only be compared as to whether they are equal.
    """
    found = set(_leaves(condition))
    return found.pop() if len(found) == 1 else None


def parts_of(condition: Condition) -> Iterator[Condition]:
    """The conditions that are all true where one is."""
    if isinstance(condition, And):
        for part in condition.conditions:
            yield from parts_of(part)
    else:
        yield condition


def _leaves(condition: Condition) -> Iterator[Expression | None]:
    match condition:
        case And() | Or() | Not():
            for inner in children(condition):
                yield from _leaves(inner)
        case Compare(comparison, side, Literal(value)) | Compare(comparison, Literal(value), side):
            yield side if comparison in _EQUALITY or not isinstance(value, str) else None  # the order of texts is slow
        case IsIn(value, _):
            yield value
        case ColumnRef():
            yield condition
        case _:
            yield None


def _constants(conditions: Iterable[Condition]) -> Iterator[Value]:
    for condition in conditions:
        match condition:
            case Compare(_, _, Literal(value)) | Compare(_, Literal(value), _):
                yield value
            case IsIn(_, values):
                yield from (one.value for one in values)
            case _:
                yield from _constants(children(condition))


@dataclass(frozen=True, slots=True)
class _Line:
    """The values of an expression in their order, cut into parts at some constants; the last part is NULL."""

    expression: Expression
    kind: Kind
    cuts: list[Cut]

    def rows(self, want: Want) -> Truths:
        """Which parts are asked for: one row for each value of a key, in ascending order, or one in all."""
        true, _ = self._truths(And(want.conditions))
        if want.values is None:
            return true[np.newaxis]
        ordered: list[Any] = sorted(want.values)
        return np.array([true & self._is_present & (self._beside(value) == 0) for value in ordered])

    def coded(self, codes: Sequence[int]) -> Expression:
        """The code of the part that a value is in."""
        *own, null = codes
        branches: list[tuple[Condition, int]]
        match self.kind:
            case Kind.BOOLEAN:
                _, is_false, is_true, _ = own
                branches = [(self.expression, is_true), (Not(self.expression), is_false)]
            case Kind.TEXT:  # between constants all are alike
                equal = zip(self.cuts[::2], own[1::2], strict=True)
                branches = [(self._comparison(Comparison.EQUAL, value), code) for (value, _), code in equal]
                branches.append((Not(IsNull(self.expression)), own[0]))
            case _:
                ends = zip(self.cuts, own[:-1], own[1:], strict=True)
                branches = [
                    (self._comparison(Comparison.LESS_EQUAL if is_behind else Comparison.LESS, value), code)
                    for (value, is_behind), code, following in ends
                    if code != following
                ]
                branches.append((Not(IsNull(self.expression)), own[-1]))
        return Case(tuple((condition, literal(code)) for condition, code in branches), literal(null))

    @property
    def _is_present(self) -> Truths:
        """Which parts have values that are not NULL; beside false and true there is nothing."""
        present = np.arange(len(self.cuts) + 2) <= len(self.cuts)
        if self.kind is Kind.BOOLEAN:
            present[[0, len(self.cuts)]] = False
        return present

    def _truths(self, condition: Condition) -> tuple[Truths, Truths]:
        """In which parts a condition is true, and in which it is false; in the others it is NULL."""
        match condition:
            case And(conditions):
                both = [self._truths(one) for one in conditions]
                every: Truths = np.ones(len(self.cuts) + 2, dtype=np.bool_)
                true: Truths = np.logical_and.reduce([every, *(true for true, _ in both)])
                false: Truths = np.logical_or.reduce([~every, *(false for _, false in both)])
                return true, false
            case Or(conditions):
                return self._truths(Not(And(tuple(map(Not, conditions)))))
            case Not(inner):
                return self._truths(inner)[::-1]
            case IsIn(_, values):
                equal = [Compare(Comparison.EQUAL, self.expression, one) for one in values]
                return self._truths(Or(tuple(equal)))
            case Compare(comparison, _, Literal(value)):
                holds = self._compares(comparison, value)
            case Compare(comparison, Literal(value), _):
                holds = self._compares(MIRRORED[comparison], value)
            case _:
                holds = self._compares(Comparison.EQUAL, 1)
        return holds & self._is_present, ~holds & self._is_present

    def _beside(self, value: Any) -> Signs:
        """Whether the values of each part are less than a constant, equal to it, or greater: -1, 0 or 1."""
        low, high = (bisect_left(self.cuts, cut) for cut in _around(value, self.kind))
        parts = np.arange(len(self.cuts) + 2)
        return np.where(parts <= low, -1, np.where(parts > high, 1, 0))

    def _compares(self, comparison: Comparison, value: Any) -> Truths:
        """For which parts a comparison with a constant holds, as far as they have values."""
        return np.array([OPERATORS[comparison](sign, 0) for sign in self._beside(value).tolist()])

    def _comparison(self, comparison: Comparison, value: Any) -> Condition:
        return Compare(comparison, self.expression, literal(value))


def _has_next(value: Any) -> bool:
    """Whether engines see a constant among whole numbers where it is, and the next whole number too."""
    seen: Any = constant(value)
    return seen < MAX_INT64 if isinstance(seen, int) else abs(seen) < EXACT


def _around(value: Any, kind: Kind) -> tuple[Cut, Cut]:
    """The places before a value and behind it; behind a whole number, a truth or a day is before the next.

    A constant is what engines compare values with: of a fraction the nearest double.
    """
    if kind in {Kind.INTEGER, Kind.BOOLEAN}:
        whole: Any = constant(value)
        before = ceil(whole)
        return (before, 0), (before + (before == whole), 0)
    if kind is Kind.FLOAT:
        value = Fraction(float(value))
    if kind is Kind.DATE and value < date.max:
        return (value, 0), (value + timedelta(days=1), 0)
    return (value, 0), (value, 1)


def _coded(values: tuple[Key, ...], expression: Expression) -> tuple[Expression, tuple[Key, ...]]:
    """A key in the order of its values, with another value for what is none of them."""
    if isinstance(values[0], bool):
        codes = ((expression, literal(1)), (Not(expression), literal(0)))
        return Case(codes, literal(2)), (0, 1, 2)
    ordered: list[Any] = sorted(values)
    other = _beyond(ordered)
    is_listed = IsIn(expression, tuple(map(literal, ordered)))
    return Case(((is_listed, expression),), literal(other)), (*ordered, other)


def _beyond(ordered: Sequence[Any]) -> Key:
    """A value that is not listed; one that a row has all the same is not listed either."""
    first, last = ordered[0], ordered[-1]
    if isinstance(last, str):
        other = _OTHER
        while other in ordered:
            other += "'"
        return other
    is_day = isinstance(last, date)
    step: Any = timedelta(days=1) if is_day else 1
    if last.year < date.max.year if is_day else last < MAX_GROUPS**2:
        found: Key = last + step
    elif first - (type(first).min if is_day else MIN_INT64) >= step:
        found = first - step
    else:
        listed, gap = set(ordered), last
        while gap in listed:
            gap -= step
        found = gap
    return found
