"""Whether what Spark computes for a table can fail on some row: only plans of what is on the lists here cannot.

Read is the plan that Spark itself made of a table, a view or a DataFrame: in it every cast is written out. A session of
Spark Connect shows no plan; there only stored tables and files are known to be no more than that.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

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


def _class(of: Any) -> str:
    return str(of.getClass().getSimpleName())
