"""Files that belong to committed answers: those too large for an entry, which then holds their hashes."""

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from stat import S_ISREG
from threading import Lock
from typing import Final

from sfumato.errors import LedgerError
from sfumato.ledger.keeping.files import synced
from sfumato.noise.entropy import random_bytes
from sfumato.privacy.codec import Json

_NAME: Final = re.compile(r"[0-9a-f]{32}\.parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file by its name among the attachments, and the SHA-256 of what is in it."""

    name: str
    sha256: str


class Attachments:
    """A folder of files, each written once and never changed.

    Args:
        folder: Where they are; made when the first is written. None for a folder that goes with this process.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._lasting = None if folder is None else folder.absolute()  # also if this process goes to another folder
        self._passing: Path | None = None
        self._forgotten: Callable[[], object] | None = None
        self._lock = Lock()

    @contextmanager
    def writing(self) -> Iterator[Path]:
        """A path to write a new file to; afterwards it is on the disk, also if the power fails. See `attached`.

        Raises:
            LedgerError: It cannot be written.
        """
        try:
            path = self._folder() / f"{random_bytes(16).hex()}.parquet"
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            try:
                yield path
                path.chmod(0o600)  # whoever wrote it may have put another file in its place
                synced(path)
                synced(path.parent)
            except BaseException:
                path.unlink(missing_ok=True)
                raise
        except OSError as error:
            where = str(self._lasting or "in memory")
            raise LedgerError(where, "an answer cannot be written beside it; free disk space there") from error

    def attached(self, path: Path) -> Attachment:
        """What an entry holds of a file that was written."""
        return Attachment(name=path.name, sha256=_hash(path))

    def path(self, attachment: Attachment) -> Path:
        """Where a file is, which is as it was written.

        Raises:
            LedgerError: It is gone, or was changed.
        """
        path = (self._lasting or self._folder()) / Path(attachment.name).name
        if not path.is_file():
            raise LedgerError(str(path), "the file of an answer is missing; restore it, as the answer is nowhere else")
        try:
            changed = _hash(path) != attachment.sha256
        except OSError as error:
            raise LedgerError(
                str(path), "the file of an answer cannot be read; give this user the right to read it"
            ) from error
        if changed:
            raise LedgerError(str(path), "the file of an answer was changed; restore a good copy")
        return path

    def adopt(self, attachment: Attachment, file: Path) -> None:
        """Copy a file of other attachments here, under its name; afterwards it is on the disk, and as it was.

        Raises:
            LedgerError: It cannot be written, or is not what the entry names.
        """
        try:
            path = self._folder() / Path(attachment.name).name
            draft = path.with_name(f".{path.name}.{random_bytes(8).hex()}")
            try:
                os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
                shutil.copyfile(file, draft)
                synced(draft)
                draft.replace(path)
                synced(path.parent)
            finally:
                draft.unlink(missing_ok=True)
        except OSError as error:
            where = str(self._lasting or "in memory")
            raise LedgerError(where, "an answer cannot be copied beside it; free disk space there") from error
        self.path(attachment)

    def older_than(self, moment: float) -> tuple[Path, ...]:
        """The files here, and no others, that were last written before a moment, in seconds since 1970.

        Raises:
            LedgerError: The folder cannot be read.
        """
        if self._lasting is None or not self._lasting.is_dir():
            return ()
        try:
            found = [(path, path.lstat()) for path in self._lasting.iterdir() if _NAME.fullmatch(path.name)]
        except OSError as error:
            requirement = "the files of answers cannot be listed; give this user the right to read the folder"
            raise LedgerError(str(self._lasting), requirement) from error
        return tuple(sorted(path for path, told in found if S_ISREG(told.st_mode) and told.st_mtime < moment))

    def close(self) -> None:
        """Let go of a folder that does not last."""
        if self._forgotten is not None:
            self._forgotten()

    def _folder(self) -> Path:
        if self._lasting is not None:
            if not self._lasting.is_dir():
                self._lasting.mkdir(mode=0o700, exist_ok=True)
                synced(self._lasting.parent)
            return self._lasting
        with self._lock:
            if self._passing is None:
                self._passing = Path(tempfile.mkdtemp(prefix="sfumato-"))
                self._forgotten = weakref.finalize(self, _remove, self._passing, os.getpid())  # also if not closed
            return self._passing


_NESTED: Final = (dict, list)


def attachments_in(answer: Json) -> Iterator[Attachment]:
    """The files that a committed answer names: each stands there as ``{"attached": {"name": …, "sha256": …}}``.

    Example:
        >>> [one.name for one in attachments_in({"sections": [{"attached": {"name": "a.parquet", "sha256": "00"}}]})]
        ['a.parquet']
    """
    match answer:
        case {"attached": {"name": str(name), "sha256": str(sha256)}}:
            yield Attachment(name=name, sha256=sha256)
        case dict():
            for part in answer.values():
                if isinstance(part, _NESTED):
                    yield from attachments_in(part)
        case list():
            for part in answer:
                if isinstance(part, _NESTED):
                    yield from attachments_in(part)
        case _:
            return


def removed(files: Iterable[Path]) -> int:
    """Remove files of answers that no entry names; how many there were.

    Raises:
        LedgerError: One cannot be removed.
    """
    count = 0
    for path in files:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise LedgerError(
                str(path), "cannot be removed; give this user the right to write to its folder"
            ) from error
        count += 1
    return count


def _remove(folder: Path, process: int) -> None:
    """Remove a folder, but not in a fork of the process that it belongs to."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
