"""The functions of text, counted in code points."""

from sfumato.query.model.functions import MAX_TEXT
from sfumato.query.model.patterns import Piece, pieces_of


def substring(text: str, start: int, length: int) -> str:
    """So many characters from a place on, the first of them 1."""
    return text[start - 1 : start - 1 + length]


def concatenated(*pieces: str) -> str | None:
    """One text of several; None if it would be longer than `MAX_TEXT`."""
    return "".join(pieces) if sum(map(len, pieces)) <= MAX_TEXT else None


def is_like(text: str, pattern: str) -> bool:
    r"""Whether a pattern describes the whole text: % is any run of characters, _ any one, \ takes the next as it is.

    A \ at the end of a pattern is one itself.

    Example:
        >>> is_like("50% off", r"5_\% %"), is_like("x", "%_%x")
        (True, False)
    """
    first, *others = pieces_of(pattern)
    if not others:
        return len(text) == len(first) and _fits(text, 0, first)
    start, end = len(first), len(text) - len(others[-1])
    if start > end or not (_fits(text, 0, first) and _fits(text, end, others[-1])):
        return False
    for piece in others[:-1]:  # each as far to the left as it fits, which leaves most for the others
        places = (at for at in range(start, end - len(piece) + 1) if _fits(text, at, piece))
        place = next(places, None)
        if place is None:
            return False
        start = place + len(piece)
    return True


def _fits(text: str, at: int, piece: Piece) -> bool:
    return all(wanted is None or text[at + index] == wanted for index, wanted in enumerate(piece))
