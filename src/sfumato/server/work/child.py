"""The process that reads data: it opens one dataset, and runs one ticket at a time for whoever the ledger has charged.

**Guarantee**: a ticket is run only if it is sealed with the ledger's key, is one that this process would have planned,
and the ledger holds its reservation, without an answer, with the same account, hash, event, charge and key. The answer
goes into the ledger, at the end of a time class; nothing but that it is there leaves this process. Exact figures never
do.

Proof: proofs/server/work/child.md.
"""

import logging
import resource
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from sfumato.errors import EngineError, ParameterError, PolicyError, SfumatoError, TicketError
from sfumato.ledger.keeping.files import draft_of
from sfumato.query.policy.file import load_policy
from sfumato.query.policy.policy import Policy
from sfumato.server.config import Curator, Dataset, load_curator
from sfumato.server.work.channel import MAX_MESSAGE, Pipe, failure, opened, read, written
from sfumato.server.work.pacing import Pace, time_class
from sfumato.session.asking.execution import Desk, execute
from sfumato.session.session import Session
from sfumato.session.wire.policies import encode_declarations
from sfumato.session.wire.tickets import decode_ticket, require_charged

_LOG: Final = logging.getLogger("sfumato.owner")
_KILOBYTE: Final = 1024


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
        self._session = self._opened()

    def handle(self, content: bytes) -> dict[str, Any]:
        """Do what a sealed message asks for, and say what came of it."""
        try:
            message = read(content)
            purpose, parts = opened(message, self._session.desk.ledger.key)
            match purpose, parts:
                case "run", (account, text) if message.get("died") is True:
                    return self._suspend(self._desk(account), text)
                case "run", (account, text):
                    return self._run(self._desk(account), text)
                case "publish", (version,):
                    return self._publish(version)
                case _:
                    raise TicketError("purpose", "must be one that this version knows")
        except SfumatoError as error:
            return failure(error)

    def close(self) -> None:
        """Let go of the data and the ledger."""
        self._session.close()

    @property
    def is_worn(self) -> bool:
        """Whether this process once took more memory than it is to have."""
        most = self._curator.work.memory
        return most is not None and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KILOBYTE > most

    def _opened(self) -> Session:
        """The dataset at the version of the data that was published last, and what is known of it, written down."""
        own, policy = self._dataset, self._policy()
        session = Session(
            policy, budget=own.budget, window=own.window, lifetime=own.lifetime, ledger=self._curator.ledger,
            engine=own.engine, engine_options=own.engine_options,
        )  # fmt: skip
        try:
            declared = encode_declarations(session.desk, session.desk.ledger)
            _write(self._curator.declarations(own.name), declared)
        except BaseException:
            session.close()
            raise
        return session

    def _policy(self) -> Policy:
        policy = load_policy(self._dataset.policy)
        if policy.dataset != self._dataset.name:
            raise PolicyError("dataset", f"must be {self._dataset.name!r}, as the curator's file calls it")
        with suppress(FileNotFoundError):
            version = self._curator.version(self._dataset.name).read_text("utf-8")
            policy = replace(policy, data_version=version)
        return policy

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
        work = self._curator.work
        ticket = decode_ticket(text, desk)
        pace = Pace(
            time_class(
                ticket.prepared.plan, declared_rows=self._dataset.declared_rows, rows_per_second=work.rows_per_second,
                quantum=work.quantum,
            )
        )  # fmt: skip
        require_charged(ticket, desk.ledger)
        execute(desk, ticket, ready=pace.wait)
        if pace.doublings:
            _LOG.warning("%s: an answer took longer than its time class; raise declared_rows", self._dataset.name)
        return {"answered": True, "doublings": pace.doublings}

    def _suspend(self, desk: Desk, text: str) -> dict[str, Any]:
        """Suspend the data of a query on which the process before this one died: that may have been because of a row.

        Whoever can make a process die can read rows, so a death is told from no other failure.
        """
        ticket = decode_ticket(text, desk)
        require_charged(ticket, desk.ledger)
        desk.ledger.suspend_account(ticket.reservation)
        _LOG.error("account %s is suspended: the process that ran a query died", desk.account)
        return {"suspended": True}

    def _publish(self, version: str) -> dict[str, Any]:
        """Open the data at a new version, as its owner has published one."""
        place = self._curator.version(self._dataset.name)
        before = place.read_text("utf-8") if place.exists() else None
        _write(place, version)
        try:
            fresh = self._opened()
        except SfumatoError:
            place.unlink() if before is None else _write(place, before)
            raise
        self._session.close()
        self._session = fresh
        return {"published": version}


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
    logging.basicConfig(format="%(message)s")
    curator = load_curator(config)
    if curator.work.memory is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (2 * curator.work.memory, 2 * curator.work.memory))
    try:
        runner = Runner(curator, curator.datasets[name])
    except (SfumatoError, OSError) as error:
        known = isinstance(error, ParameterError | PolicyError | EngineError)
        connection.send_bytes(written({"ready": False, "reason": str(error) if known else type(error).__name__}))
        return
    connection.send_bytes(written({"ready": True}))
    try:
        while True:
            answer = runner.handle(connection.recv_bytes(MAX_MESSAGE))
            connection.send_bytes(written({**answer, "worn": runner.is_worn}))
    except (EOFError, OSError):  # whoever sent them is gone
        return
    finally:
        runner.close()
