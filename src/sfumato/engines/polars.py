"""Polars, in this process: frames, also lazy ones, and files where they are; nothing runs before a question does."""

import threading
from collections.abc import Generator, Mapping
from typing import Final

import polars as pl

from sfumato.engines.base import Found
from sfumato.engines.failures import failing
from sfumato.engines.frames.lowering import Lowered, lower
from sfumato.engines.frames.results import found
from sfumato.engines.frames.tables import TypedFrames
from sfumato.engines.sampling import sampling_of
from sfumato.engines.sources import DataSource, LazyData
from sfumato.privacy.secret import Secret
from sfumato.query.relations import tables_of
from sfumato.query.statement import Statement

_FAILURES: Final = (Exception, pl.exceptions.PanicException)
"""All of them: a lazy frame may call functions of Python, which raise what they like, with a row in its text.

A panic of Polars is no `Exception`, and is caught by name.
"""


class PolarsEngine:
    """Holds sources by table name, as lazy frames.

    Args:
        sources: Where the rows of each table come from; nothing of them is read before the first run.
        sampling: By which hash units above a limit are sampled: `"md5"` as on every engine, or `"native"`, which is
            faster and keeps the same limits.

    Raises:
        ParameterError: A setting that cannot be used.
    """

    name = "polars"

    def __init__(self, sources: Mapping[str, DataSource | LazyData], *, sampling: str = "md5") -> None:
        self._sampling = sampling_of(sampling)
        self._lock = threading.Lock()
        self._frames = TypedFrames(sources)

    def run(self, statement: Statement, *, salt: str) -> Secret[Found]:
        """See `Engine.run`."""
        lowered, totals = self._computed(statement, salt)
        return Secret(found(lowered, totals))

    def batches(self, statement: Statement, *, salt: str, size: int) -> Generator[Secret[Found], None, None]:
        """See `Streaming.batches`; all groups are held as columns, and a batch of them at a time as keys."""
        lowered, totals = self._computed(statement, salt)
        return (Secret(found(lowered, part)) for part in totals.iter_slices(size))

    def sql(self, _: Statement, /) -> str:
        """Nothing: it runs no SQL."""
        return ""

    def close(self) -> None:
        """Let go of the frames."""
        self._frames = TypedFrames({})

    def _computed(self, statement: Statement, salt: str) -> tuple[Lowered, pl.DataFrame]:
        with failing(self.name, "opened a source", _FAILURES), self._lock:
            for table in tables_of(statement.rows):
                self._frames.named(table)
        with failing(self.name, "computed the exact half of a question", _FAILURES):
            lowered = lower(statement, self._frames.named, salt=salt, sampling=self._sampling)
            return lowered, lowered.totals.collect(engine="streaming")
