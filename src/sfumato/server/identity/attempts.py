"""Sign-ins at a provider that have begun: whoever comes back is who was sent, to where they wanted to go, once.

What proves it is random, and made for this attempt: the state comes back in the address [Har12]; the nonce comes back
in the ID token; the verifier shows the provider that whoever brings the code is who asked for it [SBA15]. The last
two follow from the state and the server's secret, so that the database holds nothing that anybody could use.
"""

import hmac
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import delete, insert

from sfumato.errors import NotAuthenticatedError
from sfumato.server.identity.database import Database
from sfumato.server.identity.keys import make_secret
from sfumato.server.identity.sessions import new_token
from sfumato.server.identity.tables import ATTEMPTS

PATIENCE: Final = timedelta(minutes=10)
"""Whoever comes back later begins again."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Attempt:
    """A sign-in that has begun.

    Attributes:
        state: What the provider sends back in the address.
        nonce: What the provider writes into the ID token.
        verifier: What the provider is shown with the code.
        target: Where the browser goes afterwards.
    """

    state: str
    nonce: str
    verifier: str
    target: str

    def __repr__(self) -> str:
        return f"<Attempt to reach {self.target}>"


class Attempts:
    """Remembers who was sent to a provider.

    Args:
        database: Where their hashes are kept.
        secret: The file of the server's secret.
    """

    def __init__(self, database: Database, *, secret: Path) -> None:
        self._database, self._secret = database, make_secret(secret)

    def begin(self, provider: str, *, browser: str, target: str) -> Attempt:
        """Remember that a browser is sent to a provider; those that never came back are forgotten.

        Args:
            provider: Where to.
            browser: The text of its cookie.
            target: Where it goes afterwards, a path of this server.
        """
        state, now = new_token(), self._database.now()
        with self._database.writing() as connection:
            connection.execute(delete(ATTEMPTS).where(ATTEMPTS.c.began <= now - PATIENCE))
            connection.execute(
                insert(ATTEMPTS).values(
                    hash=self._derived("state", state), browser=self._derived("browser", browser), provider=provider,
                    target=target, began=now,
                )
            )  # fmt: skip
        return self._attempt(state, target)

    def take(self, state: str, provider: str, *, browser: str) -> Attempt:
        """What was remembered of a browser that comes back; it is forgotten, whatever comes of it.

        Raises:
            NotAuthenticatedError: Nobody with this state was sent, it was another browser, it went to another
                provider, it took too long, or it is back already; which of them is hidden.
        """
        taken = delete(ATTEMPTS).where(ATTEMPTS.c.hash == self._derived("state", state)).returning(ATTEMPTS)
        with self._database.writing() as connection:
            found = connection.execute(taken).one_or_none()
        if found is None or self._database.now() - found.began >= PATIENCE:
            raise NotAuthenticatedError
        is_same = hmac.compare_digest(found.browser, self._derived("browser", browser))
        if not is_same or found.provider != provider:
            raise NotAuthenticatedError
        return self._attempt(state, found.target)

    def _attempt(self, state: str, target: str) -> Attempt:
        nonce, verifier = self._derived("nonce", state), self._derived("verifier", state)
        return Attempt(state=state, nonce=nonce, verifier=verifier, target=target)

    def _derived(self, use: str, text: str) -> str:
        return hmac.digest(self._secret, f"{use} {text}".encode("utf-8", "replace"), "sha256").hex()
