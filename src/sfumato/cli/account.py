"""`sfumato account`: what a batch of releases in a file costs."""

import json
import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Final

import typer

from sfumato.accounting.comparison import Best, best
from sfumato.errors import ParameterError
from sfumato.numeric.rationals import positive_integer
from sfumato.numeric.rounding import float_up
from sfumato.privacy.codec import EVENTS, VERSION, Json, decode_event
from sfumato.privacy.events import Event, SelfComposedEvent
from sfumato.privacy.formats import parse_json
from sfumato.privacy.neighbors import as_relation

_FIELDS: Final = frozenset({"version", "event", "count"})


def account(file: str, *, delta: str | None, epsilon: str | None, relation: str, as_json: bool) -> None:
    """Print what every accountant says of the events in a file."""
    if (delta is None) == (epsilon is None):
        raise ParameterError("--delta, --epsilon", (delta, epsilon), "exactly one must be stated; the other is found")
    releases = tuple(_releases(file))
    found = best(releases, delta=delta, epsilon=epsilon, neighboring_relation=as_relation(relation))
    typer.echo(json.dumps(_document(found), ensure_ascii=False, indent=2) if as_json else str(found))


def json_number(value: Fraction | float) -> float | str:
    """A cost as JSON knows it, rounded up."""
    number = math.inf if value == math.inf else float_up(Fraction(value))
    return "infinite" if number == math.inf else number


def _lower_number(value: Fraction | float) -> float | str:
    """The same rounded down."""
    return "infinite" if value == math.inf else -float_up(-Fraction(value))


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
    """A JSON object; of a name that stands twice it would be a guess which value counts."""
    found = dict(fields)
    if len(found) < len(fields):
        raise ParameterError("FILE", [name for name, _ in fields], "must have each name once in an object")
    return found


def _release(entry: Json) -> tuple[Event, int]:
    """An event, as the codec writes it or without the version, alone or beside a count."""
    if not isinstance(entry, dict):
        raise ParameterError("release", entry, 'must look like {"event": {"type": "PureEvent", "epsilon": 1}}')
    if entry.get("type") == EVENTS.table[SelfComposedEvent].tag:  # its count is its own
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
    return {
        "neighboring_relation": str(found.neighboring_relation),
        "epsilon": json_number(found.epsilon),
        "delta": json_number(found.delta),
        "lower_epsilon": _lower_number(found.lower_epsilon),
        "accountant": found.accountant,
        "solves_for": found.solves_for,
        "figures": {
            figure.accountant: None if figure.cost is None else json_number(figure.cost) for figure in found.figures
        },
    }
