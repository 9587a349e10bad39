"""Sources that Spark reads where they are: tables by name, as `spark:catalog.schema.table`, and its DataFrames."""

from typing import Final

from sfumato.engines.sources import Opened, SparkData, open_source, readable
from sfumato.query.schema import Table

SCHEME: Final = "spark:"
"""What a source begins with that is the name of a table or a view; as a file: spark:parquet.`/folder`."""


def open_in_place(source: object, table: Table, *, names: tuple[str, ...] | None = None) -> Opened:
    """The source behind a name, a DataFrame, a path or a frame, with what a table declares of it.

    Whether Spark has it, and as it is declared, the engine asks when it is opened.

    Args:
        source: The name of a table behind `spark:`, a DataFrame, or as `sources.open_source` takes it.
        table: What is declared of it.
        names: The columns of a CSV file without a header.

    Raises:
        ParameterError: There is no such file, or it cannot be read as declared.
    """
    if isinstance(source, str) and source.startswith(SCHEME):
        return SparkData(source.removeprefix(SCHEME), table)
    if type(source).__module__.startswith("pyspark."):
        return SparkData(source, table)
    return readable(open_source(source, names=names), table)
