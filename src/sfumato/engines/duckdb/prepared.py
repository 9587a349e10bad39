"""Tables that are prepared: stored by unit, with a number for each unit, so that what is done for each is near."""

from typing import Final

import duckdb
from sqlglot import exp

from sfumato.engines.duckdb.dialect import sql
from sfumato.engines.duckdb.tables import SCHEMA, TypedTables
from sfumato.engines.sql.expressions.terms import TYPES, aliased, cast, column, figure, function, operation
from sfumato.engines.sql.hash import encoded
from sfumato.engines.sql.queries import joined, select, window
from sfumato.engines.sql.queries import table as name_of
from sfumato.engines.sql.relations import Catalogue
from sfumato.engines.sql.rows import ENCODING, NUMBER, OWNER, UNIT, names_of
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Relation, Source, lineage
from sfumato.query.model.schema import Table

_SAME: Final = operation(exp.EQ, column(OWNER, "o"), column(UNIT, "r"))


class PreparedTables:
    """Makes prepared tables of typed ones, and finds those that a relation can be read from.

    The number of a unit is the same in all tables, so that they can be joined.

    Args:
        database: Where they are made.
        typed: The tables that they are made of.
    """

    def __init__(self, database: duckdb.DuckDBPyConnection, typed: TypedTables) -> None:
        self._database = database
        self._typed = typed
        self._made: list[tuple[Table, exp.Table]] = []

    def prepare(self, table: Table) -> None:
        """Store a table whose rows have owners by its units; any other is best read where it is.

        Raises:
            duckdb.Error: It cannot be stored.
            OSError: The source is gone.
        """
        if not table.has_owners or self._find(table) is not None:
            return
        stored = self._typed.named(table)
        units = self._units_of(table.unit_kind, stored)
        number = column(NUMBER, "o")
        rows = select([aliased(number, UNIT), *map(column, names_of(table.columns).values())], stored)
        rows = joined(rows, units, "o", on=_SAME).order_by(number, copy=False)
        name = name_of(f"p{len(self._made)}", SCHEMA)
        self._database.execute(f"CREATE TABLE {sql(name)} AS {sql(rows)}")
        self._made.append((table, name))

    def catalogue(self, relation: Relation) -> Catalogue:
        """Where the tables of a relation are: prepared ones, if all of those are whose rows have owners."""
        sources = [step.table for step in lineage(relation) if isinstance(step, Source)]
        owned = [table for table in sources if table.has_owners]
        if not owned or any(self._find(table) is None for table in owned):
            return Catalogue(named=self._typed.named)
        units = _name_of_units(owned[0].unit_kind)
        return Catalogue(named=lambda table: self._find(table) or self._typed.named(table), units=units)

    def _find(self, table: Table) -> exp.Table | None:
        return next((name for made, name in self._made if made == table), None)

    def _units_of(self, kind: Kind, stored: exp.Table) -> exp.Table:
        """The table of units, with those of a table that were not in it before."""
        units, unit = _name_of_units(kind), column(UNIT)
        columns = f'"{OWNER}" {TYPES[kind]}, "{NUMBER}" INTEGER, "{ENCODING}" VARCHAR'
        self._database.execute(f"CREATE TABLE IF NOT EXISTS {sql(units)} ({columns})")
        ((count,),) = self._database.execute(f"SELECT COUNT(*) FROM {sql(units)}").fetchall()
        strangers = joined(select([], stored), units, "o", on=_SAME, how="anti")
        different = select([unit], strangers).distinct(copy=False)
        place = operation(exp.Add, window(function("ROW_NUMBER"), []), figure(count - 1))
        encoding = function("CONCAT", *encoded(unit, kind, nullable=False))
        self._database.execute(
            f"INSERT INTO {sql(units)} {sql(select([unit, cast(place, 'INTEGER'), encoding], different))}"
        )
        return units


def _name_of_units(kind: Kind) -> exp.Table:
    return name_of(f"units {kind}", SCHEMA)
