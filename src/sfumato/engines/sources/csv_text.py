"""The text of CSV files: unpacked, decoded, and cut into blocks that end where lines end; and what one seems to be.

Total but for what is broken as a whole (no file, a damaged archive): bytes that are no text are U+FFFD.

What a file seems to be written in is suggested to an owner whose columns are not found in it, and never used by itself:
the format is the owner's to state. It is told only where some format finds every declared column in the header, so that
a row in its place is not told of.
"""

import codecs
import csv
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from itertools import chain, product
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from sfumato.errors import ParameterError
from sfumato.query.model.csv_format import DEFAULT_FORMAT, CsvFormat

PACKED: Final = {".gz": "gzip", ".zst": "zstd"}
"""Endings of compressed files, and what Arrow calls that."""

BLOCK: Final = 64 * 1024
"""How many bytes are read at once: most blocks are read by Arrow in 0.3 ms, and fewer bytes would take it longer."""

MARK: Final = "\ufeff"
"""What may stand before the text of a file, and is no part of it."""

_NO_CSV: Final = {
    ".zip": "is an archive. Unpack it and give the CSV file in it, or that file as .csv.gz",
    ".xlsx": "is a workbook. Save its sheet as CSV, or read it with pandas.read_excel and give the frame",
    ".bz2": "has an unsupported compression. Unpack it, or compress it as .csv.gz or .csv.zst",
}

_LIKE: Final = {
    ".xls": ".xlsx", ".xlsm": ".xlsx", ".xlsb": ".xlsx", ".ods": ".xlsx", ".7z": ".zip", ".rar": ".zip", ".tar": ".zip",
    ".tgz": ".zip", ".xz": ".bz2", ".lz4": ".bz2", ".br": ".bz2",
}  # fmt: skip

_BEGINNINGS: Final = {
    b"PK\x03\x04": "is an archive or a workbook. Unpack it, or save its sheet as CSV",
    b"\xd0\xcf\x11\xe0": "is a workbook. Save its sheet as CSV, or read it with pandas.read_excel and give the frame",
    b"PAR1": "is a Parquet file. Give it a name that ends in .parquet",
    b"\x1f\x8b": "is compressed. Give it a name that ends in .gz",
    b"\x28\xb5\x2f\xfd": "is compressed. Give it a name that ends in .zst",
}

_ORDERS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LOOKED_AT: Final = 64 * 1024
_MOST_LINES: Final = 10
_DELIMITERS: Final = (",", ";", "\t", "|")
_ENCODINGS: Final = (
    "utf-8", "iso8859-1", "cp1252", "iso8859-15", "cp1250", "iso8859-2", "cp1251", "koi8-r", "cp1253", "iso8859-7",
    "cp1254", "cp1257", "cp850", "cp852", "mac-roman", "shift_jis", "gbk", "euc_kr", "big5",
)  # fmt: skip

_SHOWN: Final = {"iso8859-1": "latin-1"}


def check_is_csv(path: Path, encoding: str, *, has_header: bool) -> None:
    """Refuse what is no CSV file by its name, or by how it begins; with the way out.

    Without a header the first bytes are somebody's: then they are not looked at, but for a mark of the order of bytes.

    Raises:
        ParameterError: It is an archive, a workbook, a Parquet file or compressed under another name; it cannot be
            read; or it is UTF-16 that does not say the order of its bytes.
    """
    ending = path.suffix.lower()
    if (refused := _NO_CSV.get(_LIKE.get(ending, ending))) is not None:
        raise ParameterError("source", path.name, refused)
    with _readable(path):
        with path.open("rb") as file:
            first = file.read(4)
        if has_header and ending not in PACKED:
            for beginning, refused in _BEGINNINGS.items():
                if first.startswith(beginning):
                    raise ParameterError("source", path.name, refused)
        if encoding == "utf-16" and not start(path, 2).startswith(_ORDERS):
            requirement = "must begin with a byte order mark; else state the encoding as utf-16-le or utf-16-be"
            raise ParameterError("source", path.name, requirement)


def start(path: Path, size: int) -> bytes:
    """The first bytes of a file, unpacked.

    Raises:
        ParameterError: It cannot be read.
    """
    with _readable(path), _opened(path) as file:
        first: bytes = file.read(size)
        return first


def blocks(path: Path, encoding: str) -> Iterator[str]:
    """The text of a file in blocks of whole lines, each about `BLOCK` bytes, or as long as its longest line.

    Lines end in LF alone, and only the last one of all may lack it. A block is never empty. UTF-16 that lost its byte
    order mark since `check_is_csv` looked is read with the low byte first, as no bytes make a read fail.

    Raises:
        OSError: It cannot be read, or is damaged.
    """
    parts, is_first = list[str](), True
    with _opened(path) as file:
        first: bytes = file.read(2)
        is_marked = encoding != "utf-16" or first.startswith(_ORDERS)
        decoder = codecs.getincrementaldecoder(encoding if is_marked else "utf-16-le")("replace")
        for data in chain([first] if first else [], iter(lambda: file.read(BLOCK), None)):
            text = decoder.decode(data, not data)
            if is_first and text:
                text, is_first = text.removeprefix(MARK), False
            end = text.rfind("\n") + 1
            if end or not data:
                block = "".join([*parts, text[:end] if data else text])
                parts = [text[end:]]
                if block:
                    yield block
            else:
                parts.append(text)
            if not data:
                return


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The bytes of a file, unpacked where its name says that it is packed: never because of what it holds."""
    packing = PACKED.get(path.suffix.lower())
    if packing is None:
        with path.open("rb") as file:
            yield file
    else:
        with pa.input_stream(str(path), compression=packing) as file:
            yield file


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError:
        raise ParameterError("source", path.name, "must be a file that can be read") from None


def suggestion(path: Path, csv_format: CsvFormat, wanted: Collection[str]) -> str | None:
    """With which format a file's header has all columns that are wanted; None if no format is found.

    Of several, the one that differs least from the format that was stated.

    Raises:
        ParameterError: The file cannot be read.
    """
    first = start(path, _LOOKED_AT)
    lines = _MOST_LINES if len(wanted) > 1 else 0  # a single name may stand in somebody's row
    found = [one for one in _formats(csv_format, first, lines) if set(wanted) <= set(_names(first, one))]
    if not found:
        return None
    best = min(found, key=lambda one: len(_differences(one, csv_format)))
    stated = ", ".join(f"{name}={value}" for name, value in _differences(best, DEFAULT_FORMAT))
    also = ' Such files often have decimal="," too.' if best.delimiter == ";" and best.decimal == "." else ""
    return f"All declared columns are found with {stated}: sf.csv(path, {stated}), or in a policy [tables.….csv].{also}"


def _formats(stated: CsvFormat, first: bytes, most: int) -> Iterator[CsvFormat]:
    """Formats that a header may be written in, likelier ones first."""
    encodings = ("utf-16", "utf-16-le", "utf-16-be") if first.startswith(_ORDERS) or b"\0" in first else _ENCODINGS
    lines = dict.fromkeys([stated.skip_lines, *range(most)])
    for skipped, encoding, delimiter in product(lines, encodings, _DELIMITERS):
        if encoding != "utf-16" or first.startswith(_ORDERS):
            yield replace(stated, encoding=encoding, delimiter=delimiter, skip_lines=skipped)


def _names(first: bytes, csv_format: CsvFormat) -> list[str]:
    """The names in the header, if it is written so."""
    text = first.decode(csv_format.encoding, "replace").removeprefix(MARK)
    lines = text.split("\n")[csv_format.skip_lines :]
    try:
        return [name.strip(" \r") for name in next(csv.reader(lines, delimiter=csv_format.delimiter), [])]
    except csv.Error:
        return []


def _differences(one: CsvFormat, other: CsvFormat) -> list[tuple[str, str]]:
    """What two formats do not have in common, as it is stated in Python."""
    pairs = ((field.name, getattr(one, field.name)) for field in fields(one))
    return [
        (name, f'"{_SHOWN.get(value, ascii(value)[1:-1])}"' if isinstance(value, str) else repr(value))
        for name, value in pairs
        if value != getattr(other, name)
    ]
