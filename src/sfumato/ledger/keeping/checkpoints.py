"""A signed note of how far a ledger was, kept elsewhere: an older copy in the ledger's place is then refused.

A beginning of a hash chain is a hash chain: what is gone from its end only shows by a note that is not in the ledger.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

from sfumato.errors import LedgerCorruptError, ParameterError
from sfumato.ledger.keeping.key import LedgerKey
from sfumato.privacy.codec import Json
from sfumato.privacy.formats import parse_json

VERSION: Final = 1
_HASH: Final = re.compile("[0-9a-f]{64}")
_KEY: Final = re.compile("[0-9a-f]{16}")
RESTORE: Final = (
    "restore the newer copy or, if it is lost, declare the spending since then with `sfumato ledger restored`"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """How far a ledger was at a moment.

    Attributes:
        length: How many entries it had.
        head: The hash of the last.
        at: When, in microseconds since 1970, UTC.
        key: The name of the ledger's key.
        totals: What was spent by each account, as people read it.
        seal: Made by that key of all of this.
    """

    length: int
    head: str
    at: int
    key: str
    totals: tuple[tuple[str, str], ...]
    seal: str

    @classmethod
    def sealed(
        cls, key: LedgerKey, *, length: int, head: str, at: int, totals: tuple[tuple[str, str], ...] = ()
    ) -> Self:
        """A checkpoint with its seal.

        Example:
            >>> key = LedgerKey(bytes(32))
            >>> Checkpoint.sealed(key, length=0, head="0" * 64, at=0).is_sealed_by(key)
            True
        """
        seal = key.seal(*_parts(length, head, at, totals))
        return cls(length=length, head=head, at=at, key=key.name, totals=totals, seal=seal)

    def is_sealed_by(self, key: LedgerKey) -> bool:
        """Whether this key made the seal, of just this."""
        return key.verifies(self.seal, *_parts(self.length, self.head, self.at, self.totals))


def require_not_older(checkpoint: Checkpoint, length: int, hash_at: Callable[[int], str | None]) -> None:
    """Refuse a ledger that does not go on from where it was noted to be.

    **Guarantee**: What passes begins with the very entries that were noted, unless SHA-256 collides; so nothing that
    was spent up to then is forgotten.

    Args:
        checkpoint: One whose seal was verified.
        length: How many entries the ledger has.
        hash_at: The hash of the entry at an index, of a chain that was verified; None if there is none.

    Raises:
        LedgerCorruptError: It has fewer entries, or others.
    """
    if length < checkpoint.length:
        requirement = (
            f"the ledger is older than its checkpoint: {checkpoint.length} entries were recorded, {length} exist;"
            f" {RESTORE}"
        )
        raise LedgerCorruptError(length, requirement)
    if checkpoint.length and hash_at(checkpoint.length - 1) != checkpoint.head:
        raise other_history(checkpoint)


def encode_checkpoint(checkpoint: Checkpoint) -> str:
    """A checkpoint as one line of JSON with its version."""
    document: dict[str, Json] = {
        "length": checkpoint.length,
        "head": checkpoint.head,
        "at": checkpoint.at,
        "key": checkpoint.key,
        "totals": [[account, spent] for account, spent in checkpoint.totals],
        "seal": checkpoint.seal,
    }
    return json.dumps({"version": VERSION, "checkpoint": document}, sort_keys=True, separators=(",", ":"))


def decode_checkpoint(text: str) -> Checkpoint:
    """The checkpoint that `encode_checkpoint` wrote; whether its seal is right is not asked.

    Raises:
        ParameterError: The text is no checkpoint of a version that this package knows.
    """
    try:
        document = parse_json(text)
    except ValueError:
        document = None
    match document:
        case {"version": int(version), "checkpoint": {
            "length": int(length), "head": str(head), "at": int(at), "key": str(key), "totals": list(totals),
            "seal": str(seal), **others,
        }} if (
            version == VERSION and length >= 0 and not others
            and all(map(_HASH.fullmatch, (head, seal))) and _KEY.fullmatch(key)
        ):  # fmt: skip
            pairs = tuple(_pair(total) for total in totals)
            return Checkpoint(length=length, head=head, at=at, key=key, totals=pairs, seal=seal)
        case _:
            raise _unknown()


def _pair(total: Json) -> tuple[str, str]:
    match total:
        case [str(account), str(spent)]:
            return account, spent
        case _:
            raise _unknown()


def _unknown() -> ParameterError:
    return ParameterError(
        "checkpoint", "a text", f"must be a checkpoint of version {VERSION}, as this package writes it"
    )


def other_history(checkpoint: Checkpoint) -> LedgerCorruptError:
    """The error of a ledger whose entries are not those that were noted."""
    requirement = f"the ledger's history differs from that of its checkpoint of {checkpoint.length} entries; {RESTORE}"
    return LedgerCorruptError(max(checkpoint.length - 1, 0), requirement)


def _parts(length: int, head: str, at: int, totals: tuple[tuple[str, str], ...]) -> tuple[str | int, ...]:
    return ("checkpoint", VERSION, length, head, at, *(text for total in totals for text in total))
