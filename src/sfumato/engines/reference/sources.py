"""The rows of a table and who owns them, in plain Python: units, paths to units, and no more matches than declared."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from sfumato.engines.sampling import least, rank_hash
from sfumato.engines.values import Cell, Row
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.schema import Table, UnitPath

OwnedRow: TypeAlias = tuple[Cell, Row]
"""The unit that a row belongs to, or None where rows have no owners; and its cells, in the order of its columns."""

Reader: TypeAlias = Callable[[Table], Iterable[Row]]
"""Gives the rows of a table with cells of their declared types."""

_NO_SALT = ""  # which rows match has to be the same in every question


def source_rows(table: Table, read: Reader) -> list[OwnedRow]:
    """The rows of a table with their units, of which those beyond the declared matches are left out."""
    rows = list(_owned(table, read))
    for columns, most in table.matches.items():
        rows = _truncated(rows, columns, most)
    return rows


def _owned(table: Table, read: Reader) -> Iterable[OwnedRow]:
    match table.unit:
        case UnitColumn(column):
            return [(row[column], row) for row in read(table) if row[column] is not None]
        case UnitPath() as path:
            owners = _owners(path, read)
            return [(unit, row) for row in read(table) for unit in owners.get(row[path.column], ())]
        case _:
            return [(None, row) for row in read(table)]


def _owners(path: UnitPath, read: Reader) -> Mapping[Cell, dict[Cell, None]]:
    """The different units behind each value of the key; NULL leads to none."""
    owners: dict[Cell, dict[Cell, None]] = defaultdict(dict)
    for unit, row in source_rows(path.table, read):
        if row[path.key] is not None:
            owners[row[path.key]][unit] = None
    return owners


def _truncated(rows: list[OwnedRow], columns: tuple[str, ...], most: int) -> list[OwnedRow]:
    """Of the rows (of one unit) that agree in some columns so many; NULL agrees with nothing."""

    def values(owned: OwnedRow) -> tuple[Cell, ...]:
        return tuple(owned[1][name] for name in columns)

    matching = [owned for owned in rows if None not in values(owned)]
    others = [owned for owned in rows if None in values(owned)]
    kept = least(
        matching, most, within=lambda owned: (owned[0], *values(owned)),
        rank=lambda owned: rank_hash(_NO_SALT, tuple(owned[1].values())),
    )  # fmt: skip
    return others + kept
