"""The Adult census: 48,842 people of the 1994 U.S. census, in two files [BK96].

A file is sought in a given place, in the folder SFUMATO_DATA, in the cache and on its site, and checked by SHA-256.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPException
from io import BytesIO
from pathlib import Path
from typing import Final, Literal
from urllib.request import build_opener
from zipfile import BadZipFile, ZipFile

import pyarrow as pa
from pyarrow import csv

from sfumato.datasets.census import people
from sfumato.errors import ParameterError
from sfumato.numeric.arguments import one_of

_TYPES: Final = {
    "age": pa.int64(),
    "workclass": pa.string(),
    "fnlwgt": pa.int64(),
    "education": pa.string(),
    "education_num": pa.int64(),
    "marital_status": pa.string(),
    "occupation": pa.string(),
    "relationship": pa.string(),
    "race": pa.string(),
    "sex": pa.string(),
    "capital_gain": pa.int64(),
    "capital_loss": pa.int64(),
    "hours_per_week": pa.int64(),
    "native_country": pa.string(),
    "income": pa.string(),
}

ADULT_NAMES: Final = tuple(_TYPES)
"""The fifteen columns in the order of the files, which have no header."""

Part = Literal["train", "test", "all"]
_FILES: Final = {"train": ("adult.data",), "test": ("adult.test",), "all": ("adult.data", "adult.test")}
_SITE: Final = "https://archive.ics.uci.edu"
_TIMEOUT_SECONDS: Final = 5
_MAX_BYTES: Final = 20_000_000  # five times the largest file
_OPTIONAL_FIRST_LINE: Final = b"|1x3 Cross validator\n"  # some copies of adult.test start with it
_SHA256: Final = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "72567b94f5c1a6f8501377dd80f93892c3848ff071cf91ba47e00b0785a28074",
}


def load_adult(part: Part = "train", *, source: str | os.PathLike[str] | None = None) -> pa.Table:
    """The Adult census as typed columns, in the order of its files.

    Without `source` it is looked for in the folder SFUMATO_DATA, then in the cache (the folder sfumato in
    XDG_CACHE_HOME or ~/.cache), then on the site of the UCI repository, five seconds at most a try. Every file is
    checked by SHA-256. Texts are stripped of spaces, "?" (unknown) stays, the stop after the income in adult.test goes.

    Args:
        part: "train" is adult.data with 32,561 rows, "test" adult.test with 16,281, "all" both in this order.
        source: A folder that holds the files, or the one file itself; nothing else is then looked at.

    Raises:
        ParameterError: Another part; no file; a file with another content.

    References:
        [BK96]
    """
    one_of(part, "part", _FILES)
    return pa.concat_tables([_table(_content(name, source)) for name in _FILES[part]])


def adult_or_people() -> tuple[pa.Table, str]:
    """The 32,561 people of adult.data where it can be had, else as many made-up ones; and which of the two it is.

    Raises:
        ParameterError: A file adult.data is there, with another content.
    """
    content = find("adult.data")
    if content is None:
        return people(), "made-up people with the columns of the Adult census (adult.data was not found)"
    return _table(content), "the Adult census (UCI, adult.data)"


def _content(name: str, source: str | os.PathLike[str] | None) -> bytes:
    content = find(name) if source is None else read_given(name, source)
    if content is None:
        raise ParameterError(
            "SFUMATO_DATA",
            os.environ.get("SFUMATO_DATA"),
            f"{name} was not found there or in the cache, and the download failed; get it from "
            f"https://archive.ics.uci.edu/dataset/2/adult and set SFUMATO_DATA to its folder",
        )
    return content


def _table(content: bytes) -> pa.Table:
    tidy = content.replace(b", ", b",").replace(b"K.\n", b"K\n")
    return csv.read_csv(
        BytesIO(tidy),
        read_options=csv.ReadOptions(column_names=list(_TYPES)),
        convert_options=csv.ConvertOptions(column_types=_TYPES),
    )


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


def _known_places(name: str) -> Iterator[Path]:
    if folder := os.environ.get("SFUMATO_DATA"):
        yield Path(folder) / name
    yield _cache() / name


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sfumato"


def _verified(name: str, path: Path) -> bytes:
    content = path.read_bytes().removeprefix(_OPTIONAL_FIRST_LINE)
    if not _is_right(name, content):
        raise ParameterError(name, str(path), f"must have SHA-256 {_SHA256[name]}; remove it and download {name} again")
    return content


def _is_right(name: str, content: bytes) -> bool:
    return hashlib.sha256(content).hexdigest() == _SHA256[name]


def _download(name: str) -> bytes | None:
    """The first right copy that the site gives; whatever else answers (a login page, say) is not a copy."""
    attempts: tuple[Callable[[], bytes], ...] = (
        lambda: _from_archive(name),
        lambda: _fetch(f"ml/machine-learning-databases/adult/{name}"),
    )
    for attempt in attempts:
        with suppress(OSError, HTTPException, BadZipFile, KeyError):
            content = attempt().removeprefix(_OPTIONAL_FIRST_LINE)
            if _is_right(name, content):
                return content
    return None


def _from_archive(name: str) -> bytes:
    with ZipFile(BytesIO(_fetch("static/public/2/adult.zip"))) as archive, archive.open(name) as member:
        return member.read(_MAX_BYTES)


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
