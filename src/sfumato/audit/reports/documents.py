"""What audits read and write as JSON: outputs of runs, pairs of databases, reports."""

from collections.abc import Mapping, Sized
from collections.abc import Set as AbstractSet
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from math import copysign, isfinite
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from sfumato.audit.core.findings import CAVEAT, AuditReport
from sfumato.audit.core.outputs import Outputs, as_float, label, plain
from sfumato.audit.core.roles import NeighborPair
from sfumato.errors import ParameterError
from sfumato.privacy.formats import parse_json
from sfumato.privacy.guarantees import ApproxDP

Json: TypeAlias = Any
"""Lists, dicts with text as keys, text, numbers, booleans and None."""

_MOST_BITS: Final = 14_000  # of an integer that is written in decimals; Python stops at 4,300 of those
_FIELDS: Final = frozenset({"database", "neighbor", "description"})
_PAIR_FORM: Final = 'must look like {"database": [1, 2], "neighbor": [2], "description": "the first is removed"}'


def encoded(value: Any) -> Json:
    """A value as JSON has it: equal values alike, different ones apart.

    Tuples and arrays become lists, and keys text. Numbers that no double holds become their nearest double beside their
    exact text. Of everything else the text remains.

    Example:
        >>> encoded((1, Fraction(1, 3)))
        [1, {'number': 0.3333333333333333, 'exactly': 'Fraction(1, 3)'}]
    """
    match value:
        case np.generic() if not isinstance(held := value.item(), np.generic):  # a long double holds no other
            return encoded(held)
        case None | bool() | str() | float():
            return value
        case int() if value.bit_length() <= _MOST_BITS:
            return value
        case int() | Fraction() | Decimal():
            return {"number": as_float(value), "exactly": label(value)}
        case list() | tuple():
            return [encoded(part) for part in value]
        case Mapping():
            return {key if isinstance(key, str) else label(key): encoded(part) for key, part in value.items()}
        case np.ndarray():
            return encoded(value.tolist())
        case _:
            return label(plain(value))


def encoded_outputs(outputs: Outputs) -> list[Json]:
    """Outputs of runs as JSON. Those of an array without its dtype, which the oddest output chose for all of them.

    Raises:
        ParameterError: They stand in no order.

    Example:
        >>> encoded_outputs(np.array([1.0, 2.5]))
        [1, 2.5]
    """
    if isinstance(outputs, np.ndarray) and outputs.ndim > 0:
        return [_without_dtype(encoded(row)) for row in outputs]
    if isinstance(outputs, str | bytes | Mapping | AbstractSet | np.ndarray) or not isinstance(outputs, Sized):
        raise ParameterError("outputs", type(outputs).__name__, "must be a list, tuple or array with one for each run")
    return [encoded(output) for output in outputs]


def _without_dtype(value: Json) -> Json:
    match value:
        case list():
            return [_without_dtype(part) for part in value]
        case bool():
            return int(value)
        case float() if value.is_integer() and (value != 0 or copysign(1, value) > 0):
            return int(value)
        case _:
            return value


def read_json(path: str | Path, *, name: str) -> Json:
    """The content of a file of JSON; NaN, Infinity and -Infinity stand for themselves.

    Args:
        path: The file.
        name: The parameter or option of the path, for errors.

    Raises:
        ParameterError: It cannot be read, is no JSON, or an object in it has a name twice.
    """
    try:
        return parse_json(Path(path).read_text("utf-8"), object_pairs_hook=_named_once)
    except OSError as error:
        raise ParameterError(name, str(path), f"cannot be read: {error.strerror}") from None
    except _TwiceNamedError as error:
        raise ParameterError(name, str(path), f"has {error.args[0]!r} twice in one object; remove one") from None
    except ValueError as error:
        raise ParameterError(name, str(path), f"must be JSON: {error}") from None


def read_pairs(path: str | Path, *, name: str = "--pairs") -> tuple[NeighborPair, ...]:
    """Pairs of neighbors that somebody wrote down.

    Whether the two are neighbors is theirs to know: it depends on what a unit is.

    Args:
        path: A file of JSON: a list of objects with `database`, `neighbor` and, if wanted, `description`.
        name: The parameter or option of the path, for errors.

    Raises:
        ParameterError: As `read_json`; or it is no such list, or a pair is of two equal databases.
    """
    document = read_json(path, name=name)
    if not isinstance(document, list) or not document:
        raise ParameterError(name, str(path), f"must be a list of one or more pairs; each {_PAIR_FORM}")
    return tuple(_pair(entry, f"{name}, pair {number}") for number, entry in enumerate(document, 1))


def _pair(entry: Json, name: str) -> NeighborPair:
    if not isinstance(entry, dict) or not {"database", "neighbor"} <= entry.keys() <= _FIELDS:
        raise ParameterError(name, entry, _PAIR_FORM)
    description = entry.get("description", name.rpartition(", ")[2])
    if not isinstance(description, str) or not description:
        raise ParameterError(name, description, "must have text as its description")
    database, neighbor = entry["database"], entry["neighbor"]
    if label(database) == label(neighbor):
        raise ParameterError(name, description, "must have two different databases")
    return NeighborPair(database, neighbor, description)


class _TwiceNamedError(Exception):
    """A name that stands twice in one object."""


def _named_once(named: list[tuple[str, Json]]) -> dict[str, Json]:
    """An object; of a name that stands twice it would be a guess which value counts."""
    found = dict(named)
    if len(found) < len(named):
        names = [name for name, _ in named]
        raise _TwiceNamedError(next(name for name in names if names.count(name) > 1))
    return found


def report_document(report: AuditReport) -> dict[str, Json]:
    """A report as JSON, for other programs; exact numbers as text, and infinite ones too, which JSON has not.

    Example:
        >>> report_document(AuditReport((), ()))["refuted"]
        False
    """
    kinds = {field.name: getattr(report, field.name) for field in fields(report)}
    findings = {kind: [_finding(finding) for finding in found] for kind, found in kinds.items()}
    return {"refuted": report.is_refuted, "caveat": CAVEAT} | findings


def _finding(finding: Any) -> dict[str, Json]:
    shown = {field.name: _shown(getattr(finding, field.name)) for field in fields(finding)}
    return {"verdict": str(finding.verdict)} | shown


def _shown(value: Any) -> Json:
    match value:
        case ApproxDP():
            return {"epsilon": str(value.epsilon), "delta": str(value.delta)}
        case Fraction():
            return str(value)
        case float() if not isfinite(value):
            return str(value)
        case tuple():
            return [_shown(part) for part in value]
        case _:
            return value
