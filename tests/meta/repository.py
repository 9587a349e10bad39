"""What the tests about the project itself look at: its files, each read once."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "sfumato"
_VISIBLE = {".ci", ".github"}  # the only hidden folders that are part of the project
_MADE = {"build", "dist", "demo-output", "example-output", "__pycache__"}


def modules() -> list[Path]:
    """Every Python file of the package."""
    return sorted(SOURCE.rglob("*.py"))


def name(path: Path) -> str:
    """A path as failures show it."""
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a Python file."""
    return ast.parse(path.read_text("utf-8"))


@cache
def texts() -> dict[Path, str]:
    """Every text file of the project with its content; what tools leave behind, and binary files, are not."""
    found = {}
    for path in _files(ROOT):
        try:
            found[path] = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
    return found


def documents() -> dict[Path, str]:
    """Every Markdown file with its content."""
    return {path: text for path, text in texts().items() if path.suffix == ".md"}


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in _MADE and (path.name in _VISIBLE or not path.name.startswith(".")):
            yield from _files(path)
        elif path.is_file():
            yield path
