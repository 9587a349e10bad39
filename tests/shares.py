"""Runs the tests of `make test` in a few processes at once, each of which collects and runs files of its own.

Where processes share single tests, as pytest-xdist has it, each of them collects all tests, which takes as long as
thousands of tests do, and each test costs several messages, three times as much as running it. Here a share is a list
of files, cut by the times in tests/times.json. Files that need the same server are one share, which starts it once.
"""

import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Final

from tests.near import NOTHING_TO_RUN, ROOT, Times, measured

AT_ONCE: Final = 3
"""One process more than the cores of a small machine, as tests of servers often wait."""
PIECES: Final = 5
"""The files that need no server are cut into so many shares, so that no process ends long before another."""
APART: Final = ("tests/meta/", "tests/learn/torch/")
"""Rules about the project run beside the suite, in `make house`; networks after it, in `make deep`."""
OPTIONS: Final = ("-q", "-m", "not docs", "--part", "-p", "no:xdist", "-p", "no:cacheprovider")

_OF_SERVERS = ("tests/attacks_on_servers/", "tests/client/", "tests/server/")
_OF_ENGINES = re.compile("spark|postgres", re.IGNORECASE)
_DOTS = re.compile(r"^\S+ +\[ *\d+%\]$")
_COUNTED = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|deselected)\b")


@dataclass(frozen=True, slots=True)
class Share:
    """Files that one process runs, in the order of their names."""

    of: str
    files: tuple[str, ...]


def files_in(targets: Iterable[str]) -> list[str]:
    """Files of tests in folders, less the rules about the project; a file or a test stands for itself."""
    found: list[str] = []
    for target in targets:
        path = ROOT / target
        inside = [file.relative_to(ROOT).as_posix() for file in sorted(path.rglob("test_*.py"))]
        found += [file for file in inside if not file.startswith(APART) or target != "tests"] or [target]
    return list(dict.fromkeys(found))


def shares(files: Iterable[str], times: Times, pieces: int = PIECES) -> Iterator[Share]:
    """Those that need servers first, each kind in one share; of the others as many pieces, equally long."""
    kinds: dict[str, list[str]] = {"Spark and PostgreSQL": [], "servers": [], "": []}
    for file in files:
        kinds[_kind_of(file)].append(file)
    others = kinds.pop("")
    yield from (Share(kind, tuple(some)) for kind, some in kinds.items() if some)
    length = sum(map(times.of, others)) / pieces
    piece: list[str] = []
    passed = 0.0
    for number, file in enumerate(others, 1):
        piece.append(file)
        passed += times.of(file)
        if passed >= length or number == len(others):
            yield Share(f"{piece[0]} to {piece[-1]}", tuple(piece))
            piece, passed = [], 0.0


def _kind_of(file: str) -> str:
    if file.startswith(_OF_SERVERS):
        return "servers"
    path = ROOT / file.partition("::")[0]
    return "Spark and PostgreSQL" if _OF_ENGINES.search(path.read_text("utf-8")) else ""


def run(share: Share) -> tuple[int, str]:
    """How pytest ends, and what it says."""
    command = [sys.executable, "-m", "pytest", *OPTIONS, *share.files]
    ended = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return ended.returncode, ended.stdout


def said(share: Share, output: str) -> str:
    """What a share says, less its dots."""
    lines = [line for line in output.splitlines() if not _DOTS.match(line)]
    return "\n".join([f"== {share.of}", *lines])


def counted(outputs: Iterable[str]) -> str:
    """The last lines of all shares as one.

    Example:
        >>> counted(["..\\n2 passed in 0.1s", "F\\n1 failed, 3 passed, 4 deselected in 2.0s"])
        '1 failed, 5 passed, 4 deselected'
    """
    totals = dict.fromkeys(("failed", "error", "passed", "skipped", "deselected", "xfailed", "xpassed"), 0)
    for output in outputs:
        for number, what in _COUNTED.findall(output.rstrip().rpartition("\n")[2]):
            totals[what.removesuffix("s")] += int(number)
    return ", ".join(f"{number} {what}" for what, number in totals.items() if number)


def main(targets: list[str]) -> bool:
    """Runs all shares and prints what each one says when it ends; whether all tests passed."""
    start, outputs, passed = time.monotonic(), [], True
    with ThreadPoolExecutor(AT_ONCE) as pool:
        running = {pool.submit(run, share): share for share in shares(files_in(targets), measured())}
        for ended in as_completed(running):
            code, output = ended.result()
            passed &= code in {0, NOTHING_TO_RUN}
            outputs.append(output)
            sys.stdout.write(f"{said(running[ended], output)}\n")
            sys.stdout.flush()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = f"{time.monotonic() - start:.0f} s, {used.ru_utime + used.ru_stime:.0f} of processor"
    sys.stdout.write(f"== all tests: {counted(outputs)} in {seconds}\n")
    return passed


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
