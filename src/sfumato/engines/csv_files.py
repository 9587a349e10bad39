"""CSV files, row by row: no cell makes a row vanish, ends it early, or raises.

Records end in LF or CRLF; a bare CR inside a field is a space, because writers that end lines in LF do not quote it.
Bytes that are not UTF-8 become U+FFFD. Quotes work as in RFC 4180; one that is never closed takes in the records after
it, which no reader can tell from a long field: files must be well-formed.
"""

import csv
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final, TextIO

import pyarrow as pa

from sfumato.errors import ParameterError

_MAX_FIELD: Final = 2**31 - 1
_BATCH: Final = 20_000
_TEXT: Final = pa.large_string()  # any other type holds 2 GB of a batch, and fails if there is more

Fields = tuple[str | None, ...]


def header(path: Path) -> tuple[str, ...]:
    """The names in the first record.

    Raises:
        ParameterError: The file cannot be read, or does not start with distinct names.
    """
    try:
        with _opened(path) as file:
            names = tuple(name.strip(" ") for name in next(_records(file), []))
    except OSError:
        raise ParameterError("source", path.name, "must be a file that can be read") from None
    if not names or "" in names or len(set(names)) != len(names):
        raise ParameterError("source", path.name, "must start with a header of distinct column names, or get names=")
    return names


def rows(path: Path, *, names: tuple[str, ...], has_header: bool) -> Iterator[Fields]:
    """The rows, each cut or filled to its names: text without spaces around it, None for an empty field."""
    with _opened(path) as file:
        records = _records(file)
        if has_header:
            next(records, None)
        for record in records:
            if record or len(names) == 1:  # an empty line is no row, but in a file of one column an empty field
                fields = [field.strip(" ") or None for field in record[: len(names)]]
                yield (*fields, *[None] * (len(names) - len(fields)))


def batches(records: Iterable[Fields], *, names: tuple[str, ...], wanted: Iterable[str]) -> Any:
    """Some columns of the rows as a reader of Arrow batches, so that a file is never in memory as a whole."""
    places = {name: names.index(name) for name in wanted}
    schema = pa.schema([(name, _TEXT) for name in places])

    def read() -> Iterator[Any]:
        remaining = iter(records)
        while block := list(islice(remaining, _BATCH)):
            columns = [pa.array([row[place] for row in block], _TEXT) for place in places.values()]
            yield pa.record_batch(columns, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, read())


def _opened(path: Path) -> TextIO:
    return path.open(newline="\n", encoding="utf-8-sig", errors="replace")


def _records(file: TextIO) -> Iterator[list[str]]:
    csv.field_size_limit(_MAX_FIELD)  # or a single long field would be an error, which tells that there is one
    lines = (line.removesuffix("\n").removesuffix("\r").replace("\r", " ") + "\n" for line in file)
    return csv.reader(lines)
