"""All rows of a relation that stays where it is, for its owner: Arrow tables of the declared columns."""

from collections.abc import Generator, Mapping
from contextlib import closing
from pkgutil import resolve_name
from typing import Any, Protocol, cast, runtime_checkable

import pyarrow as pa

from sfumato.engines.sources.sources import Opened, PostgresData, SparkData, open_in_place
from sfumato.errors import ParameterError
from sfumato.query.model.schema import Table
from sfumato.query.policy.policy import Risk


@runtime_checkable
class Whole(Protocol):
    """An engine that gives its owner all rows of a table."""

    def rows(self, table: Table) -> Generator[Any, None, None]:
        """The declared columns in Arrow tables, one at least; as they are stored, but times as they are read."""

    def close(self) -> None:
        """Let go of connections."""


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
            home = "sfumato.engines.postgres.engine:PostgresEngine"
        case SparkData():
            home = "sfumato.engines.spark.engine:SparkEngine"
        case _:
            raise ParameterError("snapshot", table.name, "must be of a relation in a database: read this source itself")
    with closing(cast("Whole", resolve_name(home)({table.name: opened}, **options))) as engine:
        for part in engine.rows(table):
            yield pa.table(part)
