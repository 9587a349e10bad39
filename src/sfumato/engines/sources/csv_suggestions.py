"""What a CSV file seems to be written in, for the error of an owner whose columns are not found in it.

It is a suggestion and never used by itself: the format is the owner's to state. It is made only where some format finds
every declared column in the header, so that a row in its place is not told of.
"""

import codecs
import csv
from collections.abc import Collection, Iterator
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Final

from sfumato.engines.sources.csv_text import MARK, start
from sfumato.query.model.csv_format import DEFAULT_FORMAT, CsvFormat

_LOOKED_AT: Final = 64 * 1024
_MOST_LINES: Final = 10
_DELIMITERS: Final = (",", ";", "\t", "|")
_ENCODINGS: Final = (
    "utf-8", "iso8859-1", "cp1252", "iso8859-15", "cp1250", "iso8859-2", "cp1251", "koi8-r", "cp1253", "iso8859-7",
    "cp1254", "cp1257", "cp850", "cp852", "mac-roman", "shift_jis", "gbk", "euc_kr", "big5",
)  # fmt: skip
_SHOWN: Final = {"iso8859-1": "latin-1"}
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


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
    encodings = ("utf-16", "utf-16-le", "utf-16-be") if first.startswith(_UTF16) or b"\0" in first else _ENCODINGS
    lines = dict.fromkeys([stated.skip_lines, *range(most)])
    for skipped, encoding, delimiter in product(lines, encodings, _DELIMITERS):
        if encoding != "utf-16" or first.startswith(_UTF16):
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
    return [(name, _shown(value)) for name, value in pairs if value != getattr(other, name)]


def _shown(value: object) -> str:
    return f'"{_SHOWN.get(value, ascii(value)[1:-1])}"' if isinstance(value, str) else repr(value)
