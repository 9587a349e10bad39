"""A small file of two slots, which are written in place by turns: one of them is whole, whatever stops a write.

Renaming a new file into place takes half a millisecond, writing a block of a file that is there some microseconds.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

BLOCK: Final = 4096
"""Slots are whole blocks, because disks write a block at once, or most do."""
_DIGEST: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A text in a file, and where it begins."""

    offset: int
    text: str


def slots_in(content: bytes) -> tuple[Slot, ...]:
    """The whole slots of a file; one that was torn, cut or bent is none.

    The digest in front of a text tells a whole one from a torn one. It has no key: who wrote a text is for its seal.

    Example:
        >>> content = file_of("first")
        >>> slots_in(content)
        (Slot(offset=0, text='first'),)
        >>> slots_in(content.replace(b"first", b"fir"))
        ()
    """
    return tuple(_slots(content))


def file_of(text: str) -> bytes:
    """A file with a text in its first slot, an empty second one, and room for a text that is half as long again."""
    line = _line(text)
    size = -(-len(line) * 3 // 2 // BLOCK) * BLOCK
    return line.ljust(size) + b" " * size


def write_beside(path: Path, content: bytes, last: Slot, text: str) -> bool:
    """Write a text into the slot beside the last one, by one write in place; whether there is room for it.

    Args:
        path: The file.
        content: What it holds.
        last: The slot that has to stay.
        text: One line of ASCII.

    Raises:
        OSError: It cannot be written, or not all of it.
    """
    size, rest = divmod(len(content), 2)
    line = _line(text)
    if rest or size % BLOCK or last.offset not in (0, size) or len(line) > size:
        return False
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        written = os.pwrite(descriptor, line.ljust(size), 0 if last.offset else size)
    finally:
        os.close(descriptor)
    if written != size:
        raise OSError(f"{written} of {size} bytes were written")
    return True


def _slots(content: bytes) -> Iterator[Slot]:
    for offset in range(0, len(content), BLOCK):
        text = _whole(content[offset : content.find(b"\n", offset) + 1])
        if text is not None:
            yield Slot(offset=offset, text=text)


@lru_cache(maxsize=16)
def _whole(line: bytes) -> str | None:
    """The text of a line behind its digest."""
    digest, text = line[:_DIGEST], line[_DIGEST + 1 : -1]
    if sha256(text).hexdigest().encode() != digest or line != digest + b" " + text + b"\n":
        return None
    return text.decode("ascii", "replace")


def _line(text: str) -> bytes:
    content = text.encode("ascii")
    return sha256(content).hexdigest().encode() + b" " + content + b"\n"
