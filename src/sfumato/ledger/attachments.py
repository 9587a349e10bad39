"""Files that belong to committed answers: those too large for an entry, which then holds their hashes."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from threading import Lock

from sfumato.errors import LedgerError
from sfumato.noise.entropy import random_bytes


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
            raise LedgerError(where, "an answer cannot be written beside it; make room there") from error

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
            raise LedgerError(str(path), "the file of an answer is gone; restore it, as nothing else holds that answer")
        try:
            changed = _hash(path) != attachment.sha256
        except OSError as error:
            raise LedgerError(str(path), "the file of an answer cannot be read; let this user read it") from error
        if changed:
            raise LedgerError(str(path), "the file of an answer was changed; restore a good copy")
        return path

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


def _remove(folder: Path, process: int) -> None:
    """Remove a folder, but not in a fork of the process that it belongs to."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def synced(path: Path) -> None:
    """Wait until whatever was written to a file, or to the list of a folder, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
