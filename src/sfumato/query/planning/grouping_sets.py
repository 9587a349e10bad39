"""GROUPING SETS: the choices of keys by which one question groups its rows."""

from itertools import combinations
from typing import Final

from sfumato.errors import ParameterError

MAX_GROUPING_SETS: Final = 64
"""How many one question may have."""


def rollup(keys: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The grouping sets of ROLLUP: all keys, then without the last one, down to none.

    Example:
        >>> rollup(("year", "month"))
        (('year', 'month'), ('year',), ())
    """
    return tuple(keys[:size] for size in range(len(keys), -1, -1))


def cube(keys: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The grouping sets of CUBE: every choice of the keys, larger ones first.

    Raises:
        ParameterError: There are too many.

    Example:
        >>> cube(("sex", "age"))
        (('sex', 'age'), ('sex',), ('age',), ())
    """
    if 2 ** len(keys) > MAX_GROUPING_SETS:
        raise ParameterError("CUBE", f"{len(keys)} keys", f"must make at most {MAX_GROUPING_SETS} grouping sets")
    return tuple(kept for size in range(len(keys), -1, -1) for kept in combinations(keys, size))


def checked_sets(keys: tuple[str, ...], sets: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Grouping sets, each with its keys in the order of all of them.

    Raises:
        ParameterError: They are not of the keys, leave one out altogether, or two are the same.
    """
    if len(sets) > MAX_GROUPING_SETS:
        raise ParameterError("GROUPING SETS", f"{len(sets)} sets", f"must be at most {MAX_GROUPING_SETS}")
    if any(len(set(kept)) != len(kept) or not set(kept) <= set(keys) for kept in sets):
        raise ParameterError("GROUPING SETS", sets, f"must be of the keys, each named once: {', '.join(keys)}")
    ordered = tuple(tuple(key for key in keys if key in kept) for kept in sets)
    if len(set(ordered)) != len(ordered):
        raise ParameterError("GROUPING SETS", sets, "must differ from each other")
    if sets and set(keys) != {key for kept in sets for key in kept}:
        raise ParameterError("GROUPING SETS", sets, "must hold every key at least once")
    return ordered
