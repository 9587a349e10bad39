"""Queries that take long: what was asked, by whom and under which key, so that they can be asked for again."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, insert, select

from sfumato.errors import NotFoundError
from sfumato.noise.entropy import random_bytes
from sfumato.server.identity.database import Database
from sfumato.server.identity.tables import QUESTIONS

KEPT_FOR: Final = timedelta(days=7)
"""How long a query can be asked for under its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptQuestion:
    """A query that took long.

    Attributes:
        id: Its name, which tells nothing of others.
        person: Who asked.
        api_key: With which API key.
        dataset: What was asked.
        account: What is charged.
        key: The idempotency key under which it was asked.
        ask: The request, as JSON.
        at: When.
    """

    id: str
    person: str
    api_key: str
    dataset: str
    account: str
    key: str
    ask: str
    at: datetime


class Questions:
    """Keeps what was asked.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, *, person: str, api_key: str, dataset: str, account: str, key: str, ask: str) -> str:
        """Keep a query, and forget those that were kept for a week; gives its name.

        Raises:
            DatabaseError: It could not be kept.
        """
        name = random_bytes(16).hex()
        values = {
            "id": name, "person": person, "api_key": api_key, "dataset": dataset, "account": account, "key": key,
            "ask": ask, "at": self._database.now(),
        }  # fmt: skip
        with self._database.writing() as connection:
            connection.execute(delete(QUESTIONS).where(QUESTIONS.c.at < self._database.now() - KEPT_FOR))
            connection.execute(insert(QUESTIONS).values(**values))
        return name

    def get(self, question: str, person: str) -> KeptQuestion:
        """A query of somebody.

        Raises:
            NotFoundError: They have none of this name.
        """
        query = _KEPT.where(QUESTIONS.c.id == question, QUESTIONS.c.person == person)
        with self._database.reading() as connection:
            row = connection.execute(query).mappings().one_or_none()
        if row is None:
            raise NotFoundError("question", question)
        return KeptQuestion(**row)


_KEPT: Final = select(*QUESTIONS.c)
