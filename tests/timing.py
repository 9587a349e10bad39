"""What tests cost in processor time: `make times` measures it, and of what is slow `make test` runs a part.

A test function is charged with what its process, and those that it started, used while it ran with any of its
parameters, fixtures included. The list is read at each collection, so that nobody marks a test by hand.
"""

import json
import os
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest

TIMES: Final = Path(__file__).with_name("times.json")
"""CPU seconds of each file of tests, and of each test function that took a tenth of a second or more."""

SLOW: Final = 0.2
"""Seconds of all parameters of a test function together, above which it is slow; a part takes no longer."""

LONG: Final = 0.7
"""Seconds of one case, above which a function is long: left to `make audit`, unless its module has no other tests."""

ESSENTIAL: Final = 4.0
"""Seconds that the part of an essential test takes."""

_ROOT: Final = Path(__file__).parents[1]
_WRITTEN: Final = 0.1
_CPU: Final = "cpu"


def slow_functions() -> dict[str, float]:
    """Test functions that are slow, with their seconds."""
    listed: dict[str, float] = json.loads(TIMES.read_text("utf-8"))["tests"]
    return {function: seconds for function, seconds in listed.items() if seconds > SLOW}


def function_of(test: str) -> str:
    """The name of a test without its parameters.

    Example:
        >>> function_of("tests/x/test_y.py::test_z[1-a]")
        'tests/x/test_y.py::test_z'
    """
    return test.partition("[")[0]


def part_of_slow(
    tests: Iterable[str],
    seconds: float = SLOW,
    *,
    essential: frozenset[str] = frozenset(),
    cases: int | None = None,
) -> frozenset[str]:
    """Of each slow function as many tests as take no longer than so, or `ESSENTIAL`, at least one; all others.

    None of those that are long, unless they are essential, or the shortest where a module has no other tests. With
    `cases`, of any function at most so many. A hash of their names decides which ones: the same each time, spread over
    all parameters.
    """
    slow, families = slow_functions(), defaultdict(list)
    for test in tests:
        families[function_of(test)].append(test)
    of_one_case = {function: slow.get(function, 0.0) / len(family) for function, family in families.items()}
    left = _long(of_one_case, essential)
    kept: list[str] = []
    for function, family in families.items():
        if function in left:
            continue
        most = ESSENTIAL if function in essential else seconds
        number = max(1, int(len(family) * most / slow[function])) if function in slow else len(family)
        number = number if cases is None else min(number, cases)
        kept += sorted(family, key=lambda test: sha256(test.encode()).digest())[:number]
    return frozenset(kept)


def _long(of_one_case: Mapping[str, float], essential: frozenset[str]) -> frozenset[str]:
    """Functions with a longer case than `LONG` that are not essential, less one of each module that has no others."""
    long = {function for function, seconds in of_one_case.items() if seconds > LONG and function not in essential}
    tested = {function.partition("::")[0] for function in of_one_case if function not in long}
    for function in sorted(long, key=lambda function: (of_one_case[function], function)):
        file = function.partition("::")[0]
        if file not in tested and _module(file).is_file():
            long.remove(function)
            tested.add(file)
    return frozenset(long)


def _module(file: str) -> Path:
    """The module that a file of tests mirrors, if there is one: tests/x/test_y.py mirrors src/sfumato/x/y.py."""
    path = _ROOT / file.replace("tests/", "src/sfumato/", 1)
    return path.with_name(path.name.removeprefix("test_"))


class Stopwatch:
    """Charges tests with processor time, in whichever process they run, and writes the list in the first one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files: Counter[str] = Counter()
        self._functions: Counter[str] = Counter()
        self._last = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self._last = cpu_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        """Each phase of a test is charged to its report, which travels to the first process."""
        report = yield
        now = cpu_seconds()
        report.user_properties.append((_CPU, now - self._last))
        self._last = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        *_, (_, seconds) = report.user_properties
        self._files[report.nodeid.partition("::")[0]] += seconds
        self._functions[function_of(report.nodeid)] += seconds

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the list, of which files that did not run stay as they are, and print the share of each package."""
        known = json.loads(self._path.read_text("utf-8")) if self._path.exists() else {"files": {}, "tests": {}}
        tests = {name: seconds for name, seconds in self._functions.items() if seconds >= _WRITTEN}
        written = {"files": self._with(known["files"], self._files), "tests": self._with(known["tests"], tests)}
        self._path.write_text(json.dumps(written, indent=0, ensure_ascii=False) + "\n", "utf-8")
        _print_shares(terminalreporter, self._files)

    def _with(self, known: dict[str, float], measured: Mapping[str, float]) -> dict[str, float]:
        """What was known of files that are still there and did not run, with what was measured."""
        kept = {
            name: seconds
            for name, seconds in known.items()
            if (file := name.partition("::")[0]) not in self._files and Path(file).exists()
        }
        return {name: round(seconds, 1) for name, seconds in sorted((kept | dict(measured)).items())}


def _print_shares(reporter: pytest.TerminalReporter, files: Counter[str]) -> None:
    packages: Counter[str] = Counter()
    for file, seconds in files.items():
        packages[file.split("/")[1]] += seconds
    total = packages.total()
    reporter.section("processor time of tests")
    for package, seconds in packages.most_common():
        reporter.line(f"{seconds:8.1f} s {seconds / total:7.1%}  {package}")
    reporter.line(f"{total:8.1f} s          all tests")
    reporter.line(f"{cpu_seconds():8.1f} s          with imports, collection and shared servers")


def cpu_seconds() -> float:
    """What this process and those that it started have used; on Linux also those that still run."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used) + sum(map(_used_by, _SERVERS.running()))


class _Servers:
    """Processes that this one started, such as a Spark for all tests; looked for once in a second."""

    def __init__(self) -> None:
        self._found: list[int] = []
        self._looked = 0.0

    def running(self) -> list[int]:
        if time.monotonic() > self._looked + 1:
            self._found, self._looked = _children(), time.monotonic()
        return self._found


_SERVERS: Final = _Servers()


def _children() -> list[int]:
    processes = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [process for process in processes if (stat := _stat(process)) and int(stat[1]) == os.getpid()]


def _used_by(process: int) -> float:
    """Of one that runs, with what it waited for."""
    return sum(map(int, _stat(process)[11:15])) / os.sysconf("SC_CLK_TCK")


def _stat(process: int) -> list[str]:
    """What Linux says of a process, from its state on; nothing of one that has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return []
