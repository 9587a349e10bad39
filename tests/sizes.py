"""How much is tried: what decides whether a change may land tries a part, `make audit` and `make soak` all of it."""

import os
from collections.abc import Sequence
from typing import Final, TypeVar

T = TypeVar("T")

FULL_SIZE: Final = bool(os.environ.get("SFUMATO_FULL_SIZE"))
"""Set by `make audit` and `make soak`. Tests of a file that imports this are `sized`: `make audit` runs them all."""


def part(cases: Sequence[T], *, of: int, first: int = 0) -> Sequence[T]:
    """Every `of`-th case, beginning with the first one given; all of them at full size.

    Example:
        >>> part("abcdef", of=3) if not FULL_SIZE else "ad"
        'ad'
    """
    return cases if FULL_SIZE else cases[first::of]
