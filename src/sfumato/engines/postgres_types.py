"""How each type of PostgreSQL is read: whatever a cell holds is a value of a kind, or NULL.

Blanks at the end of char(n) are not part of it, as in its own comparisons. A citext is compared exactly, as all text.
Times with a zone are those of UTC; days and times outside of the years 1 to 9999, infinity too, are NULL, as NaN is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from sfumato.engines.sql.dialects.dialect import native
from sfumato.engines.sql.dialects.postgres_times import within_the_years
from sfumato.engines.sql.terms import Sql, cast, column, text
from sfumato.query.kinds import Kind

_TEXTS: Final = frozenset({"text", "varchar", "bpchar", "name", "uuid"})
_ENUM: Final = "e"
_CITEXT: Final = "citext"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a column is read.

    Attributes:
        storage: What the lowering calls the type that it is read as.
        read: What makes that of the column.
    """

    storage: str
    read: Callable[[Sql], Sql]

    def of(self, name: str) -> Sql:
        """The column of a name."""
        return self.read(column(name))


def reading(name: str, *, schema: str, form: str) -> Reading | None:
    """How a type is read; None of one that is not.

    Args:
        name: Its name in the catalog, below any domains.
        schema: Where it is.
        form: One letter of the catalog: b of a base type, e of an enumeration.
    """
    if form == _ENUM or name == _CITEXT:
        return _READINGS["text"]
    return _READINGS.get(name) if schema == "pg_catalog" else None


def _as(storage: str) -> Reading:
    return Reading(storage=storage, read=lambda value: cast(value, storage))


def _timestamp(value: Sql) -> Sql:
    return within_the_years(value, Kind.TIMESTAMP)


_READINGS: Final[Mapping[str, Reading]] = {
    **dict.fromkeys(("int2", "int4", "int8"), _as("BIGINT")),
    **dict.fromkeys(("float4", "float8"), _as("DOUBLE")),
    **dict.fromkeys(_TEXTS, _as("VARCHAR")),
    "bool": Reading(storage="BOOLEAN", read=lambda value: value),
    "numeric": Reading(storage="DECIMAL", read=lambda value: native("NULLIF", value, cast(text("NaN"), "HUGEINT"))),
    "date": Reading(storage="DATE", read=lambda value: within_the_years(value, Kind.DATE)),
    "timestamp": Reading(storage="TIMESTAMP", read=_timestamp),
    "timestamptz": Reading(storage="TIMESTAMP", read=lambda value: _timestamp(native("TIMEZONE", text("UTC"), value))),
}
