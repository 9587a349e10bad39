"""How many charges a second last, how many share one commit, and how soon a ledger of a million entries answers.

32 clients charge an account four levels deep, each waiting until its charge lasts before it asks for the next. Beside
it, in the same run: the same ledger with a commit for every charge, and a plain table of sums with a transaction for
every charge, which is the least that keeps a cap; and an fsync of 4 kB, on which all of this depends. As that is quick
on some disks, the same again with a commit that takes 2 ms longer, as on a slow one.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from charging import CLIENTS, SECONDS, Disk, Run, in_processes, one_by_one, open_accounts, plainly, together
from million import ENTRIES, ask, build

from sfumato.ledger.locations import FOLDER, open_ledger
from sfumato.ledger.writes import SNAPSHOT_EVERY

sys.path.append(str(Path(__file__).parents[1] / "engine"))
from postgres_server import OWNER, postgres

SLOW = Disk(slower=0.002)


def fsync_ms(folder: Path) -> float:
    """The median of 200 fsyncs of 4 kB, appended to a file."""
    times = []
    with (folder / "page").open("wb", buffering=0) as file:
        for _ in range(200):
            file.write(b"x" * 4096)
            start = time.perf_counter()
            os.fsync(file.fileno())
            times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


@contextmanager
def ledgers(server: str | None) -> Iterator[Iterator[str]]:
    """Locations of new ledgers, each with its accounts: in files, or on a server."""

    def fresh(folder: Path) -> Iterator[str]:
        number = 0
        while True:
            number += 1
            place = str(folder / f"{number}.db") if server is None else f"{server}?ledger=number{number}"
            with open_ledger(place) as ledger:
                open_accounts(ledger)
            yield place

    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, {FOLDER: folder}):
        yield fresh(Path(folder))


def show(name: str, run: Run, *, than: Run | None = None) -> Run:
    """Print a run, and how many times as quick as another one it was."""
    ratio = "" if than is None else f"   {run.rate / than.rate:5.1f}×"
    print(f"  {name:<44}{run}{ratio}", flush=True)
    return run


def measure(title: str, server: str | None) -> None:
    """All runs on one kind of store."""
    with ledgers(server) as fresh, tempfile.TemporaryDirectory() as folder:
        print(f"{title}, {CLIENTS} clients, {SECONDS:.0f} s each; × is the ratio to one by one")
        single = show("one by one, a commit for every charge", one_by_one(next(fresh)))
        show("together, 32 threads", together(next(fresh)), than=single)
        show("together, 4 processes of 8 threads", in_processes(next(fresh)), than=single)
        print(f"  with commits that take {SLOW.slower * 1e3:.0f} ms longer")
        single = show("one by one, a commit for every charge", one_by_one(next(fresh), disk=SLOW))
        show("together, 32 threads", together(next(fresh), disk=SLOW), than=single)
        if server is None:
            show("a plain table, a transaction for every charge", plainly(Path(folder) / "plain.db"))
            show("the same, 2 ms longer", plainly(Path(folder) / "slow.db", disk=SLOW))


def measure_a_million() -> None:
    """Opening and asking a long ledger."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.db"
        start = time.perf_counter()
        build(path)
        size, built = path.stat().st_size / 1e6, time.perf_counter() - start
        times = [ask(path) for _ in range(5)]
    opened, found = (statistics.median(column) * 1e3 for column in zip(*times, strict=True))
    print(f"a ledger of {ENTRIES:,} entries ({size:,.0f} MB, built in {built:.0f} s), median of 5")
    print(f"  its snapshot is from {SNAPSHOT_EVERY:,} entries ago, as old as it ever is")
    print(f"  open it and say what is left   {opened:8.1f} ms   (target 1,000)")
    print(f"  find one stored answer         {found:8.2f} ms")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        print(f"fsync of 4 kB, median of 200: {fsync_ms(Path(folder)):.2f} ms")
    measure("SQLite", None)
    with postgres() as server:
        measure("PostgreSQL", server.url(OWNER))
    measure_a_million()


if __name__ == "__main__":
    main()
