"""`sfumato audit mechanism | callable | command`: mechanisms of this package by name, and what others wrote."""

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
from sfumato.audit.core.roles import Mechanism, NeighborPair
from sfumato.audit.reports.commands import Command
from sfumato.audit.reports.documents import read_pairs
from sfumato.audit.worst_cases import declared_laws, named, worst_pairs
from sfumato.cli.audit.reporting import Wanted, audit_and_tell
from sfumato.errors import ParameterError
from sfumato.privacy.formats import parse_json

_TWO = 2
_BOOLEANS = {"true": True, "false": False}


def audit_mechanism(
    name: str, parameters: Sequence[str], *, epsilon: str, delta: str, pair: Sequence[str], wanted: Wanted
) -> None:
    """Make it, and audit it on the pair that was stated or on the worst ones known."""
    stated = parameters_of(parameters)
    mechanism = named(name, stated, epsilon=epsilon, delta=delta)
    pairs = pair_of(pair) or worst_pairs(name, mechanism)
    shown = ", ".join(f"{key}={value}" for key, value in ({"epsilon": epsilon} | stated).items())
    title = f"{type(mechanism).__name__}({shown})"
    audit_and_tell(adapted(mechanism), pairs, title=title, wanted=wanted, laws=declared_laws(mechanism), at_once=1000)


def parameters_of(words: Sequence[str]) -> dict[str, Any]:
    """Parameters as they are typed; numbers with a fraction stay text, which is taken exactly.

    Raises:
        ParameterError: One is no NAME=VALUE, or stands twice.

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
            raise ParameterError("NAME=VALUE", word, "must be stated once")
        found[name] = _value(text)
    return found


def pair_of(texts: Sequence[str]) -> tuple[NeighborPair, ...]:
    """The pair of two exact answers; none if none was stated.

    Raises:
        ParameterError: There are not two, or one is no JSON.
    """
    if not texts:
        return ()
    if len(texts) != _TWO:
        raise ParameterError("--pair", list(texts), "must be stated twice, for the two neighbours: --pair 0 --pair 1")
    first, second = texts
    return (NeighborPair(_answer(first), _answer(second), f"{first} and {second}"),)


def _value(text: str) -> Any:
    if re.fullmatch(r"-?[0-9]{1,4000}", text):
        return int(text)
    if text.startswith("["):
        return _json(text, "NAME=VALUE", parse_float=str)
    return _BOOLEANS.get(text.lower(), text)


def _answer(text: str) -> Any:
    return _json(text, "--pair", parse_float=float)


def _json(text: str, name: str, *, parse_float: Any) -> Any:
    try:
        return parse_json(text, parse_float=parse_float)
    except ValueError as error:
        raise ParameterError(name, text, f"must be JSON: {error}") from None


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
