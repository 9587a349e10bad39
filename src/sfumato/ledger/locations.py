"""From the name of a place to the ledger that lives there."""

import os
from pathlib import Path
from typing import Final

from sfumato.errors import LedgerError, ParameterError
from sfumato.ledger.attachments import Attachments
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.memory import MemoryStore
from sfumato.ledger.sqlite import SQLiteStore

_SQLITE: Final = "sqlite:///"


def open_ledger(location: str | os.PathLike[str] | None, *, must_exist: bool = False) -> Ledger:
    """The ledger at a location, made if there is none.

    Edge cases: ``sqlite:///ledger.db`` is relative, ``sqlite:////var/ledger.db`` absolute.

    Args:
        location: None or ``"memory:"`` for this process only; ``"sqlite:///path"`` or a path for a file that lasts.
        must_exist: Whether a missing file is an error; for tools that look and do not spend.

    Raises:
        ParameterError: The location is of no kind known here.
        LedgerError: There is no ledger there, or none can be made.
        LedgerCorruptError: It does not verify.

    Example:
        >>> with open_ledger("memory:") as ledger:
        ...     ledger.accounts()
        ()
    """
    if location is None or location == "memory:":
        return Ledger(MemoryStore())
    path = _path(location)
    store = SQLiteStore(path, must_exist=must_exist)
    try:
        return Ledger(store, Attachments(Path(f"{os.path.realpath(path)}.answers")))
    except LedgerError:
        store.close()
        raise


def _path(location: str | os.PathLike[str]) -> str:
    path = os.fspath(location).removeprefix(_SQLITE)
    if not path or path.startswith((":", "sqlite:")) or "://" in path:
        raise ParameterError("ledger", location, 'must be "memory:", "sqlite:///path" or the path of a file')
    return path
