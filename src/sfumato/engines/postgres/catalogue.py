"""What the catalog of PostgreSQL says of a database and of a table, before anything of it is asked.

Names of SQL come from the catalog: what a policy says is only compared with them.

Whatever a cell holds is read as a value of a kind, or NULL. Blanks at the end of char(n) are not part of it, as in its
own comparisons. A citext is compared exactly, as all text. Times with a zone are those of UTC; days and times outside
of the years 1 to 9999, infinity too, are NULL, as NaN is.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import adbc_driver_postgresql.dbapi as adbc
from sqlglot import exp

from sfumato.engines.postgres.connection import Transaction
from sfumato.engines.postgres.definitions import CatalogRelation, are_stored, definitions, unproved
from sfumato.engines.postgres.dialect import sql
from sfumato.engines.postgres.times import within_the_years
from sfumato.engines.sources.sources import PostgresAddress, may_fail_on_rows
from sfumato.engines.sql.dialect import native
from sfumato.engines.sql.expressions.terms import Sql, aliased, cast, column, select, text
from sfumato.engines.sql.expressions.terms import table as name_of
from sfumato.errors import EngineError, ParameterError
from sfumato.privacy.neighbors import UnitColumn
from sfumato.query.model.kinds import TIMES, Kind
from sfumato.query.model.schema import Table
from sfumato.query.policy.policy import Risk
from sfumato.query.values.cells import check_digits

_LEAST_VERSION: Final = 160_000
_INEXACT: Final = frozenset({"DOUBLE", "DECIMAL"})
_TIMES: Final = frozenset({"DATE", "TIMESTAMP"})
_NUMERICS: Final = frozenset({"DECIMAL", "HUGEINT"})
_LEAST_MODIFIER, _SCALES, _PRECISION = 4, 2**11, 16
"""What the catalog has with a numeric: less without a modifier, else above it the scale in 11 bits, of which one is its
sign, and from the 16th bit on how many digits there are."""

_SERVER: Final = """
    SELECT current_setting('server_version_num')::bigint, current_setting('server_version'),
           current_setting('server_encoding')"""

BELOW: Final = """
    WITH RECURSIVE below (top, oid) AS (
      SELECT c.oid, c.oid
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
       WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relname = $1
         AND CASE WHEN $2 = '' THEN n.nspname IN (SELECT json_array_elements_text($3::json)) ELSE n.nspname = $2 END
       UNION
      SELECT below.top, part.oid FROM below CROSS JOIN LATERAL (
        SELECT inhrelid FROM pg_inherits WHERE inhparent = below.oid
         UNION ALL
        SELECT refobjid FROM pg_rewrite AS r JOIN pg_depend AS d ON d.objid = r.oid
         WHERE r.ev_class = below.oid AND d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
      ) AS part (oid))"""
"""The relations of a name ($1) in a schema ($2, else any of $3), with partitions, children and what views read."""

_RELATIONS: Final = f"""{BELOW},
    writers AS (
      SELECT DISTINCT below.top
        FROM below JOIN pg_class AS c ON c.oid = below.oid
        JOIN pg_roles AS r ON pg_has_role(session_user, r.oid, 'MEMBER')
       WHERE r.oid = c.relowner OR has_table_privilege(r.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
          OR has_any_column_privilege(r.oid, c.oid, 'INSERT, UPDATE'))
    SELECT c.oid::bigint, n.nspname::text, c.relname::text, has_schema_privilege(n.oid, 'USAGE'),
           c.oid IN (SELECT top FROM writers)
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE c.oid IN (SELECT oid FROM below WHERE oid = top)"""
"""Who can write: any role that the one who logged in can become, one that inherits nothing included; on the table, its
partitions and children, and what a view reads. A trigger runs with the rights of whoever writes the next row."""

_COLUMNS: Final = """
    WITH RECURSIVE below AS (
      SELECT attname, attnum, atttypid AS type, atttypmod AS modifier, format_type(atttypid, atttypmod) AS shown
        FROM pg_attribute WHERE attrelid = $1::bigint::oid AND attnum > 0 AND NOT attisdropped
       UNION ALL
      SELECT attname, attnum, typbasetype, typtypmod, shown FROM below JOIN pg_type ON oid = type WHERE typtype = 'd')
    SELECT attname::text, shown, typname::text, nspname::text, typtype::text,
           has_column_privilege($1::bigint::oid, attnum, 'SELECT'), modifier::bigint
      FROM below JOIN pg_type AS t ON t.oid = type JOIN pg_namespace AS n ON n.oid = typnamespace
     WHERE typtype <> 'd'"""

_PROTECTED: Final = """
    WITH RECURSIVE below (oid) AS (
      SELECT $1::bigint::oid
       UNION
      SELECT d.refobjid FROM below JOIN pg_rewrite AS r ON r.ev_class = below.oid
        JOIN pg_depend AS d ON d.objid = r.oid AND d.classid = 'pg_rewrite'::regclass
       WHERE d.refclassid = 'pg_class'::regclass)
    SELECT c.relname::text FROM below JOIN pg_class AS c ON c.oid = below.oid WHERE c.relrowsecurity ORDER BY 1"""
"""Of a table and what it reads, if it is a view, those that have row-level security."""

_NO_PRIVILEGE: Final = "42501"
"""The SQLSTATE of a query whose rows would be filtered while `row_security` is off."""

_TEXTS: Final = frozenset({"text", "varchar", "bpchar", "name", "uuid"})
_ENUM: Final = "e"
_CITEXT: Final = "citext"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadColumn:
    """How a column is read.

    Attributes:
        storage: What the lowering calls the type that it is read as.
        read: What makes that of the column.
    """

    storage: str
    read: Callable[[Sql], Sql]

    def of(self, name: str) -> Sql:
        """The column of a name."""
        return self.read(column(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTable:
    """A table as it is stored, and how each declared column is read.

    Attributes:
        schema: The schema of the table.
        table: Its name there.
        columns: How columns are read, by name.
        relations: It and all that it reads, as they were defined when it was opened.
        accepted_risks: What the owner accepts of it.
    """

    schema: str
    table: str
    columns: Mapping[str, ReadColumn]
    relations: tuple[CatalogRelation, ...]
    accepted_risks: frozenset[Risk]

    @property
    def name(self) -> exp.Table:
        """The name of the table in SQL."""
        return name_of(self.table, self.schema)

    def require_as_it_was(self, asked: Transaction) -> bool:
        """Refuse a definition that was changed, and since then may fail on some row.

        Returns:
            Whether the transaction reads the same rows however often it reads the table.

        Raises:
            EngineError: The definition was changed.
        """
        if Risk.FAILING_ROWS in self.accepted_risks:
            return False
        relations = definitions(asked, self.schema, self.table)
        if relations != self.relations and self.may_fail(asked, relations) is not None:
            raise EngineError("postgres", "checked whether a definition changed since the session was opened")
        return are_stored(relations)

    def may_fail(self, asked: Transaction, relations: tuple[CatalogRelation, ...]) -> str | None:
        """The name of a relation of which the definition may fail on some row, unless the owner accepts that."""
        if Risk.FAILING_ROWS in self.accepted_risks:
            return None
        return unproved(
            asked, relations, place=(self.schema, self.table), columns=self.columns,
            has_policies=Risk.ROW_SECURITY in self.accepted_risks,
        )  # fmt: skip

    @property
    def query(self) -> exp.Select:
        """The declared columns under their own names."""
        return select([aliased(one.of(name), name) for name, one in self.columns.items()], self.name)

    @property
    def whole(self) -> exp.Select:
        """The same, with numerics as text, which has all of their digits."""
        return select([aliased(_whole_cell(one, name), name) for name, one in self.columns.items()], self.name)

    @property
    def storage(self) -> Mapping[str, str]:
        """What the lowering calls the types of the columns."""
        return {name: one.storage for name, one in self.columns.items()}


def check_server(asked: Transaction, shown: str) -> None:
    """Refuse a server that could not be asked safely.

    Raises:
        ParameterError: It is older than PostgreSQL 16, or its text is not Unicode.
    """
    ((version, name, encoding),) = asked.rows(_SERVER)
    if version < _LEAST_VERSION:
        raise ParameterError(
            "source", shown, f"must be PostgreSQL 16 or newer, and is {name}: older ones lack pg_input_is_valid"
        )
    if encoding != "UTF8":
        raise ParameterError(
            "source", shown, f"must be encoded as UTF8, and is {encoding}: CREATE DATABASE … ENCODING 'UTF8'"
        )


def stored(
    asked: Transaction, address: PostgresAddress, table: Table, *, path: str, may_write: bool,
    accepted_risks: Collection[Risk] = (),
) -> StoredTable:  # fmt: skip
    """What the catalog has of a table.

    Args:
        asked: The transaction in which the catalog is read.
        address: Where the table is.
        table: What is declared of it.
        path: The schemas in which a name without one is looked for, as JSON.
        may_write: Whether a role is accepted that could change the table.
        accepted_risks: What the owner accepts of the table.

    Raises:
        ParameterError: There is no such table, or several; the role may not read it or sees only some of its rows, or
            may write it; its definition may fail on some row; or a declared column does not exist, or is of a type that
            cannot be read as declared.
    """
    oid, schema, name, writes = _found(asked, address, table, path)
    if writes and not may_write:
        raise ParameterError(
            "source", address.shown,
            f"connects as a role that can write {name}, so a mistake here could change it; connect as one that"
            f" only reads (CREATE ROLE curator LOGIN; GRANT SELECT ON {name} TO curator), or allow_writing_role=True",
        )  # fmt: skip
    columns = {row[0]: row[1:] for row in asked.rows(_COLUMNS, (oid,))}
    found = StoredTable(
        schema=schema, table=name, columns={one: _read(one, columns, table) for one in table.columns},
        relations=definitions(asked, schema, name), accepted_risks=frozenset(accepted_risks),
    )  # fmt: skip
    if Risk.ROW_SECURITY not in found.accepted_risks:
        require_all_rows(asked, found, oid, shown=address.shown)
    may_fail = found.may_fail(asked, found.relations)
    if may_fail is not None:
        raise ParameterError("source", address.shown, may_fail_on_rows(may_fail))
    return found


def require_all_rows(asked: Transaction, table: StoredTable, oid: int, *, shown: str) -> None:
    """Refuse a table whose rows row-level security may hide from the role without an error.

    Raises:
        ParameterError: Row-level security may hide rows of the table.
    """
    protected = asked.rows(_PROTECTED, (oid,))
    if not protected:
        return
    try:
        asked.prepare(sql(table.query))
    except adbc.Error as error:
        if error.sqlstate != _NO_PRIVILEGE:
            raise
        names = ", ".join(name for (name,) in protected)
        raise ParameterError(
            "source",
            shown,
            f"reads {names}, where row-level security may hide rows from the role without an error; ALTER ROLE"
            ' curator BYPASSRLS, or accept it: accepted_risks = ["row_security"] at the table',
        ) from None


def _found(asked: Transaction, address: PostgresAddress, table: Table, path: str) -> tuple[int, str, str, bool]:
    rows = asked.rows(_RELATIONS, (address.name, address.schema or "", path))
    if not rows:
        requirement = f"names no table or view {address.name} of {table.name} that the role can see; check its spelling"
        raise ParameterError("source", address.shown, f"{requirement} and its schema, as ?table=schema.name")
    if len(rows) > 1:
        schemas = ", ".join(sorted(row[1] for row in rows))
        requirement = f"must name the schema of {address.name}, as ?table=schema.name: it exists in {schemas}"
        raise ParameterError("source", address.shown, requirement)
    oid, schema, name, usable, writes = rows[0]
    if not usable:
        raise ParameterError(
            "source", address.shown, f"needs the right to use a schema: GRANT USAGE ON SCHEMA {schema}"
        )
    return oid, schema, name, writes


def _read(name: str, columns: Mapping[str, tuple[Any, ...]], table: Table) -> ReadColumn:
    """How a declared column is read."""
    if name not in columns:
        raise ParameterError(
            "columns", name, f"is not a column of {table.name}; check its spelling, also upper and lower case"
        )
    shown, base, schema, form, may_read, modifier = columns[name]
    if not may_read:
        raise ParameterError("columns", name, f"needs the right to read it: GRANT SELECT ON {table.name}")
    found = reading(base, schema=schema, form=form)
    if found is None:
        raise ParameterError("columns", name, f"is stored as {shown}; cast it to text, a number or a time in a view")
    if found.storage in _TIMES and table.columns[name].kind not in TIMES:
        requirement = f"is stored as {shown}; declare it as a date or a timestamp, or cast it to text in a view"
        raise ParameterError("columns", name, requirement)
    if found.storage == "DECIMAL":
        check_digits(name, table.columns[name], digits=_digits(modifier), shown=shown)
        is_whole = modifier >= _LEAST_MODIFIER and _scale(modifier) <= 0  # by its declared number of digits
        if is_whole and table.columns[name].kind is not Kind.FLOAT:
            return replace(found, storage="HUGEINT")  # which no double rounds
    if found.storage in _INEXACT and isinstance(table.unit, UnitColumn) and table.unit.column == name:
        raise ParameterError("unit", name, f"is stored as {shown}; cast the ids to text or whole numbers in a view")
    return found


def _digits(modifier: int) -> int | None:
    """How many digits a numeric has before the point; None without a declared number of them."""
    if modifier < _LEAST_MODIFIER:
        return None
    return ((modifier - _LEAST_MODIFIER) >> _PRECISION) - _scale(modifier)


def _scale(modifier: int) -> int:
    """How many digits a numeric has behind the point; below 0 it has so many zeros before it."""
    scale = (modifier - _LEAST_MODIFIER) % _SCALES
    return scale - _SCALES if scale >= _SCALES // 2 else scale


def reading(name: str, *, schema: str, form: str) -> ReadColumn | None:
    """How a type is read; None of one that is not.

    Args:
        name: Its name in the catalog, below any domains.
        schema: Where it is.
        form: One letter of the catalog: b of a base type, e of an enumeration.
    """
    if form == _ENUM or name == _CITEXT:
        return _READINGS["text"]
    return _READINGS.get(name) if schema == "pg_catalog" else None


def _whole_cell(read: ReadColumn, name: str) -> Sql:
    """A cell as it is kept for later: a numeric as text, a whole number in 64 bits."""
    if read.storage in _NUMERICS:
        return cast(read.of(name), "VARCHAR")
    return cast(read.of(name), "BIGINT") if read.storage == "BIGINT" else read.of(name)


def _as(storage: str) -> ReadColumn:
    return ReadColumn(storage=storage, read=lambda value: cast(value, storage))


def _timestamp(value: Sql) -> Sql:
    return within_the_years(value, Kind.TIMESTAMP)


_READINGS: Final[Mapping[str, ReadColumn]] = {
    # not cast to 64 bits, of which the planner would know nothing: how many different ones there are, how they spread
    **dict.fromkeys(("int2", "int4", "int8"), ReadColumn(storage="BIGINT", read=lambda value: value)),
    **dict.fromkeys(("float4", "float8"), _as("DOUBLE")),
    **dict.fromkeys(_TEXTS, _as("VARCHAR")),
    "bool": ReadColumn(storage="BOOLEAN", read=lambda value: value),
    "numeric": ReadColumn(storage="DECIMAL", read=lambda value: native("NULLIF", value, cast(text("NaN"), "HUGEINT"))),
    "date": ReadColumn(storage="DATE", read=lambda value: within_the_years(value, Kind.DATE)),
    "timestamp": ReadColumn(storage="TIMESTAMP", read=_timestamp),
    "timestamptz": ReadColumn(
        storage="TIMESTAMP", read=lambda value: _timestamp(native("TIMEZONE", text("UTC"), value))
    ),
}
