"""The lists of public keys and cells that the SQL of a statement reads: as Arrow tables, or as queries of constants.

PostgreSQL gets queries: its role may not write, not even what is temporary.
"""

from collections.abc import Iterable
from typing import Any, Final

import pyarrow as pa
from sqlglot import exp

from sfumato.engines.sampling import encoded
from sfumato.engines.sql.dialect import native
from sfumato.engines.sql.entries import PLACE, VALUE, GroupColumn
from sfumato.engines.sql.expressions.terms import TYPES, aliased, cast, column, text
from sfumato.engines.sql.rows import ENCODING
from sfumato.query.model.kinds import Kind
from sfumato.query.model.schema import Key
from sfumato.query.values.cells import converted

_ARROW: Final = {
    Kind.INTEGER: pa.int64(), Kind.TEXT: pa.string(), Kind.BOOLEAN: pa.bool_(), Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}  # fmt: skip


def list_table(group: GroupColumn) -> Any:
    """The public values of a column, their places, and how the salted hash reads them."""
    values = group.values or ()
    return pa.table(
        {
            VALUE: pa.array(values, _ARROW[group.kind]),
            PLACE: pa.array(range(len(values)), pa.int32()),
            ENCODING: pa.array(map(encoded, values), pa.string()),
        }
    )


def list_query(group: GroupColumn) -> exp.Select:
    """The public values of a column, their places, and how the salted hash reads them: arrays, one row an element.

    A value with NUL in it is NULL, which equals nothing: no text of the database has one.
    """
    values = group.values or ()
    arrays = {
        VALUE: (group.kind, map(_element, values)),
        PLACE: (Kind.INTEGER, map(str, range(len(values)))),
        ENCODING: (Kind.TEXT, (_quoted(encoded(value).replace("\x00", "")) for value in values)),
    }
    alias = exp.TableAlias(
        this=exp.to_identifier("l", quoted=True), columns=[exp.to_identifier(name, quoted=True) for name in arrays]
    )
    source = exp.Table(this=native("UNNEST", *(_array(kind, own) for kind, own in arrays.values())), alias=alias)
    columns = [aliased(cast(column(name), TYPES[kind]), name) for name, (kind, _) in arrays.items()]
    return exp.Select(expressions=columns).from_(source, copy=False)


def _array(kind: Kind, elements: Iterable[str]) -> exp.Cast:
    to = exp.DataType.build(f"{TYPES[kind]}[]", dialect="postgres")
    return exp.Cast(this=text(f"{{{','.join(elements)}}}"), to=to)


def _element(value: Key) -> str:
    shown = converted(value, Kind.TEXT)
    return "NULL" if shown is None or "\x00" in str(shown) else _quoted(str(shown))


def _quoted(value: str) -> str:
    escaped = value.replace("\\", r"\\").replace('"', r"\"")
    return f'"{escaped}"'
