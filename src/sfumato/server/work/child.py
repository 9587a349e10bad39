"""The process that reads data: it opens one dataset, and runs one ticket at a time for whoever the ledger has charged.

**Guarantee**: a ticket is run only if it is sealed with the ledger's key, is one that this process would have planned,
and the ledger holds its reservation, without an answer, with the same account, hash, event, charge and key. The answer
goes into the ledger, at the end of a time class; nothing but that it is there leaves this process. Exact figures never
do. If this process dies over a ticket, the next one suspends the data.

Proof: proofs/server/work/child.md.
"""

import logging
import resource
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from sfumato.errors import (
    EngineError,
    LedgerMissingError,
    ParameterError,
    PolicyError,
    SfumatoError,
    TicketError,
    UnavailableError,
)
from sfumato.ledger.keeping.files import draft_of
from sfumato.ledger.locations import open_ledger
from sfumato.privacy.budgets import Budget
from sfumato.query.policy.file import load_policy
from sfumato.query.policy.policy import Policy
from sfumato.server.config import Curator, Dataset, load_curator
from sfumato.server.work.channel import MAX_MESSAGE, Pipe, failure, opened, read, written
from sfumato.server.work.marks import Mark
from sfumato.server.work.pacing import OverlongError, Pace, time_class
from sfumato.server.work.warming import warm_up
from sfumato.session.asking.execution import Desk, execute
from sfumato.session.asking.planning import Ticket
from sfumato.session.session import Session
from sfumato.session.training.ordered import DeclaredRows, FitOrder, OrderedFit
from sfumato.session.wire.policies import encode_declarations
from sfumato.session.wire.tickets import decode_ticket, require_charged

_LOG: Final = logging.getLogger("sfumato.owner")
_KILOBYTE: Final = 1024
_DATA: Final = 5
"""Where the system says how many pages a process can write to, as its limit counts them."""


class Runner:
    """One dataset, opened, and what is done with messages about it.

    Args:
        curator: What the owner of the machine declares.
        dataset: Which dataset.

    Raises:
        SfumatoError: It cannot be opened.
    """

    def __init__(self, curator: Curator, dataset: Dataset) -> None:
        self._curator, self._dataset = curator, dataset
        self._memory_at_start = 0
        self._mark = Mark(curator.mark(dataset.name), longest=curator.work.seconds)
        self._mark.settle(curator.ledger)
        self._published = self._version()
        self._session = self._opened(self._published)
        with self._mark.alone():
            if self._published == self._version():
                self._declare()

    def handle(self, content: bytes) -> dict[str, Any]:
        """Do what a sealed message asks for, and say what came of it."""
        try:
            purpose, parts = opened(read(content), self._session.desk.ledger.key)
            with self._mark.alone():
                match purpose, parts:
                    case "run", (account, text):
                        self._follow()
                        return self._run(self._desk(account), text)
                    case "publish", (version,):
                        self._publish(version)
                        return {"published": version}
                    case _:
                        raise TicketError("purpose", "must be one that this version knows")
        except SfumatoError as error:
            return failure(error)

    def close(self) -> None:
        """Let go of the data and the ledger."""
        self._session.close()

    def bound_memory(self) -> None:
        """Limit how much memory queries take beside what this process takes now, if the curator's file says so."""
        self._memory_at_start = _most_memory()
        most = self._curator.work.memory
        if most is not None:
            pages = int(Path("/proc/self/statm").read_text("ascii").split()[_DATA])
            limit = pages * resource.getpagesize() + 2 * most
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    @property
    def is_worn(self) -> bool:
        """Whether queries once took more memory than they are to take."""
        most = self._curator.work.memory
        return most is not None and _most_memory() - self._memory_at_start > most

    def _version(self) -> str | None:
        """The version of the data that was published last; None if the policy's file still says which it is."""
        try:
            return self._curator.version(self._dataset.name).read_text("utf-8")
        except FileNotFoundError:
            return None

    def _opened(self, version: str | None) -> Session:
        """The dataset at a version of the data."""
        dataset, policy = self._dataset, self._policy(version)
        return Session(
            policy, budget=self._budget(), window=dataset.window, lifetime=dataset.lifetime,
            ledger=self._curator.ledger, engine=dataset.engine, engine_options=dataset.engine_options,
        )  # fmt: skip

    def _budget(self) -> Budget:
        """The budget that the file declares; or that which an owner has set since the account was opened with it."""
        declared, account = self._dataset.budget, self._dataset.name
        try:
            with open_ledger(self._curator.ledger, must_exist=True) as ledger:
                if account in ledger.accounts() and ledger.opened(account).budget == declared:
                    return ledger.budget(account)
        except LedgerMissingError:
            pass
        return declared

    def _policy(self, version: str | None) -> Policy:
        policy = load_policy(self._dataset.policy)
        if policy.dataset != self._dataset.name:
            raise PolicyError("dataset", f"must be {self._dataset.name!r}, as the curator's file calls it")
        return policy if version is None else replace(policy, data_version=version)

    def _declare(self) -> None:
        """Write down for gateways what is known of the policy."""
        desk = self._session.desk
        _write(self._curator.declarations(self._dataset.name), encode_declarations(desk, desk.ledger))

    def _follow(self) -> None:
        """Open the data anew if another process has published a version meanwhile."""
        if self._version() != self._published:
            self._exchange(self._version())

    def _publish(self, version: str) -> None:
        """Open the data at a new version, as its owner has published one.

        Raises:
            SfumatoError: It cannot be opened; the version before stays.
        """
        self._exchange(version)
        _write(self._curator.version(self._dataset.name), version)
        self._declare()

    def _exchange(self, version: str | None) -> None:
        fresh = self._opened(version)
        self._session.close()
        self._session, self._published = fresh, version

    def _desk(self, account: str) -> Desk:
        """The desk of an account of this dataset.

        Raises:
            TicketError: It is another dataset's.
        """
        desk = self._session.desk
        if desk.account not in desk.ledger.path(account):
            raise TicketError("account", "must be one of this dataset")
        return replace(desk, account=account)

    def _run(self, desk: Desk, text: str) -> dict[str, Any]:
        """Answer a ticket in the ledger, unless anything about it is not as it has to be."""
        ticket, work = decode_ticket(text, desk, fits=_planned_fit), self._curator.work
        if desk.ledger.is_suspended(desk.account):
            raise UnavailableError
        require_charged(ticket, desk.ledger)
        seconds = time_class(ticket.prepared.plan, work, declared_rows=self._dataset.declared_rows)
        pace = Pace(seconds, longest=work.seconds)
        with self._mark.of(ticket.reservation.request, seconds):
            self._execute(desk, ticket, pace)
        if pace.doublings:
            _LOG.warning("%s: an answer took longer than its time class; raise declared_rows", self._dataset.name)
        return {"answered": True, "doublings": pace.doublings}

    @staticmethod
    def _execute(desk: Desk, ticket: Ticket, pace: Pace) -> None:
        """Run a ticket; what fails because of rows is in the ledger, or this process ends and the next one sees to it.

        Raises:
            SfumatoError: It failed, and the ledger knows.
            SystemExit: It failed, and the ledger may not know.
        """
        try:
            # Of two accounts that ask the same, neither waits for the other: only one can be here.
            execute(desk, ticket, ready=pace.wait, waits=False)
        except (OverlongError, UnavailableError):
            try:
                if desk.ledger.charged(ticket.reservation.request) is not None:
                    desk.ledger.suspend_account(ticket.reservation)
            except SfumatoError:
                raise SystemExit(1) from None
            raise UnavailableError from None


def _planned_fit(order: FitOrder, rows: DeclaredRows) -> OrderedFit:
    """The fit of an order, as it is made here.

    Raises:
        TicketError: Models are not installed.
    """
    try:
        from sfumato.learn.ordering.planning import planned_fit  # an extra, which takes seconds to load
    except ImportError:
        raise TicketError("fit", "needs the extra `learn` where the data are") from None
    return planned_fit(order, rows)


def _most_memory() -> int:
    """The most bytes that this process ever took."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KILOBYTE


def _write(path: Path, text: str) -> None:
    """A whole file or none, for this user alone."""
    with draft_of(path, text.encode()) as draft:
        draft.replace(path)


def run_child(config: str, name: str, connection: Pipe) -> None:
    """Open a dataset and do what messages ask for, one at a time, until whoever sends them is gone.

    Args:
        config: The curator's file.
        name: The dataset.
        connection: Where messages come from; a first answer says whether the dataset is open.
    """
    for number in (signal.SIGINT, signal.SIGTERM):  # which all processes of a service get: it ends after its worker
        signal.signal(number, signal.SIG_IGN)
    logging.basicConfig(format="%(message)s")
    curator = load_curator(config)
    try:
        runner = Runner(curator, curator.datasets[name])
        warm_up(curator.datasets[name].engine)
        runner.bound_memory()
    except (SfumatoError, OSError) as error:
        known = isinstance(error, ParameterError | PolicyError | EngineError)
        connection.send_bytes(written({"ready": False, "reason": str(error) if known else type(error).__name__}))
        return
    try:
        connection.send_bytes(written({"ready": True}))
        while True:
            answer = runner.handle(connection.recv_bytes(MAX_MESSAGE))
            connection.send_bytes(written({**answer, "worn": runner.is_worn}))
    except (EOFError, OSError):  # whoever sent them is gone
        return
    finally:
        runner.close()
