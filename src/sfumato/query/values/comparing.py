"""What is left of the facts of a value of which a comparison with constants is true.

No guarantee rests on it: like all facts, narrower ones only propose the bounds to which values are clamped and the keys
with which groups are joined. They are chosen so that neither changes an exact answer, whatever a table holds, values
beyond its declared bounds included. Proof: proofs/query/analysis/narrowing.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Final

from sfumato.query.model.columns import Key
from sfumato.query.model.expressions import Comparison, Value
from sfumato.query.model.facts import Facts
from sfumato.query.model.intervals import ANYTHING, YEARS, Interval, hull, place_of
from sfumato.query.model.kinds import NUMBERS, TIMES, Kind
from sfumato.query.values.cells import Cell
from sfumato.query.values.evaluation import compared, constant

LOWER_ENDS: Final = frozenset({Comparison.GREATER, Comparison.GREATER_EQUAL})
UPPER_ENDS: Final = frozenset({Comparison.LESS, Comparison.LESS_EQUAL})

EXACT: Final = 2**52
"""Below it a double and a whole number compare as their exact values do."""

_FINE: Final = 2**49
"""Up to so many steps what doubles round moves a value by less than an eighth of one."""


def restricted(facts: Facts, comparison: Comparison, values: Sequence[Value], *, nullable: bool = False) -> Facts:
    """The facts of a value that compares so with constants: with one of them if it is equal, else with each.

    Args:
        facts: What is known of it before.
        comparison: How it compares.
        values: The constants; several of `=` and `<>` alone.
        nullable: Whether it may be NULL instead.

    Example:
        >>> restricted(Facts(kind=Kind.TEXT, values=("f", "m", "x")), Comparison.NOT_EQUAL, ["x"]).values
        ('f', 'm')
        >>> restricted(Facts(kind=Kind.INTEGER), Comparison.EQUAL, [Fraction(7), Fraction(3)]).interval
        Interval(lower=Fraction(3, 1), upper=Fraction(7, 1))
    """
    ends = _ends(facts, comparison, values)
    return replace(
        facts, interval=_within(facts.interval, ends), values=_listed(facts, comparison, list(map(constant, values))),
        certain=None if facts.certain is None else _within(facts.certain, ends), nullable=nullable,
    )  # fmt: skip


def _within(outer: Interval, inner: Interval) -> Interval:
    """What is left of an interval in another; where they do not meet, the nearest end, as values are clamped."""

    def moved(end: Fraction) -> Fraction:
        least = end if outer.upper is None else min(end, outer.upper)
        return least if outer.lower is None else max(least, outer.lower)

    return Interval(
        outer.lower if inner.lower is None else moved(inner.lower),
        outer.upper if inner.upper is None else moved(inner.upper),
    )


def _listed(facts: Facts, comparison: Comparison, cells: Sequence[Cell]) -> tuple[Key, ...] | None:
    """The public values that pass; or the constants that a value equals, where it is of a kind that has keys.

    A whole number equals a float as a double, as engines compare them.
    """
    if facts.values is not None and comparison is Comparison.EQUAL:
        wanted = frozenset(cells)
        return tuple(one for one in facts.values if one in wanted or (type(one) is int and float(one) in wanted))
    if facts.values is not None:
        return tuple(one for one in facts.values if all(compared(comparison, one, cell) for cell in cells))
    if comparison is not Comparison.EQUAL or facts.kind is Kind.FLOAT:
        return None
    keys = (_key(cell, facts.kind) for cell in cells)
    return _ordered({key for key in keys if key is not None and _is_inside(key, facts.certain_interval)})


def _key(cell: Cell, kind: Kind) -> Key | None:
    """A constant as a key; None of a number with a fraction, which nothing whole equals."""
    if isinstance(cell, float) and kind is Kind.INTEGER:
        return int(cell) if cell.is_integer() and abs(cell) < EXACT else None
    return None if isinstance(cell, float) else cell


def _is_inside(key: Key, interval: Interval) -> bool:
    place = place_of(key)
    return place is None or interval.holds(place)


def _ends(facts: Facts, comparison: Comparison, values: Sequence[Value]) -> Interval:
    """Where all values lie that compare so, and what they are rounded to as they are summed."""
    if comparison is Comparison.NOT_EQUAL:
        return ANYTHING
    places: list[Fraction] = []
    for value in values:
        place = _place(value, facts.kind)
        if place is None:
            return ANYTHING
        places.append(place)
    ends = Interval(
        None if comparison in UPPER_ENDS else _lower_end(min(places), facts, strict=comparison is Comparison.GREATER),
        None if comparison in LOWER_ENDS else _upper_end(max(places), facts, strict=comparison is Comparison.LESS),
    )
    if ends.lower is not None and ends.upper is not None and ends.lower > ends.upper:
        return ANYTHING
    if facts.kind not in YEARS:
        return ends
    inside = _within(YEARS[facts.kind], ends)  # there is no day behind the last one
    return Interval(None if ends.lower is None else inside.lower, None if ends.upper is None else inside.upper)


def _place(value: Value, kind: Kind) -> Fraction | None:
    """Where a constant lies among values of a kind; None where engines might see it elsewhere, as they use doubles."""
    place = place_of(value) if isinstance(value, Fraction) == (kind in NUMBERS) else None
    if place is None or abs(place) < EXACT or kind in TIMES:
        return place
    if kind is Kind.FLOAT:
        return Fraction(float(place))
    return place if isinstance(constant(value), int) else None


def _lower_end(place: Fraction, facts: Facts, *, strict: bool) -> Fraction:
    if facts.kind is Kind.FLOAT:
        return -_outer_end(-place, facts.resolution)
    return Fraction(floor(place) + 1 if strict else ceil(place))


def _upper_end(place: Fraction, facts: Facts, *, strict: bool) -> Fraction:
    if facts.kind is Kind.FLOAT:
        return _outer_end(place, facts.resolution)
    return Fraction(ceil(place) - 1 if strict else floor(place))


def _outer_end(place: Fraction, resolution: Fraction | None) -> Fraction:
    """The next point of the lattice, so that nothing up to here is rounded to a point behind it; here if it is one.

    x < 5 may be rounded to 5, and is then summed as 5.
    """
    if resolution is None or abs(place) >= _FINE * resolution:
        return place
    steps = place / resolution
    nearest = floor(steps + Fraction(1, 2))
    return resolution * (nearest if abs(steps - nearest) <= Fraction(1, 8) else ceil(steps))


def either(alternatives: Sequence[Facts], before: Facts) -> Facts:
    """The facts of a value of which one of several is known, each of them narrower than what was known before."""
    lists = [facts.values for facts in alternatives]
    listed = None if None in lists else {value for values in lists for value in values or ()}
    if listed is None:
        values = None
    elif before.values is None:
        values = _ordered(listed)
    else:
        values = tuple(value for value in before.values if value in listed)
    return replace(
        before, values=values, interval=hull([facts.interval for facts in alternatives]),
        certain=None if before.certain is None else hull([facts.certain_interval for facts in alternatives]),
        nullable=any(facts.nullable for facts in alternatives),
    )  # fmt: skip


def _ordered(keys: Iterable[Key]) -> tuple[Key, ...]:
    return tuple(sorted(keys))
