"""Attributes: columns as a few public values each, which marginals count and synthetic rows are made of.

What an attribute can be is declared, never read off the data: the listed values of a category, bins between the bounds
of a number, the periods of a public calendar between those of a date. A missing value is a value too, and a category
that is not listed is missing. So each row has one value of each attribute.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.numeric.arguments import is_one_of, listed
from sfumato.numeric.rationals import exact, positive_integer
from sfumato.query.handles.conditions import clamped
from sfumato.query.model.expressions import (
    Call,
    Case,
    ColumnRef,
    Compare,
    Comparison,
    Expression,
    IsIn,
    IsNull,
    Literal,
)
from sfumato.query.model.facts import Facts
from sfumato.query.model.functions import Function
from sfumato.query.model.intervals import date_at
from sfumato.query.model.kinds import NUMBERS, TIMES, Kind
from sfumato.query.model.schema import MAX_KEY, Key
from sfumato.query.values.dates import truncated

MOST_VALUES: Final = 1_000
"""How many values an attribute has at most."""

FINE: Final = 128
"""A whole number with so many values at most has each for itself, if nothing is said."""

BINS: Final = 32
"""In so many bins other numbers lie, if nothing is said."""

_DAY: Final = timedelta(days=1)
_DAYS: Final = ("year", "quarter", "month", "week", "day")
CALENDARS: Final[Mapping[Kind, tuple[str, ...]]] = {Kind.DATE: _DAYS, Kind.TIMESTAMP: (*_DAYS, "hour")}
"""By which periods a date or a timestamp is cut."""

Binning: TypeAlias = int | str | Sequence[Any] | None
"""How many bins a number has, or their edges; of a date or timestamp a calendar; None for the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """A column as a few public values, numbered from 0; nothing of it follows from the rows.

    Attributes:
        name: The name of the column.
        kind: What its values are.
        values: Of a category its values, of a date or timestamp the beginnings of its periods, else None.
        edges: Of a number the edges of its bins, rising, else None. A bin has its first edge, and the last one both;
            of a whole number the last edge is the first value beyond.
        missing: What engines find for NULL; None where a value is never NULL.
        calendar: By which periods a date or timestamp is cut; None where its values are listed, and of other kinds.

    Example:
        >>> age = Attribute(name="age", kind=Kind.INTEGER, edges=(Fraction(0), Fraction(50), Fraction(100)), missing=2)
        >>> age.size, age.codes([0, 1, 2, 7]).tolist()
        (3, [0, 1, 2, -1])
    """

    name: str
    kind: Kind
    values: tuple[Key, ...] | None = None
    edges: tuple[Fraction, ...] | None = None
    missing: Key | None = None
    calendar: str | None = None

    def __post_init__(self) -> None:
        if not 0 < self.size <= MOST_VALUES:
            requirement = f"must be from 1 to {MOST_VALUES:,}; state fewer bins, or a coarser calendar"
            raise ParameterError(self.name, f"{self.size:,} values", requirement)

    @property
    def size(self) -> int:
        """How many values there are, the missing one included."""
        return self._known + (self.missing is not None)

    @property
    def _known(self) -> int:
        return len(self.values) if self.values is not None else len(self.edges or ()) - 1

    def codes(self, found: Sequence[Key]) -> npt.NDArray[np.int64]:
        """The numbers of what an engine found; -1 for anything else."""
        known = range(self._known) if self.values is None else self.values
        # engines find bins, and truths, as whole numbers
        places: dict[Key, int] = {
            int(one) if isinstance(one, bool) else one: place for place, one in enumerate(known)
        }  # fmt: skip
        if self.missing is not None:
            places[self.missing] = self._known
        return np.fromiter((places.get(value, -1) for value in found), dtype=np.int64, count=len(found))

    def code_of(self, value: Key | float | None) -> int:
        """The number of a value; of a number that of its bin.

        Raises:
            ParameterError: It is no value.
        """
        if value is None and self.missing is not None:
            return self._known
        if self.values is not None and value in self.values:
            return self.values.index(value)
        if self.edges is not None and isinstance(value, int | float) and self.edges[0] <= value <= self.edges[-1]:
            return min(sum(value >= edge for edge in self.edges) - 1, self._known - 1)
        raise ParameterError("values", value, f"must be a value of {self.name}")

    def decode(self, codes: npt.NDArray[np.int64], within: npt.NDArray[np.float64]) -> list[Any]:
        """What numbers of values stand for; None for the missing one.

        Args:
            codes: The number of each value.
            within: For each where in its bin a number lies, from 0 to below 1.
        """
        if self.edges is None:
            named = np.empty(self.size, dtype=object)
            named[: self._known] = self.values
            return list(named[codes])
        bins = np.minimum(codes, self._known - 1)
        if self.kind is Kind.INTEGER:
            edges = np.array([int(edge) for edge in self.edges], dtype=np.int64)
            width = edges[bins + 1] - edges[bins]
            found: npt.NDArray[Any] = edges[bins] + np.minimum((within * width).astype(np.int64), width - 1)
        else:
            ends = np.array([float(edge) for edge in self.edges])
            found = ends[bins] + within * (ends[bins + 1] - ends[bins])
        values: list[Any] = np.ma.masked_array(found, codes >= self._known).tolist()
        return values


def attribute_of(name: str, facts: Facts, binning: Binning = None) -> tuple[Attribute, Expression]:
    """A column as an attribute, and what an engine computes of each row for it.

    Args:
        name: Its name.
        facts: What is publicly known of it.
        binning: How it is cut, if not by default: each value of a whole number that has at most 128, else 32 bins of
            equal width; the months of dates.

    Raises:
        UnboundedSensitivityError: It has neither bounds nor listed values.
        ParameterError: It cannot be cut so, or has too many values.
    """
    value: Expression = ColumnRef(name)
    if facts.values is not None:
        if binning is not None:
            raise ParameterError("bins", name, "must leave it out: its values are listed")
        found = Call(Function.TO_INTEGER, (value,)) if facts.kind is Kind.BOOLEAN else value
        attribute, _ = _named(name, facts, facts.values, found)
        if attribute.missing is None:
            return attribute, found
        known = IsIn(value, tuple(_literal(one) for one in facts.values))
        return attribute, Case(((known, found),), _literal(attribute.missing))
    lower, upper = facts.interval.lower, facts.interval.upper
    if lower is None or upper is None or lower >= upper or facts.kind not in NUMBERS | TIMES:
        raise UnboundedSensitivityError(
            "synthetic data", name, "Declare bounds or values in the policy, or leave the column out of the query."
        )
    if facts.kind in TIMES:
        first, last = date_at(lower, facts.kind), date_at(upper, facts.kind)
        calendar = "month" if binning is None else binning
        if not is_one_of(calendar, CALENDARS[facts.kind]):
            raise ParameterError("bins", binning, f"of {name} must be one of: {', '.join(CALENDARS[facts.kind])}")
        inside = clamped(value, Literal(first), Literal(last), facts)
        periods = _periods(name, first, last, str(calendar))
        begun = Call(Function.TRUNCATE, (inside, Literal(str(calendar))))
        attribute, found = _named(name, facts, periods, begun)
        return replace(attribute, calendar=str(calendar)), found
    edges, last_bin = _edges(name, facts, lower, upper, binning)
    inside = clamped(value, Literal(edges[0]), Literal(last_bin), facts)
    attribute = Attribute(name=name, kind=facts.kind, edges=edges, missing=len(edges) - 1 if facts.nullable else None)
    return attribute, _filled(_bin_of(inside, facts.kind, edges), attribute.missing, where=inside)


def _named(name: str, facts: Facts, values: tuple[Key, ...], value: Expression) -> tuple[Attribute, Expression]:
    """An attribute of listed values, and what engines find of it."""
    missing = _unlisted(facts.kind, values) if facts.nullable else None
    return Attribute(name=name, kind=facts.kind, values=values, missing=missing), _filled(value, missing, where=value)


def _filled(value: Expression, missing: Key | None, *, where: Expression) -> Expression:
    """A value, or what stands for NULL where that is NULL from which the value follows."""
    return value if missing is None else Case(((IsNull(where), _literal(missing)),), value)


def _literal(value: Key) -> Literal:
    return Literal(Fraction(value) if isinstance(value, int) and not isinstance(value, bool) else value)


def _unlisted(kind: Kind, values: tuple[Key, ...]) -> Key:
    """A value that is none of those listed, of the kind that engines find."""
    if kind is Kind.BOOLEAN:
        return 2  # beside 0 and 1
    if kind is Kind.TEXT:
        word = "missing"
        while word in values:
            word += "_"
        return word
    if kind is Kind.INTEGER:
        last = max(one for one in values if isinstance(one, int))
        return last + 1 if last < MAX_KEY else min(one for one in values if isinstance(one, int)) - 1
    days = [one for one in values if isinstance(one, date)]
    return max(days) + _DAY if max(days).year < date.max.year else min(days) - _DAY


def _periods(name: str, first: date, last: date, calendar: str) -> tuple[date, ...]:
    """The beginnings of all periods from one day or time to another."""
    step = timedelta(hours=1) if calendar == "hour" else _DAY
    found, at = [truncated(first, calendar)], first
    while last - at > step and len(found) <= MOST_VALUES:
        at += step
        if (begun := truncated(at, calendar)) != found[-1]:
            found.append(begun)
    if (begun := truncated(last, calendar)) != found[-1]:
        found.append(begun)
    if len(found) > MOST_VALUES:
        raise ParameterError("bins", calendar, f"of {name} has more than {MOST_VALUES:,} periods; take a coarser one")
    return tuple(found)


def _edges(
    name: str, facts: Facts, lower: Fraction, upper: Fraction, binning: Binning
) -> tuple[tuple[Fraction, ...], Fraction]:  # fmt: skip
    """The edges of bins, and the last value in them."""
    is_whole = facts.kind is Kind.INTEGER
    if isinstance(binning, str):
        raise ParameterError("bins", binning, f"of {name} must be a number of bins, or their edges")
    if binning is not None and not isinstance(binning, int):
        stated = tuple(exact(one, f"bins of {name}") for one in listed(binning, "bins"))
        if len(stated) < 2 or any(one >= other for one, other in pairwise(stated)):  # noqa: PLR2004 # two ends
            raise ParameterError("bins", name, "must have at least two edges, each above the one before")
        if is_whole and any(one.denominator != 1 for one in stated):
            raise ParameterError("bins", name, "must have edges that are whole numbers, as the column has")
        return (*stated[:-1], stated[-1] + is_whole), stated[-1]
    values = upper - lower + 1 if is_whole else None
    default = int(values) if values is not None and values <= FINE else BINS
    count = default if binning is None else positive_integer(binning, "bins", most=MOST_VALUES)
    if values is None:
        return tuple(lower + (upper - lower) * place / count for place in range(count + 1)), upper
    width = -(-values // count)
    return (*(lower + width * place for place in range(-(-values // width))), upper + 1), upper


def _bin_of(inside: Expression, kind: Kind, edges: tuple[Fraction, ...]) -> Expression:
    """The number of the bin of a value within the edges: by one division, where bins are equally wide."""
    width, last = edges[1] - edges[0], len(edges) - 2
    if all(two - one == width for one, two in pairwise(edges[:-1])) and edges[-1] - edges[-2] <= width:
        moved = Call(Function.SUBTRACT, (inside, Literal(edges[0])))
        if kind is Kind.INTEGER:
            return moved if width == 1 else Call(Function.DIVIDE, (moved, Literal(width)))
        if edges[-1] - edges[-2] == width:
            share = Call(Function.FLOOR, (Call(Function.DIVIDE, (moved, Literal(width))),))
            return Call(Function.TO_INTEGER, (Call(Function.LEAST, (share, Literal(Fraction(last)))),))
    below = ((Compare(Comparison.LESS, inside, Literal(edge)), place) for place, edge in enumerate(edges[1:-1]))
    branches = tuple((condition, Literal(Fraction(place))) for condition, place in below)
    return Case(branches, Literal(Fraction(last))) if branches else Literal(Fraction(last))
