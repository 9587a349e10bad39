"""Keys of ledgers that lie in no file beside them: a secret store gives them, through a file, a variable or a command.

Beside the ledger there is then only the name of its key. A source may give several keys, of which the names choose:
so a key is rotated while its source gives the old one and the new one.
"""

import os
import re
import shlex
import stat
import subprocess
from pathlib import Path
from typing import Final

from sfumato.errors import LedgerError

IN_ENVIRONMENT: Final = "SFUMATO_LEDGER_KEY"
"""Holds keys: each 64 hex digits, with spaces or newlines between them."""
IN_FILE: Final = "SFUMATO_LEDGER_KEY_FILE"
"""Names a file of keys, which only its owner may read."""
BY_COMMAND: Final = "SFUMATO_LEDGER_KEY_COMMAND"
"""Names a command that prints keys; it is run without a shell."""

SOURCES: Final = (IN_ENVIRONMENT, IN_FILE, BY_COMMAND)
_KEYS: Final = re.compile(r"\s*[0-9a-f]{64}(?:\s+[0-9a-f]{64})*\s*", re.ASCII)
_MOST: Final = 10_000  # characters
_SECONDS: Final = 30  # that a command may take
_OF_OTHERS: Final = 0o077


def source_of_keys() -> str | None:
    """The variable that says where keys come from; None if they lie beside their ledgers.

    Raises:
        LedgerError: Several are set.
    """
    found = [name for name in SOURCES if os.environ.get(name)]
    if len(found) > 1:
        raise LedgerError(found[0], f"{found[1]} is set too; keep the one that gives the ledger's key")
    return found[0] if found else None


def given_secrets() -> tuple[bytes, ...]:
    """The secrets that the source gives, in its order; none if there is no source.

    Raises:
        LedgerError: It gives none, or something else; what it gives is not shown.
    """
    source = source_of_keys()
    if source is None:
        return ()
    setting = os.environ[source]
    match source:
        case "SFUMATO_LEDGER_KEY_COMMAND":
            content = _said_by(setting)
        case "SFUMATO_LEDGER_KEY_FILE":
            content = _held_by(Path(setting))
        case _:
            content = setting
    if not _KEYS.fullmatch(content):
        raise LedgerError(source, "must give keys of 64 hex digits, such as `openssl rand -hex 32` makes; it is hidden")
    return tuple(bytes.fromhex(key) for key in dict.fromkeys(content.split()))


def _said_by(command: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 # the operator's own command
            shlex.split(command), capture_output=True, text=True, check=True, timeout=_SECONDS, stdin=subprocess.DEVNULL
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        requirement = f"failed, or took more than {_SECONDS} s; run its command by hand to see why"
        raise LedgerError(BY_COMMAND, requirement) from None
    return done.stdout[:_MOST]


def _held_by(path: Path) -> str:
    try:
        with path.open(encoding="ascii", errors="replace") as file:
            mode, content = stat.S_IMODE(os.fstat(file.fileno()).st_mode), file.read(_MOST)
    except OSError:
        raise LedgerError(IN_FILE, f"names {path}, which cannot be read; let this user read it") from None
    if mode & _OF_OTHERS:
        raise LedgerError(IN_FILE, f"names {path}, which others may read; take that right away: chmod 600 {path}")
    return content
