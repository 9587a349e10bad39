"""What each test costs in processor time: `make times` measures it, and what cost more than a second is `slow`.

A test is charged with what its process used while it ran, and what processes that ended in that time used, fixtures
included. The list is written by `make times` and read at each collection: nobody marks a test by hand.
"""

import json
import resource
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

TIMES: Final = Path(__file__).with_name("times.json")
"""CPU seconds of each file of tests, and of each test that took a fifth of a second or more."""

SLOW: Final = 1.0
_WRITTEN: Final = 0.2
_CPU: Final = "cpu"


def slow_tests() -> frozenset[str]:
    """Tests that cost more than a second when they were measured."""
    return frozenset(test for test, seconds in json.loads(TIMES.read_text("utf-8"))["tests"].items() if seconds > SLOW)


class Stopwatch:
    """Charges tests with processor time, in whichever process they run, and writes the list in the first one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seconds: defaultdict[str, float] = defaultdict(float)
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
        phases = [seconds for name, seconds in report.user_properties if name == _CPU]
        self._seconds[report.nodeid] += phases[-1]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the list, and print the share of each package."""
        files: Counter[str] = Counter()
        for test, seconds in self._seconds.items():
            files[test.partition("::")[0]] += seconds
        listed = {
            "files": {file: round(seconds, 1) for file, seconds in sorted(files.items())},
            "tests": {
                test: round(seconds, 1) for test, seconds in sorted(self._seconds.items()) if seconds >= _WRITTEN
            },
        }
        self._path.write_text(json.dumps(listed, indent=0, ensure_ascii=False) + "\n", "utf-8")
        _print_shares(terminalreporter, files)


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
    """What this process has used, and those that it started and waited for; not yet what a server that runs on has."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)
