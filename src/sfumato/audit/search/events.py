"""Events on outputs, and the search for the one that speaks loudest against a claim.

The search may look wherever it likes, because what it finds is tested on other runs.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.core.columns import Column, Columns, without_clocks
from sfumato.audit.core.reading import UNREAD
from sfumato.audit.search.ranking import Counts, Ranking

_MAX_COLUMNS: Final = 1000
_FEWEST_SEEN: Final = 10  # labels seen less often are one-sided by chance, and unions of them even more so
_OFTEN: Final = 100  # times that parts were seen on average, from where their order is hardly one of chance
_SHOWN_LABELS: Final = 3
_MAX_SHOWN: Final = 60

Look: TypeAlias = Callable[[Columns], Column]
"""A number for each run, from what that run shows."""


@dataclass(frozen=True, slots=True)
class Event:
    """A set of outputs: in words, and as a function that says of each run whether its output lies inside."""

    words: str
    happened: Callable[[Columns], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Suspicion:
    """An event that seems too much likelier on one database than on the other.

    Attributes:
        strength: The ε that its test would refute if it came out again as in the search.
        event: What happened too often.
        likelier_on_second: Where.
        unread: What the search did not look at, in words.
    """

    strength: float
    event: Event
    likelier_on_second: bool
    unread: tuple[str, ...] = ()


def strongest_event(first: Columns, second: Columns, *, ranking: Ranking) -> Suspicion:
    """The event whose test would refute the largest ε, if it came out again as in these samples.

    Looked at are, for every column: all thresholds in both directions, every single value, being missing, and for
    texts the unions of those that are most one-sided.

    Args:
        first: What outputs show on one database.
        second: The same, of as many on its neighbour.
        ranking: What the test will ask.
    """
    every = list(dict.fromkeys([*first.numbers, *second.numbers]))
    numbers, clocks = without_clocks(every, first, second)
    texts = list(dict.fromkeys([*first.texts, *second.texts]))
    best = max(_suspicions(numbers[:_MAX_COLUMNS], texts[:_MAX_COLUMNS], first, second, ranking), key=_by_strength)
    unread = [*([UNREAD] if UNREAD in numbers else []), *clocks]
    if len(numbers) > _MAX_COLUMNS or len(texts) > _MAX_COLUMNS:
        unread.append(f"all but {_MAX_COLUMNS} of {len(numbers)} numbers and of {len(texts)} texts")
    return Suspicion(best.strength, best.event, best.likelier_on_second, tuple(unread))


def strongest_threshold(name: str, look: Look, first: Columns, second: Columns, *, ranking: Ranking) -> Suspicion:
    """The best event on one number: at most, at least or equal to something, or missing.

    Args:
        name: Of the number, in words.
        look: Gives it.
        first: As for `strongest_event`.
        second: As for `strongest_event`.
        ranking: As for `strongest_event`.
    """
    found = [*_on_number(name, look, first, second, ranking), _on_missing(name, look, first, second, ranking)]
    return max(found, key=_by_strength)


def _by_strength(suspicion: Suspicion) -> float:
    return suspicion.strength


def _suspicions(
    numbers: list[str], texts: list[str], first: Columns, second: Columns, ranking: Ranking
) -> Iterator[Suspicion]:
    for name in texts:
        yield from _on_text(name, first.text(name), second.text(name), ranking)
    for name in numbers:
        yield from _on_number(name, _number(name), first, second, ranking)
    for name in numbers:  # last: of equally strong events the first is taken, and text says what there was instead
        yield _on_missing(name, _number(name), first, second, ranking)


def _number(name: str) -> Look:
    return lambda columns: columns.number(name)


def _on_number(name: str, look: Look, first: Columns, second: Columns, ranking: Ranking) -> Iterator[Suspicion]:
    values, here, there = _tally(look(first), look(second))
    if len(values) == 0:
        return
    upward, downward = (here.cumsum(), there.cumsum()), (here[::-1].cumsum()[::-1], there[::-1].cumsum()[::-1])
    yield _strongest(lambda i: _at_most(name, look, values[i]), *upward, ranking=ranking)
    yield _strongest(lambda i: _at_least(name, look, values[i]), *downward, ranking=ranking)
    yield _strongest(lambda i: _equal(name, look, values[i]), here, there, ranking=ranking)


def _on_missing(name: str, look: Look, first: Columns, second: Columns, ranking: Ranking) -> Suspicion:
    event = Event(f"{name} is missing or no number", lambda columns: np.isnan(look(columns)))
    here, there = (np.array([event.happened(side).sum()]) for side in (first, second))
    return _strongest(lambda _: event, here, there, ranking=ranking)


def _on_text(name: str, first: list[str], second: list[str], ranking: Ranking) -> Iterator[Suspicion]:
    times = Counter(first), Counter(second)
    labels = [text for text, count in (times[0] + times[1]).items() if count >= _FEWEST_SEEN]
    if not labels:
        return
    here, there = (np.array([counted[text] for text in labels]) for counted in times)
    yield from strongest_unions(lambda chosen: _one_of(name, [labels[i] for i in chosen]), here, there, ranking=ranking)


def strongest_unions(
    event: Callable[[list[int]], Event], here: Counts, there: Counts, *, ranking: Ranking
) -> Iterator[Suspicion]:
    """Of parts that lie apart, the best union of those that are most one-sided, once for each side.

    Where parts were seen seldom, the runs that put them in order are not those by which a union is judged: parts that
    were one-sided by chance would make the longest union the best one, and the test on other runs would find nothing.

    Args:
        event: The union of parts with these numbers.
        here: How often the output lay in each part on one database.
        there: On its neighbour.
        ranking: As for `strongest_event`.
    """
    ours, theirs, judged = here, there, (here, there)
    if (here + there).sum() < _OFTEN * len(here):
        halves = np.random.default_rng(len(here))  # noqa: TID251 # it only says which runs put parts in order
        ours, theirs = halves.binomial(here, 0.5), halves.binomial(there, 0.5)
        judged = (2 * (here - ours), 2 * (there - theirs))
    for sign in (1, -1):
        order = np.argsort(sign * np.log((theirs + 1) / (ours + 1)), kind="stable")
        first_parts = _first_parts(event, order)
        yield _strongest(first_parts, *(counts[order].cumsum() for counts in judged), ranking=ranking)


def _tally(first: Column, second: Column) -> tuple[Column, Counts, Counts]:
    """The different values of both samples in order, and how often each has them."""
    first, second = first[~np.isnan(first)], second[~np.isnan(second)]
    values, which = np.unique(np.concatenate([first, second]), return_inverse=True)
    here = np.bincount(which[: len(first)], minlength=len(values))
    return values, here, np.bincount(which[len(first) :], minlength=len(values))


def _strongest(event: Callable[[int], Event], here: Counts, there: Counts, *, ranking: Ranking) -> Suspicion:
    """The best of a family of events, in either direction."""
    on_first, on_second = ranking.strongest(here, there), ranking.strongest(there, here)
    is_second = on_second[0] > on_first[0]
    strength, place = on_second if is_second else on_first
    return Suspicion(strength, event(place), is_second)


def _at_most(name: str, look: Look, bound: float) -> Event:
    return Event(f"{name} ≤ {bound!s}", lambda columns: look(columns) <= bound)


def _at_least(name: str, look: Look, bound: float) -> Event:
    return Event(f"{name} ≥ {bound!s}", lambda columns: look(columns) >= bound)


def _equal(name: str, look: Look, value: float) -> Event:
    return Event(f"{name} = {value!s}", lambda columns: look(columns) == value)


def _first_parts(event: Callable[[list[int]], Event], order: Counts) -> Callable[[int], Event]:
    return lambda last: event(order[: last + 1].tolist())


def _one_of(name: str, labels: list[str]) -> Event:
    chosen = frozenset(labels)
    shown = ", ".join(_shortened(text) for text in labels[:_SHOWN_LABELS])
    more = f" and {len(labels) - _SHOWN_LABELS} more" if len(labels) > _SHOWN_LABELS else ""
    words = f"{name} is {shown}" if len(labels) == 1 else f"{name} is one of {shown}{more}"
    return Event(words, lambda columns: np.array([text in chosen for text in columns.text(name)], dtype=np.bool_))


def _shortened(text: str) -> str:
    if not text:
        return "missing"
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
