"""How many rows break the claims of a table: exact numbers for its owner, each claim counted by itself.

Any engine can count them: with the relations of ordinary questions, over variants of the table that claim less. The
rows are read anew, as the sources have them now.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from sfumato.engines.base import Engine
from sfumato.engines.sources.sources import Opened
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.expressions import ColumnRef, IsNull, Not
from sfumato.query.model.measures import RowCount
from sfumato.query.model.relations import Filter, Relation, SemiJoin, Source
from sfumato.query.model.schema import PUBLIC, Limits, Table, UnitPath
from sfumato.query.model.statement import Statement
from sfumato.query.policy.claims import AtMost, Claim, HasOwner, claims_of

_NO_SALT: Final = "0" * 32  # nothing is sampled


def violations(
    table: Table, sources: Mapping[str, Opened], start: Callable[[Mapping[str, Opened]], Engine]
) -> dict[Claim, int]:
    """How many rows break each claim about a table.

    Args:
        table: What is claimed.
        sources: Where the rows of each table come from.
        start: Makes an engine that holds some sources.

    Raises:
        EngineError: The engine failed.
    """
    engine = start(sources)
    try:
        return {claim: _violations(table, claim, engine) for claim in claims_of(table)}
    finally:
        engine.close()


def _violations(table: Table, claim: Claim, engine: Engine) -> int:
    match claim:
        case HasOwner():
            return _count(Source(_public(table)), engine) - _count(_owned(table), engine)
        case AtMost(columns, rows):
            claimless, limited = (replace(table, matches=matches) for matches in ({}, {columns: rows}))
            return _count(Source(claimless), engine) - _count(Source(limited), engine)


def _count(relation: Relation, engine: Engine) -> int:
    """The number of rows, in the open: it goes to their owner."""
    found = engine.run(Statement(rows=relation, keys=(), measures=(RowCount(),)), salt=_NO_SALT)
    return sum(map(int, found.open_for_noise().amounts[0]))


def _owned(table: Table) -> Relation:
    """All rows that have an owner, whoever it is."""
    match table.unit:
        case UnitColumn(column):
            return Filter(Source(_public(table)), Not(IsNull(ColumnRef(column))))
        case UnitPath(column, owner, key):
            return SemiJoin(child=Source(_public(table)), other=_owned(owner), on=((column, key),))
        case _:
            return Source(_public(table))


def _public(table: Table) -> Table:
    """The table as if it were nobody's, and nothing claimed of it."""
    return replace(table, unit=PUBLIC, limits=Limits(), matches={})
