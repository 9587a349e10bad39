"""Where a ledger in PostgreSQL is: `postgresql://keeper@db.example.org/books?ledger=hospital`.

The address is that of libpq, with one parameter more, `ledger`: the name of the ledger among those in that database.
It is read without the driver, so that a place can be named where the driver is not installed.
"""

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit, urlunsplit

from sfumato.errors import ParameterError

_PARAMETER: Final = "ledger="
_DEFAULT: Final = "ledger"
_PREFIX: Final = "sfumato_"
_LONGEST: Final = 63  # bytes of a name; PostgreSQL cuts the rest off, and two ledgers would be one
_FORM: Final = "must be like postgresql://user@host/database?ledger=name"


@dataclass(frozen=True, slots=True)
class LedgerAddress:
    """Where a ledger is.

    Attributes:
        database: The address of the database as libpq reads it, perhaps with a password.
        shown: The same for people to read, without a password, and the name of the ledger.
        schema: The schema that the ledger's tables are in.
    """

    database: str = field(repr=False)
    shown: str
    schema: str


def address_of(location: str) -> LedgerAddress:
    """The address behind a location.

    Raises:
        ParameterError: It is none, or the ledger has no name, two names, or one that is too long.

    Example:
        >>> address_of("postgresql://keeper:secret@db.example.org/books?ledger=hospital")
        LedgerAddress(shown='postgresql://keeper@db.example.org/books?ledger=hospital', schema='sfumato_hospital')
    """
    try:
        parts = urlsplit(location)
    except ValueError:
        raise ParameterError("ledger", "postgresql:…", _FORM) from None
    if "@" in parts.path:  # behind a password with a slash in it, which would be taken for a host
        raise ParameterError("ledger", "postgresql:…", f"{_FORM}; write / and @ of a password as %2F and %40")
    user, _, host = parts.netloc.rpartition("@")
    place = f"{user.partition(':')[0]}@{host}" if user else host
    shown = urlunsplit((parts.scheme, place, parts.path, "", ""))
    # Taken apart as it is written: libpq does not read a plus sign as a space, as forms on the web do.
    parameters = [one for one in parts.query.split("&") if one]
    names = [unquote(one.removeprefix(_PARAMETER)) for one in parameters if one.startswith(_PARAMETER)] or [_DEFAULT]
    schema = f"{_PREFIX}{names[0]}"
    if len(names) > 1 or not names[0] or "\0" in schema or len(schema.encode()) > _LONGEST:
        raise ParameterError("ledger", shown, f"{_FORM}, with one name of at most {_LONGEST - len(_PREFIX)} bytes")
    others = "&".join(one for one in parameters if not one.startswith(_PARAMETER))
    database = urlunsplit((parts.scheme, parts.netloc, parts.path, others, ""))
    return LedgerAddress(database, f"{shown}?ledger={names[0]}", schema)
