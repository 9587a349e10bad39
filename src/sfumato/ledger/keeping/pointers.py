"""By which names an entry is found again, and how a pointer is known to be true.

A store that holds a million answers is not read to find one. A pointer's seal is made with the ledger's key over name,
index and hash: a record that somebody changed or put there, or a pointer bent to another one, is refused.
"""

from collections.abc import Iterator
from hashlib import sha256
from json.encoder import encode_basestring_ascii

from sfumato.errors import LedgerCorruptError
from sfumato.ledger.core.codec import decode_entry
from sfumato.ledger.core.entry import Committed, Entry, Reserved, Shared
from sfumato.ledger.core.journal import Chain, Record
from sfumato.ledger.core.replay import Replay, data_of
from sfumato.ledger.core.store import Pointer, Reading
from sfumato.ledger.keeping.key import LedgerKey

_PURPOSE = "pointer"
_LONGEST = 1_000  # a database finds no names of any length, and one that it cannot keep would fail its whole batch


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


def pointer_to(record: Record, name: str, key: LedgerKey) -> Pointer:
    """The pointer of a name to a record."""
    return Pointer(name=name, index=record.index, seal=key.seal(_PURPOSE, name, record.index, record.hash))


def entry_at(store: Reading, pointer: Pointer, key: LedgerKey) -> Entry:
    """The entry to which a pointer leads.

    Raises:
        LedgerCorruptError: The pointer or the record is not as it was written.
    """
    found = store.read(pointer.index, limit=1)
    if not found or found[0].index != pointer.index:
        raise LedgerCorruptError(pointer.index, "a pointer leads to it and it is gone")
    (record,) = found
    if record != Chain(length=record.index, head=record.previous).link(record.text):
        raise LedgerCorruptError(record.index)
    if not key.verifies(pointer.seal, _PURPOSE, pointer.name, pointer.index, record.hash):
        raise LedgerCorruptError(record.index, "it, or the pointer to it, was not written with the ledger's key")
    return decode_entry(record.text)


def _name(kind: str, *parts: str) -> str:
    text = f"{kind} [{', '.join(map(encode_basestring_ascii, parts))}]"  # as `json.dumps` writes a list, but sooner
    return text if len(text) <= _LONGEST else f"{kind} {sha256(text.encode()).hexdigest()}"
