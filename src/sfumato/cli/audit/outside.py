"""`sfumato audit callable | command`: functions and programs that others wrote."""

import sys
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from sfumato.audit.adapters import adapted
from sfumato.audit.commands import Command
from sfumato.audit.documents import read_pairs
from sfumato.cli.audit.reporting import Wanted, audit_and_tell
from sfumato.errors import ParameterError


def audit_named(name: str, *, pairs: str, method: str | None, batch: bool, wanted: Wanted) -> None:
    """Audit what a module calls by that name."""
    tried = read_pairs(pairs)
    thing = _imported(name)
    if batch and not callable(thing):
        raise ParameterError("--batch", name, "needs a function of a database and a number of runs")
    mechanism = thing if batch else adapted(thing, method=method)
    audit_and_tell(mechanism, tried, title=name, wanted=wanted, at_once=None if batch else 1000)


def audit_program(arguments: tuple[str, ...], *, pairs: str, timeout: float, wanted: Wanted) -> None:
    """Audit a program that answers over its pipes."""
    tried = read_pairs(pairs)
    with Command(arguments, timeout=timeout) as program:
        audit_and_tell(program, tried, title=" ".join(arguments), wanted=wanted)


def _imported(name: str) -> Any:
    """Something of a module, which may lie in the folder where the command was called."""
    module, colon, _ = name.partition(":")
    if not (module and colon):
        raise ParameterError("MODULE:NAME", name, "must look like package.module:function")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ParameterError("MODULE:NAME", name, f"cannot be imported: {error}") from None
