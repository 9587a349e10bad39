"""The lists of public keys and cells that the SQL of a statement reads, as Arrow tables."""

from typing import Any, Final

import pyarrow as pa

from sfumato.engines.sampling import encoded
from sfumato.engines.sql.entries import PLACE, VALUE, Mark
from sfumato.engines.sql.rows import ENCODING
from sfumato.query.kinds import Kind

_ARROW: Final = {
    Kind.INTEGER: pa.int64(), Kind.TEXT: pa.string(), Kind.BOOLEAN: pa.bool_(), Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}  # fmt: skip


def list_table(mark: Mark) -> Any:
    """The public values of a mark, their places, and how the salted hash reads them."""
    values = mark.values or ()
    return pa.table(
        {
            VALUE: pa.array(values, _ARROW[mark.kind]),
            PLACE: pa.array(range(len(values)), pa.int32()),
            ENCODING: pa.array(map(encoded, values), pa.string()),
        }
    )
