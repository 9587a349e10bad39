"""A backup of a server that runs: its database first, then its ledger, then large answers, and a list of all of it.

**Guarantee**: every release in the copy of the database was charged in the copy of the ledger, however many queries are
asked meanwhile. The checkpoint of the ledger is never in it, so that no copy passes for the newest one. Keys are in it
only if that is asked for.

Proof: proofs/server/operations/backup.md.
"""

import os
import shlex
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from sqlalchemy import URL, delete

from sfumato.errors import DatabaseError, LedgerError, ParameterError
from sfumato.ledger.core.entry import Committed, Entry
from sfumato.ledger.keeping.attachments import Attachment, Attachments, attachments_in
from sfumato.ledger.keeping.files import synced
from sfumato.ledger.keeping.key import holds_secret, key_in
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import FOLDER, LedgerPlace, place_of
from sfumato.ledger.stores.address import address_of
from sfumato.ledger.stores.sqlite import SQLiteStore
from sfumato.server.config import Curator, load_curator
from sfumato.server.identity.acts import ActChain, ActLog
from sfumato.server.identity.database import Database, url_of, utc_now
from sfumato.server.identity.tables import FLEETING
from sfumato.server.operations.files import SQLITE, ledger_folder
from sfumato.server.operations.manifest import Manifest, StoredFile, stored, telling_of_files

ELSEWHERE: Final = "elsewhere"
"""The folder of files that are not below that of the curator's file."""

_BESIDE: Final = ("-wal", "-shm", ".queue", ".turn")
"""What the names of files end with that stores put beside their own."""


@telling_of_files()
def back_up(config: Path, to: Path, *, with_keys: bool = False) -> Manifest:
    """Copy all of a server that cannot be made again, while it runs.

    Args:
        config: The curator's file.
        to: A folder, which is made; nobody else may read it.
        with_keys: Whether the ledger's key and the secret of API keys go with it.

    Raises:
        ParameterError: The folder is not empty, or another user's, or a file cannot be copied.
        LedgerError: The ledger cannot be copied, or its copy does not verify.
        DatabaseError: The database cannot be copied, or the log of acts in its copy does not verify.
    """
    at, curator = f"{utc_now():%Y-%m-%dT%H:%M:%SZ}", load_curator(config)
    copies = _Copies(config, made_folder(to))
    acts = _database(curator, copies)
    with ledger_folder(curator):
        place = place_of(curator.ledger)
        ledger = _ledger(place, copies)
    copies.add("config", config)
    for dataset in curator.datasets.values():
        copies.add("policy", dataset.policy)
        if curator.version(dataset.name).exists():
            copies.add("version", curator.version(dataset.name))
    for collection in curator.collections.values():
        copies.add("protocol", collection.file)
    if place.key.exists():
        copies.add_secret("key", place.key, is_kept_apart=not with_keys and holds_secret(place.key))
    if curator.secret.exists():
        copies.add_secret("secret", curator.secret, is_kept_apart=not with_keys)
    manifest = Manifest(
        at=at, files=tuple(copies.files), by_hand=tuple(copies.by_hand), put_back=tuple(copies.put_back),
        kept_apart=tuple(copies.kept_apart),
        ledger_length=None if ledger is None else ledger[0], ledger_head="" if ledger is None else ledger[1],
        acts_length=None if acts is None else acts.length, acts_head="" if acts is None else acts.head,
    )  # fmt: skip
    manifest.write(to)
    return manifest


def made_folder(folder: Path) -> Path:
    """A new or empty folder, which only its owner may open.

    Raises:
        ParameterError: It is neither, cannot be made, or belongs to another user.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ParameterError("to", str(folder), "must be a new folder, or an empty one")
        if folder.stat().st_uid != os.geteuid():
            raise ParameterError("to", str(folder), "belongs to another user, who could read it; name another folder")
        folder.chmod(0o700)
    except OSError as error:
        raise ParameterError("to", str(folder), f"must be a folder that can be made: {error.strerror}") from None
    return folder


class _Copies:
    """The files that were copied so far, and what is left to people.

    Args:
        config: The curator's file; what is below its folder stays where it is.
        to: The folder of the backup.
    """

    def __init__(self, config: Path, to: Path) -> None:
        self._source, self.to = config.absolute().parent, to
        self.files: list[StoredFile] = []
        self.by_hand: list[str] = []
        self.put_back: list[str] = []
        self.kept_apart: list[str] = []

    def place(self, path: Path) -> str:
        """Where a file is put; one from elsewhere under its name alone."""
        real = self._source.resolve(), path.parent.resolve() / path.name
        for base, seen in ((self._source, path.absolute()), real):
            if seen.is_relative_to(base) and ".." not in seen.parts:
                return seen.relative_to(base).as_posix()
        taken = {*(file.place for file in self.files), *self.kept_apart}
        names = (f"{ELSEWHERE}/{mark}{path.name}" for mark in ("", *(f"{number}." for number in range(2, 1000))))
        return next(name for name in names if name not in taken)

    def new(self, path: Path) -> tuple[str, Path]:
        """An empty file for a copy, which only its owner may read."""
        place = self.place(path)
        copy = self.to / place
        copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return place, copy

    def add(self, role: str, path: Path) -> None:
        """Copy a file that nobody changes."""
        if role in {"policy", "protocol"} and any(file.place == self.place(path) for file in self.files):
            return  # of several datasets or collections
        place, copy = self.new(path)
        shutil.copyfile(path, copy)
        self.took(role, place)

    def add_secret(self, role: str, path: Path, *, is_kept_apart: bool) -> None:
        """Copy a key, or note where it belongs."""
        if is_kept_apart:
            self.kept_apart.append(self.place(path))
        else:
            self.add(role, path)

    def dumped(self, url: URL, options: str, file: str) -> None:
        """Note how a database on a server is copied and put back; its password comes from elsewhere."""
        secrets = [name for name in url.query if "password" in name]
        address = shlex.quote(url._replace(password=None).difference_update_query(secrets).render_as_string())
        self.by_hand.append(f"pg_dump --format=custom {options} --file={file} {address}")
        self.put_back.append(f"pg_restore --exit-on-error --no-owner --dbname={address} {file}")

    def took(self, role: str, place: str) -> None:
        """A copy is whole; it is on the disk afterwards."""
        synced(self.to / place)
        synced((self.to / place).parent)
        self.files.append(stored(role, place, self.to))


def _database(curator: Curator, copies: _Copies) -> ActChain | None:
    """Copy the server's own database without sessions, some of which may end later; what it says of acts."""
    if not curator.database.startswith(SQLITE):
        # A ledger in the same database is copied on its own, and later than this.
        empty = " ".join(f"--exclude-table-data={table.name}" for table in FLEETING)
        copies.dumped(url_of(curator.database), f"--exclude-schema='sfumato_*' {empty}", "server.dump")
        return None
    path = Path(curator.database.removeprefix(SQLITE))
    if not path.exists():
        return None
    place, copy = copies.new(path)
    _copied(path, copy, DatabaseError)
    with _tidied(copy), closing(Database(f"{SQLITE}{copy.absolute()}")) as database, closing(ActLog(database)) as acts:
        chain = acts.verify()
        with database.writing() as connection:
            for table in FLEETING:
                connection.execute(delete(table))
    if chain.broken is not None:
        raise DatabaseError(str(path), f"act {chain.broken} is not as it was written; find out who changed it")
    copies.took("database", place)
    return chain


def _ledger(place: LedgerPlace, copies: _Copies) -> tuple[int, str] | None:
    """Copy the ledger and its large answers; its length and head."""
    if place.is_on_server:
        address = address_of(place.location)
        schema = shlex.quote(f'"{address.schema}"')
        copies.dumped(url_of(address.database), f"--schema={schema}", "ledger.dump")
        answers, name = (shlex.quote(f"{one}.answers") for one in (place.beside, place.beside.name))
        copies.by_hand.append(f"test ! -d {answers} || cp -a {answers} .")  # later than the ledger, which names them
        copies.put_back.append(f'test ! -d {name} || cp -a {name} "${FOLDER}"')
        return None
    if not place.beside.exists():
        return None
    where, copy = copies.new(place.beside)
    _copied(place.beside, copy, LedgerError)
    files: dict[Attachment, None] = {}

    def take(entry: Entry) -> None:
        if isinstance(entry, Committed):
            files.update(dict.fromkeys(attachments_in(entry.answer)))

    with _tidied(copy), Ledger(SQLiteStore(copy, must_exist=True), key=key_in(place.key)) as ledger:
        chain = ledger.verify(about=take)
    copies.took("ledger", where)
    _answers(place.attachments, files, place_of(copy).attachments)
    for attachment in files:
        copies.took("answer", f"{where}.answers/{attachment.name}")
    return chain.length, chain.head


def _answers(here: Attachments, files: Iterable[Attachment], there: Attachments) -> None:
    for attachment in files:
        there.adopt(attachment, here.path(attachment))


def _copied(path: Path, copy: Path, error: type[LedgerError | DatabaseError]) -> None:
    """Copy a database of SQLite as of one moment, while others write it."""
    address = f"file:{quote(str(path.absolute()))}?mode=rw"
    try:
        with (
            closing(sqlite3.connect(address, uri=True, timeout=30)) as source,
            closing(sqlite3.connect(copy, timeout=30)) as target,
        ):
            source.backup(target)
    except sqlite3.Error as reason:
        requirement = f"cannot be copied ({type(reason).__name__}); check its disk and that of the backup"
        raise error(str(path), requirement) from None


@contextmanager
def _tidied(copy: Path) -> Iterator[None]:
    """Afterwards a copy of a database is one file again."""
    yield
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for end in _BESIDE:
        copy.with_name(f"{copy.name}{end}").unlink(missing_ok=True)
