"""What the tests about the project itself look at: its files, each read and parsed once a process."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "sfumato"
_VISIBLE = {".ci", ".github"}  # the only hidden folders that are part of the project
_MADE = {"build", "dist", "demo-output", "example-output", "__pycache__"}
_OF_GIT = ".git"  # a file where a working tree is one of several


@cache
def modules() -> tuple[Path, ...]:
    """Every Python file of the package."""
    return tuple(sorted(SOURCE.rglob("*.py")))


def name(path: Path) -> str:
    """A path as failures show it."""
    return path.relative_to(ROOT).as_posix()


def inside(path: Path) -> str:
    """A path of the package, as seen from the package."""
    return path.relative_to(SOURCE).as_posix()


@cache
def text(path: Path) -> str:
    """The content of a text file."""
    return path.read_text("utf-8")


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a Python file."""
    return ast.parse(text(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of the syntax tree of a Python file."""
    return tuple(ast.walk(tree(path)))


@cache
def texts() -> dict[Path, str]:
    """Every text file of the project with its content; what tools leave behind, and binary files, are not."""
    found = {}
    for path in _files(ROOT):
        try:
            found[path] = text(path)
        except UnicodeDecodeError:
            continue
    return found


@cache
def documents() -> dict[Path, str]:
    """Every Markdown file with its content."""
    return {path: text for path, text in texts().items() if path.suffix == ".md"}


def offenders(found: Iterable[tuple[Path, Iterable[object]]]) -> list[str]:
    """Paths with what is wrong in them, as failures show them; paths where nothing is wrong are left out."""
    listed = ((path, ", ".join(map(str, wrong))) for path, wrong in found)
    return [f"{name(path)}: {wrong}" for path, wrong in listed if wrong]


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in _MADE and (path.name in _VISIBLE or not path.name.startswith(".")):
            yield from _files(path)
        elif path.is_file() and path.name != _OF_GIT:
            yield path
