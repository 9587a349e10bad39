"""Whether a value is of the type that its field declares: exactly, as True is no 1 and a time is no day.

Frozen values of plans are made by code that mypy checks, so most of their classes check no types themselves. Of a
value that was read from a text nothing is known; it must be what the field of its class says.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

Check: TypeAlias = Callable[[Any], bool]
"""Whether a value is of a type."""

Roles: TypeAlias = Mapping[type, tuple[type, ...]]
"""The classes that fulfil an abstract class or a protocol."""

_UNIONS: Final = frozenset({Union, UnionType})


def check_of(declared: Any, roles: Roles) -> Check:
    """The check of a declared type, as `typing.get_type_hints` gives it; of what is inside of tuples and mappings too.

    Args:
        declared: The type.
        roles: The classes that stand for what is abstract.

    Raises:
        TypeError: It is of a kind that no field of a plan has.

    Example:
        >>> is_pair = check_of(tuple[int, str | None], {})
        >>> is_pair((1, None)), is_pair((True, None)), is_pair((1, None, None)), is_pair([1, None])
        (True, False, False, False)
        >>> check_of(Literal["upper"], {})("upper"), check_of(date, {})(datetime(2026, 1, 31))
        (True, True)
    """
    plain = _exact_types(declared, roles)
    if plain is not None:
        return lambda value: type(value) in plain
    origin, arguments = get_origin(declared), get_args(declared)
    if origin in _UNIONS or isinstance(declared, TypeVar):
        options = tuple(check_of(one, roles) for one in arguments or declared.__constraints__)
        return lambda value: any(option(value) for option in options)
    if origin is Literal:
        return lambda value: type(value) is str and value in arguments
    if origin is tuple:
        return _of_tuple(arguments, roles)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        name, held = (check_of(one, roles) for one in arguments)
        return lambda value: isinstance(value, Mapping) and all(name(k) and held(v) for k, v in value.items())
    raise TypeError(f"no field of a plan is declared as {declared}")


def _exact_types(declared: Any, roles: Roles) -> frozenset[type] | None:
    """The classes that values may have; None where more has to be known of them than their class."""
    if get_origin(declared) in _UNIONS:
        inner = [_exact_types(one, roles) for one in get_args(declared)]
        return None if None in inner else frozenset().union(*(one for one in inner if one is not None))
    kind = NoneType if declared is None else declared
    if get_origin(kind) is not None and hasattr(get_origin(kind), "__dataclass_fields__"):
        kind = get_origin(kind)  # of a generic class the fields are checked where it is made
    if not isinstance(kind, type) or get_origin(kind) is not None:
        return None
    if kind is date:
        return frozenset({date, datetime})
    return frozenset(roles.get(kind, (kind,)))


def _of_tuple(arguments: tuple[Any, ...], roles: Roles) -> Check:
    if arguments[1:] == (Ellipsis,):
        inner = check_of(arguments[0], roles)
        return lambda value: type(value) is tuple and all(map(inner, value))
    checks = tuple(check_of(one, roles) for one in arguments)
    return lambda value: (
        type(value) is tuple
        and len(value) == len(checks)
        and all(check(one) for check, one in zip(checks, value, strict=True))
    )
