"""Random expressions of a given kind over typed columns, and rows of cells that have caused trouble, for hypothesis.

`expressions(kind, columns)` draws a well-typed expression, `rows(columns)` a row to evaluate it on, and `COLUMNS` has
two columns of every kind. None of it knows an engine.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

from sfumato.query.model.expressions import (
    And,
    Call,
    Case,
    ColumnRef,
    Compare,
    Comparison,
    IsIn,
    IsNull,
    Literal,
    Not,
    Null,
    Or,
)
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import NUMBERS, TIMES, Kind
from sfumato.query.values.numbers import LARGEST

COLUMNS: Final[Mapping[str, Kind]] = {f"{kind.value} {number}": kind for kind in Kind for number in (1, 2)}

WORDS: Final = (
    "", " ", "a", "A", " a ", "abc", "a%b_c", "é", "É", "e\u0301", "ß", "İ", "ı", "ς", "Σ", "ÿ", "µ", "\U0001f600",
    "\x00", "NaN", "inf", "1e400", "-1e400", "39", " -2.5 ", "9223372036854775808", "true", "No", "２", "1_0", "1\n",
    "\u00a01", "2024-02-29", "2026-02-29", "0001-01-01", "9999-12-31 23:59:59.999999", "0000-01-01",
    "2026-01-31T12:34", "\\", "'; --",
)  # fmt: skip
"""Text that looks like something else, or that libraries treat each in their own way."""

PATTERNS: Final = ("", "%", "_", "a%", "%a", "%a%", "__", "a\\%b\\_c", "\\a", "%\\\\%", "é_", "%b%c%", "A")
UNITS: Final = ("year", "quarter", "month", "week", "day", "hour", "minute")
INTEGERS: Final = (0, 1, -1, 2, 3, 7, -7, 10**9, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, -(2**63))
DOUBLES: Final = (
    0.0, 0.5, -0.5, 1.0, 2.5, -2.5, 0.1, 1e-5, 5e-324, -5e-324, 1e-200, 2.0**-501, 1.5 * 2.0**-500, -(2.0**-500),
    1e15 + 0.5, 2.0**53, 1e19, -1e19, 1e76, -1e100, LARGEST, -LARGEST,
)  # fmt: skip
DAYS: Final = (
    date(1, 1, 1), date(1, 3, 31), date(1600, 2, 29), date(1900, 2, 28), date(1969, 12, 31), date(1970, 1, 1),
    date(2023, 12, 31), date(2024, 2, 29), date(2026, 1, 31), date(2027, 1, 3), date(9999, 12, 31),
)  # fmt: skip
TIMESTAMPS: Final = tuple(
    map(
        datetime.fromisoformat,
        (
            "0001-01-01", "1969-12-31 23:59:59.999999", "1970-01-01", "2024-02-29 12:30", "2026-01-31 23:59:59.000001",
            "2026-03-31", "9999-12-31 23:59:59.999999",
        ),
    )
)  # fmt: skip

_doubles = st.sampled_from(DOUBLES) | st.floats(-LARGEST, LARGEST).map(lambda x: x + 0.0)  # cells are never −0.0
_CELLS: Final = {
    Kind.INTEGER: st.sampled_from(INTEGERS) | st.integers(-100, 100) | st.integers(-(2**63), 2**63 - 1),
    Kind.FLOAT: _doubles | st.integers(-100, 100).map(lambda n: n / 8),
    Kind.TEXT: st.sampled_from(WORDS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    Kind.BOOLEAN: st.booleans(),
    Kind.DATE: st.sampled_from(DAYS) | st.dates(),
    Kind.TIMESTAMP: st.sampled_from(TIMESTAMPS) | st.datetimes(),
}
"""Cells of each kind, without NULL."""

_FRACTIONS: Final = (
    Fraction(1, 2), Fraction(-1, 2), Fraction(5, 2), Fraction(-1, 3), Fraction(1, 10), Fraction(10**30, 7),
    Fraction(1, 10**400), Fraction(-1, 10**400), Fraction(10**150, 3), Fraction(2**63), Fraction(-(10**150)),
)  # fmt: skip
_VALUES: Final = _CELLS | {
    Kind.INTEGER: (st.sampled_from(INTEGERS) | st.integers(-100, 100)).map(Fraction),
    Kind.FLOAT: st.sampled_from(_FRACTIONS),
    Kind.TEXT: _CELLS[Kind.TEXT].map(lambda word: word.replace("\0", "")),  # which no constant has
}


@cache
def cells(kind):
    """Cells of a kind, some of them NULL; the same strategy each time, because a new one is prepared anew."""
    return st.none() | _CELLS[kind]


def rows(columns=COLUMNS):
    """Rows, each a mapping from columns to cells."""
    return st.fixed_dictionaries({name: cells(kind) for name, kind in columns.items()})


@cache
def literals(kind):
    """Constants of a kind, as `facts_of` tells it."""
    return _VALUES[kind].map(Literal)


@cache
def _leaves(kind):
    return literals(kind) | st.just(Null(kind))


@cache
def _place(number):
    return st.sampled_from(range(number))


def _whole(least, most):
    return st.integers(least, most).map(Fraction).map(Literal)


_INTEGER, _FLOAT, _TEXT, _BOOLEAN, _DATE, _TIMESTAMP = Kind
_ARITHMETIC: Final = (Function.ADD, Function.SUBTRACT, Function.MULTIPLY, Function.DIVIDE)
_ROUNDING: Final = (Function.NEGATE, Function.ABS, Function.FLOOR, Function.CEIL, Function.TRUNC)
_SHIFTS: Final = st.sampled_from(INTEGERS).map(Fraction).map(Literal) | _whole(-1000, 1000)
_UNITS: Final = st.sampled_from(UNITS).map(Literal)

_SOUGHT: Final = st.sampled_from(("a", "b", "é", "\U0001f600", "a%", "aa", " ")).map(Literal)

CALLS: Final = {
    _INTEGER: [
        *((f, _INTEGER, _INTEGER) for f in (*_ARITHMETIC, Function.MODULO)),
        *((f, _INTEGER) for f in _ROUNDING),
        (Function.ROUND, _INTEGER, _whole(0, 15)),
        (Function.SIGN, NUMBERS),
        (Function.TO_INTEGER, NUMBERS | {_TEXT, _BOOLEAN}),
        (Function.LENGTH, _TEXT),
        (Function.POSITION, _TEXT, _SOUGHT),
        *(
            (f, TIMES)
            for f in (
                Function.YEAR,
                Function.QUARTER,
                Function.MONTH,
                Function.WEEK,
                Function.DAY,
                Function.DAY_OF_WEEK,
                Function.ISO_DAY_OF_WEEK,
            )
        ),
        (Function.DAY_OF_YEAR, TIMES),
        *((f, _TIMESTAMP) for f in (Function.HOUR, Function.MINUTE, Function.SECOND)),
        (Function.DAYS_BETWEEN, _DATE, _DATE),
    ],
    _FLOAT: [
        *((f, _FLOAT, NUMBERS) for f in _ARITHMETIC),
        *((f, _INTEGER, _FLOAT) for f in _ARITHMETIC),
        *((f, _FLOAT) for f in _ROUNDING),
        (Function.ROUND, _FLOAT, _whole(0, 15)),
        (Function.SQRT, NUMBERS),
        (Function.TO_FLOAT, NUMBERS | {_TEXT, _BOOLEAN}),
        (Function.LEAST, NUMBERS, _FLOAT, NUMBERS),
        (Function.GREATEST, NUMBERS, _FLOAT),
        (Function.COALESCE, NUMBERS, _FLOAT),
    ],
    _TEXT: [
        *((f, _TEXT) for f in (Function.LOWER, Function.UPPER, Function.TRIM, Function.LTRIM, Function.RTRIM)),
        (Function.SUBSTRING, _TEXT, _whole(1, 5), _whole(0, 5)),
        (Function.CONCAT, _TEXT, _TEXT),
        (Function.SUFFIX, _TEXT, _INTEGER),
        (Function.REPLACE, _TEXT, _SOUGHT, st.sampled_from(("", "b", "é\U0001f600", "aa")).map(Literal)),
        (Function.TO_TEXT, frozenset({_INTEGER, _TEXT, _BOOLEAN, _DATE})),
    ],
    _BOOLEAN: [
        (Function.LIKE, _TEXT, st.sampled_from(PATTERNS).map(Literal)),
        (Function.TO_BOOLEAN, frozenset({_INTEGER, _TEXT, _BOOLEAN})),
    ],
    _DATE: [
        (Function.TO_DATE, TIMES | {_TEXT}),
        (Function.TRUNCATE, _DATE, _UNITS),
        (Function.ADD_DAYS, _DATE, _INTEGER),
        (Function.ADD_MONTHS, _DATE, _SHIFTS),
    ],
    _TIMESTAMP: [
        (Function.TO_TIMESTAMP, TIMES | {_TEXT}),
        (Function.TRUNCATE, _TIMESTAMP, _UNITS),
        (Function.ADD_DAYS, _TIMESTAMP, _INTEGER),
        (Function.ADD_MONTHS, _TIMESTAMP, _SHIFTS),
        (Function.ADD_SECONDS, _TIMESTAMP, _INTEGER),
    ],
}
"""Calls that give each kind: a function and its arguments, each a kind, one of several kinds, or a strategy."""

INEXACT: Final = [(f, NUMBERS) for f in (Function.LN, Function.LOG10, Function.EXP)] + [
    (Function.POWER, NUMBERS, st.sampled_from([Fraction(n, 2) for n in range(-6, 7)]).map(Literal))
]
"""Calls that give a FLOAT whose last bit may differ between engines."""


@st.composite
def expressions(draw, kind, columns=COLUMNS, *, depth=3, inexact=False):
    """Expressions of a kind over columns, which `facts_of` accepts.

    Args:
        draw: Given by hypothesis.
        kind: What the expression gives.
        columns: The kinds of the columns, by name.
        depth: How deep it is nested at most.
        inexact: Whether it may call LN, LOG10, EXP and POWER.
    """
    return _Drawing(draw, columns, inexact).expression(kind, depth)


@dataclass(frozen=True)
class _Drawing:
    draw: Callable[[Any], Any]
    columns: Mapping[str, Kind]
    inexact: bool

    def expression(self, kind, depth):
        makers = [lambda: self.leaf(kind)]
        if depth > 0:
            inner = depth - 1
            makers += [lambda: self.call(kind, inner)] * 3
            makers += [lambda: self.choice(kind, inner), lambda: self.case(kind, inner)]
        if depth > 0 and kind is Kind.BOOLEAN:
            makers += [lambda: self.comparison(inner)] * 2
            makers += [lambda: self.is_in(inner), lambda: self.is_null(inner), lambda: self.logic(inner)]
        return self.pick(makers)()

    def pick(self, options):
        """One of them, drawn by its place.

        Hypothesis tells choices apart by the hash of what they are among. Of functions made here that is an address in
        memory, which what ran before decides, and with it which examples are tried.
        """
        among = list(options)
        return among[self.draw(_place(len(among)))]

    def leaf(self, kind):
        own = [ColumnRef(name) for name, column_kind in self.columns.items() if column_kind is kind]
        if own and self.pick(range(5)) < 3:
            return self.pick(own)
        return self.draw(_leaves(kind))

    def call(self, kind, depth):
        function, *arguments = self.pick(CALLS[kind] + (INEXACT if self.inexact and kind is Kind.FLOAT else []))
        return Call(function, tuple(self.argument(argument, depth) for argument in arguments))

    def argument(self, wanted, depth):
        if isinstance(wanted, st.SearchStrategy):
            return self.draw(wanted)
        return self.expression(wanted if isinstance(wanted, Kind) else self.pick(sorted(wanted)), depth)

    def choice(self, kind, depth):
        function = self.pick([Function.LEAST, Function.GREATEST, Function.COALESCE, Function.NULL_IF])
        count = 2 if function is Function.NULL_IF else self.pick([1, 2, 3])
        return Call(function, tuple(self.expression(kind, depth) for _ in range(count)))

    def case(self, kind, depth):
        """Of several values, some perhaps whole numbers where others are floats."""
        kinds = [Kind.FLOAT, Kind.INTEGER] if kind is Kind.FLOAT else [kind]
        branches = tuple(
            (self.expression(Kind.BOOLEAN, depth), self.expression(self.pick(kinds), depth))
            for _ in range(self.pick([1, 2]))
        )
        return Case(branches, self.expression(kind, depth))

    def comparison(self, depth):
        kind = self.pick(Kind)
        other = self.pick(sorted(NUMBERS)) if kind in NUMBERS else kind
        return Compare(self.pick(Comparison), self.expression(kind, depth), self.expression(other, depth))

    def is_in(self, depth):
        kind = self.pick(Kind)
        constants = literals(Kind.INTEGER) | literals(Kind.FLOAT) if kind in NUMBERS else literals(kind)
        listed = self.draw(st.lists(constants, min_size=1, max_size=3))
        return IsIn(self.expression(kind, depth), tuple(listed))

    def is_null(self, depth):
        return IsNull(self.expression(self.pick(Kind), depth))

    def logic(self, depth):
        several = tuple(self.expression(Kind.BOOLEAN, depth) for _ in range(self.pick(range(4))))
        negated = Not(several[0]) if several else Or(())
        return self.pick([And(several), Or(several), negated])
