"""The database behind the engine: in memory, and once its files are named closed to all others, and to changes."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import duckdb
from sqlglot import exp

from sfumato.engines.sql.dialects.duckdb import sql
from sfumato.engines.sql.terms import text
from sfumato.errors import ParameterError
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
