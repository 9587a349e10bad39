"""The role of an engine, and the shape of what it returns."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.privacy.secret import Secret
from sfumato.query.plan import Statement
from sfumato.query.schema import Key

Integers: TypeAlias = npt.NDArray[np.object_]
"""Python integers, which never wrap: one row a group, one column a measure."""


class Engine(Protocol):
    """Something that holds tables and can run the exact half of a plan on them."""

    @property
    def name(self) -> str:
        """What errors and receipts call it."""

    def run(self, statement: Statement, *, salt: str) -> Secret[Integers]:
        """The measures of every group, in the order of the public keys, empty groups too.

        Args:
            statement: What to compute.
            salt: 32 hexadecimal digits, fresh for each run, by which rows and groups above a limit are sampled.

        Raises:
            EngineError: The engine failed; without its text.
        """

    def close(self) -> None:
        """Let go of connections and copies."""


def groups(statement: Statement) -> list[tuple[Key, ...]]:
    """The keys of every group of an answer, in the order in which it lists them."""
    return list(product(*(key.values for key in statement.keys)))


def aligned(statement: Statement, found: Mapping[tuple[Key, ...], Sequence[int]]) -> Secret[Integers]:
    """What an engine found, on the public groups: zeros for the empty ones, whatever order it came in."""
    keys = groups(statement)
    table = np.zeros((len(keys), len(statement.measures)), dtype=object)
    for index, key in enumerate(keys):
        if key in found:
            table[index, :] = found[key]
    return Secret(table)
