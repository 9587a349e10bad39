"""The datasets as a gateway knows them: it plans and charges by what the worker declared, and has tickets run there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from threading import Lock
from types import MappingProxyType
from typing import Any, ClassVar

from sfumato.errors import ParameterError, SfumatoError, TicketError, UnavailableError
from sfumato.ledger.ledger import Ledger
from sfumato.privacy.codec import Json
from sfumato.query.model.relations import Relation
from sfumato.query.planning.plan import PrivatePlan
from sfumato.server.config import Curator, Dataset, WorkEntry
from sfumato.server.work.channel import PATIENCE, Line, sealed
from sfumato.server.work.pacing import time_class
from sfumato.session.account import AccountView
from sfumato.session.asking import planning
from sfumato.session.asking.execution import Answering, Keep, renew
from sfumato.session.asking.planning import AnyPrepared, Planning, Ticket, readable, stored
from sfumato.session.asking.view import relations_of
from sfumato.session.wire.policies import Declarations, decode_declarations
from sfumato.session.wire.questions import encode_relations
from sfumato.session.wire.tickets import encode_ticket


@dataclass(slots=True)
class Errand:
    """What comes to be known while one query is answered.

    Attributes:
        line: The way to the process with the data.
        prepared: The query as it was planned, once it was.
        doublings: How often the time class of its answer had to be doubled.
        is_current: Whether the dataset is still declared as it was when the query was planned.
    """

    line: Line
    prepared: AnyPrepared | None = None
    doublings: int = 0
    is_current: Callable[[], bool] = lambda: True


class RepublishedError(Exception):
    """The owner published another version while a query was planned; nothing was charged, and it is planned anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteDesk(Answering):
    """Plans and charges here, and has charged queries run by the process that holds the data.

    Attributes:
        errand: The one query that it is for.
        work: How long queries may take.
        declared_rows: How many rows the owner says that the data have.
    """

    joins_at_once: ClassVar[bool] = False
    errand: Errand = field(compare=False)
    work: WorkEntry
    declared_rows: int

    def expect(self, prepared: AnyPrepared) -> None:
        """Take a place in the queue before anything is charged, unless there is an answer.

        Raises:
            ParameterError: The query may take too long.
            RepublishedError: It was planned for another version than there is now.
        """
        self.errand.prepared = prepared
        if stored(self, prepared) is None:
            time_class(prepared.plan, self.work, declared_rows=self.declared_rows)
            self.errand.line.enter()  # from here on no other version is published
            if not self.errand.is_current():
                raise RepublishedError

    def answer(self, ticket: Ticket, *, keep: Keep | None = None) -> dict[str, Any]:
        """The answer that the worker left in the ledger; see `execution.execute`."""
        if keep is not None:
            raise ParameterError("to", "a file", "is not written here; take the answer, and save it")
        ledger, reservation = self.ledger, ticket.reservation
        if not reservation.is_answered:
            message = sealed(ledger.key, "run", self.account, encode_ticket(ticket))
            try:
                done = self.errand.line.run(
                    message, meanwhile=partial(renew, ledger, reservation), every=planning.LEASE / 3
                )
                self.errand.doublings = int(done.get("doublings", 0))
            except SfumatoError:
                # Sent twice, or that process died after it had answered: whoever was first has answered for all.
                if self._kept(ticket) is None:
                    raise
        return readable(self, self._kept(ticket))

    def _kept(self, ticket: Ticket) -> Json:
        """The answer that the ledger has to a ticket."""
        answer = self.ledger.answer_of(ticket.reservation)
        return self.ledger.answer(self.account, ticket.prepared.key) if answer is None else answer

    def programs(self, plan: PrivatePlan) -> str:
        """Not known here: engines are where the data are."""
        raise ParameterError("sql", True, f"is known where the data are, not here; {len(plan.sections)} statements run")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A dataset as it is now.

    Attributes:
        dataset: How the curator's file declares it.
        declared: What the worker knows of its policy.
        stamp: The hash of that, as it was written.
        planning: Plans under the account of the dataset.
        relations: The relation behind each name.
        text: The same as text, for clients.
    """

    dataset: Dataset
    declared: Declarations
    stamp: bytes
    planning: Planning
    relations: Mapping[str, Relation]
    text: str


class Datasets:
    """All datasets of a curator, as the worker has declared them last.

    Args:
        curator: What the curator's file declares.
        ledger: Where spending and answers are kept.
    """

    def __init__(self, curator: Curator, ledger: Ledger) -> None:
        self._curator, self._ledger = curator, ledger
        self._known: dict[str, tuple[tuple[int, int], Served]] = {}
        self._lock = Lock()

    def served(self, name: str) -> Served:
        """A dataset as it is now.

        Raises:
            UnavailableError: The worker has not opened it yet.
        """
        place = self._curator.declarations(name)
        try:
            found = place.stat()
            stamp = (found.st_mtime_ns, found.st_ino)
            with self._lock:
                known = self._known.get(name)
                if known is None or known[0] != stamp:
                    content = place.read_bytes()
                    if known is not None and known[1].stamp == sha256(content).digest():  # written again, by the next
                        known = stamp, known[1]
                    else:
                        known = stamp, self._read(name, content)
                    self._known[name] = known
        except (OSError, TicketError):
            raise UnavailableError from None
        return known[1]

    def line(self, name: str, *, patience: float = PATIENCE) -> Line:
        """A way to the worker, for one query of a dataset."""
        return Line(self._curator.socket, name, patience=patience)

    def view(self, served: Served, account: str, errand: Errand) -> AccountView:
        """A dataset as an account asks it.

        Args:
            served: The dataset.
            account: The charged account, in full.
            errand: The one query that it is asked.
        """
        own = served.planning
        errand.is_current = lambda: self.served(served.dataset.name).declared == served.declared
        desk = RemoteDesk(
            policy=own.policy, ledger=own.ledger, account=account, places=own.places, errand=errand,
            work=self._curator.work, declared_rows=served.dataset.declared_rows,
        )  # fmt: skip
        return AccountView(desk, served.relations)

    def publish(self, name: str, version: str) -> None:
        """Have the worker open the data at a new version.

        Raises:
            SfumatoError: It cannot be opened; the version before stays.
        """
        line = self.line(name)
        try:
            line.run(sealed(self._ledger.key, "publish", version))
        finally:
            line.close()

    def _read(self, name: str, content: bytes) -> Served:
        declared = decode_declarations(content.decode("utf-8", "replace"), self._ledger)
        policy = declared.policy()
        own = Planning(policy=policy, ledger=self._ledger, account=policy.dataset, places=declared.places)
        relations = MappingProxyType(dict(relations_of(policy)))
        return Served(
            dataset=self._curator.datasets[name], declared=declared, stamp=sha256(content).digest(), planning=own,
            relations=relations, text=encode_relations(relations),
        )  # fmt: skip
