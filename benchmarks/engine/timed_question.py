"""Ask one question some times and print what it took as JSON. Peers import this too: the standard library alone.

A process and all below it are measured, such as the JVM of Spark and its workers; and a database server, if one is
named, whose processes are its children. Memory is the sum of the greatest resident size of each process that lives at
the end, so that what they share counts twice; the server is not in it.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def parents() -> dict[int, int]:
    """The parent of each process."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (fields := stat(int(folder.name))):
            found[int(folder.name)] = int(fields[1])
    return found


def stat(process: int) -> list[str]:
    """What the kernel says of a process, from its state on; nothing, once it has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def tree(root: int) -> list[int]:
    """A process and all below it."""
    above = parents()
    found = [root]
    for process in found:
        found.extend(child for child, parent in above.items() if parent == process)
    return found


def cpu_seconds(roots: Sequence[int]) -> float:
    """User and system time of processes, of all below them, and of those that have ended there."""
    fields = (stat(process) for root in roots for process in tree(root))
    return sum(int(ticks) for one in fields for ticks in one[11:15]) / TICKS


def age() -> float:
    """How long this process has been there, in seconds."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - int(stat(os.getpid())[19]) / TICKS


def peak_megabytes(root: int) -> float:
    sizes = []
    for process in tree(root):
        try:
            status = Path(f"/proc/{process}/status").read_text()
        except OSError:
            continue
        sizes += [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")]
    return sum(sizes) / 1024


def report(question: Callable[[], Sequence[Sequence[float]]], *, runs: int, server: int | None) -> None:
    """Ask it once cold, which is counted from the start of this process, and some times warm.

    Args:
        question: Returns (group, count, sum) of each group.
        runs: How often it is asked warm.
        server: The process of a database server that works for it.
    """
    roots = [os.getpid()] + ([] if server is None else [server])
    answer = question()
    cold = age()
    took = []
    for _ in range(runs):
        start, cpu = time.perf_counter(), cpu_seconds(roots)
        answer = question()
        took.append((time.perf_counter() - start, cpu_seconds(roots) - cpu))
    walls, cpus = zip(*took, strict=True)
    figures = {
        "cold_s": cold, "warm_s": min(walls), "cpu_s": min(cpus), "peak_mb": peak_megabytes(os.getpid()),
        "groups": len(answer), "count": sum(row[1] for row in answer), "sum": sum(row[2] for row in answer),
    }  # fmt: skip
    print(json.dumps(figures))
