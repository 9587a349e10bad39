"""Where else a checkpoint is sent: out of reach of whoever can put back ledger, checkpoint and key together."""

import shlex
import subprocess
from pkgutil import resolve_name
from typing import Final

from sfumato.errors import LedgerError

SINK: Final = "SFUMATO_LEDGER_SINK"
"""Names a command that reads a checkpoint on its standard input, or a URL that fsspec writes to."""
_PATIENCE: Final = 30  # seconds that a command may take


def send(sink: str, text: str) -> None:
    """Hand a checkpoint over.

    Args:
        sink: A URL such as ``s3://bucket/hospital.checkpoint``, written by fsspec; else a command, run without a shell.
        text: The checkpoint, one line.

    Raises:
        LedgerError: The command failed, or the URL cannot be written.

    Example:
        >>> send("cat", "a checkpoint")
    """
    try:
        if "://" in sink.partition(" ")[0]:
            with resolve_name("fsspec:open")(sink, "w") as file:
                file.write(text)
        else:
            subprocess.run(  # noqa: S603 # the owner's own command
                shlex.split(sink), input=text, text=True, check=True, timeout=_PATIENCE, capture_output=True
            )
    except ImportError:
        raise LedgerError(sink.partition("://")[0], "this sink needs the package fsspec; install it") from None
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        requirement = "the checkpoint was not accepted there; run the command, or write to the URL, by hand to see why"
        raise LedgerError(sink.partition(" ")[0].partition("://")[0], requirement) from error
