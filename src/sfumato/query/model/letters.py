"""Upper and lower case, letter by letter: one public table, so that every engine changes the same letters.

Databases follow their own edition and locale of Unicode, in which ß becomes SS and I may become ı. Here a letter
changes only if it has one counterpart, and that one has it in turn: of ASCII, Latin-1, Latin Extended-A, Greek and
Cyrillic those pairs that Unicode will never change. All else stays as it is.
"""

from typing import Final

ALPHABETS: Final = (range(0x180), range(0x370, 0x500))
"""The code points from which the pairs are taken."""

WITHOUT_CASE: Final = (
    range(0x300, 0x345), range(0x590, 0x10A0), range(0x2000, 0x20D0), range(0x3000, 0xA000), range(0xAC00, 0xD7B0),
    range(0x1F300, 0x1FB00),
)  # fmt: skip
"""Code points that no edition of Unicode changes: accents, Hebrew to Burmese, Chinese, Japanese, Korean, pictures."""


def _is_pair(lower: str, upper: str) -> bool:
    return lower != upper and len(upper) == 1 and upper.lower() == lower


_PAIRS: Final = [
    (letter, letter.upper()) for block in ALPHABETS for letter in map(chr, block) if _is_pair(letter, letter.upper())
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
