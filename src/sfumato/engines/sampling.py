"""The salted hash by which rows and groups above a limit are sampled, in plain Python.

MD5 of a length-prefixed encoding of the salt, the unit and what is ranked: the same on every engine. What is kept of a
unit depends on its own rows and the salt alone, never on other units or on the order of storage. MD5 serves as a
pseudorandom function of a secret, fresh salt; the sensitivity bound holds for every salt and needs no property of it.
"""

from collections.abc import Sequence
from hashlib import md5

from sfumato.engines.values import Cell


def rank_hash(salt: str, values: Sequence[Cell]) -> str:
    """The hash by which something of a unit is ranked."""
    return md5((salt + "".join(map(encoded, values))).encode(), usedforsecurity=False).hexdigest()


def encoded(value: Cell) -> str:
    """One value, tagged and with its length in bytes, so that no two lists of values run together."""
    if value is None:
        return "N"
    text = ("true" if value else "false") if isinstance(value, bool) else str(value)
    return f"V{len(text.encode())}:{text}"
