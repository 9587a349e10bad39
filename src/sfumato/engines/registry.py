"""The engines by name: a record of each says where it is, what it needs, and which sources it reads where they are.

A new engine is a room beside the others and a record here. Its class is loaded when it is opened, with its packages.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any, Final, Protocol, assert_never, runtime_checkable

from sfumato.engines.base import Engine
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
)
from sfumato.errors import ParameterError
from sfumato.query.model.schema import Table
from sfumato.query.policy.policy import SourceFacts, is_address


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


@runtime_checkable
class _InSpark(Protocol):
    """An engine that asks a session of Spark, in which names of tables are meant."""

    @property
    def spark(self) -> Any: ...


def check_engine(name: object) -> None:
    """Refuse the name of no engine.

    Raises:
        ParameterError: There is no such engine.
    """
    if name == "polars":
        requirement = 'is no engine any more: DuckDB reads Polars frames. Use engine="duckdb", the default'
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
                "engine_options", option, f"is no option of {name}: {', '.join(known) or 'it has none'}"
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
            found = _loaded("sfumato.engines.sources.lazy_frame_identities:query_identities")(source.frame)
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
