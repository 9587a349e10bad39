"""What was released as JSON values, as the ledger keeps it and as it crosses to other processes."""

from collections.abc import Iterable
from datetime import date, datetime
from itertools import chain
from typing import Any

from sfumato.ledger.keeping.attachments import Attachments
from sfumato.privacy.codec import Json
from sfumato.privacy.formats import uncollected
from sfumato.query.model.schema import Key
from sfumato.session.releases.releasing import Released


@uncollected()
def encode_released(released: Released) -> Json:
    """The groups and numbers of a section as JSON values."""
    groups: Iterable[Iterable[Any]] = released.groups
    is_plain = _are_plain(groups)
    return {
        "groups": [list(group if is_plain else map(_encode_key, group)) for group in groups],
        "measured": [list(map(list, rows)) for rows in released.measured],
    }


@uncollected()
def decode_released(document: Any) -> Released:
    """The section that `encode_released` wrote.

    Example:
        >>> from datetime import date
        >>> one = Released(groups=((date(2026, 1, 31), "a"),), measured=(((3,),),))
        >>> decode_released(encode_released(one)) == one
        True
    """
    groups = document["groups"]
    is_plain = _are_plain(groups)
    return Released(
        groups=tuple([tuple(group if is_plain else map(_decode_key, group)) for group in groups]),
        measured=tuple([tuple(map(tuple, rows)) for rows in document["measured"]]),
    )


def decode_section(document: Any, attachments: Attachments) -> Released:
    """What a section released, from an entry or from the file beside the ledger that it names."""
    if "attached" not in document:
        return decode_released(document)
    from sfumato.session.releases.stored import attached_section  # Arrow is loaded for files alone

    return attached_section(document, attachments)


def _are_plain(groups: Iterable[Iterable[Any]]) -> bool:
    """Whether JSON has all keys as they are."""
    return set(map(type, chain.from_iterable(groups))) <= {bool, int, str}


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
