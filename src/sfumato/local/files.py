"""Protocols, values, reports and counts in files: what `sfumato local` reads and writes.

A protocol is a JSON document. Reports are a column `report` of a CSV, NDJSON or Parquet file: base64 in texts, bytes in
Parquet. Files are read and written a block at a time.
"""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.ledger.keeping.files import draft_of
from sfumato.local.core.aggregator import Aggregator
from sfumato.local.core.protocol import FORMAT, LocalProtocol
from sfumato.local.core.reports import Given, Reports
from sfumato.local.shuffle.shuffler import ShuffledReports
from sfumato.noise.entropy import random_bytes
from sfumato.numeric.arguments import of_kind, path_of

REPORT: Final = "report"
"""The column of a file that holds reports."""
SHUFFLED: Final = ".shuffled"
"""The ending of a file of what a shuffler gave out."""

_HOMES: Final[Mapping[str, str]] = {
    "basic_rappor": "rappor.basic.BasicRappor",
    "bucket_bits": "longitudinal.buckets.BucketBits",
    "count_mean_sketch": "sketches.count_mean.CountMeanSketch",
    "direct": "frequency.direct.DirectEncoding",
    "duchi_mean": "means.mean.DuchiMean",
    "fragment_puzzle": "sketches.fragments.FragmentPuzzle",
    "hadamard": "frequency.hadamard.HadamardResponse",
    "hadamard_sketch": "sketches.hadamard_sketch.HadamardSketch",
    "hybrid_mean": "means.mean.HybridMean",
    "local_hashing": "frequency.hashing.LocalHashing",
    "longitudinal_direct": "longitudinal.direct.LongitudinalDirect",
    "longitudinal_hashing": "longitudinal.direct.LongitudinalHashing",
    "longitudinal_mean": "longitudinal.mean.LongitudinalMean",
    "longitudinal_symmetric_unary": "longitudinal.unary.LongitudinalSymmetricUnary",
    "longitudinal_unary": "longitudinal.unary.LongitudinalUnary",
    "optimized_unary": "frequency.unary.OptimizedUnaryEncoding",
    "piecewise_mean": "means.mean.PiecewiseMean",
    "pooled_hashing": "frequency.hashing.PooledHashing",
    "prefix_search": "hitters.prefixes.PrefixSearch",
    "rappor": "rappor.protocol.Rappor",
    "sampled_means": "means.attributes.SampledMeans",
    "square_wave": "means.square_wave.SquareWave",
    "subset": "frequency.subset.SubsetSelection",
    "symmetric_unary": "frequency.unary.SymmetricUnaryEncoding",
    "thresholded": "frequency.thresholded.ThresholdedHistogram",
    "tree_search": "hitters.tree.TreeSearch",
}
"""Where the class of each kind of protocol lives."""
_BLOCK: Final = 1 << 14
_ENDINGS: Final = "must end in .csv, .ndjson, .jsonl or .parquet"
_LARGEST_PROTOCOL: Final = 1 << 26


def protocol_from_json(document: object) -> LocalProtocol:
    """The protocol that `to_json` wrote.

    Raises:
        ParameterError: The document is of another version or of an unknown kind, or a parameter is wrong.

    Example:
        >>> from sfumato.local import DirectEncoding
        >>> oracle = DirectEncoding(["yes", "no"], epsilon="0.5")
        >>> protocol_from_json(oracle.to_json()) == oracle
        True
    """
    match document:
        case {"version": version, "kind": str(kind), **parameters} if version == FORMAT and kind in _HOMES:
            module, _, name = _HOMES[kind].rpartition(".")
            made: LocalProtocol = getattr(import_module(f"sfumato.local.{module}"), name).from_parameters(parameters)
            return made
    requirement = f"must be a JSON object with version {FORMAT} and a kind among {', '.join(_HOMES)}"
    raise ParameterError("protocol", "a document", requirement)


def save_protocol(protocol: LocalProtocol, path: str | PathLike[str]) -> Path:
    """Write a protocol as JSON, for devices and collectors; it holds nothing secret. Missing folders are made."""
    file = path_of(path, "path")
    of_kind(protocol, "protocol", LocalProtocol, "a protocol of sf.local")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(protocol.to_json(), ensure_ascii=False, indent=2) + "\n", "utf-8")
    return file


def load_protocol(path: str | PathLike[str]) -> LocalProtocol:
    """The protocol in a file.

    Raises:
        ParameterError: The file is missing, larger than 64 MB, or holds no protocol.
    """
    file = path_of(path, "path")
    with _readable(file, "protocol"):
        if file.stat().st_size > _LARGEST_PROTOCOL:
            raise ParameterError("protocol", str(path), "must be a file of at most 64 MB")
        try:
            document = json.loads(file.read_text("utf-8"))
        except (ValueError, RecursionError):
            raise ParameterError("protocol", str(path), "must be a file of JSON") from None
    return protocol_from_json(document)


def read_values(path: str | PathLike[str], column: str | None, protocol: LocalProtocol) -> Iterator[list[Any]]:
    """The values of a column, a block at a time; texts of a CSV file are read as the protocol's values.

    A protocol of several attributes has a column for each, which its parameters name. An empty line of a CSV file is
    nobody's, but in a file of one column it is a person whose value is missing.

    Raises:
        ParameterError: The file is missing or has no such column, its ending is unknown, or no column is named.
    """
    if (column is None) == (not protocol.columns):
        requirement = "must be left out: the protocol names its columns" if column else "must name the column of values"
        raise ParameterError("column", column, requirement)
    file = path_of(path, "path")
    is_text = file.suffix == ".csv"
    for block in _rows(file, protocol.columns if column is None else (column,)):
        values = [
            tuple(protocol.parse(cell) if is_text and cell is not None else cell for cell in row) for row in block
        ]
        yield values if column is None else [value for (value,) in values]


def read_reports(path: str | PathLike[str]) -> Iterator[Given]:
    """The reports of a file, a block at a time, for `Aggregator.add`. What is no report is left for it to refuse.

    Raises:
        ParameterError: The file is missing or has no column of reports, or its ending is unknown.
    """
    for block in _rows(path_of(path, "path"), (REPORT,)):
        yield [report for (report,) in block]


def each_once(paths: Iterable[str]) -> list[str]:
    """Files of which none is named twice, so that no report is counted twice.

    Raises:
        ParameterError: One is named twice.
    """
    named = list(paths)
    places = [path_of(path, "path").resolve() for path in named]
    for path, place in zip(named, places, strict=True):
        if places.count(place) > 1:
            raise ParameterError("path", path, "is named twice; name each file of reports or counts once")
    return named


def write_reports(path: str | PathLike[str], batches: Iterable[Reports]) -> int:
    """Write reports to a new file, and say how many: all of them, or no file. Missing folders are made.

    Raises:
        ParameterError: The file exists already, or its ending is unknown.
    """
    file = path_of(path, "path")
    if file.exists():
        raise ParameterError("path", str(path), "exists already; choose a new file")
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f".{file.name}.{random_bytes(8).hex()}")
    try:
        match file.suffix:
            case ".parquet":
                written = _write_parquet(beside, batches)
            case ".csv":
                written = _write_lines(beside, batches, f"{REPORT}\n", lambda text: f"{text}\n")
            case ".ndjson" | ".jsonl":
                written = _write_lines(beside, batches, "", lambda text: f'{{"{REPORT}": "{text}"}}\n')
            case _:
                raise ParameterError("path", str(path), _ENDINGS)
        file.hardlink_to(beside)
    except FileExistsError:
        raise ParameterError("path", str(path), "exists already; choose a new file") from None
    finally:
        beside.unlink(missing_ok=True)
    return written


def save_shuffled(whole: ShuffledReports, path: str | PathLike[str]) -> Path:
    """Write what a shuffler gave out to a new file, for the collector.

    Raises:
        ParameterError: The file exists already, or does not end in .shuffled.
    """
    file = path_of(path, "path")
    if file.suffix != SHUFFLED or file.exists():
        raise ParameterError("path", str(path), f"must be a new file that ends in {SHUFFLED}")
    beside = file.with_name(f"{file.name}.new")
    beside.write_bytes(bytes(whole))
    return beside.replace(file)


def load_shuffled(path: str | PathLike[str], protocol: LocalProtocol) -> ShuffledReports:
    """What a shuffler gave out, from a file.

    Raises:
        ParameterError: The file is missing or damaged, or of another protocol.
    """
    file = path_of(path, "path")
    with _readable(file, "path"):
        return ShuffledReports.from_bytes(file.read_bytes(), protocol)


def save_counts(aggregator: Aggregator[Any], path: str | PathLike[str]) -> Path:
    """Write the snapshot of an aggregator: first beside the file, then in its place, on the disk. Folders are made."""
    file = path_of(path, "path")
    file.parent.mkdir(parents=True, exist_ok=True)
    with draft_of(file, aggregator.snapshot()) as draft:
        return draft.replace(file)


def load_counts(aggregator: Aggregator[Any], path: str | PathLike[str]) -> Aggregator[Any]:
    """Restore an aggregator from a snapshot in a file.

    Raises:
        ParameterError: The file is missing or damaged, or of another protocol.
    """
    file = path_of(path, "counts")
    with _readable(file, "counts"):
        return aggregator.restore(file.read_bytes())


def _rows(file: Path, columns: tuple[str, ...]) -> Iterator[list[tuple[Any, ...]]]:
    """What each row has in these columns, read in one pass."""
    with _readable(file, "path"):
        match file.suffix:
            case ".csv":
                yield from _csv_cells(file, columns)
            case ".ndjson" | ".jsonl":
                yield from _json_cells(file, columns)
            case ".parquet":
                yield from _parquet_cells(file, columns)
            case _:
                raise ParameterError("path", str(file), _ENDINGS)


def _csv_cells(file: Path, columns: tuple[str, ...]) -> Iterator[list[tuple[Any, ...]]]:
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as opened:
        rows = _csv_rows(opened)
        header = next(rows, []) or []
        _require(columns, header, file)
        places = [header.index(column) for column in columns]
        is_alone = len(header) == 1 and columns != (REPORT,)
        rows = (row for row in rows if row is None or row or is_alone)
        while block := [row or () for row in islice(rows, _BLOCK)]:
            yield [tuple(row[place] if len(row) > place else None for place in places) for row in block]


def _csv_rows(lines: Iterable[str]) -> Iterator[list[str] | None]:
    """The rows of a CSV file; None for a line that is none, such as one with an endless cell."""
    reader = csv.reader(lines)
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield None


def _json_cells(file: Path, columns: tuple[str, ...]) -> Iterator[list[tuple[Any, ...]]]:
    """A cell that a line does not have is None, and so are all of a line that is no JSON object."""
    with file.open(encoding="utf-8", errors="replace") as opened:
        lines = (line for line in opened if not line.isspace())
        while block := [_object_of(line) for line in islice(lines, _BLOCK)]:
            yield [tuple(held.get(column) for column in columns) for held in block]


def cell_of_line(line: str | bytes, column: str = REPORT) -> Any:
    """What a line of NDJSON has in a column; None for a line without it, or that is no JSON object.

    A line that has the column twice has none: two programs could read it in two ways.

    Example:
        >>> cell_of_line('{"report": "AWFiY2R4"}'), cell_of_line(b"nonsense")
        ('AWFiY2R4', None)
        >>> cell_of_line('{"report": "AWFiY2R4", "report": "AWFiY2R5"}') is None
        True
    """
    return _object_of(line).get(column)


def _object_of(line: str | bytes) -> dict[str, Any]:
    """What the JSON object in a line names once; nothing, if it holds none: it may come from anyone."""
    try:
        held = _LINES.decode(line if isinstance(line, str) else line.decode())
    except (ValueError, RecursionError):
        return {}
    pairs = held if isinstance(held, _Pairs) else _Pairs()
    found = dict(pairs)
    if len(found) < len(pairs):
        times = Counter(name for name, _ in pairs)
        found = {name: cell for name, cell in pairs if times[name] == 1}
    return found


class _Pairs(tuple[tuple[str, Any], ...]):
    """The names and values of an object of JSON, each as often as it stands there."""

    __slots__ = ()


_LINES: Final = json.JSONDecoder(object_pairs_hook=_Pairs)


def _parquet_cells(file: Path, columns: tuple[str, ...]) -> Iterator[list[tuple[Any, ...]]]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(file) as opened:
            _require(columns, opened.schema_arrow.names, file)
            for batch in opened.iter_batches(batch_size=_BLOCK, columns=list(columns)):
                yield list(zip(*(_cells_of(batch.column(column)) for column in columns), strict=True))
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except (pa.ArrowException, OSError):
        raise ParameterError("path", str(file), "must be a file of Parquet; this one is none, or damaged") from None


def _cells_of(column: Any) -> list[Any]:
    """What is in a column; None where Python has no such value, as for text that is no UTF-8, or the year 12000."""
    try:
        cells: list[Any] = column.to_pylist()
    except (ValueError, ArithmeticError):
        cells = []
        for scalar in column:
            try:
                cells.append(scalar.as_py())
            except (ValueError, ArithmeticError):
                cells.append(None)
    return cells


def _require(columns: Iterable[str], known: list[str], file: Path) -> None:
    for column in columns:
        if known.count(column) != 1:
            raise ParameterError("column", column, f"must be the name of one column of {file.name}")


def _write_parquet(file: Path, batches: Iterable[Reports]) -> int:
    import pyarrow as pa
    from pyarrow import parquet

    written = 0
    schema = pa.schema([(REPORT, pa.binary())])
    with parquet.ParquetWriter(file, schema) as writer:
        for reports in batches:
            writer.write_table(pa.table({REPORT: pa.array([bytes(report) for report in reports], pa.binary())}))
            written += len(reports)
    return written


def _write_lines(file: Path, batches: Iterable[Reports], header: str, line: Callable[[str], str]) -> int:
    written = 0
    with file.open("w", encoding="utf-8", newline="") as opened:
        opened.write(header)
        for reports in batches:
            opened.writelines(line(report.to_text()) for report in reports)
            written += len(reports)
    return written


@contextmanager
def _readable(file: Path, name: str) -> Iterator[None]:
    """Let a missing file be an error of this package."""
    try:
        yield
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise ParameterError(name, str(file), "must be a file that can be read") from None
