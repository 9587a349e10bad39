"""The tables of DuckDB that relations are read from: typed at their first use, from wherever their rows are stored.

One that is prepared is stored by unit, with a number for each unit, so that what is done for each is near.
"""

from collections.abc import Mapping
from itertools import chain, count, repeat
from pathlib import Path
from typing import Any, Final

import duckdb
from sqlglot import exp

from sfumato.engines.duckdb.database import literal_path
from sfumato.engines.duckdb.dialect import sql
from sfumato.engines.sources.arrow_tables import holds_times, parquet_schema, read_parquet
from sfumato.engines.sources.sources import ArrowData, CsvFile, DataSource, LazyData, ParquetFile
from sfumato.engines.sql.expressions.terms import (
    TYPES,
    aliased,
    cast,
    column,
    figure,
    function,
    joined,
    operation,
    select,
    window,
)
from sfumato.engines.sql.expressions.terms import table as name_of
from sfumato.engines.sql.hashes import encoded
from sfumato.engines.sql.relations import Catalogue
from sfumato.engines.sql.rows import ENCODING, NUMBER, OWNER, UNIT, names_of
from sfumato.engines.sql.sources import is_computed, owned_rows, stored_doubles, typed_columns
from sfumato.errors import EngineError
from sfumato.query.model.kinds import Kind
from sfumato.query.model.relations import Relation, Source, lineage
from sfumato.query.model.schema import Table
from sfumato.query.model.statement import FEW_ROWS

SCHEMA: Final = "typed"
"""The schema of typed tables, apart from what they were made of."""

_SAME: Final = operation(exp.EQ, column(OWNER, "o"), column(UNIT, "r"))


class TypedTables:
    """Makes a table or view of `Rows` of every table that is asked for, once.

    Args:
        database: Where they are made.
        sources: Where the rows of each table come from.
    """

    def __init__(self, database: duckdb.DuckDBPyConnection, sources: Mapping[str, DataSource]) -> None:
        self._database = database
        self._sources = dict(sources)
        self._made: list[tuple[Table, exp.Table]] = []
        self._as_stored: list[tuple[Table, exp.Table, frozenset[str]]] = []
        self._stored: list[tuple[Table, exp.Table]] = []
        self._few: list[tuple[Table, bool]] = []
        self._numbers = count()
        database.execute(f"CREATE SCHEMA {SCHEMA}")

    def named(self, table: Table) -> exp.Table:
        """The name of the typed table; it is made if there is none yet.

        Raises:
            duckdb.Error: It cannot be made.
            OSError: The source is gone.
            EngineError: A LazyFrame cannot be read.
        """
        for made, name in self._made:
            if made == table:
                return name
        name = self._make(table, next(self._numbers))
        self._made.append((table, name))
        return name

    def _make(self, table: Table, number: int) -> exp.Table:
        """A table of what is read once, or has to be looked up; a view of all else, which stays where it is."""
        raw, source = f"raw {number}", self._sources[table.name]
        typed = self._typed(raw, table, source)
        name = name_of(f"t{number}", SCHEMA)
        kind = "TABLE" if isinstance(source, CsvFile) or is_computed(table) else "VIEW"
        self._database.execute(f"CREATE {kind} {sql(name)} AS {sql(owned_rows(table, typed, self.named))}")
        if isinstance(source, ParquetFile | ArrowData) and not is_computed(table):
            self._make_as_stored(table, raw, name_of(f"s{number}", SCHEMA))
        self._stored.append((table, name if kind == "TABLE" else name_of(raw)))  # of which a view has no more rows
        return name

    def has_few_rows(self, table: Table) -> bool:
        """See `Catalogue.has_few_rows`; counted once, which files and tables in memory say without being read."""
        for counted, has_few in self._few:
            if counted == table:
                return has_few
        self.named(table)
        rows = next(where for made, where in self._stored if made == table)
        ((count,),) = self._database.execute(sql(select([function("COUNT", exp.Star())], rows))).fetchall()
        self._few.append((table, count <= FEW_ROWS))
        return bool(count <= FEW_ROWS)

    def as_stored(self, table: Table) -> tuple[exp.Table, frozenset[str]] | None:
        """See `Catalogue.as_stored`."""
        self.named(table)
        return next(((name, pending) for made, name, pending in self._as_stored if made == table), None)

    def _make_as_stored(self, table: Table, raw: str, name: exp.Table) -> None:
        """Beside a view one with doubles as they are stored, if there are any."""
        storage = self._types(raw)
        doubles = stored_doubles(table, storage)
        if not doubles:
            return
        typed = typed_columns(table, storage, name_of(raw), as_stored=doubles)
        self._database.execute(f"CREATE VIEW {sql(name)} AS {sql(owned_rows(table, typed, self.named))}")
        names = names_of(table.columns)
        self._as_stored.append((table, name, frozenset(names[own] for own in doubles)))

    def _typed(self, raw: str, table: Table, source: DataSource) -> exp.Select:
        """The declared columns: of a LazyFrame a table that grows batch by batch, else a query of what is stored."""
        if not isinstance(source, LazyData):
            return typed_columns(table, self._store(raw, table, source), name_of(raw))
        target, batch = name_of(raw), f"{raw} batch"
        commands = chain([f"CREATE TABLE {sql(target)} AS"], repeat(f"INSERT INTO {sql(target)}"))

        def take(data: Any) -> None:
            self._database.register(batch, data)
            typed = typed_columns(table, self._types(batch), name_of(batch))
            self._database.execute(f"{next(commands)} {sql(typed)}")
            self._database.unregister(batch)

        try:
            source.stream(table, take)
        except EngineError:
            self._database.execute(f"DROP TABLE IF EXISTS {sql(target)}")
            raise
        return select([], target)

    def _store(self, raw: str, table: Table, source: CsvFile | ParquetFile | ArrowData) -> Mapping[str, str]:
        """Make a view of a source as it is stored, and say the types of its columns."""
        match source:
            case ArrowData(data, _):
                self._database.register(raw, data)
            case ParquetFile():
                self._store_parquet(raw, table, source.path)
            case CsvFile():
                self._database.register(raw, source.batches(table))
                return dict.fromkeys(table.columns, "VARCHAR")
        return self._types(raw)

    def _store_parquet(self, raw: str, table: Table, path: Path) -> None:
        """The file in place; but its repaired columns if some text is not UTF-8, or if it has times (`holds_times`)."""
        if holds_times(parquet_schema(path), table):
            self._database.register(raw, read_parquet(path, table))
            return
        self._database.read_parquet(literal_path(path)).create_view(raw)
        storage = self._types(raw)
        texts = [
            function("SUM", function("LENGTH", column(name))) for name in table.columns if storage[name] == "VARCHAR"
        ]
        if not texts:
            return
        try:
            self._database.execute(sql(select(texts, name_of(raw)))).fetchall()
        except duckdb.Error:
            self._database.execute(f"DROP VIEW {sql(name_of(raw))}")
            self._database.register(raw, read_parquet(path, table))

    def _types(self, raw: str) -> Mapping[str, str]:
        described = self._database.execute(f"DESCRIBE {sql(name_of(raw))}").fetchall()
        return {row[0]: str(row[1]).split("(")[0] for row in described}


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
        typed = Catalogue(
            named=self._typed.named, as_stored=self._typed.as_stored, has_few_rows=self._typed.has_few_rows
        )
        if not self._made:
            return typed
        sources = [step.table for step in lineage(relation) if isinstance(step, Source)]
        owned = [table for table in sources if table.has_owners]
        if not owned or any(self._find(table) is None for table in owned):
            return typed
        return Catalogue(
            named=lambda table: self._find(table) or self._typed.named(table),
            units=_name_of_units(owned[0].unit_kind), has_few_rows=self._typed.has_few_rows,
        )  # fmt: skip

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
