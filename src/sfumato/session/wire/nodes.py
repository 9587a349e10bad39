"""Frozen values as a text of JSON and back, by a closed list of classes.

A document is a list of nodes, one for each different value, with its class and its fields. A node names others by their
places, and only such that stand before it. So what a plan holds in many places is written once, and stays one value
when it is read; and no text is deeper than a few levels.

**Guarantee**: whatever a text holds, `Wire.decode` gives a value of the root class or raises `TicketError`, in time
that the length of the text bounds. It gives a value only for the very text that `Wire.encode` writes of it: what
constructors would have changed or left out, and what a reader of JSON would have overlooked, is refused. Nothing is
imported, looked up or called by a name from the text but the classes that are listed.

Proof: proofs/session/wire/tickets.md.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from inspect import signature
from types import MappingProxyType, NoneType
from typing import Any, Final, Generic, TypeAlias, TypeVar, get_type_hints

from sfumato.errors import SfumatoError, TicketError
from sfumato.mechanisms.workloads.codec import decode_strategy, encode_strategy
from sfumato.mechanisms.workloads.strategies import Strategy
from sfumato.privacy.codec import Json, rational
from sfumato.privacy.formats import MAX_DIGITS, parse_json
from sfumato.session.wire.declared import Check, Roles, check_of

MAX_LENGTH: Final = 1 << 26
"""How many characters a document may have."""

MAX_TERMS: Final = 1 << 22
"""How many nodes a value may have where each is counted as often as it is named, so that no step doubles for ever."""

MISTAKES: Final = (SfumatoError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What may be raised where a value that is no plan is taken for one."""

T = TypeVar("T")
Made: TypeAlias = list[tuple[Any, int]]
"""The values of the nodes so far, each with how many nodes it has."""

_PLAIN: Final = frozenset({NoneType, bool, int, str})
"""What JSON has as it is."""

_TOO_LARGE: Final = 10**MAX_DIGITS
"""Made once, as it takes as long as all else that is done with a fraction."""


class _Written:
    """How values of one class are written: by the parameters of its constructor that are fields, by their names."""

    __slots__ = ("checks", "fields", "made")

    def __init__(self, kind: type[Any], made: Callable[..., Any], roles: Roles) -> None:
        own, hints = {field.name for field in fields(kind)}, get_type_hints(kind)
        self.made: Final = made
        self.fields: Final = tuple(name for name in signature(kind).parameters if name in own)
        self.checks: Final[Mapping[str, Check]] = {name: check_of(hints[name], roles) for name in self.fields}


class Wire(Generic[T]):
    """Texts of values of one class, and of all that they hold.

    Args:
        root: The class of the value that a document is of.
        version: Of the way of writing; raised when that changes.
        classes: Every frozen dataclass that may be in a document.
        words: Every enumeration.
        roles: The listed classes that stand for what is abstract.
        made: Makes a value of a class of its written fields, where that is not its constructor.
    """

    def __init__(
        self,
        root: type[T],
        *,
        version: int,
        classes: Iterable[type[Any]],
        words: Iterable[type[Enum]],
        roles: Roles,
        made: Mapping[type, Callable[..., Any]],
    ) -> None:
        self._root, self._version, self._roles, self._made = root, version, roles, made
        self.classes: Final = tuple(classes)
        self.words: Final = tuple(words)

    @cached_property
    def _by_name(self) -> Mapping[str, _Written]:
        return {one.__name__: _Written(one, self._made.get(one, one), self._roles) for one in self.classes}

    @cached_property
    def _readers(self) -> Mapping[str, Callable[[Any], Any]]:
        """What the one name of an object says of what stands behind it."""
        return {**_READERS, **{word.__name__: word for word in self.words}}

    @cached_property
    def schema(self) -> str:
        """A hash of the names of all classes, fields and words: another build of the package may have others."""
        known: dict[str, Any] = {name: own.fields for name, own in self._by_name.items()}
        known |= {word.__name__: [[one.name, one.value] for one in word] for word in self.words}
        return sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:16]

    def encode(self, value: T) -> str:
        """A value as text, in ASCII; equal values have one text.

        Raises:
            TicketError: It holds something of a class that is not listed.
        """
        try:
            texts = _Nodes(self._by_name, self.words).of(value)
        except MISTAKES:
            raise TicketError(type(value).__name__, "holds something that no ticket can hold") from None
        return f'{{"version":{self._version},"schema":"{self.schema}","nodes":[{",".join(texts)}]}}'

    def decode(self, text: str) -> T:
        """The value that `encode` wrote.

        Raises:
            TicketError: The text is not what `encode` writes of any value.
        """
        if len(text) > MAX_LENGTH:
            raise TicketError("text", f"must have at most {MAX_LENGTH:,} characters")
        try:
            document = parse_json(text)
        except MISTAKES:
            raise TicketError("text", "must be JSON") from None
        if not isinstance(document, dict) or document.keys() != {"version", "schema", "nodes"}:
            raise TicketError("text", "must have a version, a schema and nodes")
        if (document["version"], document["schema"]) != (self._version, self.schema):
            raise TicketError("version", "must be written by the same version of this package")
        value = self._value(document["nodes"])
        if self.encode(value) != text:
            raise TicketError("text", "must be as this package writes it")
        return value

    def _value(self, nodes: Any) -> T:
        made: Made = []
        for node in nodes if isinstance(nodes, list) else []:
            made.append(self._node(node, made))
        if not made or type(made[-1][0]) is not self._root:
            raise TicketError("nodes", f"must end with a {self._root.__name__}")
        root: T = made[-1][0]
        return root

    def _node(self, node: Any, made: Made) -> tuple[Any, int]:
        """The value of a node, and how many nodes it has."""
        written = self._by_name.get(str(node.get("class"))) if isinstance(node, dict) else None
        if written is None:
            raise TicketError("class", "must be a class that a ticket may hold")
        if list(node) != ["class", *written.fields]:
            raise TicketError(node["class"], f"must have the fields {', '.join(written.fields)}")
        reading = _Reading(self._readers, made)
        try:
            values = {name: reading.value(node[name]) for name in written.fields}
            wrong = [name for name, value in values.items() if not written.checks[name](value)]
            value = None if wrong else written.made(**values)
        except TicketError:
            raise
        except MISTAKES:
            raise TicketError(node["class"], "must hold values that can be together") from None
        if wrong:
            raise TicketError(f"{node['class']}.{wrong[0]}", "must be of the declared type")
        if reading.terms > MAX_TERMS:
            raise TicketError(node["class"], f"must consist of at most {MAX_TERMS:,} values")
        return value, reading.terms


class _Nodes:
    """The nodes of one value, while they are written."""

    def __init__(self, classes: Mapping[str, _Written], words: tuple[type[Enum], ...]) -> None:
        self._classes, self._words = classes, frozenset(words)
        self._places: dict[str, int] = {}
        self._known: dict[int, int] = {}

    def of(self, value: Any) -> Iterable[str]:
        """The texts of all nodes, that of the value last."""
        self._place(value)
        return self._places

    def _place(self, value: Any) -> int:
        """Where a value is, which is written where none like it is yet; its parts before it."""
        if id(value) not in self._known:
            name = type(value).__name__
            node: dict[str, Json] = {"class": name}
            for field in self._classes[name].fields:
                node[field] = self._written(getattr(value, field))
            text = json.dumps(node, separators=(",", ":"), allow_nan=False)
            self._known[id(value)] = self._places.setdefault(text, len(self._places))
        return self._known[id(value)]

    def _written(self, value: Any) -> Json:
        kind = type(value)
        if kind in _PLAIN:
            plain: Json = value
            return plain
        if kind is tuple:
            return [self._written(one) for one in value]
        if kind in self._words:
            return {kind.__name__: value.value}
        if kind is MappingProxyType:
            return {"mapping": [[self._written(name), self._written(held)] for name, held in value.items()]}
        writer = _WRITERS.get(kind)
        return {"node": self._place(value)} if writer is None else writer(value)


class _Reading:
    """The values of one node, while they are read; counts the nodes that they have."""

    __slots__ = ("_made", "_readers", "terms")

    def __init__(self, readers: Mapping[str, Callable[[Any], Any]], made: Made) -> None:
        self._readers, self._made = readers, made
        self.terms = 1

    def value(self, document: Any) -> Any:
        """The value that is written so."""
        if isinstance(document, list):
            return tuple([self.value(one) for one in document])
        if not isinstance(document, dict):
            return document
        ((name, inner),) = document.items()
        if name == "node":
            if type(inner) is not int or not 0 <= inner < len(self._made):
                raise TicketError("node", "must be the place of a node before it")
            value, terms = self._made[inner]
            self.terms += terms
            return value
        if name == "mapping":
            return MappingProxyType({self.value(key): self.value(held) for key, held in inner})
        return self._readers[name](inner)


def _rational_text(value: Fraction) -> Json:
    if max(abs(value.numerator), value.denominator) >= _TOO_LARGE:
        raise ValueError("a number of thousands of digits")
    return {"rational": str(value)}


def _time(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        raise ValueError("times of plans have no time zone")
    return moment


_WRITERS: Final[Mapping[type, Callable[[Any], Json]]] = {
    Fraction: _rational_text,
    float: lambda value: {"float": value.hex()},
    date: lambda value: {"date": value.isoformat()},
    datetime: lambda value: {"timestamp": value.isoformat()},
    Strategy: lambda value: {"strategy": encode_strategy(value)},
}
"""How values are written that JSON does not have: exactly, each under a name that says what it is."""

_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "rational": rational,
    "float": float.fromhex,
    "date": date.fromisoformat,
    "timestamp": _time,
    "strategy": decode_strategy,
}
