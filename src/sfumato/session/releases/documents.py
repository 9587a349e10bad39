"""Releases as versioned JSON, for whoever asks over a network, and back.

A document says all that a `Release` says, in plain JSON: numbers and texts as they are, dates and fractions as texts
with the name of their kind. So it is read without this package too.
"""

from collections.abc import Sequence
from datetime import date, datetime
from fractions import Fraction
from math import isfinite
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import flag
from sfumato.privacy.codec import Json
from sfumato.query.model.kinds import Kind
from sfumato.query.statistics.estimates import AnswerValue, Misrank
from sfumato.session.releases.receipt import receipt_from_dict
from sfumato.session.releases.release import Binned, Release

VERSION: Final = 1

MISTAKES: Final = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What is raised where a document is read, or its release used, that nobody wrote with `encode_release`."""


def encode_release(release: Release) -> dict[str, Json]:
    """A release as JSON values.

    Example:
        >>> import sfumato as sf
        >>> votes = sf.open(sf.datasets.votes(), name="votes", columns={"sport": sf.text()}, budget=sf.PureDP(1))
        >>> document = encode_release(votes.sql("SELECT COUNT(*) AS n FROM votes", epsilon="0.5"))
        >>> document["statistics"], len(document["estimates"][0][0])
        (['n'], 4)
    """
    return {
        "version": VERSION,
        "keys": list(release.keys),
        "statistics": list(release.statistics),
        "kinds": [kind.value for kind in release.kinds],
        "groups": [list(map(_encode, group)) for group in release.groups],
        "estimates": [list(map(_encode_estimate, row)) for row in release.estimates],
        "confidence": release.confidence,
        "receipt": release.receipt.to_dict(),
        "reused": release.reused,
        "notes": list(release.notes),
        "histograms": [
            {
                "name": one.name, "value": one.value, "edges": list(map(_encode, one.edges)),
                "columns": list(one.columns),
            }
            for one in release.histograms
        ],
    }  # fmt: skip


def decode_release(document: Any) -> Release:
    """The release that `encode_release` wrote.

    Raises:
        ParameterError: The document has another version, or is none.

    Example:
        >>> decode_release({"version": 2})
        Traceback (most recent call last):
        sfumato.errors.ParameterError: release = 'a document of another version': must have version 1
    """
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise ParameterError("release", "a document of another version", f"must have version {VERSION}")
    if "model" in document:
        raise ParameterError("release", "a model", "is read by its estimator: fit that again, which costs nothing")
    try:
        release = Release(
            keys=_texts(document["keys"]), statistics=_texts(document["statistics"]),
            kinds=tuple(map(Kind, document["kinds"])),
            groups=tuple(tuple(map(_decode, group)) for group in document["groups"]),
            estimates=tuple(tuple(map(_decode_estimate, row)) for row in document["estimates"]),
            confidence=float(document["confidence"]), receipt=receipt_from_dict(document["receipt"]),
            reused=flag(document["reused"], "reused"), notes=_texts(document["notes"]),
            histograms=tuple(map(_decode_histogram, document["histograms"])),
        )  # fmt: skip
        is_as_written = encode_release(release) == document
    except MISTAKES:
        is_as_written = False
    if not is_as_written:
        raise ParameterError("release", "a document", "must be a release written by this package")
    return release


def _encode(value: Any) -> Json:
    match value:
        case None | bool() | int() | str():
            return value
        case float() if isfinite(value):
            return value
        case float():
            return {"float": str(value)}
        case Fraction():
            return {"fraction": str(value)}
        case datetime():
            return {"timestamp": value.isoformat()}
        case date():
            return {"date": value.isoformat()}
        case _:
            raise TypeError("an answer has numbers, texts, truths and dates")


def _decode(value: Any) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case {"float": str(text)}:
            return float(text)
        case {"fraction": str(text)}:
            return Fraction(text)
        case {"timestamp": str(text)}:
            return datetime.fromisoformat(text)
        case {"date": str(text)}:
            return date.fromisoformat(text)
        case _:
            raise TypeError("an answer has numbers, texts, truths and dates")


def _encode_estimate(estimate: AnswerValue) -> Json:
    """The value, the ends of its interval, and how many ranks it may be off."""
    rank = estimate.misrank
    return [
        *map(_encode, (estimate.value, estimate.low, estimate.high)),
        None if rank is None else {name: _encode(getattr(rank, name)) for name in Misrank.__dataclass_fields__},
    ]


def _decode_estimate(document: Any) -> AnswerValue:
    value, low, high, rank = document
    misrank = None if rank is None else Misrank(**{name: _decode(own) for name, own in rank.items()})
    return AnswerValue(value=_decode(value), low=_decode(low), high=_decode(high), misrank=misrank)


def _decode_histogram(document: Any) -> Binned:
    return Binned(
        name=str(document["name"]), value=str(document["value"]), edges=tuple(map(_decode, document["edges"])),
        columns=_texts(document["columns"]),
    )  # fmt: skip


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple(map(str, values))
