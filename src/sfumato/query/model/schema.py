"""Tables as the owner declares them: columns (see `columns`), who owns a row, contribution limits, matches."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, TypeAlias

from sfumato.errors import ParameterError, UnboundedSensitivityError
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import positive_integer, set_fields
from sfumato.privacy.neighbors import EACH_ROW, EachRow, UnitColumn
from sfumato.query.model.columns import (
    MAX_KEY,
    MAX_LENGTH,
    MAX_STEPS,
    Column,
    Key,
    boolean,
    date,
    integer,
    real,
    text,
    timestamp,
    unicode_text,
)
from sfumato.query.model.kinds import Kind

__all__ = [  # a table's vocabulary in one place, that of its columns included
    "MAX_KEY",
    "MAX_LENGTH",
    "MAX_LIMIT",
    "MAX_STEPS",
    "PUBLIC",
    "Column",
    "Key",
    "Limits",
    "Public",
    "Table",
    "TableUnit",
    "UnitPath",
    "boolean",
    "date",
    "integer",
    "real",
    "text",
    "timestamp",
    "unicode_text",
]

MAX_LIMIT: Final = 10**9
"""Limits of a unit are at most this, so that sums of what it has can be scaled within 127 bits."""

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The contribution bounds of one privacy unit: groups above a limit are sampled, rows above it are scaled.

    `statement.Statement` says which groups are kept, and how rows are scaled.

    Attributes:
        max_rows_per_unit: The most rows of one unit that count; None for no limit.
        max_groups_per_unit: The most groups of one unit that count; None for no limit.
        max_rows_per_group_per_unit: The most rows of one unit that count in one group; None for no limit.
    """

    max_rows_per_unit: int | None = None
    max_groups_per_unit: int | None = None
    max_rows_per_group_per_unit: int | None = None

    def __post_init__(self) -> None:
        for name in ("max_rows_per_unit", "max_groups_per_unit", "max_rows_per_group_per_unit"):
            if (value := getattr(self, name)) is not None and positive_integer(value, name) > MAX_LIMIT:
                raise ParameterError(name, value, f"must be at most {MAX_LIMIT:,}")

    @property
    def bound_rows(self) -> bool:
        """Whether the limits bound the rows of one unit, in one group or in all groups."""
        return self.max_rows_per_unit is not None or self.max_rows_per_group_per_unit is not None


@dataclass(frozen=True, slots=True)
class Public:
    """Nobody's rows: the whole table is public."""

    def __str__(self) -> str:
        return "public"


PUBLIC: Final = Public()


@dataclass(frozen=True, slots=True)
class UnitPath:
    """A row belongs to the unit that owns the row of `table` whose `key` equals this row's `column`.

    A row without an owner is dropped. A row with several owners belongs to each of them, so the rows of a unit never
    depend on other units.
    """

    column: str
    table: "Table"
    key: str

    def __post_init__(self) -> None:
        of_kind(self.key, "key", str, "the name of a column, as text")
        set_fields(self, table=of_kind(self.table, "table", Table, "a Table").with_ids(self.key))

    def __str__(self) -> str:
        return f"{self.column} -> {self.table.name}({self.key}).{self.table.unit}"


TableUnit: TypeAlias = EachRow | UnitColumn | UnitPath | Public


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table as the policy declares it.

    Attributes:
        name: The name of the table in queries.
        columns: The declared columns; queries cannot read other columns.
        unit: Who owns a row.
        limits: The contribution bounds of one unit in one query.
        matches: How many rows (of one unit, if rows have owners) may share the values of some columns. Rows above that
            are left out whenever the table is read, so joins can rely on it.
        keeps_rows: Whether every record of the source is a row, so that replacing one never changes their number. True
            for tables in memory and for Parquet. A line of a CSV file may be empty, or part of a quoted field.

    Raises:
        UnboundedSensitivityError: A table whose rows have owners, without a limit on rows.
        ParameterError: Limits for a table whose rows have no owners, or names of unknown columns.
    """

    name: str
    columns: Mapping[str, Column]
    unit: TableUnit = EACH_ROW
    limits: Limits = Limits()
    matches: Mapping[tuple[str, ...], int] = field(default_factory=dict)
    keeps_rows: bool = False

    def __post_init__(self) -> None:
        self._check_kinds()
        set_fields(self, columns=MappingProxyType(dict(self.columns)), matches=MappingProxyType(dict(self.matches)))
        lowered = {name.lower() for name in self.columns}
        if not self.columns:
            raise ParameterError("columns", self.name, "must declare at least one, such as age=integer(17, 90)")
        if len(lowered) != len(self.columns):
            raise ParameterError("columns", self.name, "must differ in more than upper and lower case")
        self._check_matches()
        if isinstance(self.unit, EachRow | Public):
            self._check_no_limits()
        else:
            self._check_unit(self.unit)
        set_fields(self, columns=MappingProxyType(_with_ids(self.columns, self._id_columns)))

    def _check_kinds(self) -> None:
        of_kind(self.name, "name", str, "the name of the table, as text")
        declared = of_kind(
            self.columns, "columns", Mapping, 'columns by their names, such as {"age": sf.integer(0, 99)}'
        )
        for name, column in declared.items():
            of_kind(name, "columns", str, "named by text")
            of_kind(column, f"columns[{name!r}]", Column, "declared, as by sf.integer(0, 99) or sf.text()")
        of_kind(self.matches, "matches", Mapping, 'how many rows may match by columns, such as {"day": 1}')
        of_kind(self.limits, "limits", Limits, "sf.Limits(max_rows_per_unit=10) or another of its limits")
        of_kind(self.unit, "unit", (EachRow, UnitColumn, UnitPath, Public), 'sf.EACH_ROW, or sf.UnitColumn("person")')

    @property
    def _id_columns(self) -> frozenset[str]:
        """The columns that tell people or rows apart, by what is declared of this table."""
        unit = {self.unit.column} if isinstance(self.unit, UnitColumn | UnitPath) else set()
        return frozenset(unit.union(*self.matches))

    def with_ids(self, *names: str) -> "Table":
        """The table with more columns of ids: those to which the paths of other tables lead."""
        columns = _with_ids(self.columns, frozenset(names))
        return self if columns == self.columns else replace(self, columns=columns)

    @property
    def has_owners(self) -> bool:
        """Whether rows belong to units that may own several."""
        return isinstance(self.unit, UnitColumn | UnitPath)

    @property
    def is_public(self) -> bool:
        """Whether the whole table is public."""
        return isinstance(self.unit, Public)

    @property
    def owner_text(self) -> str:
        """The owner of its rows as text: the same text for the same unit, and for no other unit.

        Example:
            >>> one = Limits(max_rows_per_unit=1)
            >>> Table(name="t", columns={"id": text()}, unit=UnitColumn("id"), limits=one).owner_text
            'id (text)'
        """
        match self.unit:
            case UnitColumn(column):
                return self._with_kind(column)
            case UnitPath(column, table, key):
                return f"{self._with_kind(column)} -> {_written(table.name)}({_written(key)}), {table.owner_text}"
            case _:
                return str(self.unit)

    def _with_kind(self, column: str) -> str:
        return f"{_written(column)} ({self.column(column).as_declared.kind})"

    @property
    def unit_kind(self) -> Kind:
        """The kind of the values that identify units.

        Raises:
            ParameterError: The rows have no owners.
        """
        match self.unit:
            case UnitColumn(column):
                return self.column(column).kind
            case UnitPath(_, table, _):
                return table.unit_kind
            case _:
                raise ParameterError("unit", str(self.unit), f"must name who owns the rows of {self.name}")

    def _check_matches(self) -> None:
        for names, most in self.matches.items():
            if tuple(names) != names or not names or len(set(names)) != len(names):  # "ab" is no ("a", "b")
                raise ParameterError("matches", names, 'must name one or more columns, each once, such as ("code",)')
            for name in names:
                self.column(name)
            if positive_integer(most, "matches") > MAX_LIMIT:
                raise ParameterError("matches", most, f"must be at most {MAX_LIMIT:,}")
        if len({frozenset(names) for names in self.matches}) != len(self.matches):
            raise ParameterError("matches", list(self.matches), "must name each set of columns once")

    def _check_no_limits(self) -> None:
        if self.limits != Limits():
            raise ParameterError("limits", self.name, "belong to a table with a unit column; each row has one row")
        if self.matches and not self.is_public:
            raise ParameterError("matches", self.name, "belong to a public table, or to one with a unit column")

    def _check_unit(self, unit: UnitColumn | UnitPath) -> None:
        if unit.column not in self.columns:
            raise ParameterError("unit", unit.column, f"must be a column of {self.name}: {', '.join(self.columns)}")
        _check_ids(unit.column, self.columns[unit.column])
        if isinstance(unit, UnitPath):
            _check_path(unit, self.columns[unit.column].kind)
        if not self.limits.bound_rows:
            raise UnboundedSensitivityError(
                self.name,
                unit.column,
                "Declare max_rows_per_unit, or max_rows_per_group_per_unit with max_groups_per_unit.",
            )

    def column(self, name: str) -> Column:
        """The facts of one column.

        Raises:
            ParameterError: There is no such column.
        """
        try:
            return self.columns[name]
        except KeyError:
            raise ParameterError(
                "column", name, f"must be a column of {self.name}: {', '.join(self.columns)}"
            ) from None


def _with_ids(columns: Mapping[str, Column], names: frozenset[str]) -> dict[str, Column]:
    """The columns, of which texts of these names are ids."""
    return {
        name: replace(column, is_id=True) if name in names and column.kind is Kind.TEXT else column
        for name, column in columns.items()
    }


def _written(name: str) -> str:
    """A name as it is, or in quotation marks where it is no word."""
    return name if _WORD.fullmatch(name) else json.dumps(name)


def _check_ids(name: str, column: Column) -> None:
    if column.kind not in {Kind.TEXT, Kind.INTEGER}:
        raise ParameterError(
            "unit", name, "must be text or whole numbers, because equal floats may differ in the last digit"
        )
    if not column.nullable:
        raise ParameterError("unit", name, "must be nullable, so that a row without an owner is left out")


def _check_path(unit: UnitPath, kind: Kind) -> None:
    if not unit.table.has_owners:
        raise ParameterError("unit", str(unit), f"must lead to a table with owners; {unit.table.name} has none")
    key = unit.table.column(unit.key)
    _check_ids(unit.key, key)
    if key.kind is not kind:
        raise ParameterError("unit", str(unit), f"must lead to a column of the same kind; {kind} is not {key.kind}")
