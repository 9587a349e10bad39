"""What the fields of a CSV file mean: text as every engine reads it (`values`), whatever the file's own way to write.

Total, and field by field: what does not look as the format says is NULL, and no field decides about another one.
"""

import re
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.query.model.columns import Column
from sfumato.query.model.csv_format import CsvFormat, date_pattern
from sfumato.query.model.kinds import NUMBERS, TIMES

TEXT: Final = pa.large_string()
"""Any other type holds 2 GB of a batch, and fails if there is more."""

_DAY: Final = ("Y", "m", "d")
_BEFORE: Final = {"H": " ", "M": ":", "S": ":", "f": "."}
_TWO_DIGITS: Final = 2


def plain_text(fields: Any, column: Column, csv_format: CsvFormat) -> Any:
    """The fields of a column without spaces around them; numbers with a point, days and times by ISO 8601; or NULL.

    Args:
        fields: An array of `TEXT`.
        column: What is declared of the column.
        csv_format: How the file is written.
    """
    trimmed = pc.ascii_trim(fields, characters=" ")
    missing = pc.is_in(trimmed, pa.array(["", *csv_format.null], TEXT)) if csv_format.null else pc.equal(trimmed, "")
    known = pc.if_else(missing, pa.scalar(None, TEXT), trimmed)
    if column.kind in NUMBERS and not csv_format.reads_numbers_as_they_are:
        return _numbers(known, csv_format)
    if column.kind in TIMES and csv_format.dates:
        return _each_once(known, csv_format)
    return known


def _numbers(texts: Any, csv_format: CsvFormat) -> Any:
    """Numbers as the format has them; words, of which true and false are numbers, stay as they are."""
    if pc.all(pc.ascii_is_decimal(texts), min_count=0).as_py():  # nothing but digits, however the format has numbers
        return texts
    point, whole = re.escape(csv_format.decimal), "[0-9]+"
    if csv_format.thousands is not None:
        whole = f"[0-9]+|[0-9]{{1,3}}({re.escape(csv_format.thousands)}[0-9]{{3}})+"
    number = f"[+-]?(({whole})({point}[0-9]*)?|{point}[0-9]+)([eE][+-]?[0-9]+)?"
    is_known = pc.match_substring_regex(texts, f"^({number}|[A-Za-z]+)$")
    if csv_format.thousands is not None:
        texts = pc.replace_substring(texts, csv_format.thousands, "")
    if csv_format.decimal != ".":
        texts = _replaced(texts, csv_format.decimal, ".")
    return pc.if_else(is_known, texts, pa.scalar(None, TEXT))


def _replaced(texts: Any, sign: str, other: str) -> Any:
    """The texts with one sign of ASCII instead of another: all at once, as no text gets longer and none shorter."""
    validity, offsets, content = texts.buffers()
    if content is None:
        return texts
    replaced = pa.py_buffer(content.to_pybytes().replace(sign.encode(), other.encode()))
    return pa.Array.from_buffers(TEXT, len(texts), [validity, offsets, replaced], offset=texts.offset)


def _each_once(texts: Any, csv_format: CsvFormat) -> Any:
    """Days and times as the format has them: each of them once, as most are found in many rows."""
    coded = pc.dictionary_encode(texts)
    different = coded.dictionary
    read = pc.coalesce(*[_times(different, date_pattern(written)) for written in csv_format.dates])
    return pc.take(read, coded.indices)


def _times(texts: Any, pattern: str) -> Any:
    """What matches a pattern, by ISO 8601; a month of 13 or a day of 32 is left to those who read that."""
    parts = pc.extract_regex(texts, f"^{pattern}$")
    written = {field.name: pc.struct_field(parts, field.name) for field in parts.type}
    digits = {
        name: part if name in "Yf" else pc.utf8_lpad(part, _TWO_DIGITS, "0") for name, part in written.items()
    }  # fmt: skip
    moment = pc.binary_join_element_wise(*[digits[name] for name in _DAY], pa.scalar("-", TEXT))
    for name, sign in _BEFORE.items():
        if name in digits:
            moment = pc.binary_join_element_wise(moment, digits[name], pa.scalar(sign, TEXT))
    return moment
