"""Between which numbers a term lies, told from its constants alone: what need not be guarded, and what fits 32 bits."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from sqlglot import exp

from sfumato.engines.sql.terms import Sql

_INFINITY: Final = float("inf")


class Range(NamedTuple):
    """The least and the most that a number may be; whether it may be NULL is not said, and NaN counts as infinite."""

    least: float
    most: float

    @property
    def size(self) -> float:
        """The most that it may be away from 0."""
        return max(abs(self.least), abs(self.most))


def magnitude(term: Sql) -> float:
    """The most that a term may be away from 0."""
    known = range_of(term)
    return _INFINITY if known is None else known.size


def range_of(term: Sql) -> Range | None:
    """The range of a term; None if nothing is known of it.

    The ends are computed in doubles, as the term is; of whole numbers beyond 2^53 they are rounded.
    """
    match term:
        case exp.Paren():
            return range_of(term.this)
        case exp.Neg():
            inner = range_of(term.this)
            return inner and Range(-inner.most, -inner.least)
        case exp.Literal():
            return _of_constant(term)
        case exp.Cast():
            return _of_constant(term.this) if isinstance(term.this, exp.Literal) else range_of(term.this)
        case exp.Case():
            return _of_branches(term)
        case exp.Sub() | exp.Add():
            return _of_sum(term.left, term.right, is_less=isinstance(term, exp.Sub))
        case exp.Anonymous() if term.name in _FUNCTIONS:
            return _FUNCTIONS[term.name](term.expressions)
        case _:
            return None


def _of_constant(literal: exp.Literal) -> Range | None:
    try:
        value = float(literal.name)
    except ValueError:
        return None
    return Range(value, value) if value == value else None  # noqa: PLR0124 # NaN is not


def _of_branches(term: exp.Case) -> Range | None:
    values = [branch.args["true"] for branch in term.args["ifs"]]
    default = term.args.get("default")
    return _around([*values, *([] if default is None else [default])])


def _around(terms: Iterable[Sql]) -> Range | None:
    """The range of whichever of some terms."""
    ranges = [range_of(term) for term in terms]
    known = [one for one in ranges if one is not None]
    if not known or len(known) < len(ranges):
        return None
    return Range(min(one.least for one in known), max(one.most for one in known))


def _of_sum(left: Sql, right: Sql, *, is_less: bool = False) -> Range | None:
    first, second = range_of(left), range_of(right)
    if first is None or second is None:
        return None
    least, most = (-second.most, -second.least) if is_less else second
    return Range(first.least + least, first.most + most)


def _of_quotient(terms: list[exp.Expr]) -> Range | None:
    number, divisor = range_of(terms[0]), range_of(terms[1])
    if number is None or divisor is None or divisor.least != divisor.most or divisor.most <= 0:
        return None
    return Range(number.least / divisor.most, number.most / divisor.most)


def _of_clamp(terms: list[exp.Expr], *, is_least: bool) -> Range | None:
    """LEAST or GREATEST, which pass over NULL: only a constant is an end in any case."""
    ranges = [range_of(term) or Range(-_INFINITY, _INFINITY) for term in terms]
    constants = [one.most for one in ranges if one.least == one.most]
    least, most = min(one.least for one in ranges), max(one.most for one in ranges)
    if is_least:
        return Range(least, min([most, *constants]))
    return Range(max([least, *constants]), most)


_FUNCTIONS: Final[Mapping[str, Callable[[list[exp.Expr]], Range | None]]] = {
    "LEAST": lambda terms: _of_clamp(terms, is_least=True),
    "GREATEST": lambda terms: _of_clamp(terms, is_least=False),
    "COALESCE": _around,
    "double_quotient": _of_quotient,
    "double_sum": lambda terms: _of_sum(*terms),
    "FLOOR": lambda terms: _floor(range_of(terms[0])),
    "whole_floor": lambda terms: _floor(range_of(terms[0])),
}


def _floor(known: Range | None) -> Range | None:
    return known and Range(known.least - 1, known.most)
