"""The salted hashes by which rows and groups above a limit are sampled, and the one of all engines in plain Python.

An engine's own hash is the default: it reads values as they are stored. MD5 of a length-prefixed encoding of the salt,
the unit and what is ranked is the same on every engine: it says who is in which part and which rows match, for as long
as a policy holds, and it lets engines be compared row by row. With either, what is kept of a unit depends on its own
rows and the salt alone, never on other units or on the order of storage. A hash serves as a pseudorandom function of a
secret, fresh salt; the sensitivity bound holds for every salt and needs no property of it.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import date
from enum import StrEnum
from hashlib import md5
from struct import pack, unpack
from typing import Any, TypeVar

from sfumato.errors import ParameterError
from sfumato.query.values.cells import Cell
from sfumato.query.values.dates import iso

T = TypeVar("T")


class Sampling(StrEnum):
    """By which hash groups and rows above a limit are sampled."""

    MD5 = "md5"
    """`rank_hash`: the same on every engine."""

    NATIVE = "native"
    """The engine's own, which is faster, and may be another one in its next version."""

    def named(self, engine: str) -> str:
        """What receipts call it.

        Args:
            engine: The name of the engine.

        Example:
            >>> Sampling.NATIVE.named("duckdb"), Sampling.MD5.named("duckdb")
            ('native (duckdb)', 'md5')
        """
        return f"{self} ({engine})" if self is Sampling.NATIVE else str(self)


def sampling_of(name: str) -> Sampling:
    """The hash of a name.

    Raises:
        ParameterError: There is none.
    """
    try:
        return Sampling(name)
    except ValueError:
        raise ParameterError("sampling", name, f"must be one of: {', '.join(Sampling)}") from None


def rank_hash(salt: str, values: Sequence[Cell]) -> str:
    """The hash by which something of a unit is ranked."""
    return md5((salt + "".join(map(encoded, values))).encode(), usedforsecurity=False).hexdigest()


def encoded(value: Cell) -> str:
    """One value, tagged and with its length in bytes, so that no two lists of values run together.

    Text as it is; truths as words; whole numbers in decimal; days and times as `dates.iso`; a double as the decimal of
    the 64-bit integer that has its bits, which no engine rounds: in SQL, CAST(CAST(x + 0.0 AS BIT) AS BIGINT).
    """
    if value is None:
        return "N"
    text = _text(value)
    return f"V{len(text.encode())}:{text}"


def _text(value: Cell) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return str(unpack("<q", pack("<d", value + 0.0))[0])  # the sum turns −0.0, which equals 0.0, into it
        case date():
            return iso(value)
        case _:
            return str(value)


def least(items: Iterable[T], most: int, *, within: Callable[[T], Hashable], rank: Callable[[T], Any]) -> list[T]:
    """The `most` items of the least rank of each group; groups are told apart by `within`."""
    together: dict[Hashable, list[T]] = defaultdict(list)
    for item in items:
        together[within(item)].append(item)
    return [item for group in together.values() for item in sorted(group, key=rank)[:most]]
