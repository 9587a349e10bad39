"""The parts of an audit: a mechanism to run, pairs of neighbors to run it on, and testers that look at the outputs.

Nothing here knows what a mechanism is made of, so an audit works on any callable: a class, a query, a whole server.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sfumato.audit.core.findings import EventFinding
from sfumato.audit.core.outputs import Columns, Outputs
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import positive_integer
from sfumato.privacy.guarantees import ApproxDP


class AuditedMechanism(Protocol):
    """Runs `count` times on a database, afresh each time, and gives the outputs in order.

    Outputs of several types belong in a list, or in an array of objects: other arrays of NumPy change some of them to
    fit the rest.
    """

    def __call__(self, database: Any, count: int, /) -> Outputs:
        """The outputs of `count` independent runs, exactly as many."""
        ...


class Releasing(Protocol):
    """What releases one answer for an exact value, as mechanisms do."""

    def release(self, exact: Any, /) -> Any:
        """The released answer on one database."""
        ...


@dataclass(frozen=True, slots=True)
class NeighborPair:
    """Two neighboring databases, or two that are some steps apart, and in words how they differ.

    A step is what the neighboring relation allows: one unit more, or one unit replaced. A claim about one step
    promises less about several, and often that lesser promise is the easier one to refute: a Gaussian mechanism of half
    the noise it needs breaks it far more clearly.

    Args:
        database: The first database.
        neighbor: The second database.
        description: How they differ, in words.
        distance: The number of steps between them, at least 1. A larger number weakens the audit; a smaller one makes
            it wrong.

    Raises:
        ParameterError: The description is no text, or the distance is not at least 1.

    Example:
        >>> NeighborPair(0, 16, "16 units more", distance=16).distance
        16
    """

    database: Any
    neighbor: Any
    description: str
    distance: int = 1

    def __post_init__(self) -> None:
        of_kind(self.description, "description", str, "text")
        positive_integer(self.distance, "distance")


def as_pair(given: Any) -> NeighborPair:
    """A pair, or two databases, and in words how they differ if there is a third.

    Raises:
        ParameterError: It is neither.
    """
    match given:
        case NeighborPair():
            return given
        case (database, neighbor):
            return NeighborPair(database, neighbor, "two databases")
        case (database, neighbor, str(description)):
            return NeighborPair(database, neighbor, description)
        case _:
            raise ParameterError("pairs", given, "must each be a NeighborPair, or a database and its neighbor")


def each_pair(given: Any) -> Iterator[NeighborPair]:
    """One pair after the other, as `as_pair` reads them; there may be too many to hold.

    Raises:
        ParameterError: There are no several, or one is no pair.
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ParameterError("pairs", given, "must be a list of neighbors")
    return map(as_pair, given)


class NeighborGenerator(Protocol):
    """Pairs of neighbors, the same ones in the same order each time."""

    def __iter__(self) -> Iterator[NeighborPair]:
        """The pairs."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """What outputs show on both databases of a pair, in a half to search in and a half to test on."""

    search: tuple[Columns, Columns]
    test: tuple[Columns, Columns]
    description: str
    distance: int = 1

    @property
    def samples(self) -> int:
        """How many runs there were on both databases together."""
        return sum(map(len, (*self.search, *self.test)))


class Tester(Protocol):
    """Looks for an event that contradicts the claim."""

    @property
    def name(self) -> str:
        """The name of the tester in reports."""
        ...

    def __call__(self, runs: Runs, *, claim: ApproxDP, significance: float) -> EventFinding:
        """What was found; a true claim is refuted with probability at most `significance`."""
        ...
