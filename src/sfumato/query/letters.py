"""Upper and lower case, letter by letter: one public table, so that every engine changes the same letters.

Databases follow their own edition and locale of Unicode, in which ß becomes SS and I may become ı. Here a letter
changes only if it has one counterpart, and that one has it in turn: of ASCII, Latin-1, Latin Extended-A, Greek and
Cyrillic those pairs that Unicode will never change. All else stays as it is.
"""

from typing import Final

_BLOCKS: Final = (range(0x180), range(0x370, 0x500))


def _is_pair(lower: str, upper: str) -> bool:
    return lower != upper and len(upper) == 1 and upper.lower() == lower


_PAIRS: Final = [
    (letter, letter.upper()) for block in _BLOCKS for letter in map(chr, block) if _is_pair(letter, letter.upper())
]

LOWER_LETTERS: Final = "".join(lower for lower, _ in _PAIRS)
"""The letters in lower case; TRANSLATE(x, UPPER_LETTERS, LOWER_LETTERS) is LOWER(x)."""

UPPER_LETTERS: Final = "".join(upper for _, upper in _PAIRS)
"""Their counterparts, in the same order."""


def _is_plain(letter: str) -> bool:
    """Whether Unicode changes a letter as the table does, both ways."""
    return letter in UPPER_LETTERS + LOWER_LETTERS or letter == letter.lower() == letter.upper()


PLAIN: Final = "".join(letter for block in _BLOCKS for letter in map(chr, block) if _is_plain(letter))
"""The characters of these alphabets that LOWER and UPPER of any edition of Unicode change as the table does."""

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
