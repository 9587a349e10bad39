"""Entries as canonical JSON text with a version: old texts load for ever, and newer ones are refused.

What entries and their fields are called here is stored, whatever Python calls them; see `privacy.stored_names`.

Version 1 knew `Opened`, `Reserved` and `Committed` without windows, parents and times; version 3 has `Suspended`,
`Resumed` and `Moved`, version 4 has `Renewed` and `Protected`. A new field with a harmless default keeps the version;
whatever an older reader must not overlook raises it.
"""

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sfumato.accounting.adaptive.amounts import Amounts
from sfumato.errors import LedgerError, ParameterError
from sfumato.ledger.core.entry import (
    Abandoned,
    AccountPrice,
    Charge,
    Closed,
    Committed,
    Entry,
    Moved,
    Opened,
    PartitionPart,
    Protected,
    Rebudgeted,
    Recognized,
    Renewed,
    Reserved,
    Resumed,
    Shared,
    Suspended,
)
from sfumato.ledger.core.windows import CalendarWindow, RollingWindow, Window
from sfumato.privacy.codec import (
    Json,
    decode_budget,
    decode_event,
    decode_guarantee,
    encode_budget,
    encode_event,
    encode_guarantee,
    rational,
)
from sfumato.privacy.events import Event
from sfumato.privacy.formats import parse_json
from sfumato.privacy.guarantees import NoGuarantee
from sfumato.privacy.neighbors import NeighboringRelation
from sfumato.privacy.stored_names import Names, StoredNames, unstored

VERSION: Final = 4
ENTRIES: Final = StoredNames[Entry](
    "entry",
    {
        Opened: Names("Opened", "account", "budget", "neighboring_relation", "privacy_unit", "parents", "window", "at"),
        Rebudgeted: Names("Rebudgeted", "account", "budget", "reason", "at"),
        Closed: Names("Closed", "account", "reason", "at"),
        Recognized: Names("Recognized", "account", "fingerprints", "at"),
        Protected: Names("Protected", "account", "table", "unit", "sources", "fingerprints", "beside", "at"),
        Reserved: Names(
            "Reserved", "account", "request", "question", "event", "charge", "part", "prices", "principal",
            "idempotency_key", "body", "key", "at",
        ),
        Renewed: Names("Renewed", "account", "request", "lease", "at"),
        Committed: Names("Committed", "account", "request", "key", "answer", "at"),
        Abandoned: Names("Abandoned", "account", "request", "reason", "at"),
        Shared: Names(
            "Shared", "account", "source", "request", "event", "charge", "prices", "principal", "idempotency_key",
            "body", "at",
        ),
        Suspended: Names("Suspended", "account", "request", "at"),
        Resumed: Names("Resumed", "account", "reason", "at"),
        Moved: Names("Moved", "destination", "at"),
    },
)  # fmt: skip
"""How entries are stored."""
_YEAR_10000: Final = 253_402_300_800_000_000  # no calendar here goes on from there
_SINCE: Final = (
    dict.fromkeys(("Opened", "Reserved", "Committed"), 1)
    | dict.fromkeys(("Rebudgeted", "Closed", "Recognized", "Abandoned", "Shared"), 2)
    | dict.fromkeys(("Suspended", "Resumed", "Moved"), 3)
    | dict.fromkeys(("Renewed", "Protected"), 4)
)
"""From which version on there is an entry of a tag."""


def encode_entry(entry: Entry) -> str:
    """An entry as the text that is hashed and stored: ASCII, keys sorted, no spaces.

    Raises:
        ParameterError: An answer is not JSON, or would not come back as it is (a tuple, a NaN, a key that is no text);
            or it is no entry.

    Example:
        >>> from sfumato.ledger.core.entry import Committed
        >>> print(encode_entry(Committed(account="people", request="r", key="k", answer=[3, 0.5])))
        {"entry":{"account":"people","answer":[3,0.5],"at":0,"key":"k","request":"r","type":"Committed"},"version":2}
    """
    names = ENTRIES.of(entry)
    try:
        document = {"version": max(2, _SINCE[names.tag]), "entry": _document(entry, names)}
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
        faithful = decode_entry(text) == entry  # else a ledger could be written that cannot be read
    except (TypeError, ValueError, RecursionError):
        faithful = False
    if not faithful:
        raise ParameterError("entry", names.tag, "must hold JSON: finite numbers, lists, text keys") from None
    return text


def decode_entry(text: str) -> Entry:
    """The entry that `encode_entry` wrote, in this version of the package or an older one.

    Raises:
        ParameterError: The text is no entry.
        LedgerError: A newer version of this package wrote it.
    """
    try:
        document = parse_json(text)
        version = document.get("version") if isinstance(document, dict) else None
        if type(version) is int and 1 <= version <= VERSION:
            return _entry(document.get("entry"), version)
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise ParameterError("entry", "a text", _REQUIREMENT) from error
    if type(version) is int and version > VERSION:
        raise LedgerError(
            f"entry of version {version}",
            "was written by a newer version of sfumato; install that version or a newer one",
        )
    raise ParameterError("entry", "a text", _REQUIREMENT)


_REQUIREMENT: Final = f"must be an entry of a version up to {VERSION}, as this package writes it"


class _Codec(NamedTuple):
    encode: Callable[[Any], Json]
    decode: Callable[[Any], object]


def _document(entry: Entry, names: Names) -> dict[str, Json]:
    # A reservation without a flight is written as it was before there were flights, which older versions read.
    left_out = "key" if isinstance(entry, Reserved) and not entry.key else None
    told = {
        stored: _CODECS.get(stored, _TEXT).encode(getattr(entry, own))
        for stored, own in names.fields
        if stored != left_out
    }
    return {"type": names.tag} | told


def _entry(document: Json, version: int) -> Entry:
    found = ENTRIES.stored_as(document.get("type")) if isinstance(document, dict) else None
    if not isinstance(document, dict) or found is None or _SINCE[found[1].tag] > version:
        raise ParameterError("entry", "a document", "must be an entry written by this package")
    cls, names = found
    told = {stored: value for stored, value in document.items() if stored != "type"}
    if not told.keys() <= names.attributes.keys():
        raise ParameterError("entry", "a document", f"must have the fields {', '.join(names.attributes)}")
    return cls(**{names.attributes[stored]: _DECODERS.get(stored, _text)(value) for stored, value in told.items()})


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ParameterError("entry", "a field", "must be text")
    return value


def _time(value: object) -> int:
    if type(value) is not int or not 0 <= value < _YEAR_10000:
        raise ParameterError("at", "a time", "must be microseconds since 1970, of a year before 10000")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(_text(one) for one in value)


@lru_cache(maxsize=1024)
def _event_of(text: str) -> Event:
    return decode_event(json.loads(text))


def _charge(document: Json) -> Charge:
    if isinstance(document, dict) and set(map(type, document.values())) == {str}:
        return _charge_of(tuple(document.items()))  # of which many are equal, too
    return _decoded_charge(document)


@lru_cache(maxsize=1024)
def _charge_of(items: tuple[tuple[str, Json], ...]) -> Charge:
    return _decoded_charge(dict(items))


def _decoded_charge(document: Json) -> Charge:
    charge = decode_guarantee(document)
    if isinstance(charge, NoGuarantee):
        raise ParameterError("charge", charge, "must be PureDP or ApproxDP")
    return charge


def encode_part(part: PartitionPart | None) -> Json:
    """A part as JSON."""
    if part is None:
        return None
    return {"partition": part.partition, "value": part.value, "max_parts_per_unit": part.max_parts_per_unit}


def decode_part(document: Json) -> PartitionPart | None:
    """The part that `encode_part` wrote."""
    match document:
        case None:
            return None
        case {"partition": str(partition), "value": str(value), "max_parts_per_unit": int(max_parts)}:
            return PartitionPart(partition=partition, value=value, max_parts_per_unit=max_parts)
        case _:
            raise ParameterError("part", "a document", "must be a part written by this package")


def _prices(document: Any) -> tuple[AccountPrice, ...]:
    return tuple(
        AccountPrice(account=account, amounts=decode_amounts(amounts)) for account, amounts in document.items()
    )


def encode_amounts(amounts: Amounts) -> Json:
    """Amounts, all of them finite, as JSON."""
    return {name: str(number) for name, number in amounts.numbers}


def decode_amounts(document: Any) -> Amounts:
    """The amounts that `encode_amounts` wrote."""
    return Amounts(tuple((_text(name), rational(number)) for name, number in document.items()))


def _encode_window(window: Window | None) -> Json:
    match window:
        case None:
            return None
        case CalendarWindow(period=period):
            return {"calendar": str(period)}
        case RollingWindow(days=days):
            return {"days": days}
        case _:
            raise unstored("window", window)


def _window(document: Json) -> Window | None:
    match document:
        case None:
            return None
        case {"calendar": str(period)}:
            return CalendarWindow(period)
        case {"days": int(days)}:
            return RollingWindow(days)
        case _:
            raise ParameterError("window", "a document", "must be a window written by this package")


_TEXT: Final = _Codec(_text, _text)
_CODECS: Final = {
    "answer": _Codec(lambda answer: answer, lambda answer: answer),
    "at": _Codec(_time, _time),
    "beside": _Codec(list, _texts),
    "budget": _Codec(encode_budget, decode_budget),
    "charge": _Codec(encode_guarantee, _charge),
    # of a ledger's events many are equal, and to write one down costs less than to make it
    "event": _Codec(encode_event, lambda document: _event_of(json.dumps(document))),
    "fingerprints": _Codec(list, _texts),
    "neighboring_relation": _Codec(lambda relation: relation.value, NeighboringRelation),
    "parents": _Codec(list, _texts),
    "part": _Codec(encode_part, decode_part),
    "prices": _Codec(lambda prices: {one.account: encode_amounts(one.amounts) for one in prices}, _prices),
    "sources": _Codec(list, _texts),
    "window": _Codec(_encode_window, _window),
}
"""How fields are written that are no text; a name means the same in every entry."""

_DECODERS: Final = {name: codec.decode for name, codec in _CODECS.items()}
