"""Events on outputs, and two searches for the one that refutes the largest ε: single events, and unions of cells.

The searches may look wherever they like, because what they find is tested on other runs. No threshold finds a leak that
shows on both tails or in the gaps of a distribution. A union of the cells whose likelihood ratio exceeds e^ε does: its
excess P(S) − e^ε·Q(S) is the hockey-stick divergence, from below.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.core.outputs import UNREAD, Column, Columns, without_clocks
from sfumato.audit.search.bets import Counts, Ranking

_STRENGTH: Final = attrgetter("strength")
_MOST_COLUMNS: Final = 1000  # of each kind, numbers and texts
_MOST_CUT: Final = 64  # columns that are cut into cells
_CELLS: Final = 48
_SHOWN_CELLS: Final = 3
_FEWEST_SEEN: Final = 10  # labels seen less often are one-sided by chance, and unions of them even more so
_OFTEN: Final = 100  # times that parts were seen on average, from where their order is hardly one of chance
_SHOWN_LABELS: Final = 3
_LONGEST_SHOWN: Final = 60

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
        event: The event.
        likelier_on_second: Whether it is likelier on the second database.
        unread: What the search did not read, in words.
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
        first: Outputs on one database.
        second: As many outputs on its neighbor.
        ranking: The claim and the test that follows.
    """
    every = list(dict.fromkeys([*first.numbers, *second.numbers]))
    numbers, clocks = without_clocks(every, first, second)
    texts = list(dict.fromkeys([*first.texts, *second.texts]))
    best = max(_suspicions(numbers[:_MOST_COLUMNS], texts[:_MOST_COLUMNS], first, second, ranking), key=_STRENGTH)
    unread = [*([UNREAD] if UNREAD in numbers else []), *clocks]
    if len(numbers) > _MOST_COLUMNS or len(texts) > _MOST_COLUMNS:
        unread.append(f"all but {_MOST_COLUMNS} of {len(numbers)} numbers and of {len(texts)} texts")
    return Suspicion(best.strength, best.event, best.likelier_on_second, tuple(unread))


def strongest_threshold(name: str, look: Look, first: Columns, second: Columns, *, ranking: Ranking) -> Suspicion:
    """The best event on one number: at most, at least or equal to something, or missing.

    Args:
        name: The name of the number.
        look: Gives it.
        first: Outputs on one database.
        second: As many outputs on its neighbor.
        ranking: The claim and the test that follows.
    """
    found = [*_on_number(name, look, first, second, ranking), _on_missing(name, look, first, second, ranking)]
    return max(found, key=_STRENGTH)


def strongest_cells(first: Columns, second: Columns, *, ranking: Ranking) -> Suspicion:
    """The union of cells of one number whose test would refute the largest ε.

    Each number is cut into 48 cells of about as many outputs of both samples together, or into its single values if
    they are no more; outputs without the number are one cell more. The best union of cells takes those with the largest
    likelihood ratios, as the Neyman-Pearson lemma says.

    Args:
        first: Outputs on one database.
        second: As many outputs on its neighbor.
        ranking: The claim and the test that follows.
    """
    names, clocks = without_clocks(list(dict.fromkeys([*first.numbers, *second.numbers])), first, second)
    found = [suspicion for name in names[:_MOST_CUT] for suspicion in _on_cells(name, first, second, ranking)]
    best = max(found, key=_STRENGTH, default=Suspicion(0.0, _NOTHING, False))
    unread = list(clocks)
    if len(names) > _MOST_CUT:
        unread.append(f"all but {_MOST_CUT} of {len(names)} numbers by the search for cells")
    return Suspicion(best.strength, best.event, best.likelier_on_second, tuple(unread))


def strongest_unions(
    event: Callable[[list[int]], Event], here: Counts, there: Counts, *, ranking: Ranking
) -> Iterator[Suspicion]:
    """Of parts that lie apart, the best union of those that are most one-sided, once for each side.

    Where parts were seen seldom, the runs that put them in order are not those by which a union is judged: parts that
    were one-sided by chance would make the longest union the best one, and the test on other runs would find nothing.

    Args:
        event: The union of parts with these numbers.
        here: The number of outputs in each part on one database.
        there: The number of outputs in each part on its neighbor.
        ranking: The claim and the test that follows.
    """

    def first_parts(order: Counts, last: int) -> Event:
        return event(order[: last + 1].tolist())

    ours, theirs, judged = here, there, (here, there)
    if (here + there).sum() < _OFTEN * len(here):
        halves = np.random.default_rng(len(here))  # noqa: TID251 # it only says which runs put parts in order
        ours, theirs = halves.binomial(here, 0.5), halves.binomial(there, 0.5)
        judged = (2 * (here - ours), 2 * (there - theirs))
    for sign in (1, -1):
        order = np.argsort(sign * np.log((theirs + 1) / (ours + 1)), kind="stable")
        cumulative = (counts[order].cumsum() for counts in judged)
        yield _strongest(partial(first_parts, order), *cumulative, ranking=ranking)


def _suspicions(
    numbers: list[str], texts: list[str], first: Columns, second: Columns, ranking: Ranking
) -> Iterator[Suspicion]:
    for name in texts:
        yield from _on_text(name, first.text(name), second.text(name), ranking)
    for name in numbers:
        yield from _on_number(name, _number(name), first, second, ranking)
    for name in numbers:  # last: of equally strong events the first is taken, and text says what there was instead
        yield _on_missing(name, _number(name), first, second, ranking)


def _on_number(name: str, look: Look, first: Columns, second: Columns, ranking: Ranking) -> Iterator[Suspicion]:
    values, here, there = _tally(look(first), look(second))
    if len(values) == 0:
        return
    upward, downward = (here.cumsum(), there.cumsum()), (here[::-1].cumsum()[::-1], there[::-1].cumsum()[::-1])
    yield _strongest(lambda i: _compared(name, look, "≤", values[i]), *upward, ranking=ranking)
    yield _strongest(lambda i: _compared(name, look, "≥", values[i]), *downward, ranking=ranking)
    yield _strongest(lambda i: _compared(name, look, "=", values[i]), here, there, ranking=ranking)


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


def _on_cells(name: str, first: Columns, second: Columns, ranking: Ranking) -> Iterator[Suspicion]:
    values = first.number(name), second.number(name)
    ends = _ends(np.concatenate(values))
    here, there = (np.bincount(cells(side, ends), minlength=len(ends) + 2) for side in values)
    yield from strongest_unions(lambda chosen: _in(name, ends, chosen), here, there, ranking=ranking)


def cells(values: Column, ends: Column) -> NDArray[np.int64]:
    """The number of the cell of each value: cell i ends at ends[i], and the last one is for NaN.

    Example:
        >>> cells(np.array([0.5, 1.0, 7.0, np.nan]), np.array([1.0, 2.0])).tolist()
        [0, 0, 2, 3]
    """
    found = np.searchsorted(ends, values)
    found[np.isnan(values)] = len(ends) + 1
    return found


def _ends(values: Column) -> Column:
    """Where cells end, each at a value that was seen: the last one reaches to infinity."""
    seen = np.sort(values[~np.isnan(values)])
    different = np.unique(seen)
    if len(different) <= _CELLS:
        return different
    return np.unique(seen[np.arange(1, _CELLS) * len(seen) // _CELLS])


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


def _number(name: str) -> Look:
    return lambda columns: columns.number(name)


def _compared(name: str, look: Look, sign: str, bound: float) -> Event:
    compare = {"≤": np.less_equal, "≥": np.greater_equal, "=": np.equal}[sign]
    return Event(f"{name} {sign} {bound!s}", lambda columns: compare(look(columns), bound))


def _one_of(name: str, labels: list[str]) -> Event:
    chosen = frozenset(labels)
    shown = ", ".join(_shortened(text) for text in labels[:_SHOWN_LABELS])
    more = f" and {len(labels) - _SHOWN_LABELS} more" if len(labels) > _SHOWN_LABELS else ""
    words = f"{name} is {shown}" if len(labels) == 1 else f"{name} is one of {shown}{more}"
    return Event(words, lambda columns: np.array([text in chosen for text in columns.text(name)], dtype=np.bool_))


def _shortened(text: str) -> str:
    if not text:
        return "missing"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


_NOTHING: Final = Event("no number was seen", lambda columns: np.zeros(len(columns), dtype=np.bool_))


def _in(name: str, ends: Column, chosen: list[int]) -> Event:
    which = frozenset(chosen)
    shown = " or ".join(_between(ends, cell) for cell in chosen[:_SHOWN_CELLS])
    more = f" or {len(chosen) - _SHOWN_CELLS} more cells" if len(chosen) > _SHOWN_CELLS else ""
    picked = np.array([cell in which for cell in range(len(ends) + 2)])
    return Event(f"{name} lies in {shown}{more}", lambda columns: picked[cells(columns.number(name), ends)])


def _between(ends: Column, cell: int) -> str:
    if cell > len(ends):
        return "none, as it is missing or no number"
    low = f"({ends[cell - 1]!s}" if cell > 0 else "(-∞"
    return f"{low}, {ends[cell]!s}]" if cell < len(ends) else f"{low}, ∞)"
