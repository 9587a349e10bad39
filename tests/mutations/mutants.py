"""Seeded bugs: what is broken, where, and which part of the suite must notice.

Each mutant is a copy of the package with one text replaced. It is applied to a copy in a temporary folder, never to the
sources, and the named tests run against it in a process of their own.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One seeded bug."""

    name: str
    edits: tuple[tuple[str, str, str], ...]
    tests: tuple[str, ...]


def run_suite(folder: Path, mutant: Mutant, *, broken: bool) -> subprocess.CompletedProcess[str]:
    """The named tests against a copy of the package, with the bug or without it."""
    package = folder / "sfumato"
    shutil.copytree(ROOT / "src" / "sfumato", package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, old, new in mutant.edits if broken else ():
        module = package / name
        text = module.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise AssertionError(f"{mutant.name}: {old!r} stands {text.count(old)} times in {name}")
        module.write_text(text.replace(old, new), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += ["--hypothesis-profile=mutants", *mutant.tests]  # it need not find the smallest example
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
