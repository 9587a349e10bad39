"""Queries in notebooks: `%load_ext sfumato.client.magic`, then cells of SQL that a server answers.

::

    %sfumato https://curator.example.org adult
    %%sfumato epsilon=0.1
    SELECT sex, COUNT(*) AS n FROM adult GROUP BY sex
"""

import os
import shlex
from typing import Any, Final

from IPython.core.magic import Magics, line_cell_magic, magics_class

from sfumato.client.session import RemoteSession, connect
from sfumato.errors import ParameterError

VARIABLE: Final = "SFUMATO_URL"
"""The variable of the environment that has the address of the server, if no line says it."""

_OPTIONS: Final = frozenset({"epsilon", "delta", "mechanism", "confidence", "size", "into", "dry_run"})


@magics_class
class SfumatoMagics(Magics):
    """`%sfumato` connects, and `%%sfumato` asks; the answer is the value of the cell."""

    session: RemoteSession | None = None

    @line_cell_magic
    def sfumato(self, line: str, cell: str | None = None) -> Any:
        """Connect: ``%sfumato URL [DATASET]``. Ask: ``%%sfumato epsilon=0.1 [delta=…] [into=NAME] [dry_run=yes]``.

        Args:
            line: The address of a server and a dataset; or, above SQL, what the query may cost, and a variable for it.
            cell: A SELECT statement.

        Raises:
            ParameterError: An option is unknown or stated twice, or no server is known.
        """
        words = shlex.split(line)
        if cell is None:
            self.session = _connected(words)
            return self.session
        stated = _options(words)
        if self.session is None:
            self.session = _connected([])
        into, is_dry = stated.pop("into", None), stated.pop("dry_run", "no")
        terms: dict[str, Any] = dict(stated)
        if stated.get("size", "").isdecimal():
            terms["size"] = int(stated["size"])
        question = self.session.query(cell)
        release = question.dry_run(**terms) if is_dry == "yes" else question.release(**terms)
        if into is not None:
            self.shell.user_ns[into] = release  # type: ignore[union-attr] # there is one where magics run
        return release


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext` calls."""
    shell.register_magics(SfumatoMagics)


def _connected(words: list[str]) -> RemoteSession:
    """A session on the server that is named, by a line or in the environment; its key is never on a line."""
    url, *dataset = words or [os.environ.get(VARIABLE, "")]
    if not url or len(dataset) > 1:
        raise ParameterError(
            "%sfumato", " ".join(words), f"must name a server, and a dataset: URL DATASET; or set {VARIABLE}"
        )
    return connect(url, dataset=dataset[0] if dataset else None)


def _options(words: list[str]) -> dict[str, str]:
    stated: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if name not in _OPTIONS or not equals or not value or name in stated:
            raise ParameterError("%%sfumato", word, f"must be NAME=VALUE, each once, of: {', '.join(sorted(_OPTIONS))}")
        stated[name] = value
    if "into" in stated and not stated["into"].isidentifier():
        raise ParameterError("into", stated["into"], "must be the name of a variable")
    return stated
