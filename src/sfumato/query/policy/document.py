"""What a policy file may hold: its entries with their types, checked by pydantic, and the columns they declare."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from sfumato.errors import ParameterError, PolicyError
from sfumato.numeric.rationals import exact
from sfumato.query.model.columns import bound_of
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Column
from sfumato.query.policy.policy import Place

Number = str | int | float


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ColumnEntry(_Entry):
    """`[tables.visits.columns.hours]`."""

    type: Literal["integer", "float", "text", "boolean", "date", "timestamp"] | None = None
    bounds: Annotated[list[Number | datetime | date], Field(min_length=2, max_length=2)] | None = None
    resolution: Number | None = None
    values: list[bool | int | str | datetime | date] | None = None
    values_from: str | None = None
    nullable: bool = True
    max_length: int | None = None


class MatchEntry(_Entry):
    """One of `max_matches`: at most so many rows have the same values in some columns."""

    columns: list[str]
    rows: int


class CsvEntry(_Entry):
    """`[tables.visits.csv]`."""

    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    thousands: str | None = None
    dates: str | list[str] = []
    null: str | list[str] = []
    skip_lines: int = 0


class TableEntry(_Entry):
    """`[tables.visits]`.

    An item of `unique` is the name of a column, or a list of columns whose values together are found once.
    """

    source: str
    unit: str
    names: list[str] | None = None
    csv: CsvEntry | None = None
    accepted_risks: list[str] = []
    snapshot: str | None = None
    max_rows_per_unit: int | None = None
    max_groups_per_unit: int | None = None
    max_rows_per_group_per_unit: int | None = None
    unique: list[str | list[str]] = []
    max_matches: list[MatchEntry] = []
    columns: dict[str, ColumnEntry]


class ViewEntry(_Entry):
    """`[views.adults]`."""

    sql: str


class UnitEntry(_Entry):
    """`[unit]`."""

    name: str
    neighboring_relation: Literal["add_or_remove_one", "replace_one"] = "add_or_remove_one"


class PolicyDocument(_Entry):
    """The whole file."""

    version: str
    data_version: str | None = None
    dataset: str | None = None
    derived_from: list[str] = []
    beside: list[str] = []
    shares_answers: bool = False
    unit: UnitEntry
    tables: Annotated[dict[str, TableEntry], Field(min_length=1)]
    views: dict[str, ViewEntry] = {}


_RESOLUTION: Final = {Kind.FLOAT: "0.01"}
_KINDS: Final = {
    bool: Kind.BOOLEAN, int: Kind.INTEGER, str: Kind.TEXT, date: Kind.DATE, datetime: Kind.TIMESTAMP,
}  # fmt: skip


def column_of(place: str, entry: ColumnEntry, tables: Mapping[str, TableEntry]) -> Column:
    """The column that an entry declares.

    Args:
        place: Where it stands in the file, for errors.
        entry: What stands there.
        tables: All tables of the file, because keys may come from a column of another.

    Raises:
        PolicyError: It says something impossible.
    """
    kind = _stated_kind(entry) or _kind_of_origin(entry, tables)
    if kind is None:
        raise PolicyError(place, 'needs a type, such as type = "integer", or values of one type')
    if entry.values is not None and entry.values_from is not None:
        raise PolicyError(place, "must have values or values_from, not both")
    values = None if entry.values is None else tuple(entry.values)
    if kind is Kind.BOOLEAN:
        values = values or (False, True)
    try:
        lower, upper = (None, None) if entry.bounds is None else (bound_of(e, "bounds", kind) for e in entry.bounds)
        resolution = _RESOLUTION.get(kind, "1") if entry.resolution is None else entry.resolution
        return Column(
            kind=kind, lower=lower, upper=upper, resolution=exact(resolution, "resolution"), values=values,
            nullable=entry.nullable, max_length=entry.max_length,
        )  # fmt: skip
    except ParameterError as error:
        raise PolicyError(place, str(error)) from None


def origin_of(values_from: str) -> Place:
    """The column behind ``"wards.code"``; one that does not exist if there is no point in it.

    Example:
        >>> origin_of("wards.code")
        Place(table='wards', column='code')
    """
    table, _, column = values_from.partition(".")
    return Place(table, column)


def _stated_kind(entry: ColumnEntry) -> Kind | None:
    """The type, or that of the listed keys if they have one."""
    if entry.type is not None:
        return Kind(entry.type)
    found = {_KINDS[type(value)] for value in entry.values or ()}
    return found.pop() if len(found) == 1 else None


def _kind_of_origin(entry: ColumnEntry, tables: Mapping[str, TableEntry]) -> Kind | None:
    """What is stated of the column from which the keys come."""
    origin = origin_of(entry.values_from or "")
    table = tables.get(origin.table)
    facts = None if table is None else table.columns.get(origin.column)
    return None if facts is None else _stated_kind(facts)
