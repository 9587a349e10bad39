"""Seeded bugs: what is broken, where, and which part of the suite must notice.

Each mutant is a copy of the package with one text replaced. It is applied to a copy in a temporary folder, never to the
sources, and the named tests run against it in a process of their own.
"""

import os
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One seeded bug; `at_full_size` where statistical tests notice it with as many runs as `make audit` has alone."""

    name: str
    edits: tuple[tuple[str, str, str], ...]
    tests: tuple[str, ...]
    at_full_size: bool = False


_ANOTHER = 50
"""How tests end that ran on another package than the copy."""

_ENDED = 100
"""What is added to the exit code of tests that ran to their end, which no crash has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How the named tests ended."""

    exit_code: int
    output: str


PROCESSES = get_context("forkserver")
PROCESSES.set_forkserver_preload(["duckdb", "pyarrow", "pytest", "scipy.stats", "sqlglot"])
"""What nothing breaks is imported once: that takes longer than most of the tests."""


def run_suite(folder: Path, mutant: Mutant, *, broken: bool) -> Run:
    """The named tests against a copy of the package, with the bug or without it, in a process of their own."""
    package = folder / "sfumato"
    shutil.copytree(ROOT / "src" / "sfumato", package)
    for name, old, new in mutant.edits if broken else ():
        module = package / name
        text = module.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise AssertionError(f"{mutant.name}: {old!r} stands {text.count(old)} times in {name}")
        module.write_text(text.replace(old, new), encoding="utf-8")
        for compiled in module.parent.glob(f"__pycache__/{module.stem}.*.pyc"):
            compiled.unlink()
    output = folder / "output.txt"
    process = PROCESSES.Process(target=_run_tests, args=(folder, mutant, output))
    process.start()
    process.join()
    if process.exitcode is None or process.exitcode < _ENDED:
        raise AssertionError(f"{mutant.name}: the tests did not run to their end, {process.exitcode}")
    return Run(exit_code=process.exitcode - _ENDED, output=output.read_text(encoding="utf-8"))


def _run_tests(folder: Path, mutant: Mutant, output: Path) -> None:
    os.chdir(ROOT)
    os.environ["PYTHONPATH"] = str(folder)  # for the processes that tests start
    if not mutant.at_full_size:
        os.environ.pop("SFUMATO_FULL_SIZE", None)  # fewer runs notice it, and sooner
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    for name in [name for name in sys.modules if name.partition(".")[0] == "sfumato"]:
        del sys.modules[name]  # other tests have theirs imported beforehand, by the one server of a process
    with output.open("w", encoding="utf-8") as file, redirect_stdout(file), redirect_stderr(file):
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile=mutants"]
        code = pytest.main([*options, *mutant.tests])
    imported = sys.modules.get("sfumato")
    is_the_copy = imported is None or Path(str(imported.__file__)).is_relative_to(folder)
    os._exit(_ENDED + (code if is_the_copy else _ANOTHER))
