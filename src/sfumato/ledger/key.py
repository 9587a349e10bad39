"""The secret key of a ledger, by which it knows what it wrote itself.

Seals are HMAC-SHA256 [KBC97]. The hash chain has no key, so that anybody can verify it; what the chain does not
cover (which record a name points to, how long the chain was yesterday, which data is the same) is sealed instead.
"""

import hmac
import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from sfumato.errors import LedgerError, ParameterError
from sfumato.ledger.attachments import synced
from sfumato.ledger.whole_files import draft_of
from sfumato.noise.entropy import random_bytes

_SIZE: Final = 32
_FILE: Final = re.compile(rb"[0-9a-f]{64}\n")
_OF_OTHERS: Final = 0o077


@dataclass(frozen=True, slots=True, repr=False)
class LedgerKey:
    """32 secret bytes, and what is computed with them; only its name is ever shown.

    Example:
        >>> key = LedgerKey(bytes(32))
        >>> key
        <LedgerKey 85164e8979433cb5>
        >>> key.verifies(key.seal("request", 7), "request", 7)
        True
    """

    secret: bytes

    def __post_init__(self) -> None:
        if len(self.secret) != _SIZE:
            raise ParameterError("secret", "…", f"must be {_SIZE} bytes; it is not shown")

    @property
    def name(self) -> str:
        """What tells keys apart: 64 bits that say nothing of the secret."""
        return hmac.digest(self.secret, b"n", sha256).hex()[:16]

    def seal(self, *parts: str | int) -> str:
        """The HMAC of some parts, in hex; other parts, or as many characters cut elsewhere, have another one."""
        return hmac.digest(self.secret, b"s" + b"".join(map(_framed, parts)), sha256).hex()

    def verifies(self, seal: str, *parts: str | int) -> bool:
        """Whether `seal` made this of these parts; how long it takes does not tell how much of it is right."""
        return hmac.compare_digest(seal.encode("utf-8", "replace"), self.seal(*parts).encode())

    def __repr__(self) -> str:
        return f"<LedgerKey {self.name}>"


def fresh_key() -> LedgerKey:
    """A key that nobody has."""
    return LedgerKey(random_bytes(_SIZE))


def key_in(path: Path, *, must_exist: bool) -> LedgerKey:
    """The key in a file, which is made if there is none.

    **Guarantee**: A key that is made is on the disk before it is returned, and all who ask for it at once get one.

    Args:
        path: A file of 64 hex digits and a newline, which only its owner may read.
        must_exist: Whether a missing file is an error: with another key nothing that was sealed before verifies.

    Raises:
        LedgerError: There is none, it is damaged, others may read it, or it cannot be read or made.
    """
    if not must_exist:
        _make(path)
    return _read(path)


def _make(path: Path) -> None:
    """Make a key if there is none, of two at once one; a key that is there is on the disk afterwards."""
    try:
        if not os.path.lexists(path):
            with draft_of(path, f"{fresh_key().secret.hex()}\n".encode()) as draft, suppress(FileExistsError):
                os.link(draft, path)
        synced(path.parent)  # whoever made it may not have come to this yet
    except OSError as error:
        requirement = (
            "the ledger's key cannot be made; name a file in an existing local folder that this user may write"
        )
        raise LedgerError(str(path), requirement) from error


def _read(path: Path) -> LedgerKey:
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            content = file.read(2 * _SIZE + 2)
    except FileNotFoundError:
        requirement = "the ledger's key is gone; restore it, as what it sealed cannot be verified with another one"
        raise LedgerError(str(path), requirement) from None
    except OSError as error:
        requirement = "the ledger's key cannot be read; give this user, and nobody else, the right to read it"
        raise LedgerError(str(path), requirement) from error
    if mode & _OF_OTHERS:
        raise LedgerError(str(path), f"others may read the ledger's key; take that right away: chmod 600 {path}")
    if _FILE.fullmatch(content) is None:
        raise LedgerError(str(path), "holds no key (64 hex digits and a newline), or a damaged one; restore it")
    return LedgerKey(bytes.fromhex(content.decode()))


def _framed(part: str | int) -> bytes:
    """A part behind its kind and its length, so that no two lists of parts join to the same bytes."""
    kind, content = ("t", part.encode("utf-8", "surrogatepass")) if isinstance(part, str) else ("i", b"%x" % part)
    return b"%c%d:%s" % (ord(kind), len(content), content)
