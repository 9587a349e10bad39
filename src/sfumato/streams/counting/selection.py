"""Keys that nobody listed: each key of an event has a noisy sum, which is shown once it is clearly above one unit's.

Noise never depends on data, so a key that comes later has the noise that it would have had from the first step on.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import ceil
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.base import ContinualMechanism, RunningCounter
from sfumato.mechanisms.continual.binary_tree import BinaryTree
from sfumato.mechanisms.continual.sums import SlidingWindow
from sfumato.mechanisms.lattice import is_missing
from sfumato.noise.uniform.integers import Integers
from sfumato.numeric.rationals import Number, open_probability, set_fields
from sfumato.privacy.secret import Secret

MOST_ROWS: Final = 1 << 22
"""So many released rows stay in memory, and no fewer."""

_LEAST_FAILURE: Final = Fraction(1, 10**7)
"""From here down, half-widths of trees are bounds by Chernoff or by a union, and no numeric inversion."""


@dataclass(frozen=True, slots=True, init=False)
class SelectedKeys:
    """Keys that are in no list: a counter shows those of enough units, and never hides one again.

    The keys are text; whole numbers and dates are written as text. A key is shown from the first step at which its
    noisy sum is above what one unit can add to it, by more than the noise exceeds at any step but with probability δ.

    **Guarantee**: shown keys cost `delta` once, for all steps of the horizon, beside the cost of the sums. Proof:
    proofs/streams/counting/selection.md.

    Edge cases: a key without an event is never shown. An event whose key is missing, or neither text, whole number nor
    date, is dropped. Memory grows with the number of different keys of events, which no argument bounds: a bound would
    let the keys of one unit displace those of others.

    Args:
        delta: How likely a key of one unit alone is shown at any step, at most; above 0.

    Raises:
        ParameterError: delta does not lie between 0 and 1.

    Example:
        >>> import sfumato as sf
        >>> stream = sf.streams.StreamSession("searches", budget=sf.ApproxDP(1, "1e-6"))
        >>> searches = sf.streams.Counter(
        ...     session=stream, mechanism=sf.mechanisms.BinaryTree, horizon=7, epsilon=1,
        ...     measure=sf.streams.EventCount(keys=SelectedKeys(delta="1e-6")),
        ... )
        >>> searches.add_many(keys=["flu"] * 5_000 + ["a name"])
        >>> searches.tick().labels
        ('flu',)

    References:
        [CR22] and [ZDKSTMCAS24], for unknown domains over time; [KKMN09] for thresholds.
    """

    delta: Fraction

    def __init__(self, delta: Number) -> None:
        set_fields(self, delta=open_probability(delta, "delta"))


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyThreshold:
    """What the noisy sum of a key has to be above to be shown: what one unit adds, and what noise may.

    Args:
        mechanism: The noise of each sum.
        largest: The most that one unit can add to a sum of one key, in its integers.
        failure: How likely the noise of one sum at one step may be above its bound.

    Example:
        >>> tree = BinaryTree(horizon=4, epsilon=1)
        >>> KeyThreshold(mechanism=tree, largest=1, failure=Fraction(1, 10**9)).at(1)  # ln(10^9)·3 and 1
        64
    """

    mechanism: ContinualMechanism
    largest: int
    failure: Fraction

    def at(self, step: int) -> int:
        """The threshold at a step, an integer."""
        within = 1 - min(self.failure, _LEAST_FAILURE)
        return self.largest + ceil(self.mechanism.half_width(step, within))


def key_threshold(
    mechanism: ContinualMechanism, selected: SelectedKeys, *, largest: int, is_pair: bool
) -> KeyThreshold:
    """The threshold for keys of a counter.

    Args:
        mechanism: That of the counter, which knows how often a unit takes part.
        selected: What keys may cost.
        largest: The most that one event adds, in units of the resolution.
        is_pair: Whether units are replaced, so that two of them have keys that no other unit has.

    Raises:
        ParameterError: The mechanism has no bound of its noise that a guarantee may rest on.
    """
    if not isinstance(mechanism, BinaryTree):
        requirement = "must be a BinaryTree where keys are selected: only its error is bounded for tiny probabilities"
        raise ParameterError("mechanism", type(mechanism).__name__, requirement)
    times = mechanism.participation.within(mechanism.horizon)
    keys, sums = 2 * times if is_pair else times, mechanism.sums
    together = mechanism.participation.within(sums.width) if isinstance(sums, SlidingWindow) else times
    failure = selected.delta / (keys * mechanism.horizon)
    return KeyThreshold(mechanism=mechanism, largest=max(0, largest) * together, failure=failure)


class CounterKeys:
    """The keys of a counter so far, the places of their sums, and which are shown. It is as secret as the events.

    The first place belongs to no key.

    Args:
        threshold: What sums have to be above.
    """

    def __init__(self, threshold: KeyThreshold) -> None:
        self._threshold = threshold
        self._places: dict[str, int] = {}
        self._labels: list[str] = [""]
        self._shown: NDArray[np.bool_] = np.zeros(1, dtype=np.bool_)
        self._rows: deque[tuple[int, Integers]] = deque()
        self._size = 0

    @property
    def numbers(self) -> int:
        """How many places there are."""
        return len(self._labels)

    def places_of(self, keys: Iterable[Any]) -> NDArray[np.int64]:
        """The places of keys of events that count; new keys get new ones."""
        places = []
        for key in keys:
            text = key_of(key) or ""
            place = self._places.get(text, 0)
            if not place:
                place = self._places[text] = len(self._labels)
                self._labels.append(text)
            places.append(place)
        return np.array(places, dtype=np.int64)

    def drawn(self, running: RunningCounter, first: int, increments: Integers) -> Integers:
        """What is released at the next steps: rows of step, place and noisy sum, of shown keys in their order."""
        if self.numbers > running.numbers:
            running.widen(self.numbers - running.numbers)
        sums = running.release_block(Secret(increments))
        shown = np.zeros(self.numbers, dtype=np.bool_)
        shown[: len(self._shown)] = self._shown
        rows = [np.zeros((0, 3), dtype=sums.dtype)]
        for at, numbers in enumerate(sums):
            shown |= (numbers > self._threshold.at(first + at)).astype(np.bool_)
            shown[0] = False
            places = sorted(np.flatnonzero(shown).tolist(), key=self._labels.__getitem__)
            rows.append(np.stack([np.full(len(places), first + at), np.array(places, np.int64), numbers[places]], 1))
        self._shown = shown
        return np.concatenate(rows)

    def keep(self, first: int, rows: Integers) -> None:
        """Remember what was released from a step on; of all rows the last ones."""
        self._rows.append((first, rows))
        self._size += len(rows)
        while len(self._rows) > 1 and self._size - len(self._rows[0][1]) >= MOST_ROWS:
            self._size -= len(self._rows.popleft()[1])

    def kept(self) -> tuple[int, Integers]:
        """The first step that is remembered, and the rows from there on."""
        if not self._rows:
            return 1, np.zeros((0, 3), dtype=np.int64)
        self._rows = deque([(self._rows[0][0], np.concatenate([rows for _, rows in self._rows]))])
        return self._rows[0]

    def labels_of(self, rows: Integers) -> tuple[str, ...]:
        """The key of each row."""
        return tuple(self._labels[place] for place in rows[:, 1].tolist())

    def saved(self) -> dict[str, Any]:
        """The keys and which are shown, as JSON; secret."""
        return {"keys": self._labels[1:], "shown": np.flatnonzero(self._shown).tolist()}

    def restore(self, saved: dict[str, Any]) -> None:
        """Take `saved` over."""
        self._labels = ["", *saved["keys"]]
        self._places = {label: place for place, label in enumerate(self._labels) if place}
        self._shown = np.zeros(self.numbers, dtype=np.bool_)
        self._shown[saved["shown"]] = True


def key_of(key: Any) -> str | None:
    """The key of an event as text; None where there is none.

    Example:
        >>> key_of("flu"), key_of(7), key_of(date(2026, 1, 2)), key_of(None), key_of(["flu"])
        ('flu', '7', '2026-01-02', None, None)
    """
    if isinstance(key, str):
        text = str(key)
        return text if text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text) else None
    if isinstance(key, int | np.integer | date) and not isinstance(key, bool) and not is_missing(key):
        return str(key)
    return None
