"""Snapshots: the rows of a source that is computed when it is read, stored once by its owner, and then read as a file.

A query of a stored file can fail on no row, so that a failure reveals nobody. A snapshot is of one data version: one
of another version is refused until it is taken anew.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq

from sfumato.engines.registry import whole_relation
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import of_kind
from sfumato.query.policy.policy import Policy, SourceFacts

_VERSION: Final = b"sfumato.data_version"
_TAKE: Final = "write it with `sfumato prepare`, or sf.prepare(policy)"


def prepare(policy: Policy, **options: Any) -> tuple[Path, ...]:
    """Write the snapshots that a policy declares; for the owner only.

    Each snapshot is written to a new file and then renamed, so sessions never read an incomplete one. It contains the
    declared columns of all rows, without noise, and only this user may read it. Keep it where the data is kept.

    Args:
        policy: The policy that declares the snapshots.
        options: Options of the engine of a source: ``session=`` for Spark, ``work_mem=`` for PostgreSQL.

    Returns:
        The files that were written.

    Raises:
        ParameterError: A source cannot be read as declared, or snapshots do not support it.
        EngineError: The engine failed, perhaps on a row; no snapshot of the table was written.

    Example:
        >>> import sfumato as sf
        >>> table = sf.Table(name="votes", columns={"sport": sf.text()})
        >>> sf.prepare(
        ...     sf.Policy(
        ...         dataset="votes", version="1", data_version="1", unit_name="row", tables={"votes": table},
        ...         sources={"votes": sf.SourceFacts(source="votes.csv")},
        ...     )
        ... )
        ()
    """
    return tuple(_taken(of_kind(policy, "policy", Policy, "a Policy"), options))


def _taken(policy: Policy, options: Any) -> Iterator[Path]:
    for name, facts in policy.sources.items():
        if facts.snapshot is None:
            continue
        target = Path(facts.snapshot)
        fresh = target.with_name(f"{target.name}.new")
        parts = whole_relation(facts.source, policy.tables[name], options)
        try:
            first = next(parts)
            schema = first.schema.with_metadata({_VERSION: policy.data_version.encode()})
            fresh.unlink(missing_ok=True)  # what somebody left who was killed may be for all to read
            with open(fresh, "xb", opener=_for_its_owner) as file, pq.ParquetWriter(file, schema) as writer:
                writer.write_table(first.cast(schema))
                for part in parts:
                    writer.write_table(part.cast(schema))
            fresh.replace(target)
        finally:
            parts.close()
            fresh.unlink(missing_ok=True)
        yield target


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def require_snapshot(facts: SourceFacts, *, data_version: str) -> Path:
    """The file of a snapshot, which must be of a data version.

    Raises:
        ParameterError: There is none, or it is of another version.
    """
    path = Path(str(facts.snapshot))
    if not path.is_file():
        raise ParameterError("snapshot", str(path), f"must be a file; {_TAKE}")
    found = (pq.read_schema(path).metadata or {}).get(_VERSION, b"").decode()
    if found != data_version:
        requirement = f"is of data version {found or 'unknown'}; expected {data_version}: {_TAKE}"
        raise ParameterError("snapshot", str(path), requirement)
    return path
