"""What a table, a view or a DataFrame of Spark reads: its identities, and whether reading it can fail on some row.

Its identities say where the files lie that it reads, or else its name. A file that is here is known by its bytes, as on
other engines. Files that a task of Spark wrote are known by the folder of the table, because every rewriting names them
anew.

Only plans of what is on the lists here can fail on no row. Read is the plan that Spark itself made of a table, a view
or a DataFrame: in it every cast is written out. A session of Spark Connect shows no plan; there only stored tables and
files are known to be no more than that.
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

_NODES: Final = frozenset({
    "SubqueryAlias", "View", "Project", "Filter", "Union", "LocalRelation", "OneRowRelation", "Range",
})  # fmt: skip

_FORMATS: Final = frozenset({"ParquetFileFormat", "OrcFileFormat"})
_PROVIDERS: Final = frozenset({"parquet", "orc"})
_EXPRESSIONS: Final = frozenset({
    "AttributeReference", "Alias", "Literal", "EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual", "GreaterThan",
    "GreaterThanOrEqual", "And", "Or", "Not", "IsNull", "IsNotNull", "In", "InSet", "Coalesce", "CaseWhen", "If",
})  # fmt: skip

_WHOLE: Final = ("tinyint", "smallint", "int", "bigint")
_TO_TEXT: Final = frozenset({*_WHOLE, "boolean", "date", "string"})
_PATH: Final = re.compile(r"(parquet|orc)\.`[^`]+`")


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


def is_total(spark: Any, name: str, frame: Any) -> bool:
    """Whether reading a table can fail on no row of it, memory and time apart.

    Args:
        spark: The session that reads it.
        name: Its name, as `SparkData` has it.
        frame: A DataFrame of it, of which nothing is computed.
    """
    classic = getattr(frame, "_jdf", None)
    if classic is None:
        return _PATH.fullmatch(name) is not None or _is_stored(spark, name)
    return all(map(_is_total_node, _tree(classic.queryExecution().analyzed())))


def _is_stored(spark: Any, name: str) -> bool:
    if spark.catalog.getTable(name).tableType not in {"MANAGED", "EXTERNAL"}:
        return False
    told = {row[0]: row[1] for row in spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()}
    return str(told.get("Provider", "")).lower() in _PROVIDERS


def _is_total_node(node: Any) -> bool:
    kind = _class(node)
    if kind == "LogicalRelation":
        relation = node.relation()
        return _class(relation) == "HadoopFsRelation" and _class(relation.fileFormat()) in _FORMATS
    return kind in _NODES and all(map(_is_total_expression, _all(node.expressions())))


def _is_total_expression(root: Any) -> bool:
    return all(
        _class(one) in _EXPRESSIONS or (_class(one) == "Cast" and _loses_nothing(one)) for one in _tree(root)
    )  # fmt: skip


def _loses_nothing(cast: Any) -> bool:
    stored, target = (str(one.dataType().simpleString()) for one in (cast.child(), cast))
    if stored in _WHOLE and target in _WHOLE:
        return _WHOLE.index(stored) <= _WHOLE.index(target)
    return stored == target or (target == "string" and stored in _TO_TEXT)


def _tree(node: Any) -> Iterator[Any]:
    yield node
    for child in _all(node.children()):
        yield from _tree(child)


def _all(values: Any) -> Iterator[Any]:
    """The elements of a sequence of Scala."""
    return (values.apply(place) for place in range(values.size()))
