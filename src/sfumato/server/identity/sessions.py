"""Sessions of people who sign in with a browser: a random text in a cookie, kept as HMAC-SHA256 [KBC97].

The text has 256 bits and is made when somebody has signed in, never taken from a request: nobody can have another
person sign in to a session that they know. Each request looks its session up, with the person and, if they signed in
with one, the API key. So a session ends at once when somebody signs out, is not active any more, or revokes the key.
Whoever signed in at a provider has no key; the keys that they make end, as nothing else tells when they have left.
"""

import hmac
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from sqlalchemy import bindparam, delete, insert, or_, select, update

from sfumato.errors import DatabaseError, NotAuthenticatedError
from sfumato.noise.entropy import random_bytes
from sfumato.server.identity.database import Database
from sfumato.server.identity.keys import make_secret
from sfumato.server.identity.people import KeyScope, Principal, grants_in
from sfumato.server.identity.tables import API_KEYS, GRANTS, PEOPLE, SESSIONS

IDLE: Final = timedelta(minutes=30)
"""A session that was not used for so long has ended."""

LIFE: Final = timedelta(hours=12)
"""A session is never older."""

KEYS: Final = timedelta(days=30)
"""An API key that is made in a session without one ends after so long."""

_USED_AGAIN: Final = timedelta(minutes=1)
_LENGTH: Final = 64
_FOUND: Final = (
    select(
        SESSIONS, API_KEYS.c.scopes, API_KEYS.c.expires, API_KEYS.c.revoked, PEOPLE.c.display_name,
        PEOPLE.c.is_platform_admin, PEOPLE.c.is_active, GRANTS.c.dataset, GRANTS.c.role, GRANTS.c.account,
    )
    .join_from(SESSIONS, PEOPLE)
    .outerjoin(API_KEYS, API_KEYS.c.id == SESSIONS.c.api_key)
    .outerjoin(GRANTS, GRANTS.c.person == PEOPLE.c.name)
    .where(SESSIONS.c.hash == bindparam("hash"))
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """Whoever has a session.

    Attributes:
        principal: Who, with the scopes of the API key with which they signed in; without one they have all.
        display_name: What they are called.
        provider: Where they signed in, if at a provider.
    """

    principal: Principal
    display_name: str
    provider: str = ""


class Sessions:
    """Begins, finds and ends the sessions of a server.

    Args:
        database: Where their hashes are kept.
        secret: The file of the server's secret.
    """

    def __init__(self, database: Database, *, secret: Path) -> None:
        self._database, self._secret = database, make_secret(secret)

    def begin(self, person: str, *, api_key: str | None = None, provider: str = "") -> str:
        """Begin a session of somebody who has just proved who they are; gives the text of its cookie, this once.

        What is left of sessions that are too old is deleted.

        Args:
            person: Who.
            api_key: The id of the API key with which they did, if with one.
            provider: The provider at which they did, if at one.
        """
        made, now = new_token(), self._database.now()
        with self._database.writing() as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.began <= now - LIFE))
            connection.execute(
                insert(SESSIONS).values(
                    hash=self._hash(made), person=person, api_key=api_key, provider=provider, began=now, last_used=now
                )
            )  # fmt: skip
        return made

    def find(self, token: str) -> SignedIn:
        """Whose session it is.

        Raises:
            NotAuthenticatedError: It is none, or has ended; why is hidden.
        """
        rows: list[Any] = []
        if len(token) == _LENGTH:
            with self._database.reading() as connection:
                rows = list(connection.execute(_FOUND, {"hash": self._hash(token)}))
        now = self._database.now()
        if not rows or not _is_usable(rows[0], now):
            raise NotAuthenticatedError
        found = rows[0]
        if now - found.last_used >= _USED_AGAIN:
            self._note_use(found.hash, now)
        scopes = frozenset(KeyScope) if found.api_key is None else frozenset(map(KeyScope, found.scopes.split()))
        return SignedIn(
            principal=Principal(
                name=found.person, is_platform_admin=found.is_platform_admin, grants=grants_in(rows), scopes=scopes,
                key=found.api_key or f"session-{found.hash[:16]}",
                keys_end=now + KEYS if found.api_key is None else found.expires,
            ),
            display_name=found.display_name, provider=found.provider,
        )  # fmt: skip

    def end(self, token: str) -> None:
        """Refuse a session from now on; one that has ended stays so."""
        self._end(SESSIONS.c.hash == self._hash(token))

    def end_all(self, person: str) -> None:
        """Refuse all sessions of a person from now on."""
        self._end(SESSIONS.c.person == person)

    def proof(self, token: str) -> str:
        """What a form has in it that a page with this cookie sent: it cannot be made from outside of the server."""
        return hmac.digest(self._secret, b"form " + token.encode("utf-8", "replace"), "sha256").hex()

    def is_proved(self, token: str, proof: str) -> bool:
        """Whether a form has what a page with this cookie sent."""
        return bool(token) and hmac.compare_digest(self.proof(token).encode(), proof.encode("utf-8", "replace"))

    def _end(self, which: Any) -> None:
        with self._database.writing() as connection:
            change = update(SESSIONS).where(which, SESSIONS.c.ended.is_(None))
            connection.execute(change.values(ended=self._database.now()))

    def _note_use(self, hashed: str, now: datetime) -> None:
        """Write that a session is used; where that fails it ends sooner, which is no refusal."""
        with suppress(DatabaseError), self._database.writing() as connection:
            is_old = or_(SESSIONS.c.last_used <= now - _USED_AGAIN, SESSIONS.c.last_used.is_(None))
            connection.execute(update(SESSIONS).where(SESSIONS.c.hash == hashed, is_old).values(last_used=now))

    def _hash(self, token: str) -> str:
        return hmac.digest(self._secret, b"session " + token.encode("utf-8", "replace"), "sha256").hex()


def new_token() -> str:
    """A random text of 256 bits, as cookies hold it."""
    return random_bytes(_LENGTH // 2).hex()


def _is_usable(found: Any, now: datetime) -> bool:
    """Whether a session, its person and the key with which it began are all valid."""
    is_fresh = found.ended is None and now - found.last_used < IDLE and now - found.began < LIFE
    is_key_valid = found.api_key is None or (
        found.revoked is None and (found.expires is None or now < found.expires)
    )  # fmt: skip
    return bool(is_fresh and found.is_active and is_key_valid)
