"""Where a table of PostgreSQL is: `postgresql://curator@db.example.org/hospital?table=public.visits`.

The address is that of libpq, with one parameter more, `table`: the name of a table, a view or a foreign table as the
catalog has it, case included, with or without its schema. A name with a point in it stands in double quotes.
"""

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from sfumato.errors import ParameterError

_TABLE: Final = "table"
_PART: Final = r'"(?:[^"]|"")+"|[^".]+'
_NAME: Final = re.compile(rf"(?:(?P<schema>{_PART})\.)?(?P<name>{_PART})")
_FORM: Final = "must be like postgresql://user@host/database?table=schema.name"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a table is.

    Attributes:
        database: The address of the database as libpq reads it, perhaps with a password.
        shown: The same for people to read: without a password, and without parameters.
        schema: The schema; None for whichever the search path of the role finds.
        name: The name of the table.
    """

    database: str = field(repr=False)
    shown: str
    schema: str | None
    name: str


def address_of(source: str) -> Address:
    """The address behind a source.

    Raises:
        ParameterError: It names no table.

    Example:
        >>> address_of("postgresql://curator:secret@db.example.org/hospital?table=public.visits")
        Address(shown='postgresql://curator@db.example.org/hospital', schema='public', name='visits')
    """
    try:
        parts = urlsplit(source)
        parameters = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise ParameterError("source", "postgresql:…", _FORM) from None
    user, _, host = parts.netloc.rpartition("@")
    place = f"{user.partition(':')[0]}@{host}" if user else host
    shown = urlunsplit((parts.scheme, place, parts.path, "", ""))
    names = [value for name, value in parameters if name == _TABLE]
    found = _NAME.fullmatch(names[0]) if len(names) == 1 else None
    if found is None:
        raise ParameterError("source", shown, _FORM)
    # PostgreSQL's library reads a plus sign as one, and no space.
    others = urlencode([one for one in parameters if one[0] != _TABLE], quote_via=quote)
    database = urlunsplit((parts.scheme, parts.netloc, parts.path, others, ""))
    schema = found["schema"]
    return Address(database, shown, None if schema is None else _unquoted(schema), _unquoted(found["name"]))


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
