"""Tables as relations read them, in SQL: declared columns of their kinds, owners, no more matches than declared.

As `reference.relations` has them. The columns are called `c0`, `c1`, … and `u` as in `SqlRelation`.
"""

from collections.abc import Callable, Collection, Container, Mapping
from dataclasses import replace

from sqlglot import exp

from sfumato.engines.sql.expressions.casts import lower_typed
from sfumato.engines.sql.expressions.terms import aliased, column, is_null, joined, operation, present, select
from sfumato.engines.sql.hashes import rank_text
from sfumato.engines.sql.rows import UNIT, SqlRelation, least_ranked, names_of
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.analysis.shape import shape_of
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Source
from sfumato.query.model.schema import Table, UnitPath
from sfumato.query.values.cells import null_cell

_OWNED = "k"
_NO_SALT = ""  # which rows match has to be the same in every question


def typed_columns(
    table: Table, storage: Mapping[str, str], source: exp.Query | exp.Table, *, as_stored: Container[str] = ()
) -> exp.Select:
    """Every declared column as it is declared.

    Args:
        table: What is declared.
        storage: The engine's names for the types in which columns are stored.
        source: Where they are stored, under their own names.
        as_stored: Those of the `stored_doubles` that are left as they are.
    """
    names = names_of(table.columns)
    typed = (
        column(name) if name in as_stored else lower_typed(name, facts, storage[name])
        for name, facts in table.columns.items()
    )
    return select([aliased(value, name) for value, name in zip(typed, names.values(), strict=True)], source)


def stored_doubles(table: Table, storage: Mapping[str, str]) -> Collection[str]:
    """The columns that are declared as floats, are stored as doubles, and are NULL where they have no value."""
    return [
        name for name, facts in table.columns.items()
        if facts.kind is Kind.FLOAT and storage[name] == "DOUBLE" and null_cell(facts) is None
    ]  # fmt: skip


def is_computed(table: Table) -> bool:
    """Whether owners or matches have to be looked up; a table of others is read in place."""
    return isinstance(table.unit, UnitPath) or bool(table.matches)


def owned_rows(table: Table, typed: exp.Query, named: Callable[[Table], exp.Query | exp.Table]) -> exp.Query:
    """The rows of a table with their units, of which those beyond the declared matches are left out.

    Args:
        table: What is declared.
        typed: Its `typed_columns`.
        named: Gives other tables of `SqlRelation`.
    """
    rows = SqlRelation(query=_owned(table, typed, named), shape=shape_of(Source(table)))
    for names, most in table.matches.items():
        rows = _truncated(rows, names, most)
    return rows.query


def _owned(table: Table, typed: exp.Query, named: Callable[[Table], exp.Query | exp.Table]) -> exp.Query:
    names = names_of(table.columns)
    match table.unit:
        case UnitColumn(name):
            unit = column(names[name])
            return select([aliased(unit, UNIT), exp.Star()], typed, where=[present(unit)])
        case UnitPath(name, other, key):
            owner = column(names_of(other.columns)[key])
            owners = select([column(UNIT), aliased(owner, _OWNED)], named(other)).distinct(copy=False)
            meeting = operation(exp.EQ, column(_OWNED, "o"), column(names[name], "r"))
            selected = [column(UNIT, "o"), *(column(own, "r") for own in names.values())]
            return joined(select(selected, typed), owners, "o", on=meeting)
        case _:
            return typed


def _truncated(rows: SqlRelation, names: tuple[str, ...], most: int) -> SqlRelation:
    """Of the rows (of one unit) that agree in some columns so many; NULL agrees with nothing."""
    keys = [column(rows.names[name]) for name in names]
    least = least_ranked(
        rows, most, within=[*rows.unit, *keys], order=[rank_text(_NO_SALT, rows.encodings)],
        kept=[is_null(key) for key in keys],
    )  # fmt: skip
    return replace(rows, query=least)
