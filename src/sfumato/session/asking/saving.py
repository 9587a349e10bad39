"""Answers into files: what was released is shown batch by batch, and no more of it is in memory than that.

The ledger keeps what was released, not the file: so the same query is answered from it for nothing however it is to
be shown, and a file that is asked for again is the same, byte for byte.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import ParameterError
from sfumato.ledger.keeping.attachments import Attachments
from sfumato.ledger.keeping.files import synced
from sfumato.noise.entropy import random_bytes
from sfumato.privacy.codec import Json
from sfumato.query.analysis.shape import shape_of
from sfumato.query.planning.plan import PrivatePlan
from sfumato.query.planning.questions import Presented
from sfumato.query.policy.policy import Policy
from sfumato.query.statistics.measurements import Section
from sfumato.session.asking.execution import Keep
from sfumato.session.releases.columns import AnswerColumns
from sfumato.session.releases.receipt import Receipt
from sfumato.session.releases.releasing import BATCH, ReleasedBatch, Run, Stream, released_batches
from sfumato.session.releases.stored import attach, section_batches

Progress = Callable[[int], None]
"""Hears how many more groups were released."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRelease:
    """A noisy answer in a Parquet file, sorted by its keys; safe to show to anybody.

    Attributes:
        path: The file: one row per group, with a column for each key and statistic, and the bounds of each interval as
            `…_low` and `…_high`.
        row_count: The number of rows.
        keys: The names of the key columns.
        statistics: The names of the other columns.
        confidence: The probability with which an interval holds the exact bounded value.
        receipt: The query, its cost and the remaining budget.
        reused: Whether this is a stored answer, returned at no cost.
        notes: Other released facts, such as chosen bounds.
    """

    path: Path
    row_count: int
    keys: tuple[str, ...]
    statistics: tuple[str, ...]
    confidence: float
    receipt: Receipt
    reused: bool = False
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.row_count

    def batches(self) -> Iterator[Any]:
        """An iterator over the rows as pyarrow RecordBatches."""
        with pq.ParquetFile(self.path) as file:
            yield from file.iter_batches()

    def to_arrow(self) -> Any:
        """All rows as a pyarrow Table."""
        return pq.read_table(self.path)

    def __repr__(self) -> str:
        paid = "stored answer, nothing spent" if self.reused else f"spent {self.receipt.guarantee}"
        last = f"{self.confidence:.0%} intervals; {paid}; remaining: {self.receipt.remaining}"
        return "\n".join((f"{self.row_count:,} rows in {self.path}", *self.notes, last))


def file_for(to: str | PathLike[str], question: Presented, policy: Policy) -> Path:
    """Where an answer is to be written, before anything is spent.

    Raises:
        ParameterError: It cannot be written there, or the answer would have to be held as a whole.
    """
    path = _path(to)
    if path is None or path.suffix.lower() != ".parquet":
        raise ParameterError("to", str(to), 'must be the name of a Parquet file, such as "answers.parquet"')
    if not can_be_written(path):
        raise ParameterError("to", str(to), "must be a name in an existing folder in which this user may write")
    if any(is_source(path, facts.source) for facts in policy.sources.values()):
        raise ParameterError("to", str(to), "is the file that a table is read from; write the answer beside it")
    if question.order or question.windows or question.limit is not None or question.offset:
        requirement = (
            "is written in the order of its keys; leave out ORDER BY, LIMIT, OFFSET and OVER, and sort the file"
        )
        raise ParameterError("to", str(to), requirement)
    if question.consistent:
        raise ParameterError("to", str(to), "cannot be made consistent in batches; leave out consistent=True")
    return path


def kept_in_files(attachments: Attachments, progress_shown: Progress) -> Keep:
    """Releases sections batch by batch, into files beside the ledger."""

    def keep(plan: PrivatePlan, section: Section, run: Run, stream: Stream) -> Json:
        columns = shape_of(plan.question.child.child).columns
        kinds = [columns[key.name].kind for key in section.keys]
        with closing(released_batches(section, run, stream)) as batches:  # the engine waits for it, whatever happens
            return attach(_heard(batches, progress_shown), kinds, attachments)

    return keep


def write_answer(
    path: Path,
    question: Presented,
    plan: PrivatePlan,
    documents: Sequence[Any],
    attachments: Attachments,
    *,
    confidence: Fraction,
) -> tuple[int, AnswerColumns]:
    """Write what sections released as an answer, under its name only once it is whole.

    Args:
        path: The file to write.
        question: How it is shown.
        plan: What was released.
        documents: What stands for each section in the stored answer.
        attachments: The files beside the ledger.
        confidence: Of every interval.

    Returns:
        How many rows there are, and what columns.
    """
    shown = [AnswerColumns(question, plan, section, confidence) for section in plan.sections]
    tables = (
        columns.table(batch)
        for columns, document in zip(shown, documents, strict=True)
        for batch in section_batches(document, attachments)
    )
    count = 0
    with _whole_file(path) as draft, pq.ParquetWriter(draft, shown[0].schema) as writer:
        for table in _recut(tables):
            writer.write_table(table, row_group_size=BATCH)
            count += len(table)
    return count, shown[0]


def _heard(batches: Iterable[ReleasedBatch], progress_shown: Progress) -> Iterator[ReleasedBatch]:
    """In steps of one size: how many of each batch were released would tell how many there were before selection."""
    waiting = 0
    for batch in batches:
        waiting += len(batch)
        while waiting >= BATCH:
            progress_shown(BATCH)
            waiting -= BATCH
        yield batch
    progress_shown(waiting)


def _recut(tables: Iterable[Any]) -> Iterator[Any]:
    """Tables of one size: HAVING leaves more or fewer of each batch."""
    waiting: list[Any] = []
    for table in tables:
        waiting.append(table)
        while sum(map(len, waiting)) >= BATCH:
            whole = pa.concat_tables(waiting)
            yield whole.slice(0, BATCH)
            waiting = [whole.slice(BATCH)]
    if waiting:
        yield pa.concat_tables(waiting)


def _path(to: object) -> Path | None:
    """What a user stated as one, if it is a path of text."""
    name = os.fspath(to) if isinstance(to, str | PathLike) else None
    return Path(name) if isinstance(name, str) else None


def is_source(path: Path, source: object) -> bool:
    """Whether a path is the file that a table is read from."""
    stored = _path(source)
    return stored is not None and path.exists() and stored.exists() and path.samefile(stored)


def can_be_written(path: Path) -> bool:
    """Whether a file of that name can be: it is tried beside it, because answers are written there first."""
    draft = _draft(path)
    try:
        str(draft).encode()  # Arrow takes no other names
        draft.touch(exist_ok=False)
        draft.unlink()
        return not path.is_dir()
    except (OSError, ValueError):
        return False


def _draft(path: Path) -> Path:
    return path.with_name(f".{path.name}.{random_bytes(8).hex()}")


@contextmanager
def _whole_file(path: Path) -> Iterator[Path]:
    """A file beside the one that is wanted, which takes its name once it is on the disk."""
    draft = _draft(path)
    try:
        yield draft
        synced(draft)
        draft.replace(path)
        synced(path.parent)
    except OSError:
        raise ParameterError(
            "to", str(path), "could not be written; free disk space and send the query again, at no cost"
        ) from None
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
