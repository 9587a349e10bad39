"""The owner's policy as a value: tables, where their rows come from, who a person is, and the version of all this."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from sfumato.errors import ParameterError
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, as_relation
from sfumato.query.schema import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFacts:
    """Where the rows of a table come from: a path or a frame, and the names of a CSV file that has no header."""

    source: Any = field(repr=False)  # a frame shows its rows
    names: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the owner declares about one database of people.

    Attributes:
        dataset: The name of the account that pays for every question about these people.
        version: Raised by the owner when declarations change.
        data_version: Raised by the owner when the data changes; stored answers of another version are not used again.
        unit_name: What one privacy unit is called, such as "patient".
        neighboring_relation: What may change between neighbouring databases.
        tables: The declared tables by name.
        sources: Where the rows of each table come from.
    """

    dataset: str
    version: str
    data_version: str
    unit_name: str
    tables: Mapping[str, Table]
    sources: Mapping[str, SourceFacts]
    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE

    def __post_init__(self) -> None:
        if not self.tables or self.tables.keys() != self.sources.keys():
            raise ParameterError("tables", list(self.tables), "must be at least one, each with a source")
        if len({name.lower() for name in self.tables}) != len(self.tables):
            raise ParameterError("tables", list(self.tables), "must have names that differ in more than case")
        object.__setattr__(self, "neighboring_relation", as_relation(self.neighboring_relation))
        object.__setattr__(self, "tables", MappingProxyType(dict(self.tables)))
        object.__setattr__(self, "sources", MappingProxyType(dict(self.sources)))
