"""Which values of a column count as one: what is rare, and bins of a number that are cut at noisy quantiles.

It follows from released noisy counts and from what is public, so it costs nothing more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.synth.models.measured import NoisyMarginal

Merging: TypeAlias = Mapping[str, npt.NDArray[np.int64]]
"""For each column the number of the value that each of its values counts as: from 0, without gaps."""

_RARE: Final = 3
"""A value is rare if its noisy count is below so many standard deviations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileCut:
    """A number whose bins are joined to parts of about as many rows.

    Attributes:
        parts: How many parts there are at most, beside what is missing.
        bins: How many bins there are; a value after them is the missing one.
    """

    parts: int
    bins: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MergingRule:
    """How values of columns may come to count as one; rare ones do, if nothing else is said.

    Attributes:
        kept: Columns whose values stay apart.
        cuts: Columns that are cut at noisy quantiles.
    """

    kept: frozenset[str] = frozenset()
    cuts: Mapping[str, QuantileCut] = field(default_factory=lambda: MappingProxyType({}))

    def merging(self, singles: Mapping[str, NoisyMarginal]) -> Merging:
        """Which values count as one, by the noisy counts of each column.

        Example:
            >>> pay = NoisyMarginal(["pay"], [900, 40, 30, 20, 10, 5], stddev=2)
            >>> MergingRule(cuts={"pay": QuantileCut(parts=3, bins=5)}).merging({"pay": pay})["pay"].tolist()
            [0, 1, 2, 2, 2, 3]
        """
        found = {}
        for name, one in singles.items():
            if name in self.kept:
                found[name] = np.arange(one.counts.size)
            elif name in self.cuts:
                found[name] = _equal_parts(one, self.cuts[name])
            else:
                found[name] = common_values(one)
        return found


def common_values(single: NoisyMarginal) -> npt.NDArray[np.int64]:
    """The number that each value of a measured column counts as, rare ones being the last one together.

    Example:
        >>> common_values(NoisyMarginal(["region"], [90, 2, 70, -1], stddev=5)).tolist()
        [0, 2, 1, 2]
    """
    is_rare = single.counts < _RARE * single.stddev
    numbers = np.cumsum(~is_rare) - 1
    numbers[is_rare] = numbers[-1] + 1
    return numbers.astype(np.int64)


def merged(marginal: NoisyMarginal, merging: Merging) -> NoisyMarginal:
    """A measured column, of which the counts of values are added up that count as one.

    Its standard deviation is that of a sum of as many counts as the median of the merged values has.
    """
    (name,) = marginal.columns
    numbers = merging[name]
    added = np.sort(np.bincount(numbers))
    stddev = marginal.stddev * float(np.sqrt(added[(len(added) - 1) // 2]))
    return NoisyMarginal([name], np.bincount(numbers, weights=marginal.counts), stddev=stddev)


def _equal_parts(single: NoisyMarginal, cut: QuantileCut) -> npt.NDArray[np.int64]:
    """The part of each bin: a bin with many rows ends one, and the others share what is left."""
    counts = single.counts[: cut.bins]
    left, part, inside = float(counts.sum()), 0, 0.0
    numbers = np.zeros(single.counts.size, dtype=np.int64)
    for place, count in enumerate(counts.tolist()):
        wanted = left / (cut.parts - part)
        if part < cut.parts - 1 and inside > wanted / 2 and inside + count / 2 > wanted:
            left, part, inside = left - inside, part + 1, 0.0
        numbers[place] = part
        inside += count
    numbers[cut.bins :] = part + 1
    return numbers
