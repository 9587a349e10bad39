"""Tables stored anew for quick questions, and what their owner hears of it: how many rows break what was claimed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from sfumato.query.claims import Claim
from sfumato.query.schema import Table


@runtime_checkable
class Preparing(Protocol):
    """An engine that can store tables clustered by unit."""

    def prepare(self, table: Table) -> None:
        """Store a table as questions read it; answers stay the same. One that is stored already stays as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """For the owner alone: exact numbers of private rows, shown by `print` and kept nowhere.

    Attributes:
        violations: For each table, its claims and how many rows break each of them.
    """

    violations: Mapping[str, Mapping[Claim, int]] = field(repr=False)

    def __post_init__(self) -> None:
        frozen = {name: MappingProxyType(dict(claims)) for name, claims in self.violations.items()}
        object.__setattr__(self, "violations", MappingProxyType(frozen))

    def __repr__(self) -> str:
        return f"<Preparation of {', '.join(self.violations)}: print it to see what breaks the claims; for the owner>"

    def __str__(self) -> str:
        return "\n".join(line for name, claims in self.violations.items() for line in _lines(name, claims))


def _lines(name: str, claims: Mapping[Claim, int]) -> Iterator[str]:
    yield f"{name}: nothing is claimed" if not claims else f"{name}:"
    for claim, count in claims.items():
        yield f"  {claim}: {count:,} {'row does' if count == 1 else 'rows do'} not hold to it"
