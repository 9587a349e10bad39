"""Files of public rows put in order on the disk: nothing of an engine's own database, which spills nothing."""

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import duckdb

from sfumato.engines.duckdb_database import literal_path
from sfumato.engines.sql.dialects.duckdb import sql
from sfumato.engines.sql.terms import column, text
from sfumato.errors import LedgerError

_MEMORY: Final = "256MB"
"""Enough for rows of up to a thousand characters; for longer ones the engine takes what it needs."""


def sort_file(source: Path, target: Path, *, by: Sequence[str], rows_in_a_part: int) -> None:
    """Write the rows of a Parquet file in the order of some columns, of text by code points.

    Args:
        source: The file, of rows that anybody may see.
        target: The file to write, in the same folder; parts of it are spilled there.
        by: The columns; of no columns the rows stay as they are.
        rows_in_a_part: How many rows a row group has; the last one fewer.

    Raises:
        LedgerError: The disk is full, or the memory.
    """
    if not by:
        source.replace(target)
        return
    order = ", ".join(sql(column(name)) for name in by)
    rows = f"SELECT * FROM read_parquet({sql(text(literal_path(source)))}) ORDER BY {order}"
    options = f"(FORMAT parquet, ROW_GROUP_SIZE {rows_in_a_part})"
    with tempfile.TemporaryDirectory(dir=target.parent) as spilled:
        copy = partial(_run, f"COPY ({rows}) TO {sql(text(str(target)))} {options}", temp_directory=spilled, threads=1)
        try:
            try:
                copy(memory_limit=_MEMORY)
            except duckdb.OutOfMemoryException:
                copy()
        except duckdb.Error:
            requirement = "an answer cannot be put in order; make room on the disk, or have more memory"
            raise LedgerError(str(target), requirement) from None


def _run(statement: str, **settings: Any) -> None:
    """In a database of its own."""
    with duckdb.connect(config=settings) as database:
        database.execute(statement)
