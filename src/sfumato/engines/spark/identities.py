"""The identities of a table, a view or a DataFrame of Spark: where the files lie that it reads, or else its name.

A file that is here is known by its bytes, as on other engines. Files that a task of Spark wrote are known by the folder
of the table, because every rewriting names them anew.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from sfumato.engines.base import failing
from sfumato.engines.sources.identities import Identity, file_identity
from sfumato.engines.spark.session import FAILURES, quiet

_WRITTEN: Final = re.compile(r"part-\d{5}.*")
_PARTITION: Final = re.compile(r"[^=]+=.*")
"""A folder of the rows with one value of a column."""


def spark_identities(where: Any, *, spark: Any = None) -> frozenset[Identity]:
    """The identities of what a table or a DataFrame reads; nothing is computed.

    Args:
        where: The name of a table, or a `pyspark.sql.DataFrame`, classic or of Spark Connect.
        spark: The session in which the name is meant.

    Raises:
        EngineError: Spark cannot be reached, or failed.
        ParameterError: A file that is here cannot be read.
    """
    with quiet(), failing("spark", "looked up where a table is stored", FAILURES):
        frame = spark.table(where) if isinstance(where, str) else where
        files = {*frame.inputFiles(), *_before_caches(frame)}
        named = _named(spark, where) if isinstance(where, str) and not files else frozenset()
    return named | {_of_file(file) for file in files}


def _before_caches(frame: Any) -> Iterator[str]:
    """The files that a query would read had Spark cached nothing, which only a classic session shows."""
    classic = getattr(frame, "_jdf", None)
    if classic is None:
        return
    leaves = classic.queryExecution().analyzed().collectLeaves()
    for leaf in (leaves.apply(place) for place in range(leaves.size())):
        if _class(leaf) == "LogicalRelation" and _class(leaf.relation()) == "HadoopFsRelation":
            yield from leaf.relation().inputFiles()


def _class(of: Any) -> str:
    return str(of.getClass().getSimpleName())


def _named(spark: Any, name: str) -> frozenset[Identity]:
    """A table that reads no files, by its whole name; none for a view, which goes with its session or reads others."""
    found = spark.catalog.getTable(name)
    if found.isTemporary or found.tableType == "VIEW":
        return frozenset()
    return frozenset({("table", found.catalog or "", *(found.namespace or ()), found.name)})


def _of_file(address: str) -> Identity:
    parts = urlsplit(address)
    path = PurePosixPath(unquote(parts.path))
    if _WRITTEN.fullmatch(path.name):
        folders = [folder for folder in path.parents if not _PARTITION.fullmatch(folder.name)]
        return "place", parts.scheme, parts.netloc, str(folders[0])
    if parts.scheme in {"", "file"} and Path(path).is_file():
        return file_identity(Path(path))
    return "place", parts.scheme, parts.netloc, str(path)
