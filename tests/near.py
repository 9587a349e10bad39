"""What is near to a source file, run in seconds: `make near FILE=src/sfumato/x/y.py`, or all that git says has changed.

Near are its tests, the examples in its docstrings, the bugs that are seeded in it, the tests of its proof, and, of a
role, the tests of whatever keeps its contract. Of slow tests a part is run, as in `make test`; what by measured times
(tests/times.json) does not fit into the budget is named and left out.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path

from tests.mutations.mutants import Mutant, run_suite
from tests.mutations.test_mutants import MUTANTS
from tests.timing import SLOW, TIMES

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "sfumato"
BUDGET = 35.0
"""CPU seconds of all that is run: about half of it in time, with two processes."""
OF_ONE_PROCESS = 10.0
"""More expected seconds than this are shared by two processes."""
OF_A_MUTANT = 2.0
"""Seconds to copy the package, break it and start the tests."""
OF_A_NEW_FILE = 2.0
"""Seconds of a file of tests that nobody has measured."""

A_SCRIPT_RUNS = (
    "tests/examples/test_scripts.py::test_a_script_runs_and_shows_exact_and_private_values_and_what_was_spent"
)
BUGS_FIT = "tests/mutations/test_mutants.py::test_what_is_broken_is_there_to_be_broken"

NOTHING_TO_RUN = 5
"""How pytest ends when all tests that it was given are for `make docs`."""

_ROLE = re.compile(r"^class (\w+)\((?:.*\b)?(?:Protocol|ABC)\b", re.MULTILINE)
_CONTRACT = re.compile(r"^class (\w+Contract)\b", re.MULTILINE)
_SAID = re.compile(r"`((?:tests/)?[\w/]*test_\w+(?:\.py)?)`")
_DEFINED = re.compile(r"^class (\w+)|^(    )?(?:async )?def (test_\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """CPU seconds of files of tests, and of the test functions that take longest, where a part of slow ones is run."""

    files: dict[str, float]
    tests: dict[str, float]

    def of(self, target: str) -> float:
        """Seconds of a file, or of one test with all its parameters."""
        if "::" in target:
            return sum(seconds for test, seconds in self.tests.items() if _is_of(test, target))
        return self.files.get(target, OF_A_NEW_FILE if target.startswith("tests/") else 0.0)

    def of_mutant(self, mutant: Mutant) -> float:
        """Seconds until the named tests have noticed a bug."""
        return OF_A_MUTANT + sum(self.of(target) for target in mutant.tests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is run and why, and what is left out and why."""

    targets: dict[str, str]
    mutants: tuple[Mutant, ...] = ()
    deselected: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    seconds: float = 0.0

    def __str__(self) -> str:
        """One line for each target, each bug, and whatever is left out."""
        lines = [f"  {target}: {why}" for target, why in self.targets.items()]
        lines += [f"  seeded bug: {mutant.name}" for mutant in self.mutants]
        lines += [f"  left out: {line}" for line in self.left_out]
        return "\n".join([f"near, about {self.seconds:.0f} CPU seconds:", *(lines or ["  nothing"])])


def changed() -> list[str]:
    """Files of the working tree that differ from the last commit, and new ones."""
    commands = (
        ["git", "diff", "--name-only", "--diff-filter=d", "HEAD"],
        ["git", "ls-files", "-o", "--exclude-standard"],
    )
    runs = [subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True) for command in commands]
    return sorted({line for run in runs for line in run.stdout.splitlines()})


def near_all(files: Iterable[str]) -> dict[str, str]:
    """Tests that are near to files, each with why, the nearest to each file first."""
    found: dict[str, str] = {}
    for of_one_rank in zip_longest(*map(near, files)):
        for target, why in filter(None, of_one_rank):
            found.setdefault(target, why)
    return {
        target: why for target, why in found.items() if "::" not in target or target.partition("::")[0] not in found
    }


def near(file: str) -> Iterator[tuple[str, str]]:
    """Tests that are near to a file, each with why, the nearest first; some may come twice."""
    path = ROOT / file
    match Path(file).parts:
        case ["src", "sfumato", *_]:
            yield from _near_a_source(path)
        case ["tests", *_] if path.match("test_*.py"):
            yield file, "itself"
        case ["tests", "mutations", _]:
            yield BUGS_FIT, f"seeds {file}"
        case ["tests", *_, "conftest.py"]:
            yield from ((_name(test), f"has {file}") for test in sorted(path.parent.rglob("test_*.py")))
        case ["tests", *_]:
            yield from ((test, f"uses {file}") for test in _users(path))
        case ["examples", _]:
            yield f"tests/examples/test_{path.name}", f"tests of {file}"
            yield f"{A_SCRIPT_RUNS}[{path.stem}]", f"runs {file}"
        case [*folders, _] if path.suffix == ".md":
            yield from ((f"tests/meta/test_{rule}.py", "rules about documents") for rule in ("docs", "readme", "words"))
            if folders[:1] == ["proofs"]:
                yield from ((test, f"named in {file}") for test in tests_named_in(path))


def _near_a_source(path: Path) -> Iterator[tuple[str, str]]:
    inside = path.relative_to(SOURCE)
    file, text = _name(path), _text(path)
    twin = ROOT / "tests" / inside.with_name(f"test_{path.stem.replace('-', '_')}.py")
    if twin.is_file():
        yield _name(twin), "its tests"
    if re.search(r"^\s*>>> ", text, re.MULTILINE):
        yield file, "examples in its docstrings"
    if path.stem == "__init__":
        yield "tests/meta/test_exports.py", "what packages export"
    elif path.stem == "__main__":
        yield from ((test, "starts the package") for test in _having(r'"-m", "sfumato"'))
    elif not twin.is_file():
        yield from ((test, f"imports {file}") for test in _users(path))
    own = ROOT / "proofs" / inside.with_suffix(".md")
    notes = (ROOT / "proofs" / inside.parts[0]).rglob("*.md")
    for note in sorted(notes, key=lambda note: (note != own, note)):
        named = path.name if note.parent == own.parent else f"{path.parent.name}/{path.name}"
        if note == own or re.search(rf"[`/]{re.escape(named)}`", _code(note)):
            yield from ((test, f"named in {_name(note)}") for test in tests_named_in(note))
    if roles := _ROLE.findall(text):
        yield from _keepers(path, roles)


def _keepers(path: Path, roles: list[str]) -> Iterator[tuple[str, str]]:
    """Tests of what keeps a role's contract, and of what inherits the role."""
    inside = path.relative_to(SOURCE)
    contracts = sorted((ROOT / "tests" / inside.parts[0]).rglob("*contract.py"))
    importing = [contract for contract in contracts if _module(path) in _text(contract)]
    beside = [contract for contract in contracts if contract.parent == ROOT / "tests" / inside.parent]
    for contract in importing or beside:
        classes = _CONTRACT.findall(_text(contract))
        for test in _users(contract):
            kept = re.compile(rf"^class \w+\(.*\b(?:{'|'.join(classes)})\b", re.MULTILINE)
            if not classes or kept.search(_text(ROOT / test)):
                yield test, f"keeps {_name(contract)}"
    heir = re.compile(rf"^class \w+\([^)]*\b(?:{'|'.join(roles)})\b", re.MULTILINE)
    for source in _sources():
        if source != path and _module(path) in _text(source) and heir.search(_text(source)):
            twin = ROOT / "tests" / source.relative_to(SOURCE).with_name(f"test_{source.name}")
            if twin.is_file():
                yield _name(twin), f"{_name(source)} inherits {' or '.join(roles)}"


@cache
def tests_named_in(note: Path) -> list[str]:
    """Files of tests that a proof names, and tests that it names which are in none of these files."""
    said = list(dict.fromkeys(_SAID.findall(_text(note))))
    folder = ROOT / "tests" / note.parent.relative_to(ROOT / "proofs")
    files = [file for label in said if label.endswith(".py") and (file := _file_of_tests(label, folder))]
    named = [label for label in said if not label.endswith(".py")]
    named = [label for label in named if not any(path in files for path, _ in _definitions().get(label, []))]
    return [*map(_name, files), *(test for label in named for test in _named(label, folder))]


def _file_of_tests(label: str, folder: Path) -> Path | None:
    beside = ROOT / label if label.startswith("tests/") else folder / label
    anywhere = [path for path in _files_of_tests() if path.name == label]
    return beside if beside.is_file() else anywhere[0] if len(anywhere) == 1 else None


def _named(label: str, folder: Path) -> list[str]:
    """Tests of a name in a folder, or elsewhere if it has none."""
    having = _definitions().get(label, [])
    return [test for path, test in having if path.parent == folder] or [test for _, test in having]


@cache
def _definitions() -> dict[str, list[tuple[Path, str]]]:
    """Where tests are defined, by the name of each."""
    found: dict[str, list[tuple[Path, str]]] = {}
    for path in _files_of_tests():
        group = ""
        for opened, indent, label in _DEFINED.findall(_text(path)):
            group = opened or group
            if label:
                test = "::".join([_name(path), *([group] if indent else []), label])
                found.setdefault(label, []).append((path, test))
    return found


def fitting(targets: dict[str, str], mutants: Iterable[Mutant], times: Times) -> Plan:
    """What of all that is near fits into the budget; mutants have a third of it if they need it."""
    kept: dict[str, str] = {}
    deselected: list[str] = []
    left_out: list[str] = []
    bugs = sorted(mutants, key=times.of_mutant)
    for_bugs = min(sum(map(times.of_mutant, bugs)), BUDGET / 3)
    left = BUDGET - for_bugs
    for target, why in targets.items():
        seconds = times.of(target)
        slow: list[str] = []
        of_target = {test: cost for test, cost in times.tests.items() if _is_of(test, target)}
        for test, cost in sorted(of_target.items(), key=lambda item: -item[1]):
            if seconds > left:
                slow.append(test)
                seconds -= cost
        if seconds > left or ("::" in target and slow):
            left_out.append(f"{target}, {times.of(target):.0f} s: {why}")
            continue
        kept[target] = why
        left -= seconds
        deselected += slow
        left_out += [f"{test}, {of_target[test]:.0f} s" for test in slow]
    left += for_bugs
    tried = []
    for bug in bugs:
        if times.of_mutant(bug) <= left:
            tried.append(bug)
            left -= times.of_mutant(bug)
        else:
            left_out.append(f"seeded bug, {times.of_mutant(bug):.0f} s: {bug.name}")
    return Plan(
        targets=kept,
        mutants=tuple(tried),
        deselected=tuple(deselected),
        left_out=tuple(left_out),
        seconds=BUDGET - left,
    )


def run(plan: Plan) -> bool:
    """Whether the tests pass and the bugs are noticed."""
    ended = 0
    if plan.targets:
        shared = ["-n", "2", "--dist", "worksteal"] if plan.seconds > OF_ONE_PROCESS else []
        options = ["-q", "-m", "not docs", "--part", "--doctest-modules", *shared]
        deselected = [option for test in plan.deselected for option in ("--deselect", test)]
        command = [sys.executable, "-m", "pytest", *options, *deselected, *plan.targets]
        ended = subprocess.run(command, cwd=ROOT, check=False).returncode
    with ThreadPoolExecutor(2) as pool:
        noticed = list(pool.map(_is_noticed, plan.mutants))
    return ended in {0, NOTHING_TO_RUN} and all(noticed)


def _is_noticed(mutant: Mutant) -> bool:
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        result = run_suite(Path(folder), mutant, broken=True)
    noticed = result.exit_code == 1
    _say(f"{'noticed' if noticed else 'NOT NOTICED'}, {time.monotonic() - start:.1f} s: {mutant.name}")
    return noticed


def measured() -> Times:
    """What `make times` wrote down, less what is not run of slow tests."""
    listed = json.loads(_text(TIMES))
    files = dict(listed["files"])
    for test, seconds in listed["tests"].items():
        files[test.partition("::")[0]] -= max(0.0, seconds - SLOW)
    return Times(files=files, tests={test: min(seconds, SLOW) for test, seconds in listed["tests"].items()})


def main(files: list[str]) -> bool:
    """Says what is near to the files, or to what has changed, and runs it."""
    looked_at = files or changed()
    if missing := [file for file in looked_at if not (ROOT / file).is_file()]:
        raise SystemExit(f"no such file: {', '.join(missing)}. Name it from the root, as src/sfumato/errors.py")
    mutants = [mutant for mutant in MUTANTS if any(f"src/sfumato/{name}" in looked_at for name, _, _ in mutant.edits)]
    plan = fitting(near_all(looked_at), mutants, measured())
    _say(str(plan) if TIMES.is_file() else f"{plan}\n  (measured times are missing: make times writes them)")
    return run(plan)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _is_of(test: str, target: str) -> bool:
    return test == target or test.startswith((f"{target}::", f"{target}["))


def _users(path: Path) -> list[str]:
    """Files of tests that import a module, of the package or of the tests, or name another file."""
    used = rf"\b{re.escape(_module(path))}\b" if path.suffix == ".py" else re.escape(path.name)
    return _having(used)


def _having(pattern: str) -> list[str]:
    """Files of tests in which a pattern occurs."""
    return [_name(test) for test in _files_of_tests() if re.search(pattern, _text(test))]


@cache
def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[1:] if parts[0] == "src" else parts)


def _code(note: Path) -> str:
    """The paragraph after the heading, in which a note says of which code it is."""
    return _text(note).partition("\n\n")[2].partition("\n\n")[0]


@cache
def _files_of_tests() -> tuple[Path, ...]:
    return tuple(sorted((ROOT / "tests").rglob("test_*.py")))


@cache
def _sources() -> tuple[Path, ...]:
    return tuple(sorted(SOURCE.rglob("*.py")))


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
