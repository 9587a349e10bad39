"""What may change between two neighboring databases, and who the change is about."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind


class NeighboringRelation(StrEnum):
    """How a database may differ from its neighbor: by one privacy unit, all of its rows together."""

    ADD_OR_REMOVE_ONE = "add_or_remove_one"
    """One unit is present in one database and absent from the other."""

    REPLACE_ONE = "replace_one"
    """One unit's rows are exchanged for any other rows; the number of units is public."""


ADD_OR_REMOVE_ONE: Final = NeighboringRelation.ADD_OR_REMOVE_ONE
REPLACE_ONE: Final = NeighboringRelation.REPLACE_ONE


def as_relation(value: object) -> NeighboringRelation:
    """The relation itself, also of its name: an unknown one must not pass for the weaker of the two.

    Raises:
        ParameterError: It is neither of them.

    Example:
        >>> as_relation("replace_one") is REPLACE_ONE
        True
    """
    try:
        return NeighboringRelation(str(value))
    except ValueError:
        raise ParameterError("neighboring_relation", value, "must be ADD_OR_REMOVE_ONE or REPLACE_ONE") from None


@dataclass(frozen=True, slots=True)
class EachRow:
    """Every row is a privacy unit of its own: right only if no person has two rows."""

    def __str__(self) -> str:
        return "each row"


@dataclass(frozen=True, slots=True)
class UnitColumn:
    """All rows with the same value in a column belong to one privacy unit; rows without a value are dropped."""

    column: str

    def __post_init__(self) -> None:
        of_kind(self.column, "column", str, "the name of a column, as text")

    def __str__(self) -> str:
        return self.column


EACH_ROW: Final = EachRow()
PrivacyUnit: TypeAlias = EachRow | UnitColumn
