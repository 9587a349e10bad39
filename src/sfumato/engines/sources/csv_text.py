"""The text of CSV files: unpacked, decoded, and cut into blocks that end where lines end.

Total but for what is broken as a whole (no file, a damaged archive): bytes that are no text are U+FFFD.
"""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from sfumato.errors import ParameterError

PACKED: Final = {".gz": "gzip", ".zst": "zstd"}
"""Endings of compressed files, and what Arrow calls that."""

BLOCK: Final = 64 * 1024
"""How many bytes are read at once: most blocks are read by Arrow in 0.3 ms, and fewer bytes would take it longer."""

MARK: Final = "\ufeff"
"""What may stand before the text of a file, and is no part of it."""

_NO_CSV: Final = {
    ".zip": "is an archive. Unpack it and give the CSV file in it, or that file as .csv.gz",
    ".xlsx": "is a workbook. Save its sheet as CSV, or read it with pandas.read_excel and give the frame",
    ".bz2": "is compressed in a way that is not read. Unpack it, or compress it as .csv.gz or .csv.zst",
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

    Lines end in LF alone, and only the last one of all may lack it. A block is never empty.

    Raises:
        OSError: It cannot be read, or is damaged.
    """
    decoder, parts, is_first = codecs.getincrementaldecoder(encoding)("replace"), list[str](), True
    with _opened(path) as file:
        while True:
            data: bytes = file.read(BLOCK)
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
