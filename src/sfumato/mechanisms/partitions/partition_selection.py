"""Partition selection: which keys of an unknown domain may be shown.

Keys that no policy lists are data themselves: a diagnosis of one patient names that patient. A key is therefore shown
with a probability that grows with the number of units that hold it. Here is what all strategies share.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import Vector, opened
from sfumato.mechanisms.partitions.keys import Key, KeyCounts, canonical_counts, key_rank
from sfumato.numeric.rationals import Number, nonnegative, positive_integer, probability, set_fields
from sfumato.privacy.events import ApproxEvent
from sfumato.privacy.neighbors import ADD_OR_REMOVE_ONE, REPLACE_ONE, NeighboringRelation, as_relation
from sfumato.privacy.secret import Secret

Mask: TypeAlias = NDArray[np.bool_]

_SMALLEST_DELTA: Final = Fraction(1, 2**1000)
_DIGITS: Final = 64  # significant bits of a δ per key


_MOST_GROUPS: Final = 10**9


@dataclass(frozen=True, slots=True, init=False)
class PartitionSelection(ABC):
    """The role of every strategy: a guarantee, split over the keys of one unit, and the keys that it lets through.

    A unit that is added or removed changes the counts of `changed_keys` keys, at most; one that is replaced may leave
    as many and enter as many others. Each key decides for itself, with ε/changed_keys and `delta_per_key`.

    Proof: proofs/mechanisms/partitions/partition_selection.md.

    Args:
        epsilon: 0 or more, for all keys together.
        delta: At least 2^-1000 and below 1, for all keys together; far below one over the number of people.
        max_groups_per_unit: In how many keys one unit is counted, at most; the caller has enforced it.
        neighboring_relation: How a database may differ from its neighbor.

    Raises:
        ParameterError: A parameter is out of range.
    """

    epsilon: Fraction
    delta: Fraction
    max_groups_per_unit: int
    neighboring_relation: NeighboringRelation

    def __init__(
        self,
        *,
        epsilon: Number,
        delta: Number,
        max_groups_per_unit: int,
        neighboring_relation: NeighboringRelation = ADD_OR_REMOVE_ONE,
    ) -> None:
        set_fields(
            self,
            epsilon=nonnegative(epsilon, "epsilon"),
            delta=probability(delta, "delta"),
            max_groups_per_unit=positive_integer(max_groups_per_unit, "max_groups_per_unit", most=_MOST_GROUPS),
            neighboring_relation=as_relation(neighboring_relation),
        )
        if not _SMALLEST_DELTA <= self.delta < 1:
            raise ParameterError(
                "delta", delta, "must be at least 2^-1000 and below 1: no unknown key is shown without δ"
            )
        self._calibrate()

    @property
    def changed_keys(self) -> int:
        """How many counts differ between neighboring databases, at most."""
        return self.max_groups_per_unit * (2 if self.neighboring_relation is REPLACE_ONE else 1)

    @property
    def event(self) -> ApproxEvent:
        """The event of one release, for accountants."""
        return ApproxEvent(self.epsilon, self.delta)

    def release(self, counts: KeyCounts | Secret[KeyCounts]) -> tuple[Key, ...]:
        """The keys that may be shown, as `canonical_key` writes them, sorted: form and order do not depend on rows.

        Raises:
            ParameterError: A count is no integer, or the type of a key is not one of those of `canonical_key`.
        """
        exact = canonical_counts(opened(counts))
        mask = self.kept(list(exact.values())).open_for_noise()
        return tuple(sorted((key for key, shown in zip(exact, mask, strict=True) if shown), key=key_rank))

    @abstractmethod
    def kept(self, counts: Vector | Secret[Vector]) -> Secret[Mask]:
        """Which keys may be shown, in the order of their counts, each decided by fresh randomness.

        A secret, for it is as long as there are keys in the data: `release` filters them with it and shows only those.

        Raises:
            ParameterError: A count is no integer.
        """

    @abstractmethod
    def keep_probability(self, count: int) -> Fraction | float:
        """The probability that a key with this count is kept; 0 up to 0. Public: it is no function of the data."""

    @abstractmethod
    def reliable_count(self, confidence: Number = "0.95") -> int:
        """A count from which on a key is kept with this confidence."""

    @abstractmethod
    def _calibrate(self) -> None:
        """Derives what a strategy needs beyond the parameters, and refuses those with which it cannot work."""


def delta_per_key(delta: Fraction, keys: int) -> Fraction:
    """δ₀ ≤ 1 − (1 − δ)^(1/keys): as much as each of `keys` independent decisions may have for δ together.

    δ₀ = δ/keys + (keys − 1)·δ²/(2·keys²), the first terms of a series of positive terms, rounded down to 64 bits: more
    than δ/keys, and less than a relative δ²/3 below the best, for δ ≤ 1/2.

    Example:
        >>> delta = delta_per_key(Fraction(1, 4), 2)
        >>> float(delta), (1 - delta) ** 2 >= Fraction(3, 4)
        (0.1328125, True)
    """
    share = delta / keys
    per_key = share + (keys - 1) * share**2 / 2
    grid = 1 << _DIGITS + (per_key.denominator // per_key.numerator).bit_length()
    return Fraction(floor(per_key * grid), grid)
