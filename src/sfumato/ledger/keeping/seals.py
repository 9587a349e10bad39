"""What the ledger's key says of what lies beside the chain: of each index entry, and of every batch.

The chain has no key, so that anybody can verify it, and anybody who may write the store can compute it anew. The seal
of the last batch tells the ledger that it wrote just these entries, as many and no others. A store that holds a million
answers is not read to find one: an index entry leads to it by name. Its seal is made over name, index and hash: a
record that somebody changed or put there, or an index entry bent to another one, is refused.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from json.encoder import encode_basestring_ascii
from typing import Final, Self

from sfumato.errors import LedgerCorruptError
from sfumato.ledger.core.codec import decode_entry
from sfumato.ledger.core.entry import Committed, Entry, Reserved, Shared
from sfumato.ledger.core.replay import Replay, data_of
from sfumato.ledger.core.store import Chain, IndexEntry, ReadableStore, Record, StoreEnd
from sfumato.ledger.keeping.key import LedgerKey
from sfumato.privacy.formats import parse_json

VERSION: Final = 1
_PURPOSE: Final = "batch"
_OF_INDEX_ENTRIES = "pointer"
_BITS: Final = 256
_LONGEST = 1_000  # a database finds no names of any length, and one that it cannot keep would fail its whole batch


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexDigest:
    """All index entries in short: how many, and the sum modulo 2²⁵⁶ of their hashes, whatever their order.

    Example:
        >>> one, two = (IndexEntry(name=name, index=0, seal="s") for name in ("one", "two"))
        >>> IndexDigest().plus([one, two]) == IndexDigest().plus([two]).plus([one])
        True
    """

    count: int = 0
    total: int = 0

    def plus(self, index_entries: Iterable[IndexEntry]) -> Self:
        """The index with more index entries."""
        hashes = [_hash(index_entry) for index_entry in index_entries]
        return type(self)(count=self.count + len(hashes), total=(self.total + sum(hashes)) % (1 << _BITS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """What a seal covers.

    Attributes:
        chain: The length of the ledger and the hash of its last entry.
        index: All index entries.
        checkpoint: Where the ledger notes how far it is; None for nowhere.
    """

    chain: Chain
    index: IndexDigest
    checkpoint: str | None = None


UNWRITTEN: Final = Seal(chain=Chain(), index=IndexDigest())
"""What holds of a store in which nothing was ever kept."""


def encode_seal(seal: Seal, key: LedgerKey) -> str:
    """A seal as text: the HMAC by the ledger's key, a space, and JSON."""
    document = {
        "version": VERSION, "key": key.name, "length": seal.chain.length, "head": seal.chain.head,
        "pointers": seal.index.count, "index": f"{seal.index.total:064x}", "checkpoint": seal.checkpoint,
    }  # fmt: skip
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return f"{key.seal(_PURPOSE, text)} {text}"


def seal_of(end: StoreEnd, key: LedgerKey) -> Seal:
    """The seal at the end of a store, which the key made, and which covers all that is there.

    **Guarantee**: whoever does not have the key makes no seal of a chain that the ledger did not write, unless
    HMAC-SHA256 is broken; an older state with its own seal passes, and is for the checkpoint to refuse.

    Raises:
        LedgerCorruptError: There are entries and no seal, another key made it, or it covers other entries.
    """
    if end.seal is None:
        if end.chain.length == 0:
            return UNWRITTEN
        requirement = "no seal covers the entries; whoever may write the ledger may have written them"
        raise LedgerCorruptError(end.chain.length - 1, requirement)
    seal, _, text = end.seal.partition(" ")
    if not key.verifies(seal, _PURPOSE, text):
        raise LedgerCorruptError(max(end.chain.length - 1, 0), _not_by(sealed_by(end), key))
    document = json.loads(text)
    if document["version"] != VERSION:
        raise LedgerCorruptError(
            end.chain.length, "its seal was written by a newer version of sfumato; install that version"
        )
    chain = Chain(length=document["length"], head=document["head"])
    if chain != end.chain:
        raise _uncovered(chain, end.chain)
    index = IndexDigest(count=document["pointers"], total=int(document["index"], 16))
    return Seal(chain=chain, index=index, checkpoint=document["checkpoint"])


def sealed_by(end: StoreEnd) -> str | None:
    """The name of the key that a seal says it was made with, which is not verified; None where it says nothing."""
    try:
        document = parse_json((end.seal or "").partition(" ")[2])
    except ValueError:
        return None
    name = document.get("key") if isinstance(document, dict) else None
    return name if isinstance(name, str) else None


def index_entry_to(record: Record, name: str, key: LedgerKey) -> IndexEntry:
    """The index entry of a name to a record."""
    return IndexEntry(name=name, index=record.index, seal=key.seal(_OF_INDEX_ENTRIES, name, record.index, record.hash))


def entry_at(store: ReadableStore, index_entry: IndexEntry, key: LedgerKey) -> Entry:
    """The entry to which an index entry leads.

    Raises:
        LedgerCorruptError: The index entry or the record is not as it was written.
    """
    found = store.read(index_entry.index, limit=1)
    if not found or found[0].index != index_entry.index:
        raise LedgerCorruptError(index_entry.index, "an index entry names it, and it is missing")
    (record,) = found
    if record != Chain(length=record.index, head=record.previous).link(record.text):
        raise LedgerCorruptError(record.index)
    if not key.verifies(index_entry.seal, _OF_INDEX_ENTRIES, index_entry.name, index_entry.index, record.hash):
        raise LedgerCorruptError(record.index, "it, or the index entry to it, was not written with the ledger's key")
    return decode_entry(record.text)


def names_of(entry: Entry, replay: Replay) -> Iterator[str]:
    """The names by which an entry is to be found, unless they are taken; before a replay applies it."""
    match entry:
        case Committed():
            yield answer_name(entry.account, entry.key)
            yield first_name(entry.account, entry.key)
            known = replay.open_requests.get(entry.request)
            if known is not None and known.has_key:
                yield request_name(entry.request)
        case Reserved() | Shared() if entry.idempotency_key:
            yield asked_name(entry.principal, entry.idempotency_key)
        case _:
            return


def answer_name(account: str, key: str) -> str:
    """Of the answer that an account has under a key."""
    return _name("answer", account, key)


def first_name(account: str, key: str) -> str:
    """Of the first answer under a key, whoever asked about the same data.

    That is whoever has an account of which the name begins alike, up to the first slash, as ``census/ann`` and
    ``census/bob``. An account above may be about other data.
    """
    return _name("first", data_of(account), key)


def request_name(request: str) -> str:
    """Of the answer to a reservation."""
    return _name("request", request)


def asked_name(principal: str, idempotency_key: str) -> str:
    """Of the reservation that somebody made under a key of their own."""
    return _name("asked", principal, idempotency_key)


def _name(kind: str, *parts: str) -> str:
    text = f"{kind} [{', '.join(map(encode_basestring_ascii, parts))}]"  # as `json.dumps` writes a list, but sooner
    return text if len(text) <= _LONGEST else f"{kind} {sha256(text.encode()).hexdigest()}"


def _hash(index_entry: IndexEntry) -> int:
    text = f"{index_entry.index}:{len(index_entry.name)}:{index_entry.name}{index_entry.seal}"
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest())


def _not_by(name: str | None, key: LedgerKey) -> str:
    if name is None or name == key.name:
        return "the seal of the last batch is damaged, or was not made with the ledger's key"
    return (
        f"the last batch was sealed with the key {name}, and the key beside the ledger is {key.name};"
        " restore the key that belongs to it"
    )


def _uncovered(sealed: Chain, found: Chain) -> LedgerCorruptError:
    if found.length < sealed.length:
        return LedgerCorruptError(found.length, f"it was sealed and is missing: {sealed.length} entries were sealed")
    if found.length > sealed.length:
        return LedgerCorruptError(sealed.length, "no seal covers it: it was not written with the ledger's key")
    return LedgerCorruptError(found.length - 1, "it differs from the one that was sealed")
