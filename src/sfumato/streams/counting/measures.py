"""What a counter sums up: events, clamped numbers, bins or vectors, of which each event adds one at its step.

A measure is public: its keys, bounds and edges are the owner's. It says what one event may add, and places each event
among the numbers of the counter. Nothing about an event is an error: what is unknown or missing counts as stated.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, repeat
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.continual.contribution import Contribution
from sfumato.mechanisms.lattice import as_rational, as_resolution, is_missing, lattice_steps
from sfumato.numeric.arguments import listed
from sfumato.numeric.rationals import Number, exact, positive, positive_integer, set_fields
from sfumato.streams.counting.selection import SelectedKeys, key_of

Placed: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Of each event the number that it adds to, -1 for none, and what it adds; of vectors a row of each."""

_LARGEST: Final = 1 << 40
_PLACES: Final = lru_cache(maxsize=16)(lambda labels: dict(zip(labels, range(len(labels)), strict=True)))


class Measure(ABC):
    """What one event adds to which of the counter's numbers."""

    __slots__ = ()

    @property
    @abstractmethod
    def labels(self) -> tuple[Any, ...] | None:
        """The names of the numbers; None where there is one."""

    @property
    @abstractmethod
    def contribution(self) -> Contribution:
        """The most that an event adds, when one is added or removed."""

    @property
    def resolution(self) -> Fraction:
        """The unit of the counter's integers."""
        return Fraction(1)

    @property
    def selected(self) -> SelectedKeys | None:
        """How keys are selected, if they are not public."""
        return None

    @property
    def largest(self) -> int:
        """The most that an event adds to a number, in units of the resolution; below 0 if all events lower it."""
        return 1

    @property
    def numbers(self) -> int:
        """How many numbers the counter releases at each step; 1 where keys are selected, before there are any."""
        return 1 if self.labels is None else len(self.labels)

    @abstractmethod
    def placed(self, values: Any, keys: Any, count: int) -> Placed:
        """Where so many events go, and what they add.

        Args:
            values: One for each event, or None.
            keys: One for each event, or None.
            count: How many events.

        Raises:
            ParameterError: Values or keys are missing where the measure needs them, are given where it has none, or
                are of a type that it cannot hold.
        """


@dataclass(frozen=True, slots=True)
class EventCount(Measure):
    """Each event adds 1: in total, or to its key.

    Args:
        keys: The public keys, in the order of the answer; events of others are dropped. Or `SelectedKeys`, for keys
            that nobody listed. None: one total.

    Raises:
        ParameterError: There is no key, or one of them twice.

    Example:
        >>> EventCount(keys=("north", "south")).placed(None, ["south", "east"], 2)[0].tolist()
        [1, -1]
    """

    keys: tuple[Any, ...] | SelectedKeys | None = None

    def __post_init__(self) -> None:
        set_fields(self, keys=_public_keys(self.keys))

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The keys."""
        return None if isinstance(self.keys, SelectedKeys) else self.keys

    @property
    def selected(self) -> SelectedKeys | None:
        """How keys are selected, if they are not public."""
        return self.keys if isinstance(self.keys, SelectedKeys) else None

    @property
    def contribution(self) -> Contribution:
        """1, in one number."""
        return Contribution.count() if self.keys is None else Contribution.one_of()

    def placed(self, values: Any, keys: Any, count: int) -> Placed:
        """Each event at its key, with 1."""
        if values is not None:
            raise ParameterError("values", "numbers", "belong to a ClampedSum; a count adds 1 for each event")
        return _at(self.keys, keys, count), np.ones(count, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class ClampedSum(Measure):
    """Each event adds its number, moved to the nearer bound: in total, or to its key.

    Args:
        lower: The least that one event may add.
        upper: The most.
        resolution: The lattice of real numbers: each is rounded to its nearest multiple. None: whole numbers.
        keys: As for `EventCount`.

    Raises:
        ParameterError: The bounds are out of order or too far from 0, or a key stands there twice.

    Edge cases: missing numbers and NaN are 0 before they are clamped, and infinities are the bounds.

    Example:
        >>> ClampedSum(0, 10, resolution="0.5").placed([2.3, 99, float("nan")], None, 3)[1].tolist()
        [5, 20, 0]
    """

    lower: Fraction
    upper: Fraction
    step: Fraction | None
    keys: tuple[Any, ...] | SelectedKeys | None

    def __init__(
        self,
        lower: Number,
        upper: Number,
        *,
        resolution: Number | None = None,
        keys: Iterable[Any] | SelectedKeys | None = None,
    ) -> None:
        low, high = exact(lower, "lower"), exact(upper, "upper")
        step = None if resolution is None else as_resolution(resolution)
        set_fields(self, lower=low, upper=high, step=step, keys=_public_keys(keys))
        first, last = self._bounds
        if not first <= last or low > high:
            raise ParameterError("upper", upper, f"must be at least lower, {lower}, and hold a multiple of resolution")
        if max(abs(first), abs(last)) > _LARGEST:
            raise ParameterError("upper", upper, "must be at most 2^40 times the resolution, as must lower")

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The keys."""
        return None if isinstance(self.keys, SelectedKeys) else self.keys

    @property
    def selected(self) -> SelectedKeys | None:
        """How keys are selected, if they are not public."""
        return self.keys if isinstance(self.keys, SelectedKeys) else None

    @property
    def largest(self) -> int:
        """The upper bound."""
        return self._bounds[1]

    @property
    def resolution(self) -> Fraction:
        """The unit of the counter's integers."""
        return Fraction(1) if self.step is None else self.step

    @property
    def contribution(self) -> Contribution:
        """The larger bound, in one number."""
        first, last = self._bounds
        if self.keys is None:
            return Contribution.clamped(first, last)
        return Contribution.vector(l1=max(abs(first), abs(last)))

    @property
    def _bounds(self) -> tuple[int, int]:
        """The multiples of the resolution within the bounds."""
        return -(-self.lower // self.resolution), self.upper // self.resolution

    def placed(self, values: Any, keys: Any, count: int) -> Placed:
        """Each event at its key, with its clamped number."""
        if values is None:
            raise ParameterError("values", None, "is missing: a ClampedSum adds a number for each event")
        steps = lattice_steps(values, self.resolution)
        first, last = self._bounds
        return _at(self.keys, keys, count), np.clip(steps, first, last).astype(np.int64)


@dataclass(frozen=True, slots=True)
class BinCounts(Measure):
    """Each event adds 1 to the bin of its number: a histogram over time.

    Args:
        edges: The public edges of the bins, ascending. A number equal to an edge is in the bin above it, but for the
            last edge. Numbers outside, and missing ones, are in no bin.

    Raises:
        ParameterError: There are fewer than two edges, or they do not ascend.

    Example:
        >>> BinCounts((0, 10, 20)).placed([3, 10, 20, 25], None, 4)[0].tolist()
        [0, 1, 1, -1]
    """

    edges: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        edges = tuple(exact(edge, "edges") for edge in listed(self.edges, "edges"))
        if not edges[1:] or any(one >= other for one, other in pairwise(edges)):
            raise ParameterError("edges", self.edges, "must be at least two numbers, ascending")
        set_fields(self, edges=edges)

    @property
    def labels(self) -> tuple[str, ...]:
        """The bins by their edges."""
        return tuple(f"{float(one):g}–{float(other):g}" for one, other in pairwise(self.edges))

    @property
    def contribution(self) -> Contribution:
        """1, in one bin."""
        return Contribution.one_of()

    def placed(self, values: Any, keys: Any, count: int) -> Placed:
        """Each event in the bin of its number, with 1."""
        if keys is not None or values is None:
            raise ParameterError("values", None, "is missing: a histogram puts the number of each event into its bin")
        numbers = (math.nan if is_missing(value) else value for value in values)
        found = np.array([value if isinstance(value, float) else float(as_rational(value)) for value in numbers])
        floats = np.array([float(edge) for edge in self.edges])
        places = np.searchsorted(floats, found, side="right") - 1
        places[found == floats[-1]] = len(floats) - 2
        places[np.isnan(found) | (found > floats[-1])] = -1
        return places.astype(np.int64), np.ones(count, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class VectorTotal(Measure):
    """Each event adds a vector of whole numbers, scaled down to a norm if it is longer.

    Args:
        size: The length of the vectors.
        l1_norm: The largest L1 norm of an event, for noise of any kind.
        l2_norm: The largest L2 norm of an event, for Gaussian noise; one of the two is given.

    Raises:
        ParameterError: A norm is missing, or out of range.

    Example:
        >>> VectorTotal(2, l2_norm=5).placed([[30, 40], [1, 0]], None, 2)[1].tolist()
        [[3, 4], [1, 0]]
    """

    size: int
    l1_norm: Fraction | None = None
    l2_norm: Fraction | None = None

    def __post_init__(self) -> None:
        positive_integer(self.size, "size")
        for name in ("l1_norm", "l2_norm"):
            norm = getattr(self, name)
            set_fields(self, **{name: None if norm is None else positive(norm, name)})
        _ = self.contribution  # which refuses what it cannot bound

    @property
    def labels(self) -> tuple[int, ...] | None:
        """The places of the vector, from 1 on."""
        return None if self.size == 1 else tuple(range(1, self.size + 1))

    @property
    def contribution(self) -> Contribution:
        """A vector of this norm."""
        return Contribution.vector(l1=self.l1_norm, l2=self.l2_norm)

    def placed(self, values: Any, keys: Any, count: int) -> Placed:
        """Each event over all places, with its scaled numbers."""
        if keys is not None or values is None:
            raise ParameterError("values", None, "is missing: a VectorTotal adds a vector for each event")
        rows = values if isinstance(values, np.ndarray) else np.asarray(list(values), dtype=object)
        if rows.shape != (count, self.size):
            raise ParameterError("values", f"{rows.shape}", f"must be {count} vectors of {self.size} whole numbers")
        added = self.contribution.bounded(rows)
        return np.broadcast_to(np.arange(self.size), added.shape), added.astype(np.int64)


def _public_keys(keys: Iterable[Any] | SelectedKeys | None) -> tuple[Any, ...] | SelectedKeys | None:
    """Public keys, each once; or how others are selected."""
    if keys is None or isinstance(keys, SelectedKeys):
        return keys
    found = listed(keys, "keys")
    if not found or any(not isinstance(key, str | int | date) for key in found):
        raise ParameterError("keys", keys, "must be texts, whole numbers or dates, at least one")
    if len(set(found)) < len(found):
        raise ParameterError("keys", keys, "must each be there once")
    return found


def _at(labels: tuple[Any, ...] | SelectedKeys | None, keys: Any, count: int) -> NDArray[np.int64]:
    """Where events with these keys go; 0 for all whose place is found when they are taken."""
    if (labels is None) != (keys is None):
        requirement = "belong to a measure with keys" if labels is None else "are missing: the measure counts by key"
        raise ParameterError("keys", None if keys is None else "keys", requirement)
    if labels is None:
        return np.zeros(count, dtype=np.int64)
    items = keys.tolist() if hasattr(keys, "tolist") else keys
    if isinstance(labels, SelectedKeys):
        return np.fromiter((-1 if key_of(key) is None else 0 for key in items), np.int64, count)
    places = _PLACES(labels)
    try:
        return np.fromiter(map(places.get, items, repeat(-1)), np.int64, count)
    except TypeError:  # one cannot be a key of anything, such as a list
        return np.fromiter((places.get(key, -1) if isinstance(key, Hashable) else -1 for key in items), np.int64, count)
