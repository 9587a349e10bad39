"""Finding a public file: in a given place, in SFUMATO_DATA, in the cache, or on its site; always checked by SHA-256."""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPException
from io import BytesIO
from pathlib import Path
from typing import Final
from urllib.request import build_opener
from zipfile import BadZipFile, ZipFile

from sfumato.errors import ParameterError

_SITE: Final = "https://archive.ics.uci.edu"
_TIMEOUT_SECONDS: Final = 5
_MAX_BYTES: Final = 20_000_000  # five times the largest file
_OPTIONAL_FIRST_LINE: Final = b"|1x3 Cross validator\n"  # some copies of adult.test start with it
_SHA256: Final = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "72567b94f5c1a6f8501377dd80f93892c3848ff071cf91ba47e00b0785a28074",
}


def read_given(name: str, source: str | os.PathLike[str]) -> bytes:
    """A named file from a folder, or from the path of the file itself.

    Raises:
        ParameterError: There is none, or it has another content.
    """
    path = Path(source)
    path = path / name if path.is_dir() else path
    if not path.is_file():
        raise ParameterError("source", str(source), f"must be {name} or a folder that holds it")
    return _verified(name, path)


def find(name: str) -> bytes | None:
    """A named file from SFUMATO_DATA, the cache or its site; None where none of them has it.

    Raises:
        ParameterError: A file of that name has another content.
    """
    for path in _known_places(name):
        if path.is_file():
            return _verified(name, path)
    content = _download(name)
    if content is not None:
        _remember(name, content)
    return content


def _known_places(name: str) -> Iterator[Path]:
    if folder := os.environ.get("SFUMATO_DATA"):
        yield Path(folder) / name
    yield _cache() / name


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sfumato"


def _verified(name: str, path: Path) -> bytes:
    content = path.read_bytes().removeprefix(_OPTIONAL_FIRST_LINE)
    if not _is_right(name, content):
        raise ParameterError(name, str(path), f"must have SHA-256 {_SHA256[name]}; remove it and fetch {name} anew")
    return content


def _is_right(name: str, content: bytes) -> bool:
    return hashlib.sha256(content).hexdigest() == _SHA256[name]


def _download(name: str) -> bytes | None:
    """The first right copy that the site gives; whatever else answers (a login page, say) is not a copy."""
    attempts: tuple[Callable[[str], bytes], ...] = (_from_archive, _from_folder)
    for attempt in attempts:
        with suppress(OSError, HTTPException, BadZipFile, KeyError):
            content = attempt(name).removeprefix(_OPTIONAL_FIRST_LINE)
            if _is_right(name, content):
                return content
    return None


def _from_archive(name: str) -> bytes:
    with ZipFile(BytesIO(_fetch("static/public/2/adult.zip"))) as archive, archive.open(name) as member:
        return member.read(_MAX_BYTES)


def _from_folder(name: str) -> bytes:
    return _fetch(f"ml/machine-learning-databases/adult/{name}")


def _fetch(path: str) -> bytes:
    with build_opener().open(f"{_SITE}/{path}", timeout=_TIMEOUT_SECONDS) as response:
        content: bytes = response.read(_MAX_BYTES)
    return content


def _remember(name: str, content: bytes) -> None:
    """Keep a copy, whole or not at all; a home that cannot be written is no reason to fail."""
    with suppress(OSError):
        _cache().mkdir(parents=True, exist_ok=True)
        unfinished = _cache() / f"{name}.{os.getpid()}"
        unfinished.write_bytes(content)
        unfinished.replace(_cache() / name)
