"""The documents of releases, kept byte for byte as they were first shown.

A release is shown again under the key by which it was first shown to its account. Whoever asks the same query again
reads the same bytes, even if a later version of the server would write the document otherwise.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Select, bindparam, select

from sfumato.errors import NotFoundError
from sfumato.noise.entropy import random_bytes
from sfumato.server.identity.database import Database
from sfumato.server.identity.people import require_name
from sfumato.server.identity.tables import RELEASES

_KEPT: Final = select(*(column for column in RELEASES.c if column.name != "number"))
_NAMED: Final = _KEPT.where(RELEASES.c.id == bindparam("id"))
_SHOWN: Final = _KEPT.where(RELEASES.c.account == bindparam("account"), RELEASES.c.shown_key == bindparam("shown_key"))


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRelease:
    """A document as it was first shown.

    Attributes:
        id: Its name, which tells nothing of others.
        dataset: What was asked about.
        account: What was charged, and whose analysts may read it.
        principal: Who asked first.
        question_hash: The hash of what was asked.
        shown_key: What tells equal queries of one account apart from others.
        document: The bytes.
        at: When they were first shown.
    """

    id: str
    dataset: str
    account: str
    principal: str
    question_hash: str
    shown_key: str
    document: bytes
    at: datetime


class ReleaseRegistry:
    """Keeps documents of releases.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(
        self, document: bytes, *, dataset: str, account: str, principal: str, question_hash: str, shown_key: str
    ) -> KeptRelease:
        """Keep a document, unless one is kept under this account and key: the first one is returned, also in a race.

        Args:
            document: The bytes to be shown.
            dataset: What was asked about.
            account: What was charged.
            principal: Who asks.
            question_hash: The hash of what was asked.
            shown_key: What tells equal queries of the account apart from others.

        Raises:
            ParameterError: The dataset or the account is no name.
            DatabaseError: It could not be kept; it must not be shown then.
        """
        require_name("dataset", dataset)
        require_name("account", account)
        new = KeptRelease(
            id=random_bytes(8).hex(),
            dataset=dataset,
            account=account,
            principal=principal,
            question_hash=question_hash,
            shown_key=shown_key,
            document=document,
            at=self._database.now(),
        )
        with self._database.writing() as connection:
            if self._database.insert_new(connection, RELEASES, **asdict(new)):
                return new
        kept = self.find(account=account, shown_key=shown_key)
        if kept is None:
            raise NotFoundError("release", shown_key)
        return kept

    def find(self, *, account: str, shown_key: str) -> KeptRelease | None:
        """What is kept under an account and a key."""
        return self._one(_SHOWN, account=account, shown_key=shown_key)

    def get(self, release: str) -> KeptRelease:
        """The release of an id.

        Raises:
            NotFoundError: There is none.
        """
        kept = self._one(_NAMED, id=release)
        if kept is None:
            raise NotFoundError("release", release)
        return kept

    def list(self, account: str, *, after: str | None = None, limit: int = 100) -> tuple[KeptRelease, ...]:
        """The releases of an account, in the order in which they were first shown.

        Args:
            account: Whose.
            after: The id of the last one that is known already; None to begin.
            limit: How many at most.

        Raises:
            NotFoundError: The account has no release of that id.
        """
        query = _KEPT.where(RELEASES.c.account == account).order_by(RELEASES.c.number).limit(limit)
        with self._database.reading() as connection:
            if after is not None:
                last = select(RELEASES.c.number).where(RELEASES.c.id == after, RELEASES.c.account == account)
                number = connection.execute(last).scalar_one_or_none()
                if number is None:
                    raise NotFoundError("release", after)
                query = query.where(RELEASES.c.number > number)
            return tuple(KeptRelease(**row) for row in connection.execute(query).mappings())

    def latest(
        self, account: str, *, limit: int, questions: Collection[str] | None = None
    ) -> tuple[KeptRelease, ...]:  # fmt: skip
        """The releases of an account that were first shown last, the latest first.

        Args:
            account: Whose.
            limit: How many at most.
            questions: Of queries with one of these hashes; None for all.
        """
        query = _KEPT.where(RELEASES.c.account == account).order_by(RELEASES.c.number.desc()).limit(limit)
        if questions is not None:
            query = query.where(RELEASES.c.question_hash.in_(questions))
        with self._database.reading() as connection:
            return tuple(KeptRelease(**row) for row in connection.execute(query).mappings())

    def _one(self, query: Select[tuple[Any, ...]], **by: str) -> KeptRelease | None:
        with self._database.reading() as connection:
            row = connection.execute(query, by).mappings().one_or_none()
        return None if row is None else KeptRelease(**row)
