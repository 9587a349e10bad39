"""What the owner claims about rows of a table, which engines enforce by leaving rows out, whatever the data."""

from dataclasses import dataclass
from typing import TypeAlias

from sfumato.query.model.schema import Table


@dataclass(frozen=True, slots=True)
class HasOwner:
    """Each row has an owner, whom `unit` names; others are left out."""

    unit: str

    def __str__(self) -> str:
        return f"each row has an owner: {self.unit}"


@dataclass(frozen=True, slots=True)
class AtMost:
    """So many rows (of one unit, where rows have owners) have the same values in some columns; more are left out."""

    columns: tuple[str, ...]
    rows: int

    def __str__(self) -> str:
        rows = "one row" if self.rows == 1 else f"{self.rows} rows"
        return f"at most {rows} for each {', '.join(self.columns)}"


Claim: TypeAlias = HasOwner | AtMost


def claims_of(table: Table) -> tuple[Claim, ...]:
    """The claims about a table, in the order in which engines enforce them.

    Example:
        >>> from sfumato.query.model.schema import PUBLIC, text
        >>> wards = Table(name="wards", columns={"code": text()}, unit=PUBLIC, matches={("code",): 1})
        >>> [str(claim) for claim in claims_of(wards)]
        ['at most one row for each code']
    """
    owned = (HasOwner(str(table.unit)),) if table.has_owners else ()
    return (*owned, *(AtMost(columns, rows) for columns, rows in table.matches.items()))
