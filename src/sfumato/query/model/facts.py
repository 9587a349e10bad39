"""What is publicly known of the values of an expression: their kind, interval and lattice, and all that they can be.

Intervals only propose the bounds to which values are clamped; see `intervals`. Days and times have intervals too, in
the numbers that `intervals.place_of` gives them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import IntEnum
from fractions import Fraction
from typing import Final

from sfumato.errors import ParameterError
from sfumato.query.model.expressions import Value
from sfumato.query.model.functions import RANGE
from sfumato.query.model.intervals import ANYTHING, Interval, hull, place_of, point
from sfumato.query.model.kinds import NUMBERS, Kind
from sfumato.query.model.schema import MAX_KEY, Column, Key

_BEYOND: Final = Fraction(2**RANGE - 2 ** (RANGE - 54))
"""From here on the nearest double of a number is beyond the range."""

_ENOUGH_STEPS: Final = 2**20
"""Where nothing else says how fine the lattice of a computed number is to be, its bounds have about so many steps."""


class Edition(IntEnum):
    """By whose rules facts, keys and measurements follow from a query.

    Hashes and texts of queries follow the first rules for ever. An answer that is stored is looked for by the latest
    rules, then by those before, so that nothing that was bought is charged again.
    """

    FIRST = 1
    """Facts are of columns as they are declared and of literals in CASE: no condition narrows them."""

    LATEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is publicly known of the values of an expression.

    Attributes:
        kind: What they are.
        interval: Of numbers, where they are presumed to lie; others are clamped to it when they are summed. Of days
            and times the same, in the numbers of `intervals.place_of`.
        resolution: The lattice on which they are summed, or None where nothing says how fine it is to be.
        values: All values they can have, or None; NULL apart.
        nullable: Whether they may be NULL.
        certain: Where the interval only says what limits of a unit would leave, as that of a count of its rows does:
            the interval without them, by which such numbers are listed; they are summed as if they lay in `interval`.
        longest: Of text, the most characters of a value; None where nothing bounds them.
    """

    kind: Kind
    interval: Interval = ANYTHING
    resolution: Fraction | None = Fraction(1)
    values: tuple[Key, ...] | None = None
    nullable: bool = True
    certain: Interval | None = None
    longest: int | None = None

    @property
    def certain_interval(self) -> Interval:
        """Where numbers lie whatever the limits of a unit would leave."""
        return self.interval if self.certain is None else self.certain

    @property
    def lattice(self) -> Fraction:
        """The resolution; where nothing says it, a fine one for the interval."""
        if self.resolution is not None:
            return self.resolution
        if self.interval.lower is None or self.interval.upper is None:
            return Fraction(1, 100)
        return fine_step(self.interval.lower, self.interval.upper)


def fine_step(lower: Fraction, upper: Fraction) -> Fraction:
    """A power of 1/10 that gives bounds at least 2^20 steps; 1 where they are one point.

    Example:
        >>> fine_step(Fraction(0), Fraction(1000))
        Fraction(1, 10000)
    """
    step = Fraction(1)
    while 0 < (upper - lower) / step < _ENOUGH_STEPS:
        step /= 10
    return step


def of_column(column: Column, edition: Edition = Edition.LATEST) -> Facts:
    """The facts of a declared column; after the first edition, public keys without bounds are bounds too."""
    interval = Interval(column.lower, column.upper)
    if interval == ANYTHING and column.values is not None and edition is not Edition.FIRST:
        places = [place for place in map(place_of, column.values) if place is not None]
        interval = hull(map(point, places)) if places else ANYTHING
    truths = (False, True) if column.kind is Kind.BOOLEAN else None
    return Facts(
        kind=column.kind, interval=interval, resolution=column.resolution, values=column.values or truths,
        nullable=column.nullable, longest=column.longest,
    )  # fmt: skip


def family(kind: Kind) -> str:
    """What values of a kind compare with."""
    return "number" if kind in NUMBERS else kind.value


def merged(alternatives: Sequence[Facts]) -> Facts:
    """The facts of a value that is one of several.

    Raises:
        ParameterError: They are of kinds that do not mix.
    """
    kinds = {facts.kind for facts in alternatives}
    if len({family(kind) for kind in kinds}) > 1:
        raise ParameterError("expression", " and ".join(sorted(kinds)), "must be values of one kind")
    kind = Kind.FLOAT if Kind.FLOAT in kinds else alternatives[0].kind
    values: tuple[Key, ...] | None = None
    if all(facts.values is not None for facts in alternatives) and kind is not Kind.FLOAT:
        values = tuple(dict.fromkeys(value for facts in alternatives for value in facts.values or ()))
    known = [f for f in alternatives if not (f.nullable and f.interval == ANYTHING and f.values == ())]
    certain = hull([facts.certain_interval for facts in known or alternatives])
    steps = [facts.resolution for facts in alternatives]
    return Facts(
        kind=kind,
        interval=hull([facts.interval for facts in known or alternatives]),
        resolution=None if None in steps else min(step for step in steps if step is not None),
        values=values or None,
        nullable=any(facts.nullable for facts in alternatives),
        certain=certain if any(facts.certain is not None for facts in alternatives) else None,
        longest=longest_of(alternatives),
    )


def longest_of(alternatives: Sequence[Facts]) -> int | None:
    """The most characters of a text that is one of several; None if nothing bounds one of them."""
    lengths = [facts.longest for facts in alternatives]
    return None if None in lengths else max(length for length in lengths if length is not None)


def literal_facts(value: Value) -> Facts:
    """The facts of a constant.

    Raises:
        ParameterError: It is a number beyond the range of doubles, or text with NUL, which not every database has.
    """
    match value:
        case str() if "\0" in value:
            raise ParameterError("constant", ascii(value[:80]), "must be text without NUL (U+0000)")
        case bool():
            return Facts(kind=Kind.BOOLEAN, values=(value,), nullable=False)
        case str():
            return Facts(kind=Kind.TEXT, values=(value,), nullable=False, longest=len(value))
        case Fraction() if value.denominator == 1 and -MAX_KEY - 1 <= value <= MAX_KEY:
            return Facts(kind=Kind.INTEGER, interval=point(value), values=(int(value),), nullable=False)
        case Fraction() if abs(value) >= _BEYOND:
            raise ParameterError("constant", "a number", f"must be less than 2^{RANGE} in size, about 3.27e150")
        case Fraction():
            return Facts(kind=Kind.FLOAT, interval=point(value), resolution=_decimal_step(value), nullable=False)
        case date():
            kind = Kind.TIMESTAMP if isinstance(value, datetime) else Kind.DATE
            return Facts(kind=kind, interval=point(place_of(value)), values=(value,), nullable=False)


def _decimal_step(value: Fraction) -> Fraction | None:
    """The last decimal place of a short decimal."""
    for digits in range(13):
        if (value * 10**digits).denominator == 1:
            return Fraction(1, 10**digits)
    return None
