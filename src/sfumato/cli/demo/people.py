"""The people of the demo: the Adult census where it can be had, else made-up ones."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sfumato.datasets import adult_or_people, load_adult
from sfumato.query.model.schema import Key

OVER = 50
YOUNGEST, OLDEST, BINS = 17, 90, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Raw tables and what they are called; only an owner, such as the demo, may look inside.

    Attributes:
        dataset: The name of their account.
        origin: Where they come from, for people.
        table: One row a person, with the owner's column `age_bin`.
        everyone: The same people, and those of adult.test where it is the census.
        everyone_origin: Where these come from.
    """

    dataset: str
    origin: str
    table: Any  # pyarrow.Table; pyarrow ships no types
    everyone: Any
    everyone_origin: str


def load_people() -> People:
    """The Adult census or, where it cannot be had, as many made-up people.

    Raises:
        ParameterError: The files are there with another content, or adult.data is there without adult.test.
    """
    table, origin = adult_or_people()
    is_made_up = "made-up" in origin
    return People(
        dataset="made-up people" if is_made_up else "adult",
        origin=origin,
        table=table.append_column("age_bin", pa.array(map(age_bin, table["age"].to_pylist()), pa.int64())),
        everyone=table if is_made_up else load_adult("all"),
        everyone_origin="the same made-up people" if is_made_up else "adult.data and adult.test together",
    )


def age_bin(age: int) -> int:
    """Which of ten equal bins on the declared range an age lies in; what lies outside counts in the nearest."""
    position = (age - YOUNGEST) * BINS // (OLDEST - YOUNGEST)
    return min(max(position, 0), BINS - 1)


def true_counts(column: Iterable[Key], keys: Iterable[Key]) -> list[int]:
    """How many rows have each key, exactly: for the owner's eyes."""
    values = list(column)
    return [values.count(key) for key in keys]
