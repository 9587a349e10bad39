"""The engines by name: a record of each says where it is, what it needs, and which sources it reads where they are.

A new engine is a room beside the others and a record here. Its class is loaded when it is opened, with its packages.
The tables of one policy may be in several engines, each of which answers about its own: rows never travel between them.
"""

import inspect
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeAlias, assert_never, cast, runtime_checkable

import pyarrow as pa

from sfumato.engines.base import Engine, ExactGroups, Preparing, batches_of, one_place
from sfumato.engines.sources.identities import Identities, file_identity, frame_identity
from sfumato.engines.sources.sources import (
    ArrowData,
    CsvFile,
    LazyData,
    Opened,
    ParquetFile,
    PostgresData,
    SparkData,
    open_in_place,
    open_source,
    readable,
    text_columns,
)
from sfumato.errors import ParameterError, PolicyError
from sfumato.privacy.secret import Secret
from sfumato.query.model.relations import tables_of
from sfumato.query.model.schema import Table, UnitPath
from sfumato.query.model.statement import Statement
from sfumato.query.policy.policy import Policy, Risk, SourceFacts, is_address


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRecord:
    """What is known of an engine before it is loaded.

    Attributes:
        name: What owners call it.
        home: Its class, which takes sources by the names of tables, and options by name.
        package: What it needs that is not installed with the others, as the index of packages calls it.
        schemes: With what addresses begin that it reads where they are.
    """

    name: str
    home: str
    package: str | None = None
    schemes: tuple[str, ...] = ()


_RECORDS: Final = (
    EngineRecord(name="duckdb", home="sfumato.engines.duckdb.engine:DuckDBEngine"),
    EngineRecord(name="reference", home="sfumato.engines.reference.engine:ReferenceEngine"),
    EngineRecord(
        name="postgres", home="sfumato.engines.postgres.engine:PostgresEngine", package="adbc-driver-postgresql",
        schemes=("postgresql", "postgres"),
    ),
    EngineRecord(
        name="spark", home="sfumato.engines.spark.engine:SparkEngine", package="pyspark", schemes=("spark",)
    ),
)  # fmt: skip
ENGINES: Final[Mapping[str, EngineRecord]] = MappingProxyType({record.name: record for record in _RECORDS})
_BY_SCHEME: Final = {scheme: record.name for record in _RECORDS for scheme in record.schemes}

Places: TypeAlias = Mapping[str, str]
"""The name of the engine of each table."""


@runtime_checkable
class _InSpark(Protocol):
    """An engine that asks a session of Spark, in which names of tables are meant."""

    @property
    def spark(self) -> Any: ...


@runtime_checkable
class GivesRows(Protocol):
    """An engine that gives its owner all rows of a table."""

    def rows(self, table: Table) -> Generator[Any, None, None]:
        """The declared columns in Arrow tables, one at least; as they are stored, but times as they are read."""

    def close(self) -> None:
        """Close all connections."""


@runtime_checkable
class _InPlace(Protocol):
    """An engine that reads tables where they are, and knows how columns are stored there."""

    def storage(self, table: Table) -> Mapping[str, str]: ...


def check_engine(name: object) -> None:
    """Refuse the name of no engine.

    Raises:
        ParameterError: There is no such engine.
    """
    if name == "polars":
        requirement = 'was removed: DuckDB reads Polars frames. Use engine="duckdb", the default'
        raise ParameterError("engine", name, requirement)
    if not isinstance(name, str) or name not in ENGINES:
        raise ParameterError("engine", name, f"must be one of: {', '.join(ENGINES)}")


def engine_at(source: object) -> str | None:
    """The name of the engine that an address names; None of what is no address.

    Raises:
        ParameterError: No engine is known by its scheme.
    """
    if not isinstance(source, str) or not is_address(source):
        return None
    scheme = source.split(":")[0]
    if scheme not in _BY_SCHEME:
        raise ParameterError("source", f"{scheme}:…", f"must be a file, or begin with one of: {', '.join(_BY_SCHEME)}")
    return _BY_SCHEME[scheme]


def open_engine(name: str, sources: Mapping[str, Opened], *, options: Mapping[str, Any]) -> Engine:
    """The engine of a name, with its options.

    Raises:
        ParameterError: There is no such engine, it has no such option, or its packages are missing.
    """
    check_engine(name)
    engine = _class_of(ENGINES[name])
    _, *known = inspect.signature(engine).parameters  # the first are the sources
    for option in options:
        if option not in known:
            raise ParameterError(
                "engine_options", option, f"is not an option of {name}; its options: {', '.join(known) or 'none'}"
            )
    return engine(sources, **options)


def opened_for(engine: str, facts: SourceFacts, table: Table) -> Opened:
    """The source of a table, as an engine reads it; of files only names and types are read.

    Raises:
        ParameterError: There is no such source, or it cannot be read as declared.
    """
    if ENGINES[engine].schemes:
        return open_in_place(facts.source, table, names=facts.names, csv=facts.csv, accepted_risks=facts.accepted)
    return readable(open_source(facts.source, names=facts.names, csv=facts.csv), table)


class SeveralEngines:
    """Engines by name, as one that has the tables of all of them.

    Args:
        engines: Each, by its name.
        places: Which of them has each table.
    """

    def __init__(self, engines: Mapping[str, Engine], places: Places) -> None:
        self._engines, self._places = dict(engines), dict(places)
        self.name = " and ".join(self._engines)

    @property
    def sampling(self) -> str:
        """See `Engine.sampling`; those of all of them."""
        return " and ".join(dict.fromkeys(engine.sampling for engine in self._engines.values()))

    def run(self, statement: Statement, *, salt: str) -> Secret[ExactGroups]:
        """See `Engine.run`."""
        return self.one_for(tables_of(statement.rows)).run(statement, salt=salt)

    def batches(self, statement: Statement, *, salt: str, size: int) -> Generator[Secret[ExactGroups], None, None]:
        """See `Streaming.batches`."""
        return batches_of(self.one_for(tables_of(statement.rows)), statement, salt=salt, size=size)

    def sql(self, statement: Statement, /) -> str:
        """See `Engine.sql`."""
        return self.one_for(tables_of(statement.rows)).sql(statement)

    def prepare(self, table: Table) -> None:
        """See `Preparing.prepare`."""
        engine = self.one_for([table])
        if isinstance(engine, Preparing):
            engine.prepare(table)

    def close(self) -> None:
        """Close all of them, also if one cannot be."""
        with ExitStack() as leaving:
            for engine in self._engines.values():
                leaving.callback(engine.close)

    def one_for(self, tables: Iterable[Table]) -> Engine:
        """The engine that has all of some tables.

        Raises:
            NotPrivateError: They are in several, so that rows would have to leave one of them.
        """
        return self._engines[one_place(tables, self._places)]


def engine_of(table: Table, engine: Engine) -> Engine:
    """The engine that has a table: this one, or one of several."""
    return engine.one_for([table]) if isinstance(engine, SeveralEngines) else engine


def check_owners(policy: Policy, places: Places) -> None:
    """Refuse tables whose rows' owners stand in a table of another engine.

    Raises:
        PolicyError: There is such a table.
    """
    for name, table in policy.tables.items():
        if isinstance(table.unit, UnitPath) and places[name] != places[table.unit.table.name]:
            raise PolicyError(
                f"tables.{name}.unit",
                f"leads to {table.unit.table.name}, which is in {places[table.unit.table.name]} and not in"
                f" {places[name]}; rows never leave their engine, so put both tables into one",
            )


def identities_of(source: Opened, declared: Any, engine: Engine) -> Identities:
    """What tells the data behind a source from others.

    Args:
        source: The source, as it was opened.
        declared: What the owner declares as the source: of a frame all columns count, declared or not.
        engine: The engine that was opened with it.

    Raises:
        ParameterError: A file cannot be read.
        EngineError: A database cannot be reached, or failed.
    """
    match source:
        case CsvFile() | ParquetFile():
            return Identities.of_rows({file_identity(source.path)})
        case ArrowData():  # of it only declared columns are left, so another policy would see another frame
            identity = frame_identity(declared)
            return Identities.of_rows(set() if identity is None else {identity})
        case LazyData():
            found = _loaded("sfumato.engines.sources.lazy_frames:query_identities")(source.frame)
            return Identities.of_reading(found)
        case PostgresData():
            stored, read = _loaded("sfumato.engines.postgres.identities:table_identities")(source.address)
            return Identities(stored=stored, read=read)
        case SparkData():
            spark = engine.spark if isinstance(engine, _InSpark) else None
            if spark is None and isinstance(source.where, str):
                return Identities.of_reading(frozenset())
            found = _loaded("sfumato.engines.spark.identities:spark_identities")(source.where, spark=spark)
            return Identities.of_reading(found)
        case _:
            assert_never(source)


def whole_relation(source: object, table: Table, options: Mapping[str, Any]) -> Generator[Any, None, None]:
    """All rows of a relation.

    Args:
        source: An address, or a table or a DataFrame of Spark.
        table: What is declared of it.
        options: Of its engine.

    Raises:
        ParameterError: It is a file or a frame, or cannot be read as declared.
        EngineError: The engine failed.
    """
    # Its owner hears that it fails, and takes a snapshot for that very reason.
    opened: Opened = open_in_place(source, table, accepted_risks=frozenset({Risk.FAILING_ROWS}))
    match opened:
        case PostgresData():
            name = "postgres"
        case SparkData():
            name = "spark"
        case _:
            raise ParameterError("snapshot", table.name, "must be of a relation in a database: read this source itself")
    with closing(cast("GivesRows", _class_of(ENGINES[name])({table.name: opened}, **options))) as engine:
        for part in engine.rows(table):
            yield pa.table(part)


def text_columns_of(source: Opened, table: Table, engine: Engine) -> Collection[str]:
    """The declared columns of a table that its source holds as text, by their types alone.

    Args:
        source: The source, as it was opened.
        table: What is declared of it.
        engine: The engine that was opened with it.
    """
    if not isinstance(source, PostgresData | SparkData):
        return text_columns(source, table)
    types = engine.storage(table) if isinstance(engine, _InPlace) else {}
    return [name for name, kind in types.items() if kind == "VARCHAR"]


def _class_of(record: EngineRecord) -> Callable[..., Engine]:
    try:
        return _loaded(record.home)
    except ModuleNotFoundError:
        if record.package is None:
            raise
        raise ParameterError("engine", record.name, f"needs a package; run: pip install {record.package}") from None


def _loaded(name: str) -> Callable[..., Any]:
    """What an engine has under a name; it may import what only that engine needs."""
    found: Callable[..., Any] = resolve_name(name)
    return found
