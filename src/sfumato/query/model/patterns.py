r"""Patterns of LIKE: % is any run of characters, _ any one, \ takes the next as it is; a \ at the end is one itself."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

Piece: TypeAlias = tuple[str | None, ...]
"""Characters of a pattern without %; None is any one."""

_ESCAPE: Final = "\\"


class Place(StrEnum):
    """Where a text has the only word of a pattern."""

    WHOLE = "whole"
    BEGINNING = "beginning"
    END = "end"
    ANYWHERE = "anywhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A pattern that asks for one word in one place: `word`, `word%`, `%word` or `%word%`."""

    word: str
    place: Place


_PLACES: Final = {
    # whether % stands before the word, and whether after it
    (False, False): Place.WHOLE,
    (False, True): Place.BEGINNING,
    (True, False): Place.END,
    (True, True): Place.ANYWHERE,
}


def pieces_of(pattern: str) -> list[Piece]:
    """What stands between the runs of % of a pattern; before the first one and after the last one it may be nothing.

    Example:
        >>> pieces_of("a%%_b%")
        [('a',), (None, 'b'), ()]
    """
    pieces: list[list[str | None]] = [[]]
    characters = iter(pattern)
    for character in characters:
        if character == "%":
            pieces.append([])
        elif character == _ESCAPE:
            pieces[-1].append(next(characters, _ESCAPE))
        else:
            pieces[-1].append(None if character == "_" else character)
    first, *others = pieces
    return [tuple(first), *(tuple(one) for one in others[:-1] if one), *(tuple(one) for one in others[-1:])]


def word_of(pattern: str) -> Word | None:
    r"""The word that a pattern asks for, if it asks for one word in one place.

    Example:
        >>> word_of(r"%50\%%"), word_of("a%b"), word_of("a_")
        (Word(word='50%', place=<Place.ANYWHERE: 'anywhere'>), None, None)
    """
    pieces = pieces_of(pattern)
    words = [piece for piece in pieces if piece]
    if len(words) > 1 or None in (words or [()])[0]:
        return None
    word = "".join(character for character in (words or [()])[0] if character is not None)
    after_run, before_run = len(pieces) > 1 and not pieces[0], len(pieces) > 1 and not pieces[-1]
    return Word(word=word, place=_PLACES[after_run, before_run])
