"""Polars LazyFrames: their types when they are opened, their rows in batches when a query needs them, what they read.

A LazyFrame may call functions of Python, which raise what they like, with a row in the text; a panic of Polars is no
`Exception` at all. None of it leaves this module, not even as the context of another error.

Its identities are those of the files and frames that it reads; it is not run. The plan is asked, as Polars shows it to
other engines, and not its serialized form: that has all rows of frames in it, and another version of Polars writes it
otherwise. Where a plan cannot be asked, no identity is known.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import polars as pl
import pyarrow as pa
from polars.selectors import by_name

from sfumato.engines.sources.arrow_tables import repaired
from sfumato.engines.sources.identities import Identity, file_identity, frame_identity
from sfumato.errors import FailedOnRowsError, ParameterError

_BATCH: Final = 122_880
"""Rows: as many as a row group of DuckDB, so that it writes none twice."""

_AS_WRITTEN: Final = pl.QueryOptFlags.none()._pyoptflags  # noqa: SLF001 # has no public name
_UNKNOWN: Final = (
    pl.exceptions.PolarsError, pl.exceptions.PanicException, NotImplementedError, AttributeError, TypeError,
)  # fmt: skip
"""What is raised for a node that other engines do not get to see; the last two, if a version shows it otherwise."""


def schema_of(frame: pl.LazyFrame) -> Any:
    """The Arrow schema of what a LazyFrame gives; no row is read.

    Raises:
        ParameterError: It has none, or a column of a type that Arrow does not know.
    """
    schema = None
    with suppress(Exception, pl.exceptions.PanicException):
        schema = frame.collect_schema().to_frame().to_arrow().schema
    if schema is None:  # said here, because an error keeps what is handled while it is raised
        raise ParameterError("source", "a Polars query", "must have a schema of text, numbers, booleans or times")
    return schema


def stream(frame: pl.LazyFrame, *, schema: Any, wanted: Iterable[str], take: Callable[[Any], None]) -> None:
    """Run a LazyFrame once, and hand on some of its columns in repaired Arrow tables of at most `_BATCH` rows.

    Batches are pushed, by `sink_batches`: the iterator of `collect_batches` (Polars 2.1) just ends when a query panics,
    as if there were no more rows.

    Args:
        frame: The query.
        schema: Its `schema_of` when it was opened.
        wanted: The columns, which the query must still give with the same types.
        take: Gets the tables one after the other, in some thread; the first one is without rows.

    Raises:
        FailedOnRowsError: The query failed or gave other types, or `take` failed; without its text.
    """
    stored = pa.schema([schema.field(name) for name in wanted])

    def hand_on(part: pl.DataFrame) -> None:
        data = part.to_arrow()
        if data.schema != stored:
            raise TypeError
        take(repaired(data))

    failed = False
    try:
        take(repaired(stored.empty_table()))
        frame.select(by_name(*stored.names)).sink_batches(hand_on, chunk_size=_BATCH, engine="streaming")
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 # a function in the query may raise anything
        failed = True
    if failed:  # said here, because an error keeps what is handled while it is raised
        raise FailedOnRowsError("polars", "gave the rows of a LazyFrame", "LazyFrame")


def query_identities(frame: pl.LazyFrame) -> frozenset[Identity]:
    """The identities of what a lazy frame reads; sources that are functions of Python have none.

    Raises:
        ParameterError: A file, or a place where there are some, cannot be read.
    """
    return frozenset(identity for node in _nodes(frame) for identity in _of_node(node))


def _nodes(frame: pl.LazyFrame) -> Iterator[Any]:
    """The nodes of the plan that are shown, each once."""
    try:
        # Neither has a public name. Optimized, a plan would show less of a frame than there is.
        plan = frame._ldf.with_optimizations(_AS_WRITTEN).visit()  # noqa: SLF001
        waiting, seen = [plan.get_node()], set()
        while waiting:
            number = waiting.pop()
            if number not in seen:
                seen.add(number)
                plan.set_node(number)
                waiting.extend(plan.get_inputs())
                yield from _shown(plan)
    except _UNKNOWN:
        return
    except OSError:
        raise ParameterError("source", "a Polars query", "must read files that can be read") from None


def _shown(plan: Any) -> list[Any]:
    try:
        return [plan.view_current_node()]
    except _UNKNOWN:
        return []  # a function of Python: what it is given is shown all the same


def _of_node(node: Any) -> Iterator[Identity]:
    for path in getattr(node, "paths", None) or ():
        file = Path(str(path))
        yield file_identity(file) if file.is_file() else ("place", str(path))
    if hasattr(node, "df"):
        identity = frame_identity(pl.DataFrame._from_pydf(node.df))  # noqa: SLF001 # has no public name
        yield from () if identity is None else (identity,)
