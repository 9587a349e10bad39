"""The owner's policy as a value: tables, where their rows come from, who a person is, and the version of all this."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import set_fields
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, NeighboringRelation, UnitColumn, as_relation
from sfumato.query.model.columns import Column
from sfumato.query.model.csv_format import CsvFormat
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Table, UnitPath

_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+]+:")


def is_address(source: str) -> bool:
    """Whether a source is the address of a table, such as ``postgresql://…``, and not a file."""
    return _ADDRESS.match(source) is not None


class Risk(StrEnum):
    """A risk of a source that the owner accepts by name, because it cannot be ruled out automatically."""

    ROW_SECURITY = "row_security"
    """Row-level security of PostgreSQL hides rows from the role: answers cover only the other rows."""

    FAILING_ROWS = "failing_rows"
    """The definition may fail on some row. A failed query then reveals one exact bit about a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFacts:
    """Where the rows of a table come from.

    Attributes:
        source: A path, an address or a frame.
        names: The names of a CSV file without a header.
        accepted_risks: The risks of the source that the owner accepts: names of `Risk`.
        snapshot: The Parquet file that is read instead of the source; `sf.prepare` writes it.
        csv: The format of a CSV file, if it is not UTF-8 with commas; `sf.csv` makes one.

    Raises:
        ParameterError: An unknown risk, or a format that is not a `CsvFormat`.
    """

    source: Any = field(repr=False)  # a frame shows its rows
    names: tuple[str, ...] | None = None
    accepted_risks: Collection[str] = ()
    snapshot: str | PathLike[str] | None = None
    csv: CsvFormat | None = None

    def __post_init__(self) -> None:
        if self.csv is not None and not isinstance(self.csv, CsvFormat):
            raise ParameterError("csv", self.csv, 'must be a CsvFormat, such as sf.CsvFormat(delimiter=";")')
        if isinstance(self.accepted_risks, str) or not set(self.accepted_risks) <= set(Risk):
            raise ParameterError("accepted_risks", self.accepted_risks, f"must be a list of: {', '.join(Risk)}")
        set_fields(self, accepted_risks=tuple(self.accepted_risks))

    @property
    def accepted(self) -> frozenset[Risk]:
        """The accepted risks of the source, as members of `Risk`."""
        return frozenset(map(Risk, self.accepted_risks))


def csv(
    path: str | PathLike[str],
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
    decimal: str = ".",
    thousands: str | None = None,
    dates: str | Iterable[str] = (),
    null: str | Iterable[str] = (),
    skip_lines: int = 0,
    names: Iterable[str] | None = None,
) -> SourceFacts:
    """A CSV file as a source, with its format; the arguments are those of `CsvFormat`.

    Args:
        path: The file; ``.csv.gz`` and ``.csv.zst`` are compressed.
        delimiter: The separator of fields, such as ``";"`` or a tab.
        encoding: The encoding: ``"utf-8"``, ``"latin-1"``, ``"cp1252"``, ``"utf-16"``.
        decimal: The decimal point: ``"."`` or ``","``.
        thousands: The separator of groups of three digits, such as ``"."``.
        dates: The format of dates and times, such as ``"%d.%m.%Y"``; default: ISO 8601.
        null: Texts that mean NULL besides empty fields, such as ``["NA"]``.
        skip_lines: The number of lines before the header.
        names: The columns of a file without a header.

    Raises:
        ParameterError: A format that cannot be read, or is ambiguous.

    Example:
        >>> visits = csv("visits.csv", delimiter=";", encoding="latin-1", decimal=",", dates="%d.%m.%Y", null=["NA"])
        >>> visits.csv.delimiter
        ';'
    """
    if not isinstance(path, str | PathLike):
        raise ParameterError("path", type(path).__name__, "must be a path to a CSV file")
    written = CsvFormat(
        delimiter=delimiter, encoding=encoding, decimal=decimal, thousands=thousands, skip_lines=skip_lines,
        dates=dates, null=null,
    )  # fmt: skip
    source = path if isinstance(path, str) else Path(path)
    return SourceFacts(source=source, names=None if names is None else listed(names, "names", of="names"), csv=written)


@dataclass(frozen=True, slots=True)
class Place:
    """A column of a table, such as the one that lists public keys."""

    table: str
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The owner's declarations about one database of people.

    Attributes:
        dataset: The name of the ledger account that is charged for every query about these people.
        version: A text that the owner changes whenever declarations change.
        data_version: A text that the owner changes whenever the data change; stored answers of other versions are not
            returned.
        unit_name: The name of one privacy unit, such as "patient".
        neighboring_relation: What may change between neighboring databases.
        tables: The declared tables by name. Equal ids are one person in all tables.
        sources: Where the rows of each table come from, also of public tables.
        views: SELECT statements by name, which are queried like tables; a view may read tables and earlier views.
        values_from: Columns whose public keys are all values of a column of a public table, read when a session opens.
        derived_from: Other datasets with the same people: their accounts are also charged for queries to this one.
        beside: Other datasets with the same data that protect another unit: neither account is charged for the other,
            and both budgets add up for the same people.
        shares_answers: Whether accounts of this dataset get each other's stored answers, and are charged for them.

    Raises:
        ParameterError: Names that clash or do not exist, or tables that are not about the same people.
    """

    dataset: str
    version: str
    data_version: str
    unit_name: str
    tables: Mapping[str, Table]
    sources: Mapping[str, SourceFacts]
    neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE
    views: Mapping[str, str] = field(default_factory=dict)
    values_from: Mapping[Place, Place] = field(default_factory=dict)
    derived_from: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    shares_answers: bool = False

    def __post_init__(self) -> None:
        if not self.tables or self.tables.keys() != self.sources.keys():
            raise ParameterError("tables", list(self.tables), "must be at least one, each with a source")
        if not self.dataset or "/" in self.dataset:
            raise ParameterError(
                "dataset", self.dataset, "must be a name without a slash, which separates it from accounts"
            )
        names = [*self.tables, *self.views]
        if len({name.lower() for name in names}) != len(names):
            raise ParameterError("tables", names, "must have names that differ in more than case, views included")
        mappings = ("tables", "sources", "views", "values_from")
        set_fields(
            self,
            neighboring_relation=as_relation(self.neighboring_relation),
            **{name: MappingProxyType(dict(getattr(self, name))) for name in mappings},
        )
        set_fields(self, tables=MappingProxyType(_with_ids_of_paths(self.tables)))
        for name, table in self.tables.items():
            self._check_table(name, table)
        self._check_units()
        for place, origin in self.values_from.items():
            self._check_values_from(place, origin)

    def with_tables(self, changes: Callable[[Table], Mapping[str, Any]]) -> "Policy":
        """The policy with changed fields of every table; paths between tables lead to the changed tables."""
        changed: dict[str, Table] = {}

        def rebuilt(table: Table) -> Table:
            if table.name not in changed:
                path = table.unit
                unit = replace(path, table=rebuilt(path.table)) if isinstance(path, UnitPath) else path
                changed[table.name] = replace(table, unit=unit, **changes(table))
            return changed[table.name]

        return replace(self, tables={name: rebuilt(table) for name, table in self.tables.items()})

    def with_text_ids(self, texts: Iterable[Place]) -> "Policy":
        """The policy in which ids that are declared as integers are text, where a source holds some of them as text.

        Text can hold whole numbers beyond 64 bits, and people whose ids were NULL would be left out. All columns of the
        same ids change together, so that they still match. Nothing changes if bounds or public keys are declared for
        one of them. The change depends only on declarations and storage types.

        Args:
            texts: The columns that their sources hold as text.
        """
        held, same = set(texts), dict[Place | None, set[Place]]()
        for name, table in self.tables.items():
            if isinstance(table.unit, UnitColumn | UnitPath):
                ids = same.setdefault(_ids_in(table, table.unit.column), set())
                ids.add(Place(name, table.unit.column))
                if isinstance(table.unit, UnitPath):
                    ids.add(Place(table.unit.table.name, table.unit.key))
        long = [ids for ids in same.values() if ids & held and all(map(self._may_be_long, ids))]
        changed = frozenset[Place]().union(*long)

        def with_changed(table: Table) -> Mapping[str, Any]:
            here = {name: _WHOLE_ID for name in table.columns if Place(table.name, name) in changed}
            return {"columns": dict(table.columns) | here}

        return self.with_tables(with_changed) if changed else self

    def _may_be_long(self, place: Place) -> bool:
        """Whether a column of ids is declared as an integer, and nothing says how large it is."""
        column = self.tables[place.table].column(place.column)
        is_limited = column.lower is not None or column.values is not None or place in self.values_from
        return column.kind is Kind.INTEGER and not is_limited

    def _check_table(self, name: str, table: Table) -> None:
        if table.name != name:
            raise ParameterError(f"tables.{name}", table.name, "must be a table of this name")
        if isinstance(table.unit, UnitPath) and self.tables.get(table.unit.table.name) != table.unit.table:
            raise ParameterError(f"tables.{name}.unit", str(table.unit), "must lead to a table of this policy")

    def _check_units(self) -> None:
        kinds: dict[Kind, str] = {table.unit_kind: name for name, table in self.tables.items() if table.has_owners}
        if len(kinds) > 1:
            shown = ", ".join(f"{name}: {kind}" for kind, name in kinds.items())
            raise ParameterError(
                "tables",
                shown,
                f"must identify every {self.unit_name} by ids of one kind, as all are about the same people",
            )

    def _check_values_from(self, place: Place, origin: Place) -> None:
        name = f"tables.{place.table}.columns.{place.column}.values_from"
        if any(at.table not in self.tables or at.column not in self.tables[at.table].columns for at in (place, origin)):
            raise ParameterError(name, str(origin), 'must be a column of a public table, such as "wards.code"')
        if not self.tables[origin.table].is_public:
            raise ParameterError(name, str(origin), 'must be a column of a table of which the unit is "public"')
        own, other = (self.tables[at.table].column(at.column).kind for at in (place, origin))
        if own is not other or own is Kind.FLOAT:
            raise ParameterError(name, f"{own} from {other}", "must be of one kind, and no float, to be keys")


_WHOLE_ID: Final = Column(kind=Kind.TEXT, is_id=True, is_whole=True)


def _ids_in(table: Table, column: str) -> Place | None:
    """What the ids in a column are of: None of the units themselves, else where paths lead to."""
    match table.unit:
        case UnitColumn(name) if name == column:
            return None
        case UnitPath(name, other, key) if name == column:
            return _ids_in(other, key)
        case _:
            return Place(table.name, column)


def _with_ids_of_paths(tables: Mapping[str, Table]) -> dict[str, Table]:
    """The tables, in which the columns that paths lead to are ids."""
    keys: dict[str, set[str]] = {}
    for table in tables.values():
        if isinstance(table.unit, UnitPath):
            keys.setdefault(table.unit.table.name, set()).add(table.unit.key)

    def marked(table: Table) -> Table:
        new = table.with_ids(*keys.get(table.name, ()))
        path = new.unit
        return replace(new, unit=replace(path, table=marked(path.table))) if isinstance(path, UnitPath) else new

    return {name: marked(table) for name, table in tables.items()}


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
