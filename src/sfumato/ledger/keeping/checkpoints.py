"""A signed note of how far a ledger was, kept elsewhere: an older copy in the ledger's place is then refused.

A beginning of a hash chain is a hash chain: what is gone from its end only shows by a note that is not in the ledger.
"""

import json
import logging
import math
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self, TypeAlias

from sfumato.errors import LedgerCorruptError, LedgerError, LedgerTimeoutError, ParameterError
from sfumato.ledger.keeping.attachments import synced
from sfumato.ledger.keeping.key import LedgerKey
from sfumato.ledger.keeping.locks import holder_of, locked
from sfumato.ledger.keeping.sinks import send
from sfumato.ledger.keeping.slots import Slot, file_of, slots_in, write_beside
from sfumato.ledger.keeping.whole_files import draft_of
from sfumato.privacy.codec import Json
from sfumato.privacy.formats import parse_json

VERSION: Final = 1
BESIDE: Final = "beside"

_LOG: Final = logging.getLogger("sfumato.ledger")
_MINUTE: Final = 60
_PATIENCE: Final = 30.0
_TRIES: Final = 3
_AT_ONCE: Final = 1 << 16
NOTHING_KNOWN: Final[Mapping[str, "Checkpoint"]] = MappingProxyType({})
_HASH: Final = re.compile("[0-9a-f]{64}")
_KEY: Final = re.compile("[0-9a-f]{16}")
_REMEDY: Final = "restore the newer copy or, if it is lost, declare what was spent since with `sfumato ledger restored`"


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


_Stored: TypeAlias = tuple[Slot | None, Checkpoint]


class CheckpointFile:
    """The last checkpoint of a ledger in a file, which belongs on another disk than the ledger.

    The file is renamed into place once. Then its two slots are written in place by turns, and the newest that is whole
    counts: a write that was torn leaves the checkpoint before. Files of one text, of the first version, are read too.

    Args:
        path: The file; beside it there is an empty one, by which those who write wait for each other.
        beside: The file beside the ledger, where a checkpoint is looked for if nothing else is said.
    """

    def __init__(self, path: Path, *, beside: Path | None = None) -> None:
        self._path = path.absolute()
        self._lock = self._path.with_name(f"{self._path.name}.lock")
        self._beside = beside
        self._known: dict[str, Checkpoint] = {}

    @property
    def where(self) -> str:
        """The path, as a ledger remembers it; of the file beside it no path, as both move together."""
        return BESIDE if self._path == self._beside else str(self._path)

    def at(self, where: str) -> "CheckpointFile":
        """The file that a ledger remembers."""
        return CheckpointFile((self._beside or self._path) if where == BESIDE else Path(where), beside=self._beside)

    def require_there(self) -> None:
        """Refuse a ledger whose checkpoint is gone.

        Raises:
            LedgerCorruptError: There is no such file.
        """
        if not os.path.lexists(self._path):
            requirement = f"the ledger was noted in the checkpoint {self._path}, which is gone; {_REMEDY}"
            raise LedgerCorruptError(0, requirement)

    def is_of_sealed(self) -> bool:
        """Whether a version that seals every batch wrote it: only such a one writes slots."""
        content = self._content()
        return content is not None and bool(slots_in(content))

    def sync(self) -> None:
        """Wait until what was written is on the disk.

        Raises:
            LedgerError: It cannot be.
        """
        try:
            self._sync()
        except OSError as error:
            raise LedgerError(str(self._path), "the checkpoint cannot be synced; look at its disk") from error

    def read(self, key: LedgerKey) -> Checkpoint | None:
        """The checkpoint, which is as the key sealed it; None if there is no file.

        Raises:
            LedgerError: It is damaged, was changed, is of another key, or cannot be read.
        """
        stored = self._stored(self._content())
        if stored is None:
            return None
        _, found = stored
        if found.key != key.name:
            raise self._of_another(found.key, key.name)
        if not found.is_sealed_by(key):
            raise self._damaged()
        return found

    def write(self, checkpoint: Checkpoint, *, although_shorter: bool = False, is_synced: bool = True) -> None:
        """Put a checkpoint in the place of a shorter one; if synced it is on the disk afterwards. A longer one stays.

        Args:
            checkpoint: The new one.
            although_shorter: Whether it replaces any other: once the owner has declared an older copy to be the ledger.
            is_synced: Whether it outlives a loss of power; a killed process it outlives in any case.

        Raises:
            LedgerError: The one that is there is damaged, or of another key; or the file cannot be written.
            LedgerCorruptError: The one that is there has as many entries, and they are others.
        """
        with self._writing():
            content = None if although_shorter else self._content()
            stored = self._stored(content)
            if stored is not None and not self._is_after(checkpoint, stored[1]):
                return
            if content is None or not self._is_written_beside(content, stored, checkpoint, is_synced=is_synced):
                self._replace(checkpoint, is_synced=is_synced)

    def reseal(self, old: LedgerKey, new: LedgerKey) -> None:
        """Seal what is noted with the new key of the ledger, if it is sealed with the old one.

        Raises:
            LedgerError: It is damaged, or of another key; or the file cannot be written.
        """
        with self._writing():
            stored = self._stored(self._content())
            if stored is not None and stored[1].key != new.name and (found := self.read(old)) is not None:
                self._replace(
                    Checkpoint.sealed(new, length=found.length, head=found.head, at=found.at, totals=found.totals)
                )

    def _is_after(self, new: Checkpoint, there: Checkpoint) -> bool:
        """Whether a checkpoint may take the place of the one that is there."""
        if new.key != there.key:
            raise self._of_another(there.key, new.key)
        if new.length == there.length and new.head != there.head:
            raise _other_history(there)
        return (new.length, new.at) > (there.length, there.at)

    def _is_written_beside(
        self, content: bytes, stored: _Stored | None, checkpoint: Checkpoint, *, is_synced: bool
    ) -> bool:  # fmt: skip
        """Whether there was room for it in the slot beside the last one."""
        slot, last = (None, None) if stored is None else stored
        text = encode_checkpoint(checkpoint)
        if slot is None or last is None or not write_beside(self._path, content, slot, text):
            return False
        self._known = {slot.text: last, text: checkpoint}
        if is_synced:
            self._sync()
        return True

    def _replace(self, checkpoint: Checkpoint, *, is_synced: bool = True) -> None:
        with draft_of(self._path, file_of(encode_checkpoint(checkpoint)), is_synced=is_synced) as draft:
            draft.replace(self._path)

    def _sync(self) -> None:
        synced(self._path)
        synced(self._path.parent)

    def _content(self) -> bytes | None:
        try:
            for _ in range(_TRIES):  # who reads takes no lock, and may see a slot half-written
                content = _read(self._path)
                if slots_in(content):
                    break
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LedgerError(str(self._path), "the checkpoint cannot be read; let this user read it") from error
        return content

    def _stored(self, content: bytes | None) -> _Stored | None:
        """The checkpoint of a file, and its slot where it has one; None if there is no file."""
        try:
            if content is None:
                return None
            return _last(content, self._known) or (None, checkpoint_in(content))
        except ParameterError:
            raise self._damaged() from None

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with locked(self._lock, patience=_PATIENCE):
                yield
        except TimeoutError as error:
            raise LedgerTimeoutError(str(self._path), _PATIENCE, holder_of(self._lock)) from error
        except OSError as error:
            requirement = "the checkpoint cannot be written; name a file in an existing folder that this user may write"
            raise LedgerError(str(self._path), requirement) from error

    def _damaged(self) -> LedgerError:
        requirement = (
            "the checkpoint is damaged or was changed; restore a good copy of it, or, if the ledger is surely the"
            " newest, write another with `sfumato ledger restored LEDGER --spent ACCOUNT=0 --reason TEXT`"
        )
        return LedgerError(str(self._path), requirement)

    def _of_another(self, there: str, own: str) -> LedgerError:
        requirement = (
            f"the checkpoint was sealed with the key {there}, and the key of this ledger is {own}; name the"
            " checkpoint of this ledger, or restore the key that belongs to it"
        )
        return LedgerError(str(self._path), requirement)


class Noting:
    """Notes how far a ledger is after every batch, on the disk at most a second later, and when the process ends.

    Args:
        file: Where.
        sink: Where else, once a minute and at the end; see `sinks`. What fails there is logged, and stops nobody.
    """

    def __init__(self, file: CheckpointFile, *, sink: str = "") -> None:
        self.file, self._sink = file, sink
        self._process = os.getpid()
        self._last: Checkpoint | None = None
        self._synced_at = self._sent_at = -math.inf
        self.is_synced = True

    def is_due(self) -> bool:
        """Whether the next note is to be on the disk at once."""
        return time.monotonic() - self._synced_at >= 1

    def write(self, checkpoint: Checkpoint, *, is_synced: bool) -> None:
        """Note it; if it need not be on the disk at once, it is by the next one that does, or at the end."""
        self.file.write(checkpoint, is_synced=is_synced)
        self._last, self.is_synced = checkpoint, is_synced
        if is_synced:
            self._synced_at = time.monotonic()
            if self._synced_at - self._sent_at >= _MINUTE:
                self._send()

    def finish(self) -> None:
        """Sync and send the last one; not in a fork of the process that wrote it."""
        if self._last is None or os.getpid() != self._process:
            return
        if not self.is_synced:
            self.file.sync()
            self.is_synced = True
        self._send()
        self._last = None

    def _send(self) -> None:
        self._sent_at = time.monotonic()
        if self._sink and self._last is not None:
            try:
                send(self._sink, f"{encode_checkpoint(self._last)}\n")
            except LedgerError as error:
                _LOG.warning("%s", error)


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
            f"the ledger is older than its checkpoint: {checkpoint.length} entries were noted, {length} are there;"
            f" {_REMEDY}"
        )
        raise LedgerCorruptError(length, requirement)
    if checkpoint.length and hash_at(checkpoint.length - 1) != checkpoint.head:
        raise _other_history(checkpoint)


def checkpoint_in(content: bytes, known: Mapping[str, Checkpoint] = NOTHING_KNOWN) -> Checkpoint:
    """The checkpoint of a file: the newest slot that is whole; or all of it, as the first version wrote it.

    Whether its seal is right is not asked.

    Args:
        content: The file.
        known: Texts that were read before, or written here.

    Raises:
        ParameterError: There is none.
    """
    last = _last(content, known)
    return decode_checkpoint(content.decode("ascii", "replace")) if last is None else last[1]


def _last(content: bytes, known: Mapping[str, Checkpoint] = NOTHING_KNOWN) -> tuple[Slot, Checkpoint] | None:
    """The newest slot of a file that is whole; None if there is none. Texts that are known are not read again."""
    noted = [(slot, known.get(slot.text) or decode_checkpoint(slot.text)) for slot in slots_in(content)]
    return max(noted, key=lambda one: (one[1].length, one[1].at), default=None)


def _read(path: Path) -> bytes:
    """All of a small file, which is read after every batch."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(lambda: os.read(descriptor, _AT_ONCE), b""))
    finally:
        os.close(descriptor)


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
        }} if version == VERSION and length >= 0 and not others and _are_hex(head, seal, key):  # fmt: skip
            pairs = tuple(_pair(total) for total in totals)
            return Checkpoint(length=length, head=head, at=at, key=key, totals=pairs, seal=seal)
        case _:
            raise _unknown()


def _are_hex(head: str, seal: str, key: str) -> bool:
    return all(_HASH.fullmatch(one) for one in (head, seal)) and _KEY.fullmatch(key) is not None


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


def _other_history(checkpoint: Checkpoint) -> LedgerCorruptError:
    requirement = f"the ledger has another history than its checkpoint of {checkpoint.length} entries; {_REMEDY}"
    return LedgerCorruptError(max(checkpoint.length - 1, 0), requirement)


def _parts(length: int, head: str, at: int, totals: tuple[tuple[str, str], ...]) -> tuple[str | int, ...]:
    return ("checkpoint", VERSION, length, head, at, *(text for total in totals for text in total))
