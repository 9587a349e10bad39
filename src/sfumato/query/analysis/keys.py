"""The keys of a question: which of them are public, and what their groups are."""

from typing import Final

from sfumato.errors import NotPrivateError, ParameterError
from sfumato.numeric.rationals import positive_integer
from sfumato.query.analysis.images import listed_values, public_values
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.facts import Edition, Facts
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import GroupBy, Relation
from sfumato.query.model.schema import Key
from sfumato.query.model.statement import KeyColumn

MAX_GROUPS: Final = 1_000_000
"""So many public groups an answer can hold; every listed one is in it."""


def key_columns(
    rows: Relation, names: tuple[str, ...], edition: Edition = Edition.LATEST
) -> tuple[KeyColumn, ...]:  # fmt: skip
    """Columns to group by, with their public keys where they have any.

    Args:
        rows: What is grouped.
        names: The columns.
        edition: By which rules.

    Raises:
        NotPrivateError: A column of fractions, whose equal values may look different.
        ParameterError: There are more public groups than an answer can hold.
    """
    columns = tuple(KeyColumn(name=name, values=_listed(rows, name, edition)) for name in names)
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


def _listed(rows: Relation, name: str, edition: Edition) -> tuple[Key, ...] | None:
    if shape_of(rows, edition).column(name).kind is Kind.FLOAT:
        raise NotPrivateError(
            f"GROUP BY {name}",
            "floats cannot be group keys, because equal numbers may differ in the last digit",
            f"Group by a whole number: CAST(FLOOR({name}) AS INTEGER).",
        )
    return public_values(rows, name, edition)
