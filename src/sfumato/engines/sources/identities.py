"""What tells the data behind a source from other data, however it is called and wherever it lies.

An identity is computed from rows or names a place, so it is shown to nobody: the session keeps a seal of it. That of a
frame is the same from Arrow, pandas and Polars, in any order of rows and of columns.

A column is known by its sorted values, whatever its name, its chunks and the width of its type. A row is known by the
sum over its columns of a number of 64 bits that looks random for each column and value; sorted, those are the rows.

Numbers are numbers whether they are stored as whole ones or as doubles, because pandas makes doubles of whole numbers
where one is missing; NaN is missing too. A time at midnight is a day, and a day is text, as pandas may hold either.
Binary data is text. Lists and structs are left out, as are columns without a value: pandas may hold them so.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.engines.sources.arrow_tables import arrow_table, is_time, plain_times
from sfumato.errors import ParameterError

Identity: TypeAlias = tuple[str | int, ...]
"""Words and numbers, the first of which says what kind of identity it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identities:
    """What is known of the data behind a table.

    Attributes:
        stored: Where its rows are and, of a file or a frame, what they are: columns have one name there.
        read: What it reads, also through views and queries, which may call columns otherwise.
    """

    stored: frozenset[Identity]
    read: frozenset[Identity]

    @classmethod
    def of_rows(cls, found: Iterable[Identity]) -> "Identities":
        """Of what holds rows itself."""
        return cls(stored=frozenset(found), read=frozenset(found))

    @classmethod
    def of_reading(cls, found: frozenset[Identity]) -> "Identities":
        """Of what may be a view or a query of something else."""
        return cls(stored=frozenset(), read=found)


_Words: TypeAlias = npt.NDArray[np.uint64]
_Missing: TypeAlias = npt.NDArray[np.bool_]

_WHOLE: Final = 2.0**53
_DAY: Final = 86_400_000_000
"""Microseconds."""

_SPREAD: Final = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
"""Of SplitMix64 [SLF14], a bijection of 64 bits in which every bit of the result depends on every bit."""

_TEXTS: Final = (
    pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary,
    pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary,
)  # fmt: skip


def file_identity(path: Path) -> Identity:
    """The bytes of a file: the same by any path, link or name, and of any copy.

    It is read from its beginning to its end, so it takes as long as SHA-256 of it does.

    Raises:
        ParameterError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return "bytes", file_digest(file, "sha256").hexdigest()
    except OSError:
        raise ParameterError("source", path.name, "must be a file that can be read") from None


def frame_identity(frame: Any) -> Identity | None:
    """What the rows of a frame are; None if there are none, or no column that can be read.

    It takes about as long as sorting each column.

    Args:
        frame: As `arrow_table` takes it; with all its columns, also those that a policy does not declare.

    Raises:
        ParameterError: It is no such frame.
    """
    table = arrow_table(frame)
    plain = [column for column in map(_plain, table.columns) if column is not None and column.null_count < len(column)]
    if not plain:
        return None
    rows = np.zeros(table.num_rows, dtype=np.uint64)
    columns = []
    for column in plain:
        digest, words, missing = _ranked(column) if pa.types.is_large_binary(column.type) else _sorted(column)
        columns.append(digest.hex())
        rows += _spread(words, missing, digest)  # a sum is the same in any order
    rows.sort()
    return "rows", *sorted(columns), sha256(_little(rows)).hexdigest()


def _plain(column: Any) -> Any:
    """A column of whole numbers, doubles, times or bytes, where equal ones are equal; None if it is none of these."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(pc.cast(column, kind.value_type, safe=False))
    if is_time(kind):
        return _plain_times(pa.chunked_array([plain_times(column)]))
    if pa.types.is_integer(kind):
        return pc.cast(column, pa.int64(), safe=False)
    if pa.types.is_floating(kind):
        return _plain_doubles(pc.cast(column, pa.float64()))
    if pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        column, kind = pc.cast(column, pa.large_string()), pa.large_string()
    return pc.cast(column, pa.large_binary()) if any(is_text(kind) for is_text in _TEXTS) else None


def _plain_times(column: Any) -> Any:
    counts = pc.cast(column, pa.timestamp("us")).cast(pa.int64())
    if (np.asarray(counts.fill_null(0)) % _DAY).any():
        return column
    days = pc.cast(column, pa.date32()).combine_chunks().dictionary_encode()  # there are few: most rows need no text
    texts = days.dictionary.cast(pa.large_string()).cast(pa.large_binary())
    return pa.chunked_array([texts.take(days.indices)])


def _plain_doubles(column: Any) -> Any:
    known = pc.if_else(pc.is_nan(column), None, pc.add(column, 0.0))  # which makes 0 of -0
    cells = np.asarray(known.fill_null(0))
    is_whole = ((cells == np.floor(cells)) & (np.abs(cells) <= _WHOLE)).all()
    return pc.cast(known, pa.int64()) if is_whole else known


def _sorted(column: Any) -> tuple[bytes, _Words, _Missing]:
    """Which numbers a column holds; and its cells as words, and which are missing."""
    missing = np.asarray(pc.is_null(column))
    kind = column.type
    plain = column if pa.types.is_floating(kind) else pc.cast(column, pa.int64())
    words = np.asarray(plain.fill_null(0)).view(np.uint64)
    held = np.sort(words[~missing])
    return sha256(b"%b:%d:%b" % (str(kind).encode(), missing.sum(), _little(held))).digest(), words, missing


def _ranked(column: Any) -> tuple[bytes, _Words, _Missing]:
    """Which texts a column holds and how often; and for its cells which of them in order, and which are missing."""
    encoded = column.combine_chunks().dictionary_encode()
    missing = np.asarray(encoded.indices.is_null())
    order = np.asarray(pc.sort_indices(encoded.dictionary))
    ranks = np.argsort(order)[np.asarray(encoded.indices.fill_null(0))]
    counts = np.bincount(ranks[~missing], minlength=len(order))
    texts = encoded.dictionary.take(pa.array(order))
    lengths = np.asarray(pc.binary_length(texts), dtype=np.int64)
    held = _little(counts) + _little(lengths) + b"".join(texts.to_pylist())
    return sha256(b"text:%d:%d:%b" % (missing.sum(), len(order), held)).digest(), ranks.view(np.uint64), missing


def _spread(words: _Words, missing: _Missing, salt: bytes) -> _Words:
    """Numbers that look as if they were drawn at random for each word and for a missing one, and anew for each salt."""
    of_cells, of_missing = np.frombuffer(salt, dtype="<u8", count=2)
    mixed = words * _SPREAD[0] + of_cells
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _SPREAD[1]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SPREAD[2]
    spread: _Words = np.where(missing, of_missing, mixed ^ (mixed >> np.uint64(31)))
    return spread


def _little(numbers: npt.NDArray[Any]) -> bytes:
    """Numbers of 64 bits as bytes, in one order on every machine."""
    return numbers.astype(numbers.dtype.newbyteorder("<"), copy=False).tobytes()
