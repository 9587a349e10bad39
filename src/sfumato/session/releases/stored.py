"""What was released as a Parquet file beside the ledger, where it is too much for JSON values; see `written`."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.engines.duckdb.database import sort_file
from sfumato.engines.sql.lowering import halves, of_halves
from sfumato.ledger.keeping.attachments import Attachment, Attachments
from sfumato.privacy.codec import Json
from sfumato.query.model.kinds import Kind
from sfumato.session.releases.columns import ARROW_TYPES
from sfumato.session.releases.releasing import BATCH, Numbers, Released, ReleasedBatch, in_pieces
from sfumato.session.releases.written import decode_released


def attached_section(document: Any, attachments: Attachments) -> Released:
    """What a section released, from the file beside the ledger that an entry names."""
    batches = [batch.released for batch in section_batches(document, attachments)]
    groups = (group for batch in batches for group in batch.groups)
    measured = zip(*(batch.measured for batch in batches), strict=True)
    return Released(groups=tuple(groups), measured=tuple(tuple(chain.from_iterable(rows)) for rows in measured))


def section_batches(document: Any, attachments: Attachments) -> Iterator[ReleasedBatch]:
    """The same in batches, in the order of the keys.

    Raises:
        LedgerError: The file is gone, or was changed.
    """
    if "attached" in document:
        return read_batches(attachments.path(Attachment(**document["attached"])))
    return in_pieces(decode_released(document))


def attach(batches: Iterable[ReleasedBatch], kinds: Iterable[Kind], attachments: Attachments) -> Json:
    """Batches written to a file beside the ledger, and what stands for it in an entry."""
    with attachments.writing() as path:
        write_batches(path, kinds, batches)
    attached = attachments.attached(path)
    return {"attached": {"name": attached.name, "sha256": attached.sha256}}


def write_batches(path: Path, kinds: Iterable[Kind], batches: Iterable[ReleasedBatch]) -> None:
    """A file with a row a group, in the order of the keys, in parts of one size; empty if there are no groups.

    What was released is public, so the disk may put it in order; how it came is not, so nothing of that stays.

    Args:
        path: The file to write.
        kinds: Of the keys.
        batches: In any order and of any size.
    """
    draft = path.with_name(f"{path.name}.unordered")
    try:
        draft.touch(mode=0o600)  # what order groups came in is the curator's
        schema = _write(draft, kinds, batches)
        keys = [name for name in schema.names if name.startswith("k")]
        sort_file(draft, path, by=keys, rows_in_a_part=BATCH)
    finally:
        draft.unlink(missing_ok=True)


def _write(path: Path, kinds: Iterable[Kind], batches: Iterable[ReleasedBatch]) -> Any:
    """The batches as they come; gives their schema."""
    first = next(remaining := iter(batches), None)
    widths = [] if first is None else [numbers.shape[1] for numbers in first.measured]
    names = [f"m{place}.{own}.{half}" for place, width in enumerate(widths) for own in range(width) for half in "hl"]
    keys = [(f"k{place}", ARROW_TYPES[kind]) for place, kind in enumerate(kinds)]
    schema = pa.schema([*keys, *((name, pa.int64()) for name in names)])
    with pq.ParquetWriter(path, schema) as writer:
        for batch in () if first is None else chain([first], remaining):
            numbers = [half for own in batch.measured for column in own.T for half in halves(column)]
            arrays = [pa.array(own, kind) for own, (_, kind) in zip(batch.keys, keys, strict=True)]
            columns = [*arrays, *(pa.array(own) for own in numbers)]
            writer.write_batch(pa.record_batch(columns, schema=schema))
    return schema


def read_batches(path: Path) -> Iterator[ReleasedBatch]:
    """The batches that `write_batches` wrote."""
    with pq.ParquetFile(path) as file:
        for place in range(file.num_row_groups):
            yield _batch(file.read_row_group(place))


def _batch(table: Any) -> ReleasedBatch:
    measured: dict[str, list[Numbers]] = {}
    for name in table.column_names:
        if name.startswith("m"):
            measured.setdefault(name.split(".")[0], []).append(table[name].to_numpy())
    return ReleasedBatch(
        keys=tuple(table[name].to_pylist() for name in table.column_names if name.startswith("k")),
        measured=tuple(
            np.stack([of_halves(*pair) for pair in zip(columns[::2], columns[1::2], strict=True)], axis=1)
            for columns in measured.values()
        ),
    )
