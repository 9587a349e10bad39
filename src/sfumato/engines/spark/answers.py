"""The answer to a query of Spark in Arrow batches, which its executors make; of it one partition at a time is here.

Rows that cross as Python objects take ten times as long, and `toArrow` brings all of an answer at once.
"""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark.core.rdd import RDD
from pyspark.serializers import NoOpSerializer
from pyspark.sql.pandas.types import to_arrow_schema

_ZONE: Final = "UTC"


def batches_of(answer: Any, *, size: int) -> Iterator[Any]:
    """The rows of a DataFrame, classic or of Spark Connect, as Arrow batches of columns.

    Args:
        answer: The DataFrame, of which nothing is computed yet.
        size: How many rows a batch has at most.
    """
    found = _of_server(answer) if hasattr(answer, "_plan") else _of_application(answer, size)
    for batch in found:
        for start in range(0, batch.num_rows, size):
            yield batch.slice(start, size)


def _of_application(answer: Any, size: int) -> Iterator[Any]:
    """Messages without a schema, of one partition after another; the next one is computed meanwhile."""
    schema = to_arrow_schema(answer.schema, timezone=_ZONE)
    context = answer.sparkSession.sparkContext
    made = answer._jdf.toArrowBatchRdd(size, _ZONE, False, False)  # noqa: SLF001 # has no public name
    messages = RDD(made.toJavaRDD(), context, NoOpSerializer()).toLocalIterator(prefetchPartitions=True)
    for message in messages:
        yield pa.ipc.read_record_batch(message, schema)


def _of_server(answer: Any) -> Iterator[Any]:
    """Tables, and before them their types."""
    client, plan = answer.sparkSession.client, answer._plan  # noqa: SLF001 # has no public name
    for piece in client.to_table_as_iterator(plan.to_proto(client), plan.observations):
        if isinstance(piece, pa.Table):
            yield from piece.to_batches()
