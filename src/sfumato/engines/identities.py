"""What tells the data behind a source from other data, however it is called and wherever it lies.

An identity is computed from rows or names a place, so it is shown to nobody: the session keeps a seal of it.
"""

from hashlib import file_digest
from pathlib import Path
from typing import TypeAlias

from sfumato.errors import ParameterError

Identity: TypeAlias = tuple[str | int, ...]
"""Words and numbers, the first of which says what kind of identity it is."""


def file_identity(path: Path) -> Identity:
    """The bytes of a file: the same by any path, link or name, and of any copy.

    It is read from its beginning to its end, so it takes as long as SHA-256 of it does.

    Raises:
        ParameterError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return "bytes", file_digest(file, "sha256").hexdigest()
    except OSError:
        raise ParameterError("source", path.name, "must be a file that can be read") from None
