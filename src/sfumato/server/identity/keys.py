"""API keys: ``sfk_<id>_<secret>``, shown once and kept as HMAC-SHA256 [KBC97] under the server's own secret.

The id is public and finds the row; the secret has 256 bits. Whoever reads the database learns no key, and whoever
writes it cannot make one without the server's secret. Each request looks its key up, so that a revoked one is refused
at once by every process.
"""

import hmac
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from sqlalchemy import ColumnElement, Update, bindparam, insert, or_, select, update

from sfumato.errors import DatabaseError, ForbiddenError, NotAuthenticatedError, NotFoundError, ParameterError
from sfumato.ledger.keeping.files import draft_of
from sfumato.noise.entropy import random_bytes
from sfumato.server.identity.database import Database
from sfumato.server.identity.people import KeyScope, Principal, grants_in
from sfumato.server.identity.tables import API_KEYS, GRANTS, PEOPLE

_TOKEN: Final = re.compile(r"sfk_([0-9a-f]{16})_([0-9a-f]{64})", re.ASCII)
_SECRET: Final = re.compile(r"[0-9a-f]{64}\n?", re.ASCII)
_OF_OTHERS: Final = 0o077
_NOBODYS: Final = "0" * 64
_USED_AGAIN: Final = timedelta(minutes=1)
_LONGEST_NAME: Final = 100
_COLUMNS: Final = [column for column in API_KEYS.c if column.name not in {"hash", "previous_hash", "previous_until"}]
_ID: Final = select(API_KEYS.c.id)
_FOUND: Final = (
    select(API_KEYS, PEOPLE.c.is_platform_admin, PEOPLE.c.is_active, GRANTS.c.dataset, GRANTS.c.role, GRANTS.c.account)
    .join_from(API_KEYS, PEOPLE)
    .outerjoin(GRANTS, GRANTS.c.person == PEOPLE.c.name)
    .where(API_KEYS.c.id == bindparam("key"))
)


@dataclass(frozen=True, slots=True, repr=False)
class NewKey:
    """A key that was just made, with the only copy of its text; nothing but `token` shows it.

    Attributes:
        id: Its public name.
        token: The text that a client sends.
    """

    id: str
    token: str

    def __repr__(self) -> str:
        return f"<NewKey {self.id}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """What is known of a key, without its secret."""

    id: str
    person: str
    name: str
    scopes: frozenset[KeyScope]
    created: datetime
    expires: datetime | None
    last_used: datetime | None
    revoked: datetime | None


class ApiKeys:
    """Makes, finds, rotates and revokes the API keys of a server.

    Args:
        database: Where their hashes are kept.
        secret: The file of the server's secret, from `make_secret`.

    Raises:
        DatabaseError: The file of the secret cannot be used.
    """

    def __init__(self, database: Database, *, secret: Path) -> None:
        self._database, self._secret = database, make_secret(secret)

    def make(
        self,
        person: str,
        *,
        name: str = "",
        scopes: Iterable[KeyScope] = tuple(KeyScope),
        expires: datetime | None = None,
        within: frozenset[KeyScope] = frozenset(KeyScope),
    ) -> NewKey:
        """Make a key; its text cannot be had again.

        Args:
            person: Whose key it is.
            name: What its owner calls it.
            scopes: What it may be used for.
            expires: From when on it is refused, with a time zone; None for never.
            within: The scopes of the key by which it is asked for, so that no key makes one that may do more.

        Raises:
            NotFoundError: There is no such person.
            ForbiddenError: Some of the scopes are not within.
            ParameterError: There is no scope, the name is too long, or the key would have expired.
        """
        wanted = frozenset(map(KeyScope, scopes))
        if not wanted:
            raise ParameterError("scopes", "", "is missing: give at least one of ask, estimate, read and manage")
        if not wanted <= within:
            missing = ", ".join(sorted(wanted - within))
            raise ForbiddenError("make a key", f"use a key that has the scopes {missing} itself")
        if len(name) > _LONGEST_NAME or not name.isprintable():
            raise ParameterError("name", name, f"must be at most {_LONGEST_NAME} printable characters")
        now = self._database.now()
        if expires is not None and (expires.tzinfo is None or expires <= now):
            raise ParameterError("expires", expires, "must be later than now, and name its time zone")
        made = _new_key(random_bytes(8).hex())
        with self._database.writing() as connection:
            if connection.execute(select(PEOPLE.c.name).where(PEOPLE.c.name == person)).first() is None:
                raise NotFoundError("person", person)
            connection.execute(
                insert(API_KEYS).values(
                    id=made.id,
                    person=person,
                    name=name,
                    hash=self._hash(made.token),
                    scopes=" ".join(sorted(wanted)),
                    created=now,
                    expires=expires,
                )
            )
        return made

    def authenticate(self, token: str) -> Principal:
        """Who sent a key. It takes as much work for an unknown id as for a wrong secret.

        Raises:
            NotAuthenticatedError: It is no valid key of an active person; why is hidden.
            DatabaseError: The database cannot be read.
        """
        match = _TOKEN.fullmatch(token)
        made = self._hash(token)
        rows: list[Any] = []
        if match is not None:
            with self._database.reading() as connection:
                rows = list(connection.execute(_FOUND, {"key": match[1]}))
        now, key = self._database.now(), rows[0] if rows else None
        is_right = hmac.compare_digest(made, _NOBODYS if key is None else key.hash)
        until = None if key is None else key.previous_until
        is_previous = hmac.compare_digest(made, _NOBODYS if key is None else key.previous_hash or _NOBODYS)
        is_valid = is_right or (is_previous and until is not None and now < until)
        if key is None or not is_valid or not _is_usable(key, now) or not key.is_active:
            raise NotAuthenticatedError
        if key.last_used is None or now - key.last_used >= _USED_AGAIN:
            self._note_use(key.id, now)
        return Principal(
            name=key.person,
            is_platform_admin=key.is_platform_admin,
            grants=grants_in(rows),
            scopes=frozenset(map(KeyScope, key.scopes.split())),
            key=key.id,
            keys_end=key.expires,
        )

    def list(self, person: str | None = None) -> tuple[ApiKey, ...]:
        """All keys, of one person or of everybody, from the oldest on, also those that are not valid any more."""
        matches = [] if person is None else [API_KEYS.c.person == person]
        query = select(*_COLUMNS).where(*matches).order_by(API_KEYS.c.created, API_KEYS.c.id)
        with self._database.reading() as connection:
            return tuple(_shown(row) for row in connection.execute(query).mappings())

    def key(self, key: str) -> ApiKey:
        """What is known of one key.

        Raises:
            NotFoundError: There is none with this id.
        """
        with self._database.reading() as connection:
            row = connection.execute(select(*_COLUMNS).where(API_KEYS.c.id == key)).mappings().one_or_none()
        if row is None:
            raise NotFoundError("key", key)
        return _shown(row)

    def rotate(self, key: str, *, old_until: datetime | None = None) -> NewKey:
        """Give a key a new secret; the id, the scopes and the expiry stay.

        Args:
            key: Its id.
            old_until: Until when the old secret works too; None to refuse it at once.

        Raises:
            NotFoundError: There is no valid key with this id.
        """
        made, now = _new_key(key), self._database.now()
        with self._database.writing() as connection:
            self._database.lock(connection, API_KEYS)
            row = connection.execute(select(API_KEYS).where(API_KEYS.c.id == key)).one_or_none()
            if row is None or not _is_usable(row, now):
                raise NotFoundError("valid key", key)
            old = {"previous_hash": None if old_until is None else row.hash, "previous_until": old_until}
            connection.execute(_change(API_KEYS.c.id == key).values(hash=self._hash(made.token), **old))
        return made

    def revoke(self, key: str) -> None:
        """Refuse a key from now on, in every process; once revoked, it stays so.

        Raises:
            NotFoundError: There is none with this id.
        """
        now = self._database.now()
        with self._database.writing() as connection:
            changed = connection.execute(
                _change(API_KEYS.c.id == key, API_KEYS.c.revoked.is_(None)).values(revoked=now)
            )
            if changed.rowcount == 0 and connection.execute(_ID.where(API_KEYS.c.id == key)).first() is None:
                raise NotFoundError("key", key)

    def _note_use(self, key: str, now: datetime) -> None:
        """Write that a key was used, at most once a minute over all processes; a failure to write it is no refusal."""
        before = now - _USED_AGAIN
        is_old = or_(API_KEYS.c.last_used.is_(None), API_KEYS.c.last_used <= before)
        with suppress(DatabaseError), self._database.writing() as connection:
            connection.execute(_change(API_KEYS.c.id == key, is_old).values(last_used=now))

    def _hash(self, token: str) -> str:
        return hmac.digest(self._secret, b"api key " + token.encode("utf-8", "replace"), "sha256").hex()


def make_secret(path: Path) -> bytes:
    """The 32 bytes of a server's secret; made once, in a file of 64 hex digits that only its owner may read.

    Without this file no API key works any more: keep a copy of it with that of the database.

    Raises:
        DatabaseError: It cannot be made or read, others may read it, or it is damaged.
    """
    name = f"secret {path}"
    try:
        if not path.exists():
            with draft_of(path, f"{random_bytes(32).hex()}\n".encode()) as draft, suppress(FileExistsError):
                os.link(draft, path)  # another process may have been quicker: its secret counts
        with path.open(encoding="ascii", errors="replace") as file:
            mode, content = stat.S_IMODE(os.fstat(file.fileno()).st_mode), file.read(66)
    except OSError as error:
        raise DatabaseError(name, "cannot be made or read; name a file in a local folder of this user") from error
    if mode & _OF_OTHERS:
        raise DatabaseError(name, f"others may read it; take that right away: chmod 600 {path}")
    if not _SECRET.fullmatch(content):
        raise DatabaseError(name, "holds no secret (64 hex digits and a newline), or a damaged one; restore it")
    return bytes.fromhex(content)


def _new_key(key: str) -> NewKey:
    return NewKey(key, f"sfk_{key}_{random_bytes(32).hex()}")


def _is_usable(key: Any, now: datetime) -> bool:
    return key.revoked is None and (key.expires is None or now < key.expires)


def _change(*matches: ColumnElement[bool]) -> Update:
    return update(API_KEYS).where(*matches)


def _shown(row: Any) -> ApiKey:
    return ApiKey(**{**row, "scopes": frozenset(map(KeyScope, row["scopes"].split()))})
