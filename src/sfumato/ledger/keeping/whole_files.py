"""Files that are whole: written beside under another name, on the disk before they get their own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato.ledger.keeping.attachments import synced
from sfumato.noise.entropy import random_bytes


@contextmanager
def draft_of(path: Path, content: bytes, *, is_synced: bool = True) -> Iterator[Path]:
    """A file beside another one, with its content on the disk, which only its owner may read.

    Inside, it is given a name in one step, by `os.link` or `Path.replace`; afterwards that is on the disk too. What is
    not synced is whole unless the power fails.

    Raises:
        OSError: It cannot be written.
    """
    draft = path.with_name(f".{path.name}.{random_bytes(8).hex()}")
    try:
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(content)
        if is_synced:
            synced(draft)
        yield draft
        if is_synced:
            synced(path.parent)
    finally:
        draft.unlink(missing_ok=True)
