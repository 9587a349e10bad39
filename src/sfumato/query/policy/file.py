"""Policy files: TOML, validated, with the path of what is wrong in every error.

Tables may be written in any order: one whose unit is a path is made after the table to which it leads.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from sfumato.errors import ParameterError, PolicyError, SfumatoError
from sfumato.privacy.formats import parse_toml
from sfumato.privacy.neighbors import EACH_ROW, NeighboringRelation, UnitColumn
from sfumato.query.model.csv_format import CsvFormat
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import PUBLIC, Column, Limits, Table, TableUnit, UnitPath
from sfumato.query.policy.document import PolicyDocument, TableEntry, column_of, origin_of
from sfumato.query.policy.policy import Place, Policy, SourceFacts, is_address


def load_policy(path: str | Path) -> Policy:
    """The policy in a TOML file; relative sources are looked for beside it.

    Raises:
        PolicyError: The file is no TOML, or says something impossible; the error names the place.
        ParameterError: There is no such file.
    """
    file = Path(path)
    document = _document(file)
    tables = policy_tables(document.tables)
    with _placed():
        return Policy(
            dataset=document.dataset or file.stem,
            version=document.version,
            data_version=document.data_version or document.version,
            unit_name=document.unit.name,
            neighboring_relation=NeighboringRelation(document.unit.neighboring_relation),
            tables=tables,
            sources={name: _source(file.parent, name, entry) for name, entry in document.tables.items()},
            views={name: entry.sql for name, entry in document.views.items()},
            values_from=dict(_values_from(document.tables)),
            derived_from=tuple(document.derived_from),
            beside=tuple(document.beside),
            shares_answers=document.shares_answers,
        )


def _document(file: Path) -> PolicyDocument:
    try:
        content = parse_toml(file.read_text("utf-8"))
    except OSError:
        raise ParameterError("policy", str(file), "must be an existing TOML file") from None
    except ValueError as error:
        raise PolicyError(file.name, f"the file is not TOML: {error}") from None
    try:
        return PolicyDocument.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise PolicyError(".".join(map(str, first["loc"])) or "the top", first["msg"]) from None


@contextmanager
def _placed() -> Iterator[None]:
    """What a `Policy` refuses, at the place in the file that it names."""
    try:
        yield
    except ParameterError as error:
        raise PolicyError(error.name, f"{error.value}: {error.requirement}") from None


def _source(folder: Path, name: str, entry: TableEntry) -> SourceFacts:
    source = entry.source if is_address(entry.source) else folder / entry.source
    names = None if entry.names is None else tuple(entry.names)
    snapshot = None if entry.snapshot is None else folder / entry.snapshot
    return SourceFacts(
        source=source, names=names, accepted_risks=entry.accepted_risks, snapshot=snapshot, csv=_csv(name, entry)
    )  # fmt: skip


def _csv(name: str, entry: TableEntry) -> CsvFormat | None:
    try:
        return None if entry.csv is None else CsvFormat(**entry.csv.model_dump())
    except ParameterError as error:
        raise PolicyError(f"tables.{name}.csv.{error.name}", f"{error.value}: {error.requirement}") from None


def _values_from(entries: Mapping[str, TableEntry]) -> Iterator[tuple[Place, Place]]:
    for name, table in entries.items():
        for column, entry in table.columns.items():
            if entry.values_from is not None:
                yield Place(name, column), origin_of(entry.values_from)


_WORDS: Final[Mapping[str, TableUnit]] = {"row": EACH_ROW, "public": PUBLIC}
_ARROW: Final = "->"
_PATH: Final = re.compile(
    r"(?P<column>.+?)\s*->\s*(?P<table>[^().]+?)\s*([(]\s*(?P<key>[^()]+?)\s*[)])?\s*([.]\s*(?P<owner>[^().]+))?"
)
"""``order_id -> orders``, ``order_id -> orders.customer_id``, ``order_id -> orders(id).customer_id``."""


def policy_tables(entries: Mapping[str, TableEntry]) -> dict[str, Table]:
    """The tables of a policy file, in its order.

    Raises:
        PolicyError: A table says something impossible, or a path leads nowhere or in a circle.
    """
    tables = _Tables(entries)
    return {name: tables.table(name) for name in entries}


class _Tables:
    """Tables by name, each made when it is first needed."""

    def __init__(self, entries: Mapping[str, TableEntry]) -> None:
        self._entries = entries
        self._made: dict[str, Table] = {}

    def table(self, name: str, way: tuple[str, ...] = ()) -> Table:
        """A table, for those on the `way`, whose paths lead here."""
        if name not in self._made:
            self._made[name] = self._table(name, (*way, name))
        return self._made[name]

    def _table(self, name: str, way: tuple[str, ...]) -> Table:
        place, entry = f"tables.{name}", self._entries[name]
        columns = {
            column: column_of(f"{place}.columns.{column}", facts, self._entries)
            for column, facts in entry.columns.items()
        }
        unit, matches = self._unit(f"{place}.unit", entry.unit.strip(), way), _matches(place, entry)
        try:
            if isinstance(unit, UnitColumn | UnitPath):
                kind = Kind.TEXT if isinstance(unit, UnitColumn) else unit.table.column(unit.key).kind
                columns.setdefault(unit.column, Column(kind=kind))  # one that is not declared
            return Table(name=name, columns=columns, unit=unit, limits=_limits(entry), matches=matches)
        except SfumatoError as error:
            raise PolicyError(place, str(error)) from None

    def _unit(self, place: str, written: str, way: tuple[str, ...]) -> TableUnit:
        if _ARROW not in written:
            return _WORDS.get(written) or UnitColumn(written)
        path = _PATH.fullmatch(written)
        if path is None or written.count(_ARROW) > 1:
            raise PolicyError(
                place, 'must be one foreign key, such as "order_id -> orders(id)"; declare the next one on orders'
            )
        table = self._end_of_path(place, path["table"], way)
        if path["owner"] is not None and table.unit != UnitColumn(path["owner"]):
            raise PolicyError(place, f"{path['owner']} is not the unit of {table.name}, which is {table.unit}")
        return UnitPath(path["column"], table, path["key"] or path["column"])

    def _end_of_path(self, place: str, name: str, way: tuple[str, ...]) -> Table:
        if name not in self._entries:
            raise PolicyError(place, f"there is no table {name}; there are {', '.join(self._entries)}")
        if name in way:
            raise PolicyError(place, f"leads in a circle: {' -> '.join((*way, name))}")
        return self.table(name, way)


def _limits(entry: TableEntry) -> Limits:
    return Limits(
        max_rows_per_unit=entry.max_rows_per_unit,
        max_groups_per_unit=entry.max_groups_per_unit,
        max_rows_per_group_per_unit=entry.max_rows_per_group_per_unit,
    )


def _matches(place: str, entry: TableEntry) -> dict[tuple[str, ...], int]:
    """What is unique, then what has at most so many rows: the order in which engines enforce it."""
    claims = [((item,) if isinstance(item, str) else tuple(item), 1) for item in entry.unique]
    claims += [(tuple(match.columns), match.rows) for match in entry.max_matches]
    matches = dict(claims)
    if len(matches) != len(claims):
        raise PolicyError(place, "unique and max_matches must name the same columns once")
    return matches
