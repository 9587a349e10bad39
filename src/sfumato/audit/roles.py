"""The parts of an audit: a mechanism to run, pairs of neighbours to run it on, and testers that look at the outputs.

Nothing here knows what a mechanism is made of, so an audit works on any callable: a class, a query, a whole server.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from sfumato.audit.columns import Columns, Outputs
from sfumato.audit.findings import EventFinding
from sfumato.privacy.guarantees import ApproxDP


class Mechanism(Protocol):
    """Runs `count` times on a database, afresh each time, and gives the outputs in order.

    Outputs of several types belong in a list, or in an array of objects: other arrays of NumPy change some of them to
    fit the rest.
    """

    def __call__(self, database: Any, count: int, /) -> Outputs:
        """The outputs of `count` independent runs, exactly as many."""
        ...


@dataclass(frozen=True, slots=True)
class NeighborPair:
    """Two neighbouring databases, and in words how they differ."""

    database: Any
    neighbor: Any
    description: str


class NeighborGenerator(Protocol):
    """Pairs of neighbours, the same ones in the same order each time."""

    def __iter__(self) -> Iterator[NeighborPair]:
        """The pairs."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """What outputs show on both databases of a pair, in a half to search in and a half to test on."""

    search: tuple[Columns, Columns]
    test: tuple[Columns, Columns]
    description: str

    @property
    def samples(self) -> int:
        """How many runs there were on both databases together."""
        return sum(map(len, (*self.search, *self.test)))


class Tester(Protocol):
    """Looks for an event that contradicts the claim."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def __call__(self, runs: Runs, *, claim: ApproxDP, significance: float) -> EventFinding:
        """What was found; a true claim is refuted with a chance of at most `significance`."""
        ...
