"""CSV files, row by row: no cell makes a row vanish, ends it early, or raises.

Records end in LF or CRLF; a bare CR inside a field is a space, because writers that end lines in LF do not quote it.
Quotes work as in RFC 4180; one that is never closed takes in the records after it, which no reader can tell from a long
field: files must be well-formed. An empty line is no row, but in a file of one column an empty field.

Two readers say the same. That of Python (`_records`) says what a record is. Arrow's is fifty times faster and reads
blocks in which there is nothing to say: no quotation mark, no bare CR, in each line as many fields as there are names.
A block that it does not read is halved until little is left for Python, so that one field costs little time.

Fields mean text as every engine reads it (`values.cells`), whatever the file's own way to write. That is total, and
field by field: what does not look as the format says is NULL, and no field decides about another one.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from sfumato.engines.sources.csv_text import MARK, blocks, check_is_csv
from sfumato.errors import ParameterError
from sfumato.query.model.columns import Column
from sfumato.query.model.csv_format import DEFAULT_FORMAT, CsvFormat, date_pattern
from sfumato.query.model.kinds import NUMBERS, TIMES

_MAX_FIELD: Final = 2**31 - 1
_BATCH: Final = 2**20
"""How many bytes are handed on at once, about."""

_MOST: Final = 2**24
"""Arrow gets no block of more characters: one has as many only if a line is so long."""

_LEAST: Final = 4 * 1024
"""Blocks of so few characters are not halved any more."""

_QUOTE: Final = '"'

TEXT: Final = pa.large_string()
"""Any other type holds 2 GB of a batch, and fails if there is more."""

_DAY: Final = ("Y", "m", "d")
_BEFORE: Final = {"H": " ", "M": ":", "S": ":", "f": "."}
_TWO_DIGITS: Final = 2


def header(path: Path, csv_format: CsvFormat = DEFAULT_FORMAT) -> tuple[str, ...]:
    """The names in the first record.

    Raises:
        ParameterError: The file is none that is read here, or does not start with distinct names.
    """
    check_is_csv(path, csv_format.encoding, has_header=True)
    try:
        record = next(_reader(_started(path, csv_format), csv_format), [])
    except OSError:
        raise ParameterError("source", path.name, "must be a file that can be read") from None
    names = tuple(name.strip(" ") for name in record)
    if not names or "" in names or len(set(names)) != len(names):
        requirement = "must start with a header of distinct column names; else state names=, or skip_lines= before it"
        raise ParameterError("source", path.name, requirement)
    return names


def batches(
    path: Path, *, names: Sequence[str], has_header: bool, columns: Mapping[str, Column], csv_format: CsvFormat
) -> Any:
    """Some columns of the rows as a reader of Arrow batches of `TEXT`, so that a file is never in memory as a whole.

    A row is cut or filled to the names; its fields are as `plain_text` says.

    Args:
        path: The file.
        names: Its columns.
        has_header: Whether it begins with their names, perhaps after some lines.
        columns: What is declared of those that are read.
        csv_format: How it is written.
    """
    schema = pa.schema([(name, TEXT) for name in columns])

    def read() -> Iterator[Any]:
        rest = _started(path, csv_format)
        if has_header:
            next(_reader(rest, csv_format), None)
        for table in _gathered(_tables(rest, tuple(names), tuple(columns), csv_format)):
            plain = [plain_text(table.column(name).chunk(0), column, csv_format) for name, column in columns.items()]
            yield pa.record_batch(plain, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, read())


class _Rest:
    """What is left of a file, to be taken in blocks, or line by line by the reader of Python."""

    def __init__(self, text: Iterator[str]) -> None:
        self._text = text
        self._before: list[str] = []
        self._block, self._place = "", 0

    def block(self) -> str | None:
        """What is left of the present block, or the next one; None at the end."""
        left, self._block, self._place = self._block[self._place :], "", 0
        if left:
            return left
        return self._before.pop() if self._before else next(self._text, None)

    def put_back(self, block: str) -> None:
        """Let a block be the next one."""
        self._before.append(block)

    def is_left_of(self, block: str) -> bool:
        """Whether a block is the present one, and has lines that were not taken."""
        return self._block is block and self._place < len(block)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        """A line; its end is LF, and a CR within it a space."""
        if self._place == len(self._block):
            block = self.block()
            if block is None:
                raise StopIteration
            self._block = block
        end = self._block.find("\n", self._place) + 1 or len(self._block)
        line = self._block[self._place : end]
        self._place = end
        return line.removesuffix("\n").removesuffix("\r").replace("\r", " ") + "\n"


def _started(path: Path, csv_format: CsvFormat) -> _Rest:
    """A file without the lines that come before the header."""
    rest = _Rest(blocks(path, csv_format.encoding))
    for _ in range(csv_format.skip_lines):
        next(rest, None)
    return rest


def _reader(rest: _Rest, csv_format: CsvFormat) -> Iterator[list[str]]:
    csv.field_size_limit(_MAX_FIELD)  # or a single long field would be an error, which tells that there is one
    return csv.reader(rest, delimiter=csv_format.delimiter)


def _tables(rest: _Rest, names: tuple[str, ...], wanted: tuple[str, ...], csv_format: CsvFormat) -> Iterator[Any]:
    """The wanted columns of all rows, block by block."""
    while (block := rest.block()) is not None:
        regular = _regular(block, names, wanted, csv_format)
        if regular is not None:
            yield regular
        elif middle := _middle(block):
            rest.put_back(block[middle:])
            rest.put_back(block[:middle])
        else:
            yield _irregular(block, rest, names, wanted, csv_format)


def _regular(block: str, names: tuple[str, ...], wanted: tuple[str, ...], csv_format: CsvFormat) -> Any | None:
    """The rows of a block in which each line is one, with as many fields as there are names; else None."""
    has_bare_cr = "\r" in block and block.count("\r") != block.count("\r\n")  # to look for one is quicker than to count
    if _QUOTE in block or has_bare_cr or len(block) > _MOST:
        return None
    if block.startswith(MARK):  # which Arrow would leave out
        return None
    data = block.encode()
    try:
        return arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(column_names=names, use_threads=False, block_size=len(data) + 1),
            arrow_csv.ParseOptions(
                delimiter=csv_format.delimiter, quote_char=False, double_quote=False, escape_char=False,
                ignore_empty_lines=len(names) > 1,
            ),
            arrow_csv.ConvertOptions(
                include_columns=wanted, column_types=dict.fromkeys(wanted, TEXT), strings_can_be_null=False,
                check_utf8=False,
            ),
        )  # fmt: skip
    except pa.ArrowInvalid:  # some line has more fields, or fewer
        return None


def _middle(block: str) -> int:
    """Where a block of several lines is parted; 0 if it is not."""
    if len(block) <= _LEAST:
        return 0
    half = len(block) // 2
    after = block.find("\n", half) + 1
    return after if 0 < after < len(block) else block.rfind("\n", 0, half) + 1


def _irregular(
    block: str, rest: _Rest, names: tuple[str, ...], wanted: tuple[str, ...], csv_format: CsvFormat
) -> Any:  # fmt: skip
    """The rows that begin in a block, of which the last one may end in a later one."""
    rest.put_back(block)
    reader = _reader(rest, csv_format)
    records = [next(reader)]
    while rest.is_left_of(block):
        records.append(next(reader))
    if len(names) > 1:
        records = [record for record in records if record]
    places = [names.index(name) for name in wanted]
    columns = [[record[place] if place < len(record) else "" for record in records] for place in places]
    return pa.table([pa.array(column, TEXT) for column in columns], names=wanted)


def _gathered(tables: Iterator[Any]) -> Iterator[Any]:
    """The same rows in fewer tables, each of one chunk; none is empty."""
    parts: list[Any] = []
    size = 0
    for table in tables:
        if table.num_rows:
            parts.append(table)
            size += table.nbytes
        if size >= _BATCH:
            yield pa.concat_tables(parts).combine_chunks()
            parts, size = [], 0
    if parts:
        yield pa.concat_tables(parts).combine_chunks()


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
    is_number = column.kind in NUMBERS or column.is_whole
    if is_number and not csv_format.reads_numbers_as_they_are:
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
