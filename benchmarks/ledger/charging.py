"""Clients that charge a ledger, each waiting for its charge to last before it asks for the next."""

import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from threading import Lock
from unittest.mock import patch

from sfumato.ledger.core.entry import Opened
from sfumato.ledger.core.store import StoreBatch
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.locations import open_ledger
from sfumato.ledger.stores.transactions import OpenTransaction
from sfumato.privacy.events import PureEvent
from sfumato.privacy.guarantees import PureDP
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE

CLIENTS, SECONDS = 32, 3.0
EVENT, CHARGE = PureEvent("0.001"), PureDP("0.001")
BUDGET = 10**9
LEVELS = ("dataset", "team", "analyst", "project")


@dataclass(frozen=True, slots=True)
class Run:
    """What clients were granted: how long each charge took, in how many commits."""

    times: list[float]
    commits: int

    def __add__(self, other: "Run") -> "Run":
        return Run(self.times + other.times, self.commits + other.commits)

    @property
    def rate(self) -> float:
        """Charges a second."""
        return len(self.times) / SECONDS

    def __str__(self) -> str:
        cuts = statistics.quantiles(self.times, n=100)
        return (
            f"{self.rate:8,.0f} charges/s   p50 {cuts[49] * 1e3:8.2f} ms   p99 {cuts[98] * 1e3:8.2f} ms   "
            f"{len(self.times) / self.commits:5.1f} charges per commit"
        )


@dataclass(frozen=True, slots=True)
class Disk:
    """How much longer than here a commit takes, as on a slower disk."""

    slower: float = 0.0

    def wait(self) -> None:
        """The time that it takes longer, within the transaction."""
        if self.slower:
            time.sleep(self.slower)


HERE = Disk()


def open_accounts(ledger: Ledger) -> None:
    """Accounts four levels deep, of which the lowest charges all."""
    above: tuple[str, ...] = ()
    for name in LEVELS:
        ledger.open_account(
            Opened(
                account=name, budget=PureDP(BUDGET), neighboring_relation=ADD_OR_REMOVE_ONE, privacy_unit="each row",
                parents=above,
            )
        )  # fmt: skip
        above = (name,)


def charge(ledger: Ledger) -> None:
    """One charge, to all four levels."""
    ledger.reserve(LEVELS[-1], event=EVENT, charge=CHARGE, question="how many?")


def clients(action: Callable[[], object], count: int) -> list[float]:
    """How long each action took of clients that go on until the time is over."""
    end = time.perf_counter() + SECONDS

    def client(_: int) -> list[float]:
        times = []
        while (start := time.perf_counter()) < end:
            action()
            times.append(time.perf_counter() - start)
        return times

    with ThreadPoolExecutor(count) as threads:
        return [one for times in threads.map(client, range(count)) for one in times]


def together(location: str, *, count: int = CLIENTS, disk: Disk = HERE) -> Run:
    """Clients of one process, whose charges share commits."""
    with open_ledger(location) as ledger, _commits(disk) as commits:
        times = clients(lambda: charge(ledger), count)
        return Run(times, len(commits))


def one_by_one(location: str, *, disk: Disk = HERE) -> Run:
    """The same, with a commit for every charge."""
    alone = Lock()

    def action() -> None:
        with alone:
            charge(ledger)

    with open_ledger(location) as ledger, _commits(disk) as commits:
        times = clients(action, CLIENTS)
        return Run(times, len(commits))


def in_processes(location: str, *, processes: int = 4) -> Run:
    """The clients of several processes, which share commits with those of their own process."""
    with get_context("spawn").Pool(processes) as pool:
        pool.map(abs, range(processes))  # so that all of them have started
        tasks = [pool.apply_async(together, (location,), {"count": CLIENTS // processes}) for _ in range(processes)]
        return sum((task.get() for task in tasks), Run([], 0))


def plainly(path: Path, *, disk: Disk = HERE) -> Run:
    """A table of sums and one of charges, no hashes and no entries, with a transaction for every charge."""
    with closing(_connected(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE account (name TEXT PRIMARY KEY, cap INTEGER, spent INTEGER)")
        connection.execute("CREATE TABLE charge (id INTEGER PRIMARY KEY, account TEXT, cost INTEGER)")
        connection.executemany("INSERT INTO account VALUES (?, 1000000000, 0)", [(name,) for name in LEVELS])
    connections = [_connected(path) for _ in range(CLIENTS)]
    free = list(connections)

    def action() -> None:
        connection = free.pop()  # there are as many as clients
        connection.execute("BEGIN IMMEDIATE")
        paid = connection.execute("UPDATE account SET spent = spent + 1 WHERE spent + 1 <= cap").rowcount
        connection.execute("INSERT INTO charge (account, cost) VALUES (?, ?)", (LEVELS[-1], 1))
        disk.wait()
        connection.execute("COMMIT" if paid == len(LEVELS) else "ROLLBACK")
        free.append(connection)

    try:
        times = clients(action, CLIENTS)
    finally:
        for connection in connections:
            connection.close()
    return Run(times, len(times))


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous = FULL")
    return connection


@contextmanager
def _commits(disk: Disk) -> Iterator[list[StoreBatch]]:
    """What was appended, once in each transaction, and so in each commit; while it lasts, the disk is slower."""
    batches: list[StoreBatch] = []
    append = OpenTransaction.append

    def appended(transaction: OpenTransaction, batch: StoreBatch) -> None:
        append(transaction, batch)
        batches.append(batch)
        disk.wait()

    with patch.object(OpenTransaction, "append", appended):
        yield batches
