"""The database behind the engine: in memory, and once its files are named closed to all others, and to changes.

That one spills nothing. Files of public rows are put in order on the disk, in a database of their own.
"""

import re
import tempfile
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import duckdb
from sqlglot import exp

from sfumato.engines.duckdb.dialect import sql
from sfumato.engines.sql.expressions.terms import column, text
from sfumato.errors import LedgerError, ParameterError
from sfumato.numeric.rationals import positive_integer

_SETTINGS: Final = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,  # no name in SQL means a variable of Python
    "temp_directory": "",  # nothing is spilled: rows stay in memory
}
_MOST_THREADS: Final = 1_024
_DISABLED: Final = frozenset({"top_n_window_elimination"})
"""Rewriting of windows that makes them take twice the time where most rows are kept."""

_MEMORY: Final = "256MB"
"""Enough for rows of up to a thousand characters; for longer ones the engine takes what it needs."""


def connected(*, memory_limit: str | None, threads: int | None) -> duckdb.DuckDBPyConnection:
    """A database in memory.

    Args:
        memory_limit: The most memory to use, as `"4GB"`; None leaves the engine's own.
        threads: How many threads to use; None leaves the engine's own.

    Raises:
        ParameterError: A setting that cannot be used.
    """
    settings: dict[str, Any] = dict(_SETTINGS)
    settings |= {} if memory_limit is None else {"memory_limit": memory_limit}
    settings |= {} if threads is None else {"threads": positive_integer(threads, "threads", most=_MOST_THREADS)}
    try:
        return duckdb.connect(config=settings)
    except duckdb.Error:
        raise ParameterError("memory_limit", memory_limit, "must be a size such as '4GB'") from None


def lock_down(database: duckdb.DuckDBPyConnection, files: Iterable[Path]) -> None:
    """No file but those of the sources can be read, and no setting changed any more."""
    paths = [text(path) for file in files for path in (str(file), literal_path(file))]
    known = {name for (name,) in database.execute("SELECT name FROM duckdb_optimizers()").fetchall()}
    database.execute(f"SET allowed_paths = {sql(exp.Array(expressions=paths))}")
    database.execute("SET enable_external_access = false")
    database.execute(f"SET disabled_optimizers = '{','.join(sorted(known & _DISABLED))}'")
    database.execute("SET lock_configuration = true")


def literal_path(path: Path) -> str:
    """A path as the database reads it, of which no character is a wildcard."""
    return re.sub(r"[*?\[]", r"[\g<0>]", str(path))


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
            requirement = "the answer cannot be sorted; free disk space or memory"
            raise LedgerError(str(target), requirement) from None


def _run(statement: str, **settings: Any) -> None:
    """In a database of its own."""
    with duckdb.connect(config=settings) as database:
        database.execute(statement)
