"""The append-only log of acts: who did what to which dataset, when, and how it ended.

Each act has the hash of the one before it:

    hash = SHA-256(previous hash, canonical JSON of number, moment and act)

Triggers of the database refuse to change or delete an act, and `ActLog.verify` finds where somebody did so all the
same. Who can rewrite the whole database can rewrite the whole chain; so note its length and its head elsewhere.

An act holds names, a word of a closed list and the hash of a query. It holds no text of a query, no key and nothing
that was computed from rows.
"""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any, Final

from sqlalchemy import Connection, RowMapping, insert, select

from sfumato.errors import DatabaseError, ParameterError
from sfumato.server.identity.database import Database
from sfumato.server.identity.people import Action
from sfumato.server.identity.tables import ACTS, Moment

GENESIS: Final = "0" * 64
_NAME: Final = re.compile(r"[\w.@:/+-]{0,200}")
_HASH: Final = re.compile(r"([0-9a-f]{16,128})?", re.ASCII)
_SECRET: Final = re.compile(r"sfk_\w*_\w+")
_BACKLOG: Final = 10_000
_PAGE: Final = 1_000
_GATHERING: Final = 0.05
"""Seconds, within which what nobody waits for becomes one group: each group takes the disk as long as one act."""


class ActOutcome(StrEnum):
    """How an act ended."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """What somebody did; every field is a name, a word of a list, or a hash.

    Attributes:
        person: Who; empty if nobody was authenticated.
        action: What.
        dataset: With which dataset, if with any.
        target: With what else: a person, the id of a key, of a release or of an approval, an account.
        outcome: How it ended.
        query_hash: The hash of the query, in hex, if there was one.

    Raises:
        ParameterError: A field is no such thing.
    """

    person: str
    action: Action
    dataset: str = ""
    target: str = ""
    outcome: ActOutcome = ActOutcome.DONE
    query_hash: str = ""

    def __post_init__(self) -> None:
        for field in ("person", "dataset", "target"):
            value = getattr(self, field)
            if not _NAME.fullmatch(value) or _SECRET.search(value):
                raise ParameterError(field, "…", "must be a name without spaces or quotes; it is not shown")
        if not _HASH.fullmatch(self.query_hash):
            raise ParameterError("query_hash", "…", "must be a hash in hex, never the query; it is not shown")
        for field, words in (("action", Action), ("outcome", ActOutcome)):
            if getattr(self, field) not in list(words):
                raise ParameterError(field, "…", f"must be one of {', '.join(words)}")


_OF_AN_ACT: Final = tuple(field.name for field in fields(Act))


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAct:
    """An act in its place in the log."""

    number: int
    at: datetime
    act: Act
    previous: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActChain:
    """What a look through the log found.

    Attributes:
        length: The number of acts that verify, from the first one on.
        head: The hash of the last one of them.
        broken: The number of the first act that does not verify or is missing, if there is one.
    """

    length: int
    head: str
    broken: int | None = None


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An act on its way into the log."""

    at: datetime
    act: Act
    written: Future[None]
    is_awaited: bool


class ActLog:
    """Writes acts in groups, by one thread of this process, and reads them; other processes may write as well.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: SimpleQueue[_Waiting] = SimpleQueue()
        self._late: list[_Waiting] = []
        self._is_awaited = Event()
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="acts")

    def record(self, act: Act, *, wait: bool = True) -> None:
        """Append an act, with all others that are recorded at the same time.

        Args:
            act: What happened.
            wait: Whether to return only when it is on the disk. Only what changes nothing may go on before that.

        Raises:
            DatabaseError: It could not be written, or too many others wait to be; refuse the request then.
        """
        if self._queue.qsize() + len(self._late) >= _BACKLOG:
            raise DatabaseError(self._database.name, "takes no acts; see that it can be written")
        waiting = _Waiting(self._database.now(), act, Future(), wait)
        self._queue.put(waiting)
        if wait:
            self._is_awaited.set()
        self._writer.submit(self._write_gathered)
        if wait:
            waiting.written.result()

    def read(
        self,
        *,
        after: int = 0,
        limit: int = 100,
        person: str | None = None,
        datasets: Collection[str] | None = None,
        action: Action | None = None,
    ) -> tuple[WrittenAct, ...]:
        """Acts in their order.

        Args:
            after: The number of the last act that is known already.
            limit: How many at most.
            person: Only theirs.
            datasets: Only those with one of these datasets, for auditors of them; None for all.
            action: Only these.
        """
        query = select(ACTS).where(ACTS.c.number > after).order_by(ACTS.c.number).limit(limit)
        if person is not None:
            query = query.where(ACTS.c.person == person)
        if datasets is not None:
            query = query.where(ACTS.c.dataset.in_(sorted(datasets)))
        if action is not None:
            query = query.where(ACTS.c.action == action.value)
        with self._database.reading() as connection:
            return tuple(_written(row) for row in connection.execute(query).mappings())

    def verify(self, *, length: int = 0, head: str = GENESIS) -> ActChain:
        """Compute every hash again.

        Args:
            length: How many acts there were when this was noted elsewhere.
            head: The hash of the last one of them.
        """
        seen = ActChain(length=0, head=GENESIS)
        while page := self._page(seen.length):
            for number, row in enumerate(page, seen.length + 1):
                is_next = (row["number"], row["previous"], row["hash"]) == (number, seen.head, _hash(row))
                if not is_next or (number == length and row["hash"] != head):
                    return ActChain(length=seen.length, head=seen.head, broken=number)
                seen = ActChain(length=number, head=row["hash"])
        return seen if seen.length >= length else ActChain(length=seen.length, head=seen.head, broken=seen.length + 1)

    def close(self) -> None:
        """Write what waits, and end the thread; nothing is recorded any more."""
        self._is_awaited.set()
        self._writer.shutdown()
        self._write_group()

    def _page(self, after: int) -> Sequence[RowMapping]:
        query = select(ACTS).where(ACTS.c.number > after).order_by(ACTS.c.number).limit(_PAGE)
        with self._database.reading() as connection:
            return connection.execute(query).mappings().all()

    def _write_gathered(self) -> None:
        """Write a group, as soon as somebody waits for one of it, or after a while in which others come."""
        if self._late or not self._queue.empty():
            self._is_awaited.wait(_GATHERING)
            self._is_awaited.clear()
            self._write_group()

    def _write_group(self) -> None:
        """Write all that waits by now in one transaction; what nobody waits for is tried again with the next ones."""
        group, self._late = self._late, []
        with suppress(Empty):
            while len(group) < _BACKLOG:
                group.append(self._queue.get_nowait())
        if not group:
            return
        failure = DatabaseError(self._database.name, "takes no acts; see that it can be written")
        try:
            with self._database.writing() as connection:
                append(connection, self._database, ((each.at, each.act) for each in group))
            for each in group:
                each.written.set_result(None)
        except DatabaseError:
            self._late = [each for each in group if not each.is_awaited]
        finally:
            for each in group:
                if each.is_awaited and not each.written.done():
                    each.written.set_exception(failure)


def append(connection: Connection, database: Database, acts: Iterable[tuple[datetime, Act]]) -> None:
    """Append acts as of some moments, in a transaction of the caller; nobody else appends until it ends."""
    database.lock(connection, ACTS)
    last = connection.execute(select(ACTS.c.number, ACTS.c.hash).order_by(ACTS.c.number.desc()).limit(1)).one_or_none()
    first, previous = (1, GENESIS) if last is None else (last.number + 1, last.hash)
    rows = []
    for number, (at, act) in enumerate(acts, first):
        words = {name: str(value) for name, value in asdict(act).items()}
        row = {"number": number, "at": at, **words, "previous": previous}
        previous = row["hash"] = _hash(row)
        rows.append(row)
    if rows:
        connection.execute(insert(ACTS), rows)


def _hash(row: RowMapping | dict[str, Any]) -> str:
    """The hash of an act as it is stored, from all of its other columns."""
    hashed = {name: row[name] for name in ("number", *_OF_AN_ACT)} | {"at": Moment.written(row["at"])}
    content = json.dumps(hashed, sort_keys=True, separators=(",", ":"))
    return sha256(f"{row['previous']}{content}".encode()).hexdigest()


def _written(row: RowMapping) -> WrittenAct:
    words = {name: row[name] for name in _OF_AN_ACT}
    act = Act(**words | {"action": Action(row["action"]), "outcome": ActOutcome(row["outcome"])})
    return WrittenAct(number=row["number"], at=row["at"], act=act, previous=row["previous"], hash=row["hash"])
