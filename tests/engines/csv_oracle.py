"""What a CSV file says, in a few slow lines of Python: what quick readers are held against."""

import csv
import re
from datetime import datetime
from pathlib import Path

from sfumato.query.model.csv_format import DEFAULT_FORMAT


def rows(path: Path, *, names, has_header, csv_format=DEFAULT_FORMAT):
    """The rows, each cut or filled to its names: text without spaces around it, None for an empty field."""
    csv.field_size_limit(2**31 - 1)
    text = path.read_bytes().decode(csv_format.encoding, "replace").removeprefix("\ufeff")
    lines = text.removesuffix("\n").split("\n")[csv_format.skip_lines :] if text else []
    cleaned = (line.removesuffix("\r").replace("\r", " ") + "\n" for line in lines)
    records = csv.reader(cleaned, delimiter=csv_format.delimiter)
    if has_header:
        next(records, None)
    for record in records:
        if record or len(names) == 1:  # an empty line is no row, but in a file of one column an empty field
            fields = [field.strip(" ") or None for field in record[: len(names)]]
            yield [*fields, *[None] * (len(names) - len(fields))]


def number(text, csv_format):
    """A number with a point for what a format has as one; None for what it has not; words as they are."""
    if re.fullmatch("[A-Za-z]+", text, re.ASCII):
        return text
    digits, point, fraction = re.fullmatch(f"([^{re.escape(csv_format.decimal)}]*)(.?)(.*)", text, re.DOTALL).groups()
    sign, digits = (digits[:1], digits[1:]) if digits[:1] in {"+", "-"} else ("", digits)
    exponent = ""
    if csv_format.thousands is not None and csv_format.thousands in digits:
        first, *groups = digits.split(csv_format.thousands)
        last, exponent = re.fullmatch("([0-9]*)(.*)", groups[-1], re.DOTALL).groups()
        if not re.fullmatch("[0-9]{1,3}", first) or not all(
            re.fullmatch("[0-9]{3}", one) for one in [*groups[:-1], last]
        ):
            return None
        digits = "".join([first, *groups[:-1], last])
    if "." in digits:  # which is neither of the signs of this format
        return None
    written = sign + digits + exponent + (point and ".") + fraction
    return written if re.fullmatch("[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?", written, re.ASCII) else None


def moment(text, csv_format):
    """What `strptime` reads by the first format that fits, by ISO 8601."""
    for written in csv_format.dates:
        try:
            return datetime.strptime(text, written)  # noqa: DTZ007 # times have no zone here
        except ValueError:
            continue
    return None
