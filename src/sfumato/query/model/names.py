"""Names that columns are given where nobody gave them one."""

from collections.abc import Iterable
from typing import Final

INTERVAL_ENDS: Final = ("_low", "_high")
"""What the two ends of an answer's interval are called, behind its name."""


def with_ends(name: str) -> tuple[str, ...]:
    """A column of an answer and the two ends of its interval.

    Example:
        >>> with_ends("n")
        ('n', 'n_low', 'n_high')
    """
    return (name, *(name + end for end in INTERVAL_ENDS))


def fresh(base: str, taken: Iterable[str]) -> str:
    """A name that is not taken, nor are the names of the ends of its interval; without regard to case.

    Example:
        >>> fresh("age", ["Age", "age_2"]), fresh("n", ["n_low"])
        ('age_3', 'n_2')
    """
    names = {name.lower() for name in taken}
    number, name = 1, base
    while not names.isdisjoint(f"{name}{end}".lower() for end in ("", *INTERVAL_ENDS)):
        number += 1
        name = f"{base}_{number}"
    return name
