"""What a policy file may hold: its entries and their types, checked by pydantic; what they mean is said elsewhere."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Number = str | int | float


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ColumnEntry(_Entry):
    """`[tables.visits.columns.hours]`."""

    type: Literal["integer", "float", "text", "boolean", "date", "timestamp"] | None = None
    bounds: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = None
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
