"""The functions of text in SQL, as `texts` and `letters` have them."""

from collections.abc import Mapping, Sequence
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.arithmetic import Lowering, whole
from sfumato.engines.sql.kinds import Term
from sfumato.engines.sql.terms import Sql, all_of, case, column, figure, function, named, operation, text
from sfumato.query.functions import MAX_TEXT, Function
from sfumato.query.kinds import Kind
from sfumato.query.letters import LOWER_LETTERS, UPPER_LETTERS

_LONGEST: Final = 2**31 - 1
"""No text has more code points; engines refuse places in it that are much larger."""

_ESCAPE: Final = "\\"
_LENGTH_OF_EACH: Final = exp.Lambda(
    this=function("LENGTH", column("piece")), expressions=[exp.to_identifier("piece", quoted=True)]
)


def substring(value: Term, start: float, length: float) -> Term:
    """SUBSTRING: so many code points from a place on, the first of them 1."""
    places = (figure(int(min(place, _LONGEST))) for place in (start, length))
    return _text(function("SUBSTRING", value.sql, *places))


def is_like(value: Term, pattern: str) -> Term:
    r"""LIKE, of which a \ at the end is one itself."""
    trailing = len(pattern) - len(pattern.rstrip(_ESCAPE))
    complete = pattern + _ESCAPE if trailing % 2 else pattern
    like = operation(exp.Like, value.sql, text(complete))
    return Term(sql=exp.Escape(this=like, expression=text(_ESCAPE)), kind=Kind.BOOLEAN)


def _text(sql: Sql) -> Term:
    return Term(sql=sql, kind=Kind.TEXT)


def _stripped(name: str) -> Lowering:
    return lambda terms: _text(function(name, terms[0].sql, text(" ")))


def _translated(native: str, letters: str, others: str) -> Lowering:
    """Letter by letter; of ASCII alone, which no locale changes, by a function that is a hundred times faster."""

    def translated(x: Sql) -> Sql:
        is_ascii = operation(exp.EQ, function("STRLEN", x), function("LENGTH", x))
        return case([(is_ascii, function(native, x))], function("TRANSLATE", x, text(letters), text(others)))

    return lambda terms: _text(named(terms[0].sql, translated))


def _length(terms: Sequence[Term]) -> Term:
    return whole(function("LENGTH", terms[0].sql))


def _joined(terms: Sequence[Term]) -> Term:
    """None of them NULL, and together no longer than a text that is made may be.

    That is told before it is made, of as much of each as can matter: of the rest no copy is made either.
    """
    count, enough = figure(len(terms)), figure(MAX_TEXT + 1)

    def joined(pieces: Sql) -> Sql:
        present = operation(exp.EQ, function("LIST_COUNT", pieces), count)
        length = function("LIST_SUM", function("LIST_TRANSFORM", pieces, _LENGTH_OF_EACH))
        short = operation(exp.LTE, length, figure(MAX_TEXT))
        return case([(all_of([present, short]), function("ARRAY_TO_STRING", pieces, text("")))])

    beginnings = [function("SUBSTRING", term.sql, figure(1), enough) for term in terms]
    return _text(named(exp.Array(expressions=beginnings), joined))


TEXTS: Final[Mapping[Function, Lowering]] = {
    Function.LOWER: _translated("LOWER", UPPER_LETTERS, LOWER_LETTERS),
    Function.UPPER: _translated("UPPER", LOWER_LETTERS, UPPER_LETTERS),
    Function.LENGTH: _length,
    Function.TRIM: _stripped("TRIM"),
    Function.LTRIM: _stripped("LTRIM"),
    Function.RTRIM: _stripped("RTRIM"),
    Function.CONCAT: _joined,
}
"""Functions of text without constants."""
