"""`sfumato audit mechanism | callable | command`: mechanisms of this package, functions, and programs."""

import re
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import typer

from sfumato.audit.core.adapters import adapted
from sfumato.audit.core.outputs import Outputs
from sfumato.audit.core.roles import AuditedMechanism, NeighborPair
from sfumato.audit.reports.commands import Command
from sfumato.audit.reports.documents import read_pairs
from sfumato.audit.worst_cases import declared_laws, named, worst_pairs
from sfumato.cli.audit.reporting import AuditOptions, audit_and_report
from sfumato.errors import ParameterError
from sfumato.privacy.formats import parse_json

_TWO = 2
_BOOLEANS = {"true": True, "false": False}


def audit_mechanism(
    name: str, parameters: Sequence[str], *, epsilon: str, delta: str, pair: Sequence[str], wanted: AuditOptions
) -> None:
    """Make a mechanism, and audit it on the given pair or on the worst pairs known."""
    stated = parameters_of(parameters)
    mechanism = named(name, stated, epsilon=epsilon, delta=delta)
    pairs = pair_of(pair) or worst_pairs(name, mechanism)
    shown = ", ".join(f"{key}={value}" for key, value in ({"epsilon": epsilon} | stated).items())
    title = f"{type(mechanism).__name__}({shown})"
    audit_and_report(adapted(mechanism), pairs, title=title, wanted=wanted, laws=declared_laws(mechanism), at_once=1000)


def parameters_of(words: Sequence[str]) -> dict[str, Any]:
    """Parameters from text; decimal numbers stay text, which is read exactly.

    Raises:
        ParameterError: One is not NAME=VALUE, or is given twice.

    Example:
        >>> parameters_of(["k=3", "epsilon=0.1", "monotonic=true", "quantiles=[0.1,0.9]"])
        {'k': 3, 'epsilon': '0.1', 'monotonic': True, 'quantiles': ['0.1', '0.9']}
    """
    found: dict[str, Any] = {}
    for word in words:
        name, sign, text = word.partition("=")
        if not (name.isidentifier() and sign and text):
            raise ParameterError("NAME=VALUE", word, "must look like l1_sensitivity=2")
        if name in found:
            raise ParameterError("NAME=VALUE", word, "must be given once")
        found[name] = _value(text)
    return found


def pair_of(texts: Sequence[str]) -> tuple[NeighborPair, ...]:
    """The pair of two exact answers; none if none was given.

    Raises:
        ParameterError: There are not two, or one is not JSON.
    """
    if not texts:
        return ()
    if len(texts) != _TWO:
        raise ParameterError("--pair", list(texts), "must be given twice, for two neighbors: --pair 0 --pair 1")
    first, second = texts
    here, there = (_json(text, "--pair", parse_float=float) for text in texts)
    return (NeighborPair(here, there, f"{first} and {second}"),)


def _value(text: str) -> Any:
    if re.fullmatch(r"-?[0-9]{1,4000}", text):
        return int(text)
    if text.startswith("["):
        return _json(text, "NAME=VALUE", parse_float=str)
    return _BOOLEANS.get(text.lower(), text)


def _json(text: str, name: str, *, parse_float: Any) -> Any:
    try:
        return parse_json(text, parse_float=parse_float)
    except ValueError as error:
        raise ParameterError(name, text, f"must be JSON: {error}") from None


def audit_named(name: str, *, pairs: str, method: str | None, batch: bool, wanted: AuditOptions) -> None:
    """Audit a function or an object of a module."""
    tried = read_pairs(pairs)
    thing = _imported(name)
    if batch and not callable(thing):
        raise ParameterError("--batch", name, "must be a function of a database and a number of runs")
    if batch and method is not None:
        raise ParameterError(
            "--method", method, "cannot be combined with --batch; name the method itself, MODULE:OBJECT.NAME"
        )
    mechanism = _batches(thing, name) if batch else adapted(thing, method=method)
    audit_and_report(mechanism, tried, title=name, wanted=wanted, at_once=None if batch else 1000)


def audit_program(arguments: tuple[str, ...], *, pairs: str, timeout: float, wanted: AuditOptions) -> None:
    """Audit a program that answers on stdout."""
    tried = read_pairs(pairs)
    with Command(arguments, timeout=timeout) as program:
        try:
            audit_and_report(program, tried, title=" ".join(arguments), wanted=wanted)
        except typer.Exit:  # the normal end of an audit: let the program end by itself
            program.close()
            raise


def _batches(function: Callable[[Any, int], Outputs], name: str) -> AuditedMechanism:
    """The function as a mechanism; an error, or an exit, becomes an error of the command."""

    def mechanism(database: Any, count: int, /) -> Outputs:
        try:
            return function(database, count)
        except (Exception, SystemExit) as error:  # noqa: BLE001 # the code of others may raise anything
            raise ParameterError("--batch", name, f"failed with {type(error).__name__}: {error}") from None

    return mechanism


def _imported(name: str) -> Any:
    """An object of a module, which may lie in the current folder."""
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
