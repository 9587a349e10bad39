"""Which tier draws: a certified table once it pays, the universal sampler until then.

Both have exactly the same law. The choice depends on the law's parameter and on how many draws were asked for: on what
is public, but for the number of keys nobody listed, which shows in time and memory in any case. A scale that is secret
must not come here, because tables are kept.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final, Protocol

from sfumato.noise.tables.word_table import UncertifiedError
from sfumato.noise.uniform.integers import Integers, narrow, python_integers
from sfumato.noise.uniform.uniform import size_of

LARGEST_DIRECT_SCALE: Final = 128
"""Up to it a table names every value; beyond it, blocks of values."""

KEPT: Final = 64
"""How many laws are remembered, each with a table of at most 1 MB."""

_FEW: Final = 8  # draws that are quicker one by one
_CALL: Final = 1000  # what a call costs beyond its draws, in draws


class NoiseTable(Protocol):
    """A certified table of one law."""

    def draw(self, size: int) -> Integers:
        """`size` independent draws."""
        ...

    def draw_one(self) -> int:
        """One draw."""
        ...


@dataclass(slots=True, kw_only=True)
class Supply:
    """The draws of one law: counted until a table pays, and then out of the table."""

    build: Callable[[], NoiseTable]
    universal: Callable[[int], Integers]
    universal_one: Callable[[], int]
    pays: int = 300_000
    """Draws after which the time for a table is won back."""
    table: NoiseTable | None = None
    drawn: float = 0

    def one(self) -> int:
        """One draw."""
        return self.universal_one() if self.table is None else self.table.draw_one()

    def draw(self, size: int) -> Integers:
        """`size` independent draws: int64, or Python integers if one of them does not fit.

        Raises:
            ParameterError: The size is negative.
        """
        if size_of(size) <= _FEW:
            return narrow(python_integers(self.one() for _ in range(size)))
        if self.table is None:
            self.drawn += size + _CALL
            if self.drawn >= self.pays:
                self._try_table()
        return self.universal(size) if self.table is None else self.table.draw(size)

    def _try_table(self) -> None:
        try:
            self.table = self.build()
        except UncertifiedError:
            self.drawn = -inf
