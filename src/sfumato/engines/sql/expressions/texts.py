"""The functions of text in SQL, as `texts` and `letters` have them."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.expressions.arithmetic import Lowering, whole
from sfumato.engines.sql.expressions.kinds import Term
from sfumato.engines.sql.expressions.terms import Sql, case, figure, function, named, operation, stripped, text
from sfumato.query.model.functions import Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.letters import LOWER_LETTERS, UPPER_LETTERS

_LONGEST: Final = 2**31 - 1
"""No text has more code points; engines refuse places in it that are much larger."""

_ESCAPE: Final = "\\"
_SPECIAL: Final = ("%", "_", _ESCAPE)
_ESCAPED: Final = re.compile(r"\\(.?)", re.DOTALL)


def substring(value: Term, start: float, length: float) -> Term:
    """SUBSTRING: so many code points from a place on, the first of them 1."""
    places = (figure(int(min(place, _LONGEST))) for place in (start, length))
    return _text(function("SUBSTRING", value.sql, *places))


def is_like(value: Term, pattern: str) -> Term:
    """LIKE, as each engine does it in time that `query.analysis.work` bounds; the pattern in one form for all."""
    return Term(sql=function("is_like", value.sql, text(_in_one_form(pattern))), kind=Kind.BOOLEAN)


def _in_one_form(pattern: str) -> str:
    r"""A \ at the end is one itself, and one before what means nothing is left out, which some engines refuse."""
    return _ESCAPED.sub(lambda found: found[0] if found[1] in _SPECIAL else found[1] or _ESCAPE * 2, pattern)


def _text(sql: Sql) -> Term:
    return Term(sql=sql, kind=Kind.TEXT)


def _stripped(position: str | None) -> Lowering:
    return lambda terms: _text(stripped(terms[0].sql, position))


def _translated(native: str, letters: str, others: str) -> Lowering:
    """Letter by letter; of ASCII alone, which no locale changes, by a function that is a hundred times faster."""

    def translated(x: Sql) -> Sql:
        is_ascii = operation(exp.EQ, function("byte_count", x), function("LENGTH", x))
        return case([(is_ascii, function(native, x))], function("letters_replaced", x, text(letters), text(others)))

    return lambda terms: _text(named(terms[0].sql, translated))


def _length(terms: Sequence[Term]) -> Term:
    return whole(function("LENGTH", terms[0].sql))


def _joined(terms: Sequence[Term]) -> Term:
    """None of them NULL, and together no longer than a text that is made may be: told before it is made."""
    return _text(function("joined_within", *(term.sql for term in terms)))


TEXTS: Final[Mapping[Function, Lowering]] = {
    Function.LOWER: _translated("lower_ascii", UPPER_LETTERS, LOWER_LETTERS),
    Function.UPPER: _translated("upper_ascii", LOWER_LETTERS, UPPER_LETTERS),
    Function.LENGTH: _length,
    Function.TRIM: _stripped(None),
    Function.LTRIM: _stripped("LEADING"),
    Function.RTRIM: _stripped("TRAILING"),
    Function.CONCAT: _joined,
}
"""Functions of text without constants."""
