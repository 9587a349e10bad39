r"""LIKE in engines whose own one makes some rows much slower than others.

Spark has Java's regular expressions, which go back: what `%a%a%a%b` takes grows with a power of the length of the text
for each %. DuckDB goes back to the last % only, which takes 64 µs for `%_a_a_a…` on 256 letters, 400 times an ordinary
row; without _ it never goes back. So a pattern of one word in one place becomes a search for it, and any other, but one
of words alone on DuckDB, a regular expression: of RE2, which never goes back (11 µs; an ordinary row 0.8); or of Java,
in which what was found once stays where it is (`(?>…)`), as far to the left as possible, which leaves most of the text
for what follows.
"""

import string
from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from sfumato.engines.sql.expressions.terms import Sql, function, operation, text
from sfumato.query.model.patterns import Piece, Place, pieces_of, word_of

_PLAIN: Final = frozenset(string.ascii_letters + string.digits + "_")
_ASCII: Final = 128


def liked(
    value: Sql, pattern: str, *, finders: Mapping[Place, str], otherwise: Callable[[Sql, list[Piece]], Sql]
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
    if found.place is Place.WHOLE:
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
