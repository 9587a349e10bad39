"""Lineage: the same data under a new name, a view or another path is recognised, so that it has one account.

What a source is (`engines/…identities`) says something of its rows, and is sealed with the ledger's key at once. Seals
are compared, shown to nobody, and without the key nobody can try out whose data it is.
"""

from collections.abc import Callable, Iterable, Mapping
from pkgutil import resolve_name
from typing import Any, Protocol, assert_never, runtime_checkable

from sfumato.engines.base import Engine
from sfumato.engines.identities import Identity, file_identity, frame_identity
from sfumato.engines.sources import ArrowData, CsvFile, LazyData, Opened, ParquetFile, PostgresData, SparkData
from sfumato.ledger.key import LedgerKey
from sfumato.query.policy import Policy
from sfumato.query.schema import Table
from sfumato.session.several_engines import SeveralEngines

_PURPOSE = "lineage"


@runtime_checkable
class InSpark(Protocol):
    """An engine that asks a session of Spark."""

    @property
    def spark(self) -> Any:
        """The session, in which names of its tables are meant."""


def fingerprints(
    policy: Policy, sources: Mapping[str, Opened], key: LedgerKey, *, engine: Engine
) -> Mapping[str, frozenset[str]]:  # fmt: skip
    """What tells the people behind each table from others: two tables with a fingerprint in common share data.

    What a public table reads is nobody's data: it has no fingerprints, and leaves none on a view that reads it too.

    Files of equal bytes, frames of equal rows, and what one relation of PostgreSQL or one file or table of Spark is
    read for share one, whatever they are called. It is a guard against mistakes and no part of the privacy guarantee:
    a copy with a row more has another one, which only the owner's declaration can tell.

    Edge cases: a table of which nothing is known (a query of Polars over a function, a view of Spark over rows in
    memory, a frame without rows) has none.

    Args:
        policy: What the owner declares.
        sources: The sources behind its tables, as the session opened them.
        key: The ledger's key; with another one all fingerprints are others.
        engine: The engine of the sources, which was opened with them.

    Raises:
        ParameterError: A file cannot be read.
        EngineError: A database cannot be reached, or failed.
    """
    found = {
        name: _identities(source, policy.sources[name].source, _engine_of(policy.tables[name], engine))
        for name, source in sources.items()
    }
    public = frozenset[Identity]().union(*(found[name] for name in found if policy.tables[name].is_public))
    return {
        name: _sealed(frozenset() if policy.tables[name].is_public else found[name] - public, key) for name in found
    }


def _identities(source: Opened, declared: Any, engine: Engine) -> frozenset[Identity]:
    match source:
        case CsvFile() | ParquetFile():
            return frozenset({file_identity(source.path)})
        case ArrowData():  # of it only declared columns are left, so another policy would see another frame
            identity = frame_identity(declared)
            return frozenset() if identity is None else frozenset({identity})
        case LazyData():
            return _loaded("sfumato.engines.lazy_frame_identities:query_identities")(source.frame)
        case PostgresData():
            return _loaded("sfumato.engines.postgres_identities:table_identities")(source.address)
        case SparkData():
            return _in_spark(source.where, engine)
        case _:
            assert_never(source)


def _in_spark(where: Any, engine: Engine) -> frozenset[Identity]:
    spark = engine.spark if isinstance(engine, InSpark) else None
    if spark is None and isinstance(where, str):
        return frozenset()
    return _loaded("sfumato.engines.spark_identities:spark_identities")(where, spark=spark)


def _engine_of(table: Table, engine: Engine) -> Engine:
    return engine.one_for([table]) if isinstance(engine, SeveralEngines) else engine


def _loaded(name: str) -> Callable[..., frozenset[Identity]]:
    """What finds identities in an engine; its packages are there, as it has opened its sources."""
    found: Callable[..., frozenset[Identity]] = resolve_name(name)
    return found


def _sealed(identities: Iterable[Identity], key: LedgerKey) -> frozenset[str]:
    return frozenset(key.fingerprint(_PURPOSE, *identity) for identity in identities)
