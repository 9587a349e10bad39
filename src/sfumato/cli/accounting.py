"""`sfumato account | calibrate`: the cost of a batch of releases, and one parameter of a release from a guarantee."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

import typer

from sfumato.accounting.calibration import Calibration, Parameter, calibrate
from sfumato.accounting.comparison import ACCOUNTANTS, Best, BestAccountant, best
from sfumato.accounting.core.accountant import Accountant
from sfumato.accounting.core.printed import text_exactly, text_up
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, positive, positive_integer, probability
from sfumato.numeric.rounding import float_up
from sfumato.privacy.codec import EVENTS, VERSION, Json, decode_event, encode_event
from sfumato.privacy.events import (
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    GaussianEvent,
    LaplaceEvent,
    PoissonSampledEvent,
    SelfComposedEvent,
)
from sfumato.privacy.formats import parse_json
from sfumato.privacy.guarantees import guarantee
from sfumato.privacy.neighbors import as_relation

_FIELDS: Final = frozenset({"version", "event", "count"})
_MECHANISMS: Final[Mapping[str, tuple[Callable[[Fraction], Event], str]]] = MappingProxyType(
    {
        "gaussian": (GaussianEvent, "standard deviation over L2 sensitivity"),
        "laplace": (LaplaceEvent, "scale over L1 sensitivity"),
        "discrete-gaussian": (
            lambda noise: DiscreteGaussianEvent(noise, Fraction(1)),
            "standard deviation for a sensitivity of 1",
        ),
        "discrete-laplace": (lambda noise: DiscreteLaplaceEvent(noise, Fraction(1)), "scale for a sensitivity of 1"),
    }
)
_WANTED: Final = MappingProxyType(
    {"noise": Parameter.NOISE, "count": Parameter.COUNT, "probability": Parameter.SAMPLING_PROBABILITY}
)
Choice = TypeVar("Choice")


def account(file: str, *, delta: str | None, epsilon: str | None, relation: str, as_json: bool) -> None:
    """Print the cost of the events in a file, by every accountant."""
    if (delta is None) == (epsilon is None):
        raise ParameterError("--delta, --epsilon", (delta, epsilon), "give exactly one of them; the other is computed")
    releases = tuple(_releases(file))
    found = best(releases, delta=delta, epsilon=epsilon, neighboring_relation=as_relation(relation))
    typer.echo(json.dumps(_document(found), ensure_ascii=False, indent=2) if as_json else str(found))


def json_number(value: Fraction | float) -> float | str:
    """A cost as a JSON number, rounded up; an infinite cost as text."""
    number = math.inf if value == math.inf else float_up(Fraction(value))
    return "infinite" if number == math.inf else number


def _releases(file: str) -> Iterator[tuple[Event, int]]:
    entries = _read(file)
    for number, entry in enumerate(entries if isinstance(entries, list) else [entries]):
        try:
            yield _release(entry)
        except ParameterError as error:
            name = f"{file}, entry {number + 1}, {error.name}"
            raise ParameterError(name, error.value, error.requirement) from None


def _read(file: str) -> Json:
    try:
        content: Json = parse_json(Path(file).read_text("utf-8"), parse_float=Decimal, object_pairs_hook=_named_once)
    except OSError as error:
        raise ParameterError("FILE", file, f"cannot be read: {error.strerror}") from None
    except ParameterError:
        raise
    except ValueError as error:
        raise ParameterError("FILE", file, f"must be JSON, a list of events with their counts: {error}") from None
    return content


def _named_once(fields: list[tuple[str, Json]]) -> dict[str, Json]:
    """A JSON object; a name must not occur twice."""
    found = dict(fields)
    if len(found) < len(fields):
        raise ParameterError("FILE", [name for name, _ in fields], "must have each name once in an object")
    return found


def _release(entry: Json) -> tuple[Event, int]:
    """An event, as the codec writes it or without the version, alone or with a count."""
    if not isinstance(entry, dict):
        raise ParameterError("release", entry, 'must look like {"event": {"type": "PureEvent", "epsilon": 1}}')
    if entry.get("type") == EVENTS.table[SelfComposedEvent].tag:  # it has a count itself
        return decode_event({"version": VERSION, "event": entry}), 1
    if "type" not in entry and not entry.keys() <= _FIELDS:
        raise ParameterError("release", sorted(entry.keys() - _FIELDS), f"may only have {', '.join(sorted(_FIELDS))}")
    count = positive_integer(entry.get("count", 1), "count")
    document: Json = {name: value for name, value in entry.items() if name != "count"}
    if isinstance(document, dict) and document.keys() == {"event"}:
        document = document["event"]
    if isinstance(document, dict) and "type" in document:
        document = {"version": VERSION, "event": document}
    return decode_event(document), count


def _document(found: Best) -> dict[str, object]:
    lower = found.lower_epsilon
    return {
        "neighboring_relation": str(found.neighboring_relation),
        "epsilon": json_number(found.epsilon),
        "delta": json_number(found.delta),
        "lower_epsilon": "infinite" if lower == math.inf else -float_up(-Fraction(lower)),
        "accountant": found.accountant,
        "solves_for": found.solves_for,
        "figures": {
            figure.accountant: None if figure.cost is None else json_number(figure.cost) for figure in found.figures
        },
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """The releases as options state them; the parameter to find is None."""

    mechanism: str
    noise: Number | None
    count: Number | None
    sampling_probability: Number | None

    def having(self, parameter: Parameter, value: Fraction) -> "ReleaseOptions":
        """A copy with a value for the parameter to find."""
        match parameter:
            case Parameter.NOISE:
                return replace(self, noise=value)
            case Parameter.COUNT:
                return replace(self, count=value)
            case Parameter.SAMPLING_PROBABILITY:
                return replace(self, sampling_probability=value)

    def event(self) -> Event:
        """All releases together."""
        make, _ = _known("mechanism", self.mechanism, _MECHANISMS)
        if self.noise is None:
            raise ParameterError("noise", None, "is missing: add --noise, or find it with --find noise")
        single = make(positive(self.noise, "noise"))
        if self.sampling_probability is not None:
            share = probability(self.sampling_probability, "sampling_probability")
            single = PoissonSampledEvent(share, single)
        return SelfComposedEvent(single, 1 if self.count is None else int(self.count))


def search(
    release: ReleaseOptions,
    *,
    find: str,
    epsilon: str,
    delta: str,
    relation: str,
    accountant: str,
    tolerance: str,
    as_json: bool,
) -> None:
    """Find the value of the parameter and print it with the total cost."""
    parameter = _known("find", find, _WANTED)
    stated = getattr(release, parameter)
    if stated is not None:
        raise ParameterError(find, stated, "is the parameter to find; leave it out, or change --find")
    found = calibrate(
        lambda value: release.having(parameter, value).event(),
        target=guarantee(epsilon, delta),
        accountant=_empty(accountant, relation),
        parameter=parameter,
        tolerance=tolerance,
    )
    if as_json:
        typer.echo(json.dumps(_calibration_document(found), ensure_ascii=False, indent=2))
        return
    what = f"noise, {_MECHANISMS[release.mechanism][1]}" if parameter is Parameter.NOISE else find
    typer.echo(f"{what}: {text_exactly(found.value)}")
    typer.echo(
        f"total cost of all releases: ε {text_up(found.epsilon)} at δ {text_exactly(found.target.delta)} "
        f"(accountant {accountant}, neighboring relation {relation})"
    )


def _empty(accountant: str, relation: str) -> Accountant:
    kinds: Mapping[str, Callable[..., Accountant]] = {"best": BestAccountant, **ACCOUNTANTS}
    return _known("accountant", accountant, kinds)(neighboring_relation=as_relation(relation))


def _known(name: str, word: str, choices: Mapping[str, Choice]) -> Choice:
    if word not in choices:
        raise ParameterError(name, word, f"must be one of {', '.join(choices)}")
    return choices[word]


def _calibration_document(found: Calibration) -> dict[str, object]:
    return {
        "parameter": str(found.parameter),
        "value": text_exactly(found.value),
        "epsilon": json_number(found.epsilon),
        "delta": json_number(found.target.delta),
        "event": encode_event(found.event),
    }
