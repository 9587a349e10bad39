"""A hash chain: every record carries the hash of the one before, so that none changes, vanishes or moves unnoticed.

    hash₀ = 64 zeros,   hashᵢ₊₁ = SHA-256(hashᵢ ‖ textᵢ)

The hash has no key: it finds accidents and edits, not an owner of the file who computes the whole chain anew, and not
the loss of the last records.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from sfumato.errors import LedgerCorruptError

GENESIS: Final = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One entry's text at its place in the chain."""

    index: int
    previous: str
    text: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """How many records there are and the hash of the last: all that the next one depends on.

    Example:
        >>> start = Chain()
        >>> start.follow(start.link("an entry")).length
        1
    """

    length: int = 0
    head: str = GENESIS

    def link(self, text: str) -> Record:
        """The record that this text makes at the end of the chain."""
        return Record(index=self.length, previous=self.head, text=text, hash=_digest(self.head, text))

    def follow(self, record: Record) -> "Chain":
        """The chain one record longer.

        Raises:
            LedgerCorruptError: The record is not what `link` makes of its text here.
        """
        if record.index != self.length:
            raise LedgerCorruptError(self.length, "a record is missing here, or out of order")
        if record.previous != self.head or record.hash != _digest(self.head, record.text):
            raise LedgerCorruptError(self.length)
        return Chain(length=self.length + 1, head=record.hash)


def _digest(previous: str, text: str) -> str:
    # The previous hash has a fixed length, so no two pairs join to the same bytes.
    return sha256(f"{previous}{text}".encode("utf-8", "surrogatepass")).hexdigest()
