"""Entries as canonical JSON text with a version: old texts load for ever.

A new field with a harmless default keeps the version; whatever an older reader must not overlook raises it.
"""

import json
from typing import Final

from sfumato.errors import ParameterError
from sfumato.ledger.entry import Charge, Committed, Entry, Opened, Part, Reserved
from sfumato.privacy.codec import Json, decode_event, decode_guarantee, encode_event, encode_guarantee
from sfumato.privacy.guarantees import NoGuarantee
from sfumato.privacy.neighbors import NeighboringRelation

VERSION: Final = 1


def encode_entry(entry: Entry) -> str:
    """An entry as the text that is hashed and stored: ASCII, keys sorted, no spaces.

    Raises:
        ParameterError: An answer is not JSON, or would not come back as it is (a tuple, a NaN, a key that is no text).

    Example:
        >>> print(encode_entry(Committed(account="people", request="r", key="k", answer=[3, 0.5])))
        {"entry":{"account":"people","answer":[3,0.5],"key":"k","request":"r","type":"Committed"},"version":1}
    """
    try:
        document = {"version": VERSION, "entry": _document(entry)}
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
        faithful = decode_entry(text) == entry  # else a ledger could be written that cannot be read
    except (TypeError, ValueError, RecursionError):
        faithful = False
    if not faithful:
        raise ParameterError(
            "entry", type(entry).__name__, "must hold JSON: finite numbers, lists, text keys"
        ) from None
    return text


def decode_entry(text: str) -> Entry:
    """The entry that `encode_entry` wrote.

    Raises:
        ParameterError: The text is no entry of a version that this package knows.
    """
    requirement = f"must be an entry of version {VERSION}, as this package writes it"
    try:
        document = json.loads(text)
        if isinstance(document, dict) and document.get("version") == VERSION:
            return _entry(document.get("entry"))
    except (TypeError, ValueError, ZeroDivisionError, RecursionError) as error:
        raise ParameterError("entry", "a text", requirement) from error
    raise ParameterError("entry", "a text", requirement)


def _document(entry: Entry) -> dict[str, Json]:
    match entry:
        case Opened():
            facts: dict[str, Json] = {
                "budget": encode_guarantee(entry.budget),
                "neighboring_relation": entry.neighboring_relation.value,
                "privacy_unit": entry.privacy_unit,
            }
        case Reserved():
            facts = {
                "request": entry.request,
                "question": entry.question,
                "event": encode_event(entry.event),
                "charge": encode_guarantee(entry.charge),
                "part": None if entry.part is None else _part_document(entry.part),
            }
        case Committed():
            facts = {"request": entry.request, "key": entry.key, "answer": entry.answer}
    return {"type": type(entry).__name__, "account": entry.account} | facts


def _part_document(part: Part) -> dict[str, Json]:
    return {"partition": part.partition, "value": part.value, "max_parts_per_unit": part.max_parts_per_unit}


def _entry(document: Json) -> Entry:
    match document:
        case {
            "type": "Opened",
            "account": str(account),
            "budget": budget,
            "neighboring_relation": str(relation),
            "privacy_unit": str(privacy_unit),
        }:
            return Opened(
                account=account,
                budget=decode_guarantee(budget),
                neighboring_relation=NeighboringRelation(relation),
                privacy_unit=privacy_unit,
            )
        case {
            "type": "Reserved",
            "account": str(account),
            "request": str(request),
            "question": str(question),
            "event": event,
            "charge": charge,
            "part": part,
        }:
            return Reserved(
                account=account,
                request=request,
                question=question,
                event=decode_event(event),
                charge=_charge(charge),
                part=None if part is None else _part(part),
            )
        case {
            "type": "Committed",
            "account": str(account),
            "request": str(request),
            "key": str(key),
            "answer": answer,
        }:
            return Committed(account=account, request=request, key=key, answer=answer)
        case _:
            raise ParameterError("entry", "a document", "must be an entry written by this package")


def _charge(document: Json) -> Charge:
    charge = decode_guarantee(document)
    if isinstance(charge, NoGuarantee):
        raise ParameterError("charge", charge, "must be PureDP or ApproxDP")
    return charge


def _part(document: Json) -> Part:
    match document:
        case {"partition": str(partition), "value": str(value), "max_parts_per_unit": int(max_parts)}:
            return Part(partition=partition, value=value, max_parts_per_unit=max_parts)
        case _:
            raise ParameterError("part", "a document", "must be a part written by this package")
