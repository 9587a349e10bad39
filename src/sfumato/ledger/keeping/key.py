"""The secret key of a ledger, by which it knows what it wrote itself.

Seals are HMAC-SHA256 [KBC97]. The hash chain has no key, so that anybody can verify it; what the chain does not
cover (which record a name points to, how long the chain was yesterday, which data is the same) is sealed instead.
"""

import hmac
import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

from sfumato.errors import LedgerError, ParameterError
from sfumato.ledger.keeping.files import draft_of, synced
from sfumato.ledger.keeping.given_keys import given_secrets, source_of_keys
from sfumato.noise.entropy import random_bytes

_SIZE: Final = 32
_FILE: Final = re.compile(rb"([0-9a-f]{64})\n(?:([0-9a-f]{64})\n)?")
_GIVEN: Final = re.compile(rb"given ([0-9a-f]{16})(?: ([0-9a-f]{16}))?\n")
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
    first: bytes = b""
    """The secret that the ledger had first, if that was replaced: fingerprints of data are made with it for ever."""
    is_given: bool = field(default=False, compare=False)
    """Whether a secret store gives it, so that it is never written into a file."""

    def __post_init__(self) -> None:
        if len(self.secret) != _SIZE or len(self.first) not in (0, _SIZE):
            raise ParameterError("secret", "…", f"must be {_SIZE} bytes; it is not shown")

    @property
    def name(self) -> str:
        """What tells keys apart: 64 bits that say nothing of the secret."""
        return _name_of(self.secret)

    def seal(self, *parts: str | int) -> str:
        """The HMAC of some parts, in hex; other parts, or as many characters cut elsewhere, have another one."""
        made = _keyed(self.secret).copy()  # which costs less than to begin with the key each time
        made.update(b"s" + b"".join(map(_framed, parts)))
        return made.hexdigest()

    def fingerprint(self, *parts: str | int) -> str:
        """As `seal`, by the secret that the ledger had first."""
        return (LedgerKey(self.first) if self.first else self).seal(*parts)

    def successor(self) -> "LedgerKey":
        """Another key, whose fingerprints are those of this one."""
        return LedgerKey(random_bytes(_SIZE), self.first or self.secret)

    def verifies(self, seal: str, *parts: str | int) -> bool:
        """Whether `seal` made this of these parts; how long it takes does not tell how much of it is right."""
        return hmac.compare_digest(seal.encode("utf-8", "replace"), self.seal(*parts).encode())

    def __repr__(self) -> str:
        return f"<LedgerKey {self.name}>"


@lru_cache(maxsize=4)
def _keyed(secret: bytes) -> hmac.HMAC:
    return hmac.new(secret, digestmod="sha256")


@lru_cache(maxsize=4)
def _name_of(secret: bytes) -> str:
    return hmac.digest(secret, b"n", "sha256").hex()[:16]


def fresh_key() -> LedgerKey:
    """A key that nobody has."""
    return LedgerKey(random_bytes(_SIZE))


def new_key(old: LedgerKey | None = None) -> LedgerKey:
    """A key for a ledger that gets another one, or its first: the one that a secret store gives, if one is set.

    Args:
        old: The key that it has.

    Raises:
        LedgerError: The secret store does not give exactly one other key, or lacks the first one.
    """
    source = source_of_keys()
    if source is None:
        return fresh_key() if old is None else old.successor()
    given = given_secrets()
    others = [secret for secret in given if old is None or secret not in (old.secret, old.first)]
    if len(others) != 1:
        requirement = f"must give exactly one key that the ledger does not have yet; it gives {len(others)}"
        raise LedgerError(source, requirement)
    first = b"" if old is None else old.first or old.secret
    if first and first not in given:
        requirement = f"must give the key {_name_of(first)} too: fingerprints of the data were made with it"
        raise LedgerError(source, requirement)
    return LedgerKey(others[0], first, is_given=True)


def key_in(path: Path) -> LedgerKey:
    """The key in a file, or the one that it names.

    Args:
        path: A file of 64 hex digits and a newline, once or twice, which only its owner may read; or of the names of
            keys that a secret store gives.

    Raises:
        LedgerError: There is none, it is damaged, others may read it, or it cannot be read or is not given.
    """
    content, mode = _content_of(path)
    named = _GIVEN.fullmatch(content)
    if named is not None:
        return _given(*(part.decode() for part in named.groups() if part is not None))
    if mode & _OF_OTHERS:
        raise LedgerError(str(path), f"others may read the ledger's key; take that right away: chmod 600 {path}")
    found = _FILE.fullmatch(content)
    if found is None:
        raise LedgerError(str(path), "holds no key (64 hex digits and a newline), or a damaged one; restore it")
    secret, first = (bytes.fromhex((part or b"").decode()) for part in found.groups())
    return LedgerKey(secret, first)


def holds_secret(path: Path) -> bool:
    """Whether a file of a key holds the key itself, and not only its name.

    Raises:
        LedgerError: It is missing, or cannot be read.
    """
    return _GIVEN.fullmatch(_content_of(path)[0]) is None


def _given(name: str, first: str = "") -> LedgerKey:
    """The key of a name that the source gives."""
    secrets = {_name_of(secret): secret for secret in given_secrets()}
    for wanted in (name, first):
        if wanted and wanted not in secrets:
            requirement = f"must give the ledger's key {wanted}; it gives {', '.join(secrets) or 'none'}"
            raise LedgerError(source_of_keys() or "SFUMATO_LEDGER_KEY", requirement)
    return LedgerKey(secrets[name], secrets.get(first, b""), is_given=True)


def _content_of(path: Path) -> tuple[bytes, int]:
    """What a file of a key holds, and its mode."""
    try:
        with path.open("rb") as file:
            return file.read(4 * _SIZE + 3), stat.S_IMODE(os.fstat(file.fileno()).st_mode)
    except FileNotFoundError:
        requirement = "the ledger's key is missing; restore it, as another key cannot verify its seals"
        raise LedgerError(str(path), requirement) from None
    except OSError as error:
        requirement = "the ledger's key cannot be read; give this user, and nobody else, the right to read it"
        raise LedgerError(str(path), requirement) from error


def announce(path: Path, key: LedgerKey) -> None:
    """Write the key that a ledger is about to have beside its place; it is on the disk afterwards.

    The ledger is sealed with it next, and then it is `settle`d. Wherever a process stops in between, either the old
    key made the seal that is there, or the announced one did. Of a given key only the name is written.

    Raises:
        LedgerError: It cannot be written.
    """
    if key.is_given:
        content = " ".join(["given", key.name, *([_name_of(key.first)] if key.first else [])]) + "\n"
    else:
        content = "".join(f"{secret.hex()}\n" for secret in (key.secret, key.first) if secret)
    try:
        with draft_of(path, content.encode()) as draft:
            draft.replace(_announced(path))
    except OSError as error:
        requirement = (
            "the ledger's key cannot be made; name a file in an existing local folder that this user may write"
        )
        raise LedgerError(str(path), requirement) from error


def announced(path: Path, sealed_by: str | None) -> LedgerKey | None:
    """The announced key, if it made the seal of the ledger and has no place yet.

    Args:
        path: The file of the key.
        sealed_by: The name of the key that made the seal.

    Raises:
        LedgerError: The announced key is damaged.
    """
    try:
        named = _GIVEN.fullmatch(_content_of(_announced(path))[0])
        if named is not None and named[1].decode() != sealed_by:
            return None  # which the source may not give any more
        key = key_in(_announced(path))
    except LedgerError:
        if _announced(path).exists():
            raise
        return None  # there was none, or somebody else was quicker to give it its place
    return key if key.name == sealed_by else None


def settle(path: Path) -> None:
    """Give an announced key its place.

    Raises:
        LedgerError: The files cannot be changed.
    """
    try:
        with suppress(FileNotFoundError):  # somebody else was quicker
            _announced(path).replace(path)
        synced(path.parent)
    except OSError as error:
        raise LedgerError(
            str(path), "the ledger's key cannot be written there; give this user the right to write its folder"
        ) from error


def _announced(path: Path) -> Path:
    return path.with_name(f"{path.name}.new")


def _framed(part: str | int) -> bytes:
    """A part behind its kind and its length, so that no two lists of parts join to the same bytes."""
    if isinstance(part, str):
        content = part.encode("utf-8", "surrogatepass")
        return b"t%d:%b" % (len(content), content)
    content = b"%x" % part
    return b"i%d:%b" % (len(content), content)
