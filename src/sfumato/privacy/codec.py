"""Versioned JSON of events and guarantees, by a closed list of names: old ledgers load for ever.

What classes and fields are called here is stored, whatever Python calls them; see `stored_names`. Rationals are written
as text ("1/10"), so that no reader rounds them; nothing is ever imported by name.
"""

import re
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.privacy.budgets import ZCDP, Budget, RenyiDP
from sfumato.privacy.events import (
    MAX_NESTING,
    ApproxEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    ExponentialEvent,
    FiniteEvent,
    FullyAdaptiveEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    MixtureOfGaussiansEvent,
    NonPrivateEvent,
    PartitionEvent,
    PoissonSampledEvent,
    PureEvent,
    RandomizedResponseEvent,
    RepeatAndSelectEvent,
    SampledWithoutReplacementEvent,
    SelfComposedEvent,
    TruncatedPoissonSampledEvent,
    ZCDPEvent,
)
from sfumato.privacy.formats import MAX_DIGITS
from sfumato.privacy.guarantees import ApproxDP, Guarantee, NoGuarantee, PureDP
from sfumato.privacy.stored_names import Names, StoredNames

VERSION: Final = 1
Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

_RATIONAL: Final = re.compile(rf"-?[0-9]{{1,{MAX_DIGITS}}}(/(?=0*[1-9])[0-9]{{1,{MAX_DIGITS}}})?")
EVENTS: Final = StoredNames[Event](
    "event",
    {
        NonPrivateEvent: Names("NonPrivateEvent"),
        PureEvent: Names("PureEvent", "epsilon"),
        ApproxEvent: Names("ApproxEvent", "epsilon", "delta"),
        ZCDPEvent: Names("ZCDPEvent", "rho"),
        LaplaceEvent: Names("LaplaceEvent", "noise_multiplier"),
        GaussianEvent: Names("GaussianEvent", "noise_multiplier"),
        DiscreteLaplaceEvent: Names("DiscreteLaplaceEvent", "scale", "l1_sensitivity"),
        DiscreteGaussianEvent: Names("DiscreteGaussianEvent", "stddev", "l2_sensitivity", "l0_sensitivity"),
        RandomizedResponseEvent: Names("RandomizedResponseEvent", "probability", "categories"),
        ExponentialEvent: Names("ExponentialEvent", "epsilon"),
        FiniteEvent: Names("FiniteEvent", "p", "q"),
        MixtureOfGaussiansEvent: Names("MixtureOfGaussiansEvent", "stddev", "sensitivities", "probabilities"),
        PoissonSampledEvent: Names("PoissonSampledEvent", "sampling_probability", "event"),
        TruncatedPoissonSampledEvent: Names(
            "TruncatedPoissonSampledEvent", "sampling_probability", "source_size", "max_sample_size", "event"
        ),
        SampledWithoutReplacementEvent: Names("SampledWithoutReplacementEvent", "sample_size", "source_size", "event"),
        RepeatAndSelectEvent: Names("RepeatAndSelectEvent", "event", "mean", "shape"),
        FullyAdaptiveEvent: Names("FullyAdaptiveEvent", "budget"),
        SelfComposedEvent: Names("SelfComposedEvent", "event", "count"),
        ComposedEvent: Names("ComposedEvent", "events"),
        PartitionEvent: Names("PartitionEvent", "events", "max_parts_per_unit"),
        GroupEvent: Names("GroupEvent", "event", "size"),
    },
)
"""How events are stored."""
BUDGETS: Final = StoredNames[Budget](
    "budget",
    {
        PureDP: Names("PureDP", "epsilon"),
        ApproxDP: Names("ApproxDP", "epsilon", "delta"),
        NoGuarantee: Names("NoGuarantee"),
        ZCDP: Names("ZCDP", "rho", "delta"),
        RenyiDP: Names("RenyiDP", "orders", "bounds", "delta"),
    },
)
"""How guarantees and other budgets are stored."""


def encode_event(event: Event) -> dict[str, Json]:
    """An event as JSON with its version.

    Example:
        >>> from sfumato.privacy.events import PureEvent
        >>> encode_event(PureEvent(Fraction(1, 10)))
        {'version': 1, 'event': {'type': 'PureEvent', 'epsilon': '1/10'}}
    """
    return {"version": VERSION, "event": _encode(EVENTS, event)}


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
    return _encode(BUDGETS, guarantee)


def decode_guarantee(document: Json) -> Guarantee:
    """The guarantee that `encode_guarantee` wrote.

    Raises:
        ParameterError: The document is none.
    """
    guarantee = decode_budget(document)
    if isinstance(guarantee, ZCDP | RenyiDP):
        raise ParameterError("guarantee", "a document", "must be a guarantee written by this package")
    return guarantee


def encode_budget(budget: Budget) -> dict[str, Json]:
    """A budget, or what was spent of one, as JSON."""
    return _encode(BUDGETS, budget)


def decode_budget(document: Json) -> Budget:
    """The budget that `encode_budget` wrote.

    Raises:
        ParameterError: The document is none.
    """
    found = BUDGETS.stored_as(document.get("type")) if isinstance(document, dict) else None
    if not isinstance(document, dict) or found is None or not found[1].attributes.keys() <= document.keys():
        raise ParameterError("guarantee", "a document", "must be a guarantee or budget written by this package")
    cls, names = found
    values = ((own, document[stored]) for stored, own in names.fields)
    return cls(
        **{own: tuple(map(rational, value)) if isinstance(value, list) else rational(value) for own, value in values}
    )


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


def _encode(stored_names: StoredNames[Any], value: Event | Budget) -> dict[str, Json]:
    names = stored_names.of(value)
    return {"type": names.tag} | {stored: _field(getattr(value, own)) for stored, own in names.fields}


def _field(value: Any) -> Json:
    match value:
        case Fraction():
            return str(value)
        case int() | None:
            return value
        case tuple():
            return [_field(item) for item in value]
        case _:
            return _encode(EVENTS, value)


def _decode(document: Json, depth: int) -> Event:
    found = EVENTS.stored_as(document.get("type")) if isinstance(document, dict) else None
    if not isinstance(document, dict) or found is None:
        raise ParameterError("event", "a document", "must be an event written by this package")
    cls, names = found
    told = {stored: _value(value, depth + 1) for stored, value in document.items() if stored != "type"}
    try:
        return cls(**{names.attributes[stored]: value for stored, value in told.items()})
    except ParameterError:
        raise
    except (TypeError, ValueError, ZeroDivisionError, KeyError):
        requirement = f"must have the fields {', '.join(names.attributes)}"
        raise ParameterError("event", names.tag, requirement) from None


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
