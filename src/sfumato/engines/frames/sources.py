"""Tables as relations read them, in Polars: declared columns of their kinds, owners, no more matches than declared.

As `reference_sources` has them. The columns are called `c0`, `c1`, … and `u` as in `Rows`.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import polars as pl
from polars.selectors import by_name

from sfumato.engines.frames.casts import lower_typed
from sfumato.engines.frames.ranking import least_ranked
from sfumato.engines.frames.rows import UNIT, Rows, names_of
from sfumato.engines.frames.scalars import any_of
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.relations import Source
from sfumato.query.schema import Table, UnitPath
from sfumato.query.shape import shape_of

_OWNED: Final = "k"
_NO_SALT: Final = ""  # which rows match has to be the same in every question


def typed_columns(table: Table, stored: pl.LazyFrame) -> pl.LazyFrame:
    """Every declared column as it is declared.

    Args:
        table: What is declared.
        stored: Its columns as they are stored, under their own names, none of which is a pattern here.
    """
    storage, names = stored.collect_schema(), names_of(table.columns)
    plain = stored.select(by_name(name).as_expr().alias(own) for name, own in names.items())
    return plain.select(
        lower_typed(names[name], declared, storage[name]).alias(names[name]) for name, declared in table.columns.items()
    )


def is_computed(table: Table) -> bool:
    """Whether owners or matches have to be looked up; a table of others is read in place."""
    return isinstance(table.unit, UnitPath) or bool(table.matches)


def owned_rows(table: Table, typed: pl.LazyFrame, named: Callable[[Table], pl.LazyFrame]) -> pl.LazyFrame:
    """The rows of a table with their units, of which those beyond the declared matches are left out.

    Args:
        table: What is declared.
        typed: Its `typed_columns`.
        named: Gives the frames of other tables of `Rows`.
    """
    rows = Rows(frame=_owned(table, typed, named), shape=shape_of(Source(table)))
    for names, most in table.matches.items():
        rows = _truncated(rows, names, most)
    return rows.frame


def _owned(table: Table, typed: pl.LazyFrame, named: Callable[[Table], pl.LazyFrame]) -> pl.LazyFrame:
    names = names_of(table.columns)
    match table.unit:
        case UnitColumn(name):
            unit = pl.col(names[name])
            return typed.filter(unit.is_not_null()).select(unit.alias(UNIT), *names.values())
        case UnitPath(name, other, key):
            owners = named(other).select(UNIT, pl.col(names_of(other.columns)[key]).alias(_OWNED)).unique()
            met = typed.join(owners, left_on=names[name], right_on=_OWNED, how="inner")
            return met.select(UNIT, *names.values())
        case _:
            return typed


def _truncated(rows: Rows, names: tuple[str, ...], most: int) -> Rows:
    """Of the rows (of one unit) that agree in some columns so many; NULL agrees with nothing."""
    keys = [rows.names[name] for name in names]
    incomplete = any_of(pl.col(key).is_null() for key in keys)
    matching = least_ranked(
        rows.frame.filter(~incomplete), most, within=[*rows.unit, *keys], salt=_NO_SALT, encodings=rows.encodings
    )
    return replace(rows, frame=pl.concat([rows.frame.filter(incomplete), matching]))
