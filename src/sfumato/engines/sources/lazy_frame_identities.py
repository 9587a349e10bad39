"""The identities of a query of Polars: those of the files and frames that it reads; the query itself is not run.

The plan is asked, as Polars shows it to other engines, and not its serialized form: that has all rows of frames in it,
and another version of Polars writes it otherwise. Where a plan cannot be asked, no identity is known.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import polars as pl

from sfumato.engines.sources.identities import Identity, file_identity, frame_identity
from sfumato.errors import ParameterError

_AS_WRITTEN: Final = pl.QueryOptFlags.none()._pyoptflags  # noqa: SLF001 # has no public name

_UNKNOWN: Final = (
    pl.exceptions.PolarsError, pl.exceptions.PanicException, NotImplementedError, AttributeError, TypeError,
)  # fmt: skip
"""What is raised for a node that other engines do not get to see; the last two, if a version shows it otherwise."""


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
