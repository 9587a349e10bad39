"""The functions of text in SQL, as `evaluation` and `letters` have them; and LIKE in engines whose own may be slow.

Spark has Java's regular expressions, which go back: what `%a%a%a%b` takes grows with a power of the length of the text
for each %. DuckDB goes back to the last % only, which takes 64 µs for `%_a_a_a…` on 256 letters, 400 times an ordinary
row; without _ it never goes back. So a pattern of one word in one place becomes a search for it, and any other, but one
of words alone on DuckDB, a regular expression: of RE2, which never goes back (11 µs; an ordinary row 0.8); or of Java,
in which what was found once stays where it is (`(?>…)`), as far to the left as possible, which leaves most of the text
for what follows.
"""

import re
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.expressions.arithmetic import Lowering, whole
from sfumato.engines.sql.expressions.kinds import Term
from sfumato.engines.sql.expressions.terms import (
    Sql,
    case,
    cast,
    clamped,
    figure,
    function,
    guarded,
    named,
    operation,
    present,
    stripped,
    text,
)
from sfumato.query.model.functions import MAX_TEXT, Function
from sfumato.query.model.kinds import Kind
from sfumato.query.model.texts import LOWER_LETTERS, UPPER_LETTERS, Piece, WordPlace, pieces_of, word_of

_LONGEST: Final = 2**31 - 1
"""No text has more code points; engines refuse places in it that are much larger."""

_ESCAPE: Final = "\\"
_SPECIAL: Final = ("%", "_", _ESCAPE)
_ESCAPED: Final = re.compile(r"\\(.?)", re.DOTALL)
_PLAIN: Final = frozenset(string.ascii_letters + string.digits + "_")
_ASCII: Final = 128


def substring(value: Term, start: float, length: float) -> Term:
    """SUBSTRING: so many code points from a place on, the first of them 1."""
    places = (figure(int(min(place, _LONGEST))) for place in (start, length))
    return _text(function("SUBSTRING", value.sql, *places))


def is_like(value: Term, pattern: str) -> Term:
    r"""LIKE, as each engine does it in time that `query.analysis.work` bounds; the pattern in one form for all.

    In that a \ at the end is one itself, and one before what means nothing is left out, which some engines refuse.
    """
    one_form = _ESCAPED.sub(lambda found: found[0] if found[1] in _SPECIAL else found[1] or _ESCAPE * 2, pattern)
    return Term(sql=function("is_like", value.sql, text(one_form)), kind=Kind.BOOLEAN)


def position(value: Term, word: str) -> Term:
    """POSITION: where a word first begins, from 1; 0 if nowhere."""
    return whole(function("place_of", value.sql, text(word)))


def replaced(value: Term, old: str, new: str) -> Term:
    """REPLACE: NULL if the text grows beyond what a text that is made may be."""
    parts = text(old), text(new)
    if len(new) <= len(old):
        return _text(function("REPLACE", value.sql, *parts))

    def unless_too_long(x: Sql) -> Sql:
        most = function("GREATEST", function("LENGTH", x), figure(MAX_TEXT))
        made = function("REPLACE", x, *parts)
        return guarded(made, lambda y: operation(exp.LTE, function("LENGTH", y), most))

    return _text(named(value.sql, unless_too_long))


def is_like_in_ascii(value: Term, pattern: str) -> Term:
    """LIKE of a text in lower case, of which letters beyond ASCII stay, by a pattern of ASCII: see `folds_ascii`."""

    def lowered(x: Sql) -> Sql:
        is_ascii = operation(exp.EQ, function("byte_count", x), function("LENGTH", x))
        return case([(is_ascii, function("lower_ascii", x))], function("ascii_lowered", x))

    return is_like(_text(named(value.sql, lowered)), pattern)


def _text(sql: Sql) -> Term:
    return Term(sql=sql, kind=Kind.TEXT)


def _suffix(terms: Sequence[Term]) -> Term:
    """SUFFIX: from a place on, which the engine takes as a whole number of 32 bits."""
    value, start = terms

    def beginning_at(place: Sql) -> Sql:
        first = cast(clamped(place, figure(1), figure(_LONGEST)), "INTEGER")
        return case([(present(place), function("SUBSTRING", value.sql, first))])

    return _text(named(start.sql, beginning_at))


def _stripped(position: str | None) -> Lowering:
    return lambda terms: _text(stripped(terms[0].sql, position))


def _translated(native: str, letters: str, others: str) -> Lowering:
    """Letter by letter; of ASCII alone, which no locale changes, by a function that is a hundred times faster."""

    def translated(x: Sql) -> Sql:
        is_ascii = operation(exp.EQ, function("byte_count", x), function("LENGTH", x))
        return case([(is_ascii, function(native, x))], function("letters_replaced", x, text(letters), text(others)))

    return lambda terms: _text(named(terms[0].sql, translated))


TEXTS: Final[Mapping[Function, Lowering]] = {
    Function.LOWER: _translated("lower_ascii", UPPER_LETTERS, LOWER_LETTERS),
    Function.UPPER: _translated("upper_ascii", LOWER_LETTERS, UPPER_LETTERS),
    Function.LENGTH: lambda terms: whole(function("LENGTH", terms[0].sql)),
    Function.SUFFIX: _suffix,
    Function.TRIM: _stripped(None),
    Function.LTRIM: _stripped("LEADING"),
    Function.RTRIM: _stripped("TRAILING"),
    # none of them NULL, and together no longer than a text that is made may be: told before it is made
    Function.CONCAT: lambda terms: _text(function("joined_within", *(term.sql for term in terms))),
}
"""Functions of text without constants."""


def liked(
    value: Sql, pattern: str, *, finders: Mapping[WordPlace, str], otherwise: Callable[[Sql, list[Piece]], Sql]
) -> Sql:
    """Whether a text is like a pattern.

    Args:
        value: The text.
        pattern: The pattern.
        finders: The engine's functions that look for a word in each place but the whole text.
        otherwise: Looks for the pieces of a pattern that is no such word.
    """
    found = word_of(pattern)
    if found is None:
        return otherwise(value, pieces_of(pattern))
    if found.place is WordPlace.WHOLE:
        return exp.Paren(this=operation(exp.EQ, value, text(found.word)))
    return function(finders[found.place], value, text(found.word))


def in_re2(pieces: list[Piece]) -> str:
    """A regular expression of RE2, of a whole text."""
    return "(?s)" + ".*".join(map(_expression, pieces))


def in_java(pieces: list[Piece]) -> str:
    """One of Java."""
    first, *others = map(_expression, pieces)
    if not others:
        return rf"(?s)\A{first}\z"
    between = "".join(f"(?>.*?{piece})" for piece in others[:-1])
    return rf"(?s)\A{first}{between}.*{others[-1]}\z"


def _expression(piece: Piece) -> str:
    return "".join("." if character is None else _itself(character) for character in piece)


def _itself(character: str) -> str:
    """A character in a regular expression, whatever it means there."""
    if character in _PLAIN or ord(character) >= _ASCII:
        return character
    return rf"\x{{{ord(character):x}}}"
