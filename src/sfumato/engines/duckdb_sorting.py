"""Files of public rows put in order on the disk: nothing of an engine's own database, which spills nothing."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import duckdb

from sfumato.engines.duckdb_database import literal_path
from sfumato.engines.sql.dialects.duckdb import sql
from sfumato.engines.sql.terms import column, text
from sfumato.errors import LedgerError

_MEMORY: Final = "256MB"


def sort_file(source: Path, target: Path, *, by: Sequence[str], rows_in_a_part: int) -> None:
    """Write the rows of a Parquet file in the order of some columns, of text by code points.

    Args:
        source: The file, of rows that anybody may see.
        target: The file to write, in the same folder; parts of it are spilled there.
        by: The columns; of no columns the rows stay as they are.
        rows_in_a_part: How many rows a row group has; the last one fewer.

    Raises:
        LedgerError: The disk is full.
    """
    if not by:
        source.replace(target)
        return
    order = ", ".join(sql(column(name)) for name in by)
    rows = f"SELECT * FROM read_parquet({sql(text(literal_path(source)))}) ORDER BY {order}"
    options = f"(FORMAT parquet, ROW_GROUP_SIZE {rows_in_a_part})"
    with tempfile.TemporaryDirectory(dir=target.parent) as spilled:
        settings: dict[str, Any] = {"memory_limit": _MEMORY, "temp_directory": spilled, "threads": 1}
        with duckdb.connect(config=settings) as database:
            try:
                database.execute(f"COPY ({rows}) TO {sql(text(str(target)))} {options}")
            except duckdb.Error:
                raise LedgerError(str(target), "an answer cannot be put in order on the disk; make room") from None
