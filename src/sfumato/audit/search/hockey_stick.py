"""The hockey-stick divergence max P(S) − e^ε·Q(S), from below: the cells where the likelihood ratio exceeds e^ε.

No threshold finds a leak that shows on both tails or in the gaps of a law; a union of cells does.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.core.columns import Column, Columns, without_clocks
from sfumato.audit.search.events import Event, Suspicion, strongest_unions
from sfumato.audit.search.ranking import Ranking
from sfumato.audit.search.split_search import SplitTester

_MAX_COLUMNS: Final = 64
_CELLS: Final = 48
_SHOWN: Final = 3
_NOTHING: Final = Event("no number was seen", lambda columns: np.zeros(len(columns), dtype=np.bool_))


def strongest_cells(first: Columns, second: Columns, *, ranking: Ranking) -> Suspicion:
    """The union of cells of one number that speaks loudest against a claim.

    Each number is cut into 48 cells of about as many outputs of both samples together, or into its single values if
    they are no more; outputs without the number are one cell more. The best union of cells takes those with the largest
    likelihood ratios, as the Neyman-Pearson lemma says.

    Args:
        first: What outputs show on one database.
        second: The same, of as many on its neighbour.
        ranking: What the test will ask.
    """
    names, clocks = without_clocks(list(dict.fromkeys([*first.numbers, *second.numbers])), first, second)
    found = [suspicion for name in names[:_MAX_COLUMNS] for suspicion in _on_cells(name, first, second, ranking)]
    best = max(found, key=lambda suspicion: suspicion.strength, default=Suspicion(0.0, _NOTHING, False))
    unread = list(clocks)
    if len(names) > _MAX_COLUMNS:
        unread.append(f"all but {_MAX_COLUMNS} of {len(names)} numbers by the search for cells")
    return Suspicion(best.strength, best.event, best.likelier_on_second, tuple(unread))


HOCKEY_STICK: Final = SplitTester("hockey stick", strongest_cells)


def cells(values: Column, ends: Column) -> NDArray[np.int64]:
    """The number of the cell of each value: cell i ends at ends[i], and the last one is for NaN.

    Example:
        >>> cells(np.array([0.5, 1.0, 7.0, np.nan]), np.array([1.0, 2.0])).tolist()
        [0, 0, 2, 3]
    """
    found = np.searchsorted(ends, values)
    found[np.isnan(values)] = len(ends) + 1
    return found


def _on_cells(name: str, first: Columns, second: Columns, ranking: Ranking) -> Iterator[Suspicion]:
    values = first.number(name), second.number(name)
    ends = _ends(np.concatenate(values))
    here, there = (np.bincount(cells(side, ends), minlength=len(ends) + 2) for side in values)
    yield from strongest_unions(lambda chosen: _in(name, ends, chosen), here, there, ranking=ranking)


def _ends(values: Column) -> Column:
    """Where cells end, each at a value that was seen: the last one reaches to infinity."""
    seen = np.sort(values[~np.isnan(values)])
    different = np.unique(seen)
    if len(different) <= _CELLS:
        return different
    return np.unique(seen[np.arange(1, _CELLS) * len(seen) // _CELLS])


def _in(name: str, ends: Column, chosen: list[int]) -> Event:
    which = frozenset(chosen)
    shown = " or ".join(_between(ends, cell) for cell in chosen[:_SHOWN])
    more = f" or {len(chosen) - _SHOWN} more cells" if len(chosen) > _SHOWN else ""
    picked = np.array([cell in which for cell in range(len(ends) + 2)])
    return Event(f"{name} lies in {shown}{more}", lambda columns: picked[cells(columns.number(name), ends)])


def _between(ends: Column, cell: int) -> str:
    if cell > len(ends):
        return "none, as it is missing or no number"
    low = f"({ends[cell - 1]!s}" if cell > 0 else "(-∞"
    return f"{low}, {ends[cell]!s}]" if cell < len(ends) else f"{low}, ∞)"
