"""The keys of a question: which of them are public, and what their groups are."""

from math import ceil, floor
from typing import Final

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.numeric.rationals import positive_integer
from sfumato.query.analysis.shape import Shape
from sfumato.query.model.facts import Facts
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import GroupBy
from sfumato.query.model.schema import Key
from sfumato.query.model.statement import KeyColumn

MAX_GROUPS: Final = 1_000_000
"""So many public groups an answer can hold; every listed one is in it."""

MAX_LISTED: Final = 1_000
"""Whole numbers between declared bounds are public keys, if there are at most so many of them."""


def key_columns(shape: Shape, names: tuple[str, ...]) -> tuple[KeyColumn, ...]:
    """Columns to group by, with their public keys where they have any.

    Raises:
        NotPrivateError: A column of fractions, whose equal values may look different.
        ParameterError: There are more public groups than an answer can hold.
    """
    columns = tuple(KeyColumn(name=name, values=_listed(name, shape.column(name))) for name in names)
    count = 1
    for column in columns:
        count *= len(column.values or (None,))
        if count > MAX_GROUPS:
            shown = f"{count:,} groups or more"
            raise ParameterError(
                "GROUP BY", shown, f"must make at most {MAX_GROUPS:,}; the answer contains every listed group"
            )
    return columns


def grouping_sets(groups: GroupBy) -> tuple[tuple[str, ...], ...]:
    """The keys of each way to group."""
    return groups.sets or (groups.keys,)


def listed_values(facts: Facts) -> tuple[Key, ...] | None:
    """The public values of an expression: those that are declared, or the whole numbers between near bounds."""
    if facts.values is not None:
        return facts.values
    lower, upper = facts.certain_interval.lower, facts.certain_interval.upper
    if facts.kind is Kind.INTEGER and lower is not None and upper is not None and upper - lower < MAX_LISTED:
        return tuple(range(ceil(lower), floor(upper) + 1))
    return None


def candidates(name: str, facts: Facts, k: int) -> tuple[Key, ...]:
    """The public values that the k most frequent ones are chosen from.

    Raises:
        NotPrivateError: There are none.
        ParameterError: There are fewer than k.
    """
    values = listed_values(facts)
    if not values:
        raise NotPrivateError(
            f"the most frequent of {name}",
            "which values exist would reveal who is in the data",
            "List the public values in the policy: values = [...].",
        )
    if positive_integer(k, "k") > len(values):
        raise ParameterError("k", k, f"must be at most {len(values)}, the number of public values")
    return values


def _listed(name: str, facts: Facts) -> tuple[Key, ...] | None:
    if facts.kind is Kind.FLOAT:
        raise NotPrivateError(
            f"GROUP BY {name}",
            "floats cannot be group keys, because equal numbers may differ in the last digit",
            f"Group by a whole number: CAST(FLOOR({name}) AS INTEGER).",
        )
    return listed_values(facts)
