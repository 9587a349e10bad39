"""How many values each column of a table may have: declared, so public."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType
from typing import Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of, listed, of_kind
from sfumato.numeric.rationals import positive_integer, set_fields
from sfumato.query.model.columns import unicode_text

Columns: TypeAlias = tuple[str, ...]

MOST_COLUMNS: Final = 300
MOST_VALUES: Final = 1 << 31
"""Of one column."""
_WANTED: Final = "a mapping of at least one column to how many values it has, such as {'sex': 2, 'age': 85}"


@dataclass(frozen=True, slots=True, init=False)
class TableShape:
    """The columns of a table, each with how many values it may have. A value is a number from 0.

    A missing value is one of them: a column with 7 values that may be missing has size 8.

    Args:
        sizes: For each column its size, at least 1. The order is that of the axes of all arrays.

    Raises:
        ParameterError: There is no column or more than 300, a name is no text, or a size is not from 1 to 2^31.

    Example:
        >>> shape = TableShape({"sex": 2, "smokes": 3})
        >>> shape.cells(), shape.cells(["smokes"])
        (6, 3)
    """

    sizes: Mapping[str, int] = field(hash=False)

    def __init__(self, sizes: Mapping[str, int]) -> None:
        given = of_kind(sizes, "sizes", Mapping, _WANTED)
        if not 0 < len(given) <= MOST_COLUMNS:
            raise ParameterError("sizes", f"{len(given):,} columns", f"must be {_WANTED}, at most {MOST_COLUMNS:,}")
        named = {
            unicode_text(of_kind(name, "sizes", str, _WANTED), "sizes"): positive_integer(
                size, "sizes", most=MOST_VALUES
            )
            for name, size in given.items()
        }
        set_fields(self, sizes=MappingProxyType(named))

    def cells(self, columns: Iterable[str] | None = None) -> int:
        """How many combinations of values these columns have, or all.

        Raises:
            ParameterError: Something is no column.
        """
        return prod(self.sizes.values() if columns is None else self.lengths(self.ordered(columns)))

    def lengths(self, columns: Columns) -> tuple[int, ...]:
        """The lengths of the axes of an array over these columns, in their order."""
        return tuple(self.sizes[column] for column in columns)

    def ordered(self, columns: Iterable[str], name: str = "columns") -> Columns:
        """The same columns in the order of the table.

        Args:
            columns: Names, each once.
            name: What they are called in errors.

        Raises:
            ParameterError: One is no column, or is named twice.

        Example:
            >>> TableShape({"sex": 2, "smokes": 3}).ordered(["smokes", "sex"])
            ('sex', 'smokes')
        """
        named = self.checked(columns, name)
        return tuple(column for column in self.sizes if column in named)

    def checked(self, columns: Iterable[str], name: str = "columns") -> Columns:
        """The same columns, each of which is one of the table, in the order in which they are named.

        Raises:
            ParameterError: One is no column, or is named twice.
        """
        named = listed(columns, name, of="columns")
        for column in named:
            if not is_one_of(column, self.sizes):
                raise ParameterError(name, column, f"must be columns of the table: {', '.join(self.sizes)}")
        if len(set(named)) != len(named):
            raise ParameterError(name, list(named), "must be named once each")
        return named
