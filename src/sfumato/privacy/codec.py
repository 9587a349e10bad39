"""Versioned JSON of events and guarantees, by a closed registry: old ledgers load for ever.

Rationals are written as text ("1/10"), so that no reader rounds them; nothing is ever imported by name.
"""

import re
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias, get_args

from sfumato.errors import ParameterError
from sfumato.privacy.budgets import ZCDP, Budget, RenyiDP
from sfumato.privacy.events import MAX_NESTING, Event
from sfumato.privacy.formats import MAX_DIGITS
from sfumato.privacy.guarantees import NO_GUARANTEE, ApproxDP, Guarantee, NoGuarantee, PureDP

VERSION: Final = 1
Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

_RATIONAL: Final = re.compile(rf"-?[0-9]{{1,{MAX_DIGITS}}}(/(?=0*[1-9])[0-9]{{1,{MAX_DIGITS}}})?")
_EVENTS: Final[dict[str, Callable[..., Event]]] = {cls.__name__: cls for cls in get_args(Event)}
_FIELDS: Final = {cls.__name__: [field.name for field in fields(cls)] for cls in get_args(Event)}


def encode_event(event: Event) -> dict[str, Json]:
    """An event as JSON with its version.

    Example:
        >>> from sfumato.privacy.events import PureEvent
        >>> encode_event(PureEvent(Fraction(1, 10)))
        {'version': 1, 'event': {'type': 'PureEvent', 'epsilon': '1/10'}}
    """
    return {"version": VERSION, "event": _encode(event)}


def decode_event(document: Json) -> Event:
    """The event that `encode_event` wrote.

    Raises:
        ParameterError: The document has another version, or names no event of this package.
    """
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise ParameterError("event", "a document of another version", f"must have version {VERSION}")
    if unknown := set(document) - {"version", "event"}:
        raise ParameterError("event", f"a document with {min(unknown)!r}", "must have a version and an event only")
    return _decode(document.get("event"), 0)


def encode_guarantee(guarantee: Guarantee) -> dict[str, Json]:
    """A guarantee as JSON."""
    match guarantee:
        case PureDP():
            return {"type": "PureDP", "epsilon": str(guarantee.epsilon)}
        case ApproxDP():
            return {"type": "ApproxDP", "epsilon": str(guarantee.epsilon), "delta": str(guarantee.delta)}
        case NoGuarantee():
            return {"type": "NoGuarantee"}


def decode_guarantee(document: Json) -> Guarantee:
    """The guarantee that `encode_guarantee` wrote.

    Raises:
        ParameterError: The document is none.
    """
    match document:
        case {"type": "PureDP", "epsilon": str(epsilon)}:
            return PureDP(rational(epsilon))
        case {"type": "ApproxDP", "epsilon": str(epsilon), "delta": str(delta)}:
            return ApproxDP(rational(epsilon), rational(delta))
        case {"type": "NoGuarantee"}:
            return NO_GUARANTEE
        case _:
            raise ParameterError("guarantee", "a document", "must be a guarantee written by this package")


def encode_budget(budget: Budget) -> dict[str, Json]:
    """A budget, or what was spent of one, as JSON."""
    match budget:
        case ZCDP():
            return {"type": "ZCDP", "rho": str(budget.rho), "delta": str(budget.delta)}
        case RenyiDP():
            orders, bounds = ([str(number) for number in numbers] for numbers in (budget.orders, budget.bounds))
            return {"type": "RenyiDP", "orders": [*orders], "bounds": [*bounds], "delta": str(budget.delta)}
        case _:
            return encode_guarantee(budget)


def decode_budget(document: Json) -> Budget:
    """The budget that `encode_budget` wrote.

    Raises:
        ParameterError: The document is none.
    """
    match document:
        case {"type": "ZCDP", "rho": str(rho), "delta": str(delta)}:
            return ZCDP(rational(rho), rational(delta))
        case {"type": "RenyiDP", "orders": list(orders), "bounds": list(bounds), "delta": str(delta)}:
            return RenyiDP(tuple(map(rational, orders)), tuple(map(rational, bounds)), rational(delta))
        case _:
            return decode_guarantee(document)


def rational(text: Json) -> Fraction:
    """What `str` of a fraction wrote, with at most `MAX_DIGITS` digits on each side of the slash.

    There are no exponents, which a short text could make huge.

    Raises:
        ParameterError: It is none.
    """
    if not isinstance(text, str):
        raise _not_rational(text)
    return _rational(text)


@lru_cache(maxsize=1024)
def _rational(text: str) -> Fraction:
    if not _RATIONAL.fullmatch(text):
        raise _not_rational(text)
    return Fraction(text)


def _not_rational(text: object) -> ParameterError:
    return ParameterError("rational", str(text)[:20], 'must be written as "1" or "1/10"')


def _encode(event: Event) -> dict[str, Json]:
    return {"type": type(event).__name__} | {field.name: _field(getattr(event, field.name)) for field in fields(event)}


def _field(value: object) -> Json:
    match value:
        case Fraction():
            return str(value)
        case int() | None:
            return value
        case tuple():
            return [_field(item) for item in value]
        case _ if type(value).__name__ in _EVENTS:
            return _encode(value)  # type: ignore[arg-type] # the registry says that it is an event
        case _:
            raise ParameterError("event", type(value).__name__, "must hold rationals, whole numbers and events only")


def _decode(document: Json, depth: int) -> Event:
    name = document.get("type") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not isinstance(name, str) or name not in _EVENTS:
        raise ParameterError("event", "a document", "must be an event written by this package")
    try:
        return _EVENTS[name](**{f: _value(value, depth + 1) for f, value in document.items() if f != "type"})
    except ParameterError:
        raise
    except (TypeError, ValueError, ZeroDivisionError):
        raise ParameterError("event", name, f"must have the fields {', '.join(_FIELDS[name])}") from None


def _value(value: Json, depth: int) -> object:
    if depth > 2 * MAX_NESTING:  # an event may be in a list, in an event
        raise ParameterError("event", "a document", f"is nested too deeply: at most {MAX_NESTING} events")
    match value:
        case str():
            return rational(value)
        case dict():
            return _decode(value, depth)
        case list():
            return tuple(_value(item, depth + 1) for item in value)
        case _:
            return value
