"""The list of what is in a backup, by which it is verified before anything is restored."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import file_digest
from pathlib import Path, PurePosixPath
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.ledger.keeping.files import draft_of
from sfumato.version import __version__

FILE: Final = "manifest.json"
FORMAT: Final = 1
ROLES: Final = ("config", "policy", "ledger", "key", "answer", "database", "secret", "version", "protocol")
_HASH: Final = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file of a backup.

    Attributes:
        role: What it is, one of `ROLES`.
        place: Where it is, below the folder of the backup, and where it belongs below that of the curator's file.
        size: How many bytes it has.
        sha256: Their hash.
    """

    role: str
    place: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup holds.

    Attributes:
        at: When it was begun, in UTC.
        files: All of its files.
        ledger_length: How many entries its ledger has; None if the ledger is on a server.
        ledger_head: The hash of the last one.
        acts_length: How many acts its database has; None if the database is on a server.
        acts_head: The hash of the last one.
        by_hand: Commands for what is on servers, which have to be run as well, in the folder and in this order.
        put_back: What to do by hand to restore that, in this order.
        kept_apart: Where the keys belong that are not in it.
        version: The version of sfumato that made it.
    """

    at: str
    files: tuple[StoredFile, ...]
    ledger_length: int | None = None
    ledger_head: str = ""
    acts_length: int | None = None
    acts_head: str = ""
    by_hand: tuple[str, ...] = ()
    put_back: tuple[str, ...] = ()
    kept_apart: tuple[str, ...] = ()
    version: str = __version__

    def of_role(self, role: str) -> tuple[StoredFile, ...]:
        """The files of a role."""
        return tuple(file for file in self.files if file.role == role)

    def write(self, folder: Path) -> None:
        """Write it last: a backup without it is none."""
        content = json.dumps({"format": FORMAT} | asdict(self), ensure_ascii=False, indent=2)
        with draft_of(folder / FILE, f"{content}\n".encode()) as draft:
            os.link(draft, folder / FILE)


@contextmanager
def telling_of_files() -> Iterator[None]:
    """Whatever keeps a file from being read or written is an error that names it.

    Raises:
        ParameterError: A file is missing, may not be read, or there is no room for it.
    """
    try:
        yield
    except OSError as error:
        requirement = f"cannot be copied ({error.strerror or type(error).__name__}); mend that, and begin again"
        raise ParameterError("file", str(error.filename), requirement) from None


def stored(role: str, place: str, folder: Path) -> StoredFile:
    """A file of a backup as it is now."""
    path = folder / place
    return StoredFile(role=role, place=place, size=path.stat().st_size, sha256=hash_of(path))


def hash_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def verified_manifest(folder: Path) -> Manifest:
    """The list of a backup, all of whose files are as they were written.

    Raises:
        ParameterError: There is none, it is of another version, or a file is missing or was changed.
    """
    try:
        manifest = _read((folder / FILE).read_text("utf-8"))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        requirement = f"must be a whole backup of this version, with a {FILE} of format {FORMAT}"
        raise ParameterError("from", str(folder), requirement) from None
    changed = list(_changed(folder, manifest.files))
    if changed:
        raise ParameterError("from", str(folder), f"is damaged: {', '.join(changed[:3])}; use another backup")
    return manifest


def _read(text: str) -> Manifest:
    document: dict[str, Any] = json.loads(text)
    if document.pop("format") != FORMAT:
        raise ValueError
    files = tuple(StoredFile(**file) for file in document.pop("files"))
    places = [*(file.place for file in files), *document["kept_apart"]]
    if len(set(places)) != len(places) or not all(map(_is_below, places)):
        raise ValueError
    if not all(file.role in ROLES and _HASH.fullmatch(file.sha256) for file in files):
        raise ValueError
    texts = {name: tuple(map(str, document[name])) for name in ("by_hand", "put_back", "kept_apart")}
    return Manifest(**document | texts | {"files": files})


def _is_below(place: str) -> bool:
    """Whether a place is inside of the folder, whatever is there."""
    path = PurePosixPath(place)
    return not path.is_absolute() and bool(path.parts) and ".." not in path.parts and place != FILE


def _changed(folder: Path, files: Iterable[StoredFile]) -> Iterable[str]:
    for file in files:
        path = folder / file.place
        if path.is_symlink() or not path.is_file():
            yield f"{file.place} is missing"
        elif (path.stat().st_size, hash_of(path)) != (file.size, file.sha256):
            yield f"{file.place} was changed"
