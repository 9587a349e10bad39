"""How a CSV file is written: what parts fields, how its bytes are text, and how numbers, days and NULL look in it.

The format is public, like all that a policy says: it is stated and never guessed, so that no cell decides how others
are read.
"""

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import is_one_of, one_of
from sfumato.numeric.rationals import set_fields
from sfumato.query.model.columns import unicode_text

_ONE_BYTE: Final = (
    "ascii", "iso8859-1", "iso8859-2", "iso8859-3", "iso8859-4", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8",
    "iso8859-9", "iso8859-10", "iso8859-11", "iso8859-13", "iso8859-14", "iso8859-15", "iso8859-16", "cp1250", "cp1251",
    "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp437", "cp850", "cp852", "cp858", "cp866",
    "koi8-r", "koi8-u", "mac-roman", "mac-latin2", "mac-cyrillic", "mac-greek", "mac-turkish",
)  # fmt: skip
_MORE_BYTES: Final = (
    "utf-8", "utf-16", "utf-16-le", "utf-16-be", "shift_jis", "cp932", "gbk", "big5", "euc_kr", "cp949",
)  # fmt: skip
ENCODINGS: Final = frozenset({*_ONE_BYTE, *_MORE_BYTES})
"""What is read, by the names of Python's codecs: no bytes make a read fail, and none hide a quotation mark, a comma, a
semicolon, a tab or the end of a line that comes after them, as they may in EUC-JP and GB 18030."""

THOUSANDS: Final = (".", ",", " ", "'", "_", "\u00a0", "\u2009", "\u202f", "\u2019")
"""What may stand between groups of three digits, among them the spaces of French and the apostrophes of Swiss ones."""

_MOST_LINES: Final = 10_000
_DIRECTIVE: Final = re.compile("%(.)")
_DIGITS: Final = MappingProxyType({"Y": "{4}", "f": "{1,6}"})
"""How many digits a directive has; the others have two, or one where no other directive is next to it."""
_FORMS: Final = frozenset({"Ymd", "YmdHM", "YmdHMS", "YmdHMSf"})
_DATE_FORMS: Final = 'must have %Y, %m and %d once each, perhaps %H and %M, then %S and %f, such as "%d.%m.%Y %H:%M"'


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvFormat:
    """The format of a CSV file.

    A value that does not match the format is NULL, as is text that is not a number or a date. Quotation marks are `"`,
    doubled inside a field. An empty field is NULL, and spaces around a field are ignored.

    Attributes:
        delimiter: The separator of fields: one ASCII character, such as ``";"`` or a tab.
        encoding: The encoding, by its name in Python: ``"utf-8"``, ``"latin-1"``, ``"cp1252"``, ``"utf-16"`` (with a
            byte order mark). Bytes that are invalid in the encoding are read as U+FFFD.
        decimal: The decimal point: ``"."`` or ``","``.
        thousands: The separator of groups of three digits, or None; numbers may also be written without it.
        dates: The formats of dates and times, as in `strptime` (%Y %m %d %H %M %S %f); default: ISO 8601. The first
            format that fits is used.
        null: Texts that mean NULL besides empty fields, in every column; compared exactly.
        skip_lines: The number of lines before the header, or before the first row.

    Raises:
        ParameterError: A format that cannot be read, or is ambiguous.

    Example:
        >>> CsvFormat(delimiter=";", encoding="Latin-1", decimal=",", dates="%d.%m.%Y", null=["NA"]).encoding
        'iso8859-1'
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    thousands: str | None = None
    dates: str | Iterable[str] = ()  # once it is made, tuples of texts
    null: str | Iterable[str] = ()
    skip_lines: int = 0

    def __post_init__(self) -> None:
        _check_delimiter(self.delimiter)
        set_fields(self, encoding=_known(self.encoding))
        one_of(self.decimal, "decimal", (".", ","))
        others = [mark for mark in THOUSANDS if mark != self.decimal]
        if self.thousands is not None and not is_one_of(self.thousands, others):
            requirement = f"must be one of {', '.join(map(ascii, THOUSANDS))}, and not the decimal point"
            raise ParameterError("thousands", self.thousands, requirement)
        set_fields(self, dates=_texts("dates", self.dates))
        for written in self.dates:
            date_pattern(written)
        set_fields(self, null=tuple(word.strip(" ") for word in _texts("null", self.null)))
        if type(self.skip_lines) is not int or not 0 <= self.skip_lines <= _MOST_LINES:
            raise ParameterError("skip_lines", self.skip_lines, f"must be a whole number from 0 to {_MOST_LINES:,}")

    @property
    def reads_numbers_as_they_are(self) -> bool:
        """Whether numbers are written as every engine reads them."""
        return self.decimal == "." and self.thousands is None


def date_pattern(written: str) -> str:
    r"""What matches days and times that are written in a way; the parts are groups of the names of their directives.

    Raises:
        ParameterError: It leaves a part out or has one twice, or has other directives.

    Example:
        >>> date_pattern("%d.%m.%Y")
        '(?P<d>[0-9]{1,2})\\.(?P<m>[0-9]{1,2})\\.(?P<Y>[0-9]{4})'
    """
    literals, names = _DIRECTIVE.split(written)[::2], _DIRECTIVE.findall(written)
    if "".join(sorted(names, key="YmdHMSf".find)) not in _FORMS or "%" in "".join(literals):
        raise ParameterError("dates", written, _DATE_FORMS)
    if any(character.isdigit() for character in "".join(literals)):
        raise ParameterError("dates", written, "must not contain digits")
    pattern = re.escape(literals[0])
    for place, name in enumerate(names):
        is_apart = (place == 0 or literals[place]) and (place + 1 == len(names) or literals[place + 1])
        digits = _DIGITS.get(name, "{1,2}" if is_apart else "{2}")
        if name == "f" and not literals[place]:
            raise ParameterError("dates", written, "must separate %S and %f, such as %S.%f")
        pattern += f"(?P<{name}>[0-9]{digits}){re.escape(literals[place + 1])}"
    return pattern


def _check_delimiter(delimiter: object) -> None:
    is_one = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()
    if not is_one or str(delimiter).isalnum() or str(delimiter) in '"\r\n\0 ':
        raise ParameterError("delimiter", delimiter, r'must be one ASCII character, such as ";", "," or "\t"')


def _known(encoding: object) -> str:
    try:
        name = codecs.lookup(str(encoding)).name
    except (LookupError, ValueError):
        name = ""
    name = {"utf-8-sig": "utf-8"}.get(name, name)
    if name not in ENCODINGS:
        requirement = f'must be "utf-8", "latin-1", or one of {", ".join(sorted(ENCODINGS))}'
        raise ParameterError("encoding", encoding, requirement)
    return name


def _texts(name: str, given: object) -> tuple[str, ...]:
    """One text, or some."""
    if isinstance(given, str):
        return (unicode_text(given, name),)
    if not isinstance(given, Iterable):
        raise ParameterError(name, given, "must be a text, or a list of texts")
    found = tuple(given)
    for one in found:
        if not isinstance(one, str):
            raise ParameterError(name, one, "must be a text")
        unicode_text(one, name)
    return found


DEFAULT_FORMAT: Final = CsvFormat()
"""RFC 4180 in UTF-8, with days and times by ISO 8601."""
