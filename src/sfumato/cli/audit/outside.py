"""`sfumato audit callable | command`: functions and programs that others wrote."""

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import typer

from sfumato.audit.core.adapters import adapted
from sfumato.audit.core.columns import Outputs
from sfumato.audit.core.roles import Mechanism
from sfumato.audit.reports.commands import Command
from sfumato.audit.reports.documents import read_pairs
from sfumato.cli.audit.reporting import Wanted, audit_and_tell
from sfumato.errors import ParameterError


def audit_named(name: str, *, pairs: str, method: str | None, batch: bool, wanted: Wanted) -> None:
    """Audit what a module calls by that name."""
    tried = read_pairs(pairs)
    thing = _imported(name)
    if batch and not callable(thing):
        raise ParameterError("--batch", name, "needs a function of a database and a number of runs")
    if batch and method is not None:
        raise ParameterError("--method", method, "does not go with --batch: name the method itself, MODULE:OBJECT.NAME")
    mechanism = _batches(thing, name) if batch else adapted(thing, method=method)
    audit_and_tell(mechanism, tried, title=name, wanted=wanted, at_once=None if batch else 1000)


def audit_program(arguments: tuple[str, ...], *, pairs: str, timeout: float, wanted: Wanted) -> None:
    """Audit a program that answers over its pipes."""
    tried = read_pairs(pairs)
    with Command(arguments, timeout=timeout) as program:
        try:
            audit_and_tell(program, tried, title=" ".join(arguments), wanted=wanted)
        except typer.Exit:  # which is how an audit ends: the program may end by itself
            program.close()
            raise


def _batches(function: Callable[[Any, int], Outputs], name: str) -> Mechanism:
    """The same, where an error is none of its outputs and no end of the audit: its exit codes are not ours."""

    def mechanism(database: Any, count: int, /) -> Outputs:
        try:
            return function(database, count)
        except (Exception, SystemExit) as error:  # noqa: BLE001 # the code of others may raise anything
            raise ParameterError("--batch", name, f"failed with {type(error).__name__}: {error}") from None

    return mechanism


def _imported(name: str) -> Any:
    """Something of a module, which may lie in the folder where the command was called, and may do anything."""
    module, colon, _ = name.partition(":")
    if not (module and colon):
        raise ParameterError("MODULE:NAME", name, "must look like package.module:function")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        with redirect_stdout(sys.stderr):
            return resolve_name(name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 # as above
        reason = f"{type(error).__name__}: {error}"
        raise ParameterError("MODULE:NAME", name, f"cannot be imported: {reason}") from None
