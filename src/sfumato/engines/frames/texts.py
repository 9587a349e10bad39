"""The functions of text in Polars, as `texts` and `letters` have them; Polars counts code points too."""

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from sfumato.engines.frames.arithmetic import Lowering
from sfumato.engines.frames.terms import Term, guarded, whole
from sfumato.query.functions import MAX_TEXT, Function
from sfumato.query.kinds import Kind
from sfumato.query.letters import LOWER_LETTERS, UPPER_LETTERS

_ESCAPE: Final = "\\"
_ANY_RUN, _ANY_ONE = "(?s:.*)", "(?s:.)"


def substring(value: Term, start: float, length: float) -> Term:
    """SUBSTRING: so many code points from a place on, the first of them 1."""
    return _text(value.value.str.slice(int(start) - 1, int(length)))


def is_like(value: Term, pattern: str) -> Term:
    """LIKE, as a regular expression of the whole text."""
    return Term(value=value.value.str.contains(rf"\A{regular(pattern)}\z"), kind=Kind.BOOLEAN)


def regular(pattern: str) -> str:
    r"""A pattern of LIKE as a regular expression, in which all characters stand by their numbers.

    Raises:
        UnicodeEncodeError: A pattern that is not Unicode.

    Example:
        >>> print(regular(r"a\%%_"))
        \x{61}\x{25}(?s:.*)(?s:.)
    """
    pattern.encode()
    pieces, characters = [], iter(pattern)
    for character in characters:
        match character:
            case "%":
                pieces.append(_ANY_RUN)
            case "_":
                pieces.append(_ANY_ONE)
            case _:
                meant = next(characters, _ESCAPE) if character == _ESCAPE else character
                pieces.append(rf"\x{{{ord(meant):x}}}")
    return "".join(pieces)


def _text(value: pl.Expr) -> Term:
    return Term(value=value, kind=Kind.TEXT)


def _translated(letters: str, others: str) -> Lowering:
    """Letter by letter."""
    return lambda terms: _text(terms[0].value.str.replace_many(list(letters), list(others)))


def _joined(terms: Sequence[Term]) -> Term:
    """None of them NULL, and together no longer than a text that is made may be: more of each is not even read."""
    beginnings = [term.value.str.slice(0, MAX_TEXT + 1) for term in terms]
    return _text(guarded(pl.concat_str(beginnings), lambda x: x.str.len_chars() <= MAX_TEXT))


TEXTS: Final[Mapping[Function, Lowering]] = {
    Function.LOWER: _translated(UPPER_LETTERS, LOWER_LETTERS),
    Function.UPPER: _translated(LOWER_LETTERS, UPPER_LETTERS),
    Function.LENGTH: lambda terms: whole(terms[0].value.str.len_chars().cast(pl.Int64)),
    Function.TRIM: lambda terms: _text(terms[0].value.str.strip_chars(" ")),
    Function.LTRIM: lambda terms: _text(terms[0].value.str.strip_chars_start(" ")),
    Function.RTRIM: lambda terms: _text(terms[0].value.str.strip_chars_end(" ")),
    Function.CONCAT: _joined,
}
"""Functions of text without constants."""
