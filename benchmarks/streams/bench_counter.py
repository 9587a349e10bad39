"""How fast does a counter take events in and release sums, in memory and durably; and what do many keys take?

On one core. Durable commits are beside the bare fsync of the same disk, as the disk decides how long they take. Each
figure is the best of three; memory is that of a process of its own, over that of the imports.
"""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import sfumato as sf

REPEATS = 3
TARGETS = {"events a second, in arrays": 1e6, "releases a second, in blocks": 1e5, "megabytes of 100,000 keys": 200}


def counter(session=None, *, unit=sf.EACH_ROW, state=None, horizon=1 << 20, **options):
    """A counter of a year of seconds or so."""
    session = session or sf.streams.StreamSession("visits", budget=sf.ZCDP(100), unit=unit)
    facts = {"mechanism": sf.mechanisms.BinaryTree, "rho": 1, "horizon": horizon}
    return sf.streams.Counter(session=session, state=state, **(facts | options))


def seconds(work, repeats=REPEATS):
    """The least time of a few."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def events():
    """Events a second: one by one, in arrays, with keys, and with units whose participation is bounded."""
    many, keys = 1_000_000, tuple(range(1000))
    rng = np.random.default_rng(1)
    plain, by_key = counter(), counter(measure=sf.streams.EventCount(keys=keys))
    steps, chosen = rng.integers(1, 100, many), rng.integers(0, 1000, many)
    yield "events a second, one by one", 100_000 / seconds(lambda: [plain.add() for _ in range(100_000)])
    yield "events a second, in arrays", many / seconds(lambda: plain.add_many(steps=steps))
    yield "events a second, in arrays with keys", many / seconds(lambda: by_key.add_many(keys=chosen))
    sums = counter(measure=sf.streams.ClampedSum(0, 100))
    yield "events a second, in arrays of numbers", many / seconds(lambda: sums.add_many(chosen))
    people = [counter(unit="visitor", participation=sf.mechanisms.Participation(5)) for _ in range(REPEATS)]
    units = rng.integers(0, 200_000, many)
    yield "events a second, in arrays with units", many / seconds(lambda: people.pop().add_many(units=units))


def releases():
    """Releases a second in memory."""
    single, block = counter(), counter()
    yield "releases a second, one by one", 2_000 / seconds(lambda: [single.tick() for _ in range(2_000)])
    yield "releases a second, in blocks", 100_000 / seconds(lambda: block.tick(100_000))


def durable():
    """Milliseconds of a durable release, beside those of a sync; and durable releases a second, in blocks."""
    with TemporaryDirectory(dir=Path.cwd()) as folder:
        path = Path(folder)
        descriptor = os.open(path / "bare", os.O_CREAT | os.O_RDWR)

        def sync():
            for at in range(100):
                os.pwrite(descriptor, b"x" * 4096, 4096 * at)
                os.fsync(descriptor)

        yield "milliseconds of a bare fsync", 10 * seconds(sync)
        account = sf.streams.StreamSession("visits", budget=sf.ZCDP(100), ledger=str(path / "ledger.db"))
        with account, counter(account, state=path / "state") as visits:
            yield "milliseconds of a durable release", 10 * seconds(lambda: [visits.tick() for _ in range(100)])
            blocks = seconds(lambda: [visits.tick(10_000) for _ in range(10)])
            yield "durable releases a second, in blocks of 10,000", 100_000 / blocks


def keyed():
    """Megabytes that 100,000 keys take in a process of their own, after steps with a million events."""
    found = subprocess.run([sys.executable, __file__, "keyed"], check=True, capture_output=True, text=True)
    yield from json.loads(found.stdout).items()


def resident():
    """Megabytes of memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def in_process():
    """The work of that process."""
    before = resident()
    many = counter(horizon=365, measure=sf.streams.EventCount(keys=tuple(range(100_000))))
    rng = np.random.default_rng(1)
    taken = []
    for _ in range(10):
        many.add_many(keys=rng.integers(0, 100_000, 100_000))
        start = time.perf_counter()
        many.tick()
        taken.append(time.perf_counter() - start)
    print(
        json.dumps(
            {
                "megabytes of 100,000 keys": resident() - before,
                "milliseconds of a step of 100,000 keys": 1000 * min(taken),
            }
        )
    )


def main():
    """Print each figure, and its target where it has one."""
    for part in (events, releases, durable, keyed):
        for name, figure in part():
            target = f"  (target {TARGETS[name]:,.0f})" if name in TARGETS else ""
            print(f"{name:50} {figure:14,.2f}{target}")


if __name__ == "__main__":
    in_process() if sys.argv[1:] == ["keyed"] else main()
