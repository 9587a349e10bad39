"""From the name of a place to the ledger that lives there, with all that lies beside it."""

import logging
import os
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import Final
from urllib.parse import quote, urlsplit

from sfumato.errors import LedgerCorruptError, LedgerMissingError, ParameterError
from sfumato.ledger.core.store import LedgerStore, StoreBatch, StoreEnd
from sfumato.ledger.core.windows import Clock
from sfumato.ledger.keeping.attachments import Attachments
from sfumato.ledger.keeping.checkpoint_files import CheckpointFile
from sfumato.ledger.keeping.key import LedgerKey, announce, announced, key_in, new_key, settle
from sfumato.ledger.keeping.noting import SINK, CheckpointNotes
from sfumato.ledger.keeping.seals import UNWRITTEN, encode_seal, sealed_by
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.stores.address import address_of
from sfumato.ledger.stores.memory import MemoryStore
from sfumato.ledger.stores.sqlite import SQLiteStore

_LOG: Final = logging.getLogger("sfumato.ledger")
_MEMORY: Final = "memory:"
_SQLITE: Final = "sqlite:///"
_POSTGRES: Final = ("postgresql://", "postgres://")
_ORPHAN: Final = (
    "the key {0} exists and its ledger is missing; restore the ledger, or correct its name."
    " Only if nothing was ever spent, remove the key and start again"
)
FOLDER: Final = "SFUMATO_LEDGER_FOLDER"
"""Names the folder where the key, the checkpoint and the large answers of ledgers in PostgreSQL are."""
CHECKPOINT: Final = "SFUMATO_LEDGER_CHECKPOINT"
"""Names the file where it is noted how far the ledger was, if it is not to lie beside the ledger."""


@dataclass(frozen=True, slots=True)
class ExistingLedger:
    """A ledger that must exist already: opening it never creates a new ledger with a full budget.

    Attributes:
        location: A path or ``sqlite:///path``, or ``postgresql://…``.

    Example:
        >>> from sfumato.errors import LedgerMissingError
        >>> try:
        ...     open_ledger(ExistingLedger("mistyped.db"))
        ... except LedgerMissingError as error:
        ...     print(error.requirement)
        does not exist; name the file of an existing ledger
    """

    location: str | os.PathLike[str] = field(repr=False)  # which may hold a password


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerPlace:
    """Where a ledger that lasts is, with its key, its checkpoint and its large answers.

    Attributes:
        location: A path or an address.
        beside: What the names of the files beside it begin with.
        is_on_server: Whether the ledger is in PostgreSQL, and not in a file.
    """

    location: str = field(repr=False)  # which may hold a password
    beside: Path
    is_on_server: bool

    @property
    def key(self) -> Path:
        """The file of its key, without which a copy of the ledger is of no use."""
        return self.beside.with_name(f"{self.beside.name}.key")

    @property
    def attachments(self) -> Attachments:
        """The files of its large answers."""
        return Attachments(self.beside.with_name(f"{self.beside.name}.answers"))

    @property
    def shown(self) -> str:
        """The location for people to read, without a password."""
        return address_of(self.location).shown if self.is_on_server else str(self.beside)

    def checkpoint(self, named: str | os.PathLike[str] | None = None) -> CheckpointFile:
        """Where it is noted how far it was: as named here, by SFUMATO_LEDGER_CHECKPOINT, or beside it."""
        beside = self.beside.with_name(f"{self.beside.name}.checkpoint")
        return CheckpointFile(Path(named or os.environ.get(CHECKPOINT) or beside), beside=beside.absolute())

    def open_store(self, *, must_exist: bool, is_upgraded: bool = False) -> LedgerStore:
        """The records themselves; made if there are none; if they are upgraded, also those of an older version."""
        # PostgreSQL needs packages of its own.
        kind = resolve_name("sfumato.ledger.stores.postgres:PostgresStore") if self.is_on_server else SQLiteStore
        store: LedgerStore = kind(self.location, must_exist=must_exist, is_upgraded=is_upgraded)
        return store


def place_of(location: str | os.PathLike[str]) -> LedgerPlace:
    """Where the ledger of a location is, and all that lies beside it; nothing is made.

    Raises:
        ParameterError: The location is of no kind known here, or does not last.
    """
    if location == _MEMORY:
        raise ParameterError("ledger", location, "exists only in its process; name a file or a server")
    if isinstance(location, str) and location.startswith(_POSTGRES):
        name = quote(address_of(location).schema, safe="")
        return LedgerPlace(location=location, beside=_folder(location) / name, is_on_server=True)
    path = _path(location)
    return LedgerPlace(location=path, beside=Path(os.path.realpath(path)), is_on_server=False)


def open_ledger(
    location: str | os.PathLike[str] | ExistingLedger | None,
    *,
    must_exist: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    ignoring_checkpoint: bool = False,
    clock: Clock | None = None,
) -> Ledger:
    """The ledger at a location, made if there is none.

    Beside a ledger in a file lie its key (``ledger.db.key``), which no copy of the ledger is of use without, its
    checkpoint and its large answers. With SFUMATO_LEDGER_KEY, SFUMATO_LEDGER_KEY_FILE or SFUMATO_LEDGER_KEY_COMMAND a
    new ledger takes the key that these give, and only its name lies beside it. Of a ledger in PostgreSQL they are in
    the folder that SFUMATO_LEDGER_FOLDER names, the same for all hosts.

    Edge cases: ``sqlite:///ledger.db`` is relative, ``sqlite:////var/ledger.db`` absolute. A PostgreSQL server holds
    several ledgers under names: ``postgresql://curator@host/base?ledger=census``.

    Args:
        location: None or ``"memory:"`` for this process only; ``"sqlite:///path"`` or a path for a file that lasts;
            ``"postgresql://…"`` for a server that several hosts share; `ExistingLedger` of one that must be there.
        must_exist: Whether a missing file is an error; for tools that look and do not spend.
        checkpoint: The file where it is noted how far the ledger was, on another disk at best; that which
            SFUMATO_LEDGER_CHECKPOINT names, or one beside the ledger, if left out.
        ignoring_checkpoint: Whether the ledger may be older than its checkpoint, which is then neither read nor
            written; for the owner who has to declare what is missing, and nobody else.
        clock: What time it is.

    Raises:
        ParameterError: The location is of no kind known here.
        LedgerError: There is no ledger there, or none can be made; or its key is missing.
        LedgerCorruptError: It does not verify, or is older than its checkpoint.

    Example:
        >>> with open_ledger("memory:") as ledger:
        ...     ledger.accounts()
        ()
    """
    if isinstance(location, ExistingLedger):
        location, must_exist = location.location, True
    if must_exist and (location is None or location == _MEMORY):
        raise ParameterError(
            "ledger", location, "exists only in its process, so none exists before; name a file or a server"
        )
    if location is None or location == _MEMORY:
        return Ledger(MemoryStore(), clock=clock)
    place = place_of(location)
    store = _opened_store(place, must_exist=must_exist)
    try:
        key = key_of(place, store)
        noting = CheckpointNotes(place.checkpoint(checkpoint), sink=os.environ.get(SINK, ""))
        return Ledger(
            store, key=key, attachments=place.attachments, clock=clock, checkpoint=noting,
            ignores_checkpoint=ignoring_checkpoint,
        )  # fmt: skip
    except BaseException:
        store.close()
        raise


def key_of(place: LedgerPlace, store: LedgerStore) -> LedgerKey:
    """The key of a ledger, which is begun with a new one if nothing was ever kept in it.

    Raises:
        LedgerError: The key cannot be made or read.
        LedgerCorruptError: The key of a ledger that was begun is gone.
    """
    end = store.end()
    if _is_untouched(end):
        _begin(place, store)
        end = store.end()
    _settle(place, end)
    if end.chain.length and not os.path.lexists(place.key):
        requirement = (
            f"its key {place.key} is missing; restore it. If it is lost, `sfumato ledger rotate-key --lost` goes on"
            " with another one, and declares all accounts spent"
        )
        raise LedgerCorruptError(end.chain.length - 1, requirement)
    return key_in(place.key)


def _opened_store(place: LedgerPlace, *, must_exist: bool) -> LedgerStore:
    """The records; made if there are none, unless their key is there."""
    has_key = os.path.lexists(place.key)
    try:
        return place.open_store(must_exist=must_exist or has_key)
    except LedgerMissingError as error:
        if not has_key:
            raise
        raise LedgerMissingError(error.ledger, _ORPHAN.format(place.key)) from None


def _settle(place: LedgerPlace, end: StoreEnd) -> None:
    """Finish a beginning, or a change of the key, which stopped before the key had its place."""
    new = announced(place.key, sealed_by(end))
    if new is not None:
        if os.path.lexists(place.key):
            place.checkpoint().reseal(key_in(place.key), new)
        settle(place.key)


def _begin(place: LedgerPlace, store: LedgerStore) -> None:
    """Make a key, and seal with it that there is nothing yet."""
    with store.transaction() as transaction:
        if not _is_untouched(transaction.end()):
            return  # another process was quicker
        if os.path.lexists(place.key):
            raise LedgerCorruptError(0, _ORPHAN.format(place.key))
        key = new_key()
        announce(place.key, key)
        transaction.append(StoreBatch(seal=encode_seal(UNWRITTEN, key)))
    _LOG.warning("new ledger at %s: nothing was spent in it yet", place.shown)


def _is_untouched(end: StoreEnd) -> bool:
    return end.seal is None and not end.chain.length


def _folder(location: str) -> Path:
    folder = os.environ.get(FOLDER)
    if not folder:
        requirement = f"needs a folder for its key and its large answers; name it in {FOLDER}, the same for all hosts"
        raise ParameterError("ledger", f"{urlsplit(location).scheme}://…", requirement)
    return Path(folder)


def _path(location: str | os.PathLike[str]) -> str:
    path = os.fspath(location).removeprefix(_SQLITE)
    if not path or path.startswith((":", "sqlite:")) or "://" in path:
        requirement = 'must be "memory:", "sqlite:///path" or the path of a file, or "postgresql://…"'
        scheme, is_address, _ = path.partition("://")
        raise ParameterError("ledger", f"{scheme}://…" if is_address else location, requirement)  # maybe a password
    return path
