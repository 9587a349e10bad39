"""`SavedRelease`: an answer in a file, with what it cost."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from sfumato.session.releases.receipt import Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRelease:
    """An answer in a Parquet file, in the order of its keys; safe to show to anybody.

    Attributes:
        path: Where it is: a row a group, with a column for each key and for each statistic, and the two ends of its
            interval as `…_low` and `…_high`.
        row_count: How many rows it has.
        keys: The names of the key columns.
        statistics: The names of the other columns.
        confidence: How often an interval holds the exact value.
        receipt: What was asked and what it cost.
        reused: Whether it is a stored answer, returned again for nothing.
        notes: What else was released, such as bounds that were chosen.
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
        """The rows as pyarrow RecordBatches, not all at once."""
        with pq.ParquetFile(self.path) as file:
            yield from file.iter_batches()

    def to_arrow(self) -> Any:
        """All rows as a pyarrow Table."""
        return pq.read_table(self.path)

    def __repr__(self) -> str:
        paid = "stored answer, nothing spent" if self.reused else f"spent {self.receipt.guarantee}"
        last = f"{self.confidence:.0%} intervals; {paid}, left {self.receipt.left}"
        return "\n".join((f"{self.row_count:,} rows in {self.path}", *self.notes, last))
