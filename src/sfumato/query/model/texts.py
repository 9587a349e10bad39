r"""What functions of text mean, so that every engine finds the same: letters in upper and lower case, and patterns.

Databases follow their own edition and locale of Unicode, in which ß becomes SS and I may become ı. Here a letter
changes only if it has one counterpart, and that one has it in turn: of ASCII, Latin-1, Latin Extended-A, Greek and
Cyrillic those pairs that Unicode will never change. All else stays as it is.

In patterns of LIKE, % is any run of characters, _ any one, and \ takes the next as it is; a \ at the end is one itself.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

ALPHABETS: Final = (range(0x180), range(0x370, 0x500))
"""The code points from which the pairs are taken."""

_PAIRS: Final = [
    (lower, upper)
    for block in ALPHABETS
    for lower, upper in ((letter, letter.upper()) for letter in map(chr, block))
    if lower != upper and len(upper) == 1 and upper.lower() == lower
]

LOWER_LETTERS: Final = "".join(lower for lower, _ in _PAIRS)
"""The letters in lower case; TRANSLATE(x, UPPER_LETTERS, LOWER_LETTERS) is LOWER(x)."""

UPPER_LETTERS: Final = "".join(upper for _, upper in _PAIRS)
"""Their counterparts, in the same order."""


_TO_LOWER: Final = str.maketrans(UPPER_LETTERS, LOWER_LETTERS)
_TO_UPPER: Final = str.maketrans(LOWER_LETTERS, UPPER_LETTERS)


def lowered(text: str) -> str:
    """The text in lower case.

    Example:
        >>> lowered("ÀΓЖ ß İ")
        'àγж ß İ'
    """
    return text.translate(_TO_LOWER)


def raised(text: str) -> str:
    """The text in upper case.

    Example:
        >>> raised("àγж ß ı")
        'ÀΓЖ ß ı'
    """
    return text.translate(_TO_UPPER)


_LETTERS: Final = "".join(chr(code) for block in ALPHABETS for code in block)

OTHERWISE_LOWERED: Final = "".join(letter for letter in _LETTERS if letter.lower() != lowered(letter))
"""The letters of these alphabets that Unicode's lower case changes and the table does not."""

OTHERWISE_RAISED: Final = "".join(letter for letter in _LETTERS if letter.upper() != raised(letter))
"""Those that its upper case does."""


Piece: TypeAlias = tuple[str | None, ...]
"""Characters of a pattern without %; None is any one."""

_ESCAPE: Final = "\\"


class WordPlace(StrEnum):
    """Where a text has the only word of a pattern."""

    WHOLE = "whole"
    BEGINNING = "beginning"
    END = "end"
    ANYWHERE = "anywhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A pattern that asks for one word in one place: `word`, `word%`, `%word` or `%word%`."""

    word: str
    place: WordPlace


_PLACES: Final = {
    # whether % stands before the word, and whether after it
    (False, False): WordPlace.WHOLE,
    (False, True): WordPlace.BEGINNING,
    (True, False): WordPlace.END,
    (True, True): WordPlace.ANYWHERE,
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
        (Word(word='50%', place=<WordPlace.ANYWHERE: 'anywhere'>), None, None)
    """
    pieces = pieces_of(pattern)
    words = [piece for piece in pieces if piece]
    if len(words) > 1 or None in (words or [()])[0]:
        return None
    word = "".join(character for character in (words or [()])[0] if character is not None)
    after_run, before_run = len(pieces) > 1 and not pieces[0], len(pieces) > 1 and not pieces[-1]
    return Word(word=word, place=_PLACES[after_run, before_run])
