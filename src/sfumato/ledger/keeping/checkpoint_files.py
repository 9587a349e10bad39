"""The file of a checkpoint: two slots written in place by turns, of which one is whole, whatever stops a write.

Renaming a new file into place takes half a millisecond, writing a block of a file that is there some microseconds.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias

from sfumato.errors import LedgerCorruptError, LedgerError, LedgerTimeoutError, ParameterError
from sfumato.ledger.keeping.checkpoints import RESTORE, Checkpoint, decode_checkpoint, encode_checkpoint, other_history
from sfumato.ledger.keeping.files import draft_of, holder_of, locked, synced
from sfumato.ledger.keeping.key import LedgerKey

BESIDE: Final = "beside"
BLOCK: Final = 4096
"""Slots are whole blocks, because disks write a block at once, or most do."""
_DIGEST: Final = 64
_PATIENCE: Final = 30.0
_TRIES: Final = 3
_AT_ONCE: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A text in a file, and where it begins."""

    offset: int
    text: str


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
    def path(self) -> Path:
        """The file."""
        return self._path

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
            requirement = f"the ledger was recorded in the checkpoint {self._path}, which is missing; {RESTORE}"
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
            raise LedgerError(str(self._path), "the checkpoint cannot be synced; check its disk") from error

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
            raise other_history(there)
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
            raise LedgerError(
                str(self._path), "the checkpoint cannot be read; give this user the right to read it"
            ) from error
        return content

    def _stored(self, content: bytes | None) -> _Stored | None:
        """The checkpoint of a file, and its slot where it has one; None if there is no file."""
        try:
            return None if content is None else stored_in(content, self._known)
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


def stored_in(content: bytes, known: Mapping[str, Checkpoint]) -> _Stored:
    """The checkpoint of a file: the newest slot that is whole; or all of it, as the first version wrote it.

    Whether its seal is right is not asked.

    Args:
        content: The file.
        known: Checkpoints by their texts, which are not read again.

    Raises:
        ParameterError: There is none.
    """
    noted = [(slot, known.get(slot.text) or decode_checkpoint(slot.text)) for slot in slots_in(content)]
    last = max(noted, key=lambda one: (one[1].length, one[1].at), default=None)
    return last or (None, decode_checkpoint(content.decode("ascii", "replace")))


def slots_in(content: bytes) -> tuple[Slot, ...]:
    """The whole slots of a file; one that was torn, cut or bent is none.

    The digest in front of a text tells a whole one from a torn one. It has no key: who wrote a text is for its seal.

    Example:
        >>> content = file_of("first")
        >>> slots_in(content)
        (Slot(offset=0, text='first'),)
        >>> slots_in(content.replace(b"first", b"fir"))
        ()
    """
    lines = ((at, content[at : content.find(b"\n", at) + 1]) for at in range(0, len(content), BLOCK))
    return tuple(Slot(offset=at, text=text) for at, line in lines if (text := _whole(line)) is not None)


def file_of(text: str) -> bytes:
    """A file with a text in its first slot, an empty second one, and room for a text that is half as long again."""
    line = _line(text)
    size = -(-len(line) * 3 // 2 // BLOCK) * BLOCK
    return line.ljust(size) + b" " * size


def write_beside(path: Path, content: bytes, last: Slot, text: str) -> bool:
    """Write a text into the slot beside the last one, by one write in place; whether there is room for it.

    Args:
        path: The file.
        content: What it holds.
        last: The slot that has to stay.
        text: One line of ASCII.

    Raises:
        OSError: It cannot be written, or not all of it.
    """
    size, rest = divmod(len(content), 2)
    line = _line(text)
    if rest or size % BLOCK or last.offset not in (0, size) or len(line) > size:
        return False
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        written = os.pwrite(descriptor, line.ljust(size), 0 if last.offset else size)
    finally:
        os.close(descriptor)
    if written != size:
        raise OSError(f"{written} of {size} bytes were written")
    return True


@lru_cache(maxsize=16)
def _whole(line: bytes) -> str | None:
    """The text of a line behind its digest."""
    digest, text = line[:_DIGEST], line[_DIGEST + 1 : -1]
    if sha256(text).hexdigest().encode() != digest or line != digest + b" " + text + b"\n":
        return None
    return text.decode("ascii", "replace")


def _line(text: str) -> bytes:
    content = text.encode("ascii")
    return sha256(content).hexdigest().encode() + b" " + content + b"\n"


def _read(path: Path) -> bytes:
    """All of a small file, which is read after every batch."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(lambda: os.read(descriptor, _AT_ONCE), b""))
    finally:
        os.close(descriptor)
