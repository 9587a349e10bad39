"""What was released as JSON values, for the ledger, and back."""

from datetime import date, datetime
from typing import Any

from sfumato.privacy.codec import Json
from sfumato.query.schema import Key
from sfumato.session.releasing import Released


def encode_released(released: Released) -> Json:
    """The groups and numbers of a section as JSON values."""
    return {
        "groups": [[_encode_key(key) for key in group] for group in released.groups],
        "measured": [[list(row) for row in rows] for rows in released.measured],
    }


def decode_released(document: Any) -> Released:
    """The section that `encode_released` wrote.

    Example:
        >>> from datetime import date
        >>> one = Released(groups=((date(2026, 1, 31), "a"),), measured=(((3,),),))
        >>> decode_released(encode_released(one)) == one
        True
    """
    return Released(
        groups=tuple(tuple(_decode_key(key) for key in group) for group in document["groups"]),
        measured=tuple(tuple(tuple(row) for row in rows) for rows in document["measured"]),
    )


def _encode_key(key: Key) -> Json:
    match key:
        case datetime():
            return {"timestamp": key.isoformat()}
        case date():
            return {"date": key.isoformat()}
        case _:
            return key


def _decode_key(key: Any) -> Key:
    match key:
        case {"timestamp": text}:
            return datetime.fromisoformat(text)
        case {"date": text}:
            return date.fromisoformat(text)
        case bool() | int() | str():
            return key
        case _:
            raise TypeError("a stored key is a date, text, a whole number or a truth")
