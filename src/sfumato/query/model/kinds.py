"""The kinds of values that a column or an expression can have."""

from enum import StrEnum


class Kind(StrEnum):
    """What a column holds, whatever its storage: values that do not convert are NULL.

    A DATE is a day of the years 1 to 9999; a TIMESTAMP is a microsecond of them, without a time zone (UTC).
    """

    INTEGER = "integer"
    FLOAT = "float"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"


NUMBERS = frozenset({Kind.INTEGER, Kind.FLOAT})
TIMES = frozenset({Kind.DATE, Kind.TIMESTAMP})
