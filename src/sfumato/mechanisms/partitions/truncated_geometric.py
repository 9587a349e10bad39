"""Truncated geometric partition selection: no other mechanism shows more keys at the same ε and δ per key."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import Vector, integers, opened
from sfumato.mechanisms.partitions.partition_selection import Mask, PartitionSelection, delta_per_key
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.rationals import Number
from sfumato.numeric.rounding import exp_down
from sfumato.numeric.search import smallest_integer
from sfumato.privacy.secret import Secret

_WORD_BITS: Final = 62  # of the uniform words that decide all but one key in 2^62
_GUARD_BITS: Final = 64  # between δ per key and the grid of probabilities
_LARGEST_TABLE: Final = 1 << 20


@dataclass(frozen=True, slots=True, init=False)
class TruncatedGeometricSelection(PartitionSelection):
    """Shows a key that n units hold with probability π(n), the largest that (ε, δ) allows, independently of the others.

    π(0) = 0 and π(n + 1) = min(a·π(n) + δ₀, 1 − (1 − π(n) − δ₀)/a, 1), each rounded down to a grid finer than 2^-64·δ₀.
    Here a ≤ e^(ε/k) is rational, δ₀ is `delta_per_key`, and k is the number of keys that differ between neighbors.
    π first grows like e^(nε/k), then 1 − π shrinks like e^(−nε/k) until π is 1: like the tails of geometric noise
    that is truncated, hence the name.

    **Guarantee**: (ε, δ)-differential privacy for `neighboring_relation`, for counts of units, never of rows, where one
    is counted once in each of at most `max_groups_per_unit` keys, and for the probabilities that are really used: what
    is rounded is rounded down, and all inequalities hold between the rounded numbers. A key of one unit is shown with
    probability δ₀. Proof: proofs/mechanisms/partitions/truncated_geometric.md.

    ===================================  ======================================
    Edge case                            What happens
    ===================================  ======================================
    count of 0, or below                 the key is never shown
    count from `certain_count` on        it is always shown
    no key at all                        nothing is shown
    epsilon = 0                          π(n) = n·δ₀: δ alone allows it
    delta below 2^-1000 or above 1       ParameterError when constructed
    certain_count above 2^20             ParameterError when constructed
    ===================================  ======================================

    Args:
        epsilon: 0 or more, for all keys together.
        delta: At least 2^-1000 and below 1, for all keys together.
        max_groups_per_unit: In how many keys one unit is counted, at most.
        neighboring_relation: How a database may differ from its neighbor.

    Raises:
        ParameterError: A parameter is out of range, or ε and δ are so small that a key needs more than a million units.

    Example:
        >>> selection = TruncatedGeometricSelection(epsilon=1, delta="1e-6", max_groups_per_unit=1)
        >>> selection.release({"flu": 10_000, "plague": 0}), selection.reliable_count(0.95), selection.certain_count
        (('flu',), 16, 28)

    References:
        [DVGM22] for the optimum where a unit holds one key; [KOV15] Theorem 3.3 for several.
    """

    @property
    def certain_count(self) -> int:
        """The smallest count with which a key is certain to be kept."""
        return self._table.certain

    def kept(self, counts: Vector | Secret[Vector]) -> Secret[Mask]:
        """Which keys may be shown: one coin of `keep_probability` for each."""
        table = self._table
        exact_counts = np.clip(integers(opened(counts)), 0, table.certain).astype(np.int64)
        heads, words = table.heads[exact_counts], uniform_below(1 << _WORD_BITS, len(exact_counts))
        mask: Mask = words < heads
        for tie in np.flatnonzero(words == heads):  # the bits below the word decide
            mask[tie] = bernoulli(table.tail(int(exact_counts[tie])), 1)[0]
        return Secret(mask)

    def keep_probability(self, count: int) -> Fraction:
        """π(count), exactly."""
        return self._table.probability(min(max(count, 0), self.certain_count))

    def reliable_count(self, confidence: Number = "0.95") -> int:
        """The smallest count with which a key is kept with this confidence."""
        failure = failure_probability(confidence)
        return smallest_integer(
            lambda count: self.keep_probability(count) >= 1 - failure, fails_at=0, holds_at=self.certain_count
        )

    def _calibrate(self) -> None:
        if self.certain_count > _LARGEST_TABLE:
            requirement = f"keys of {_LARGEST_TABLE} units would not be certain to be shown; raise ε or δ"
            raise ParameterError("epsilon", self.epsilon, requirement)

    @property
    def _table(self) -> "_KeepTable":
        return _keep_table(self.epsilon / self.changed_keys, delta_per_key(self.delta, self.changed_keys))


@dataclass(frozen=True, slots=True, eq=False)
class _KeepTable:
    """π(n) as whole multiples of 2^-bits, for n from 0 to the first that is certain."""

    numerators: tuple[int, ...]
    bits: int
    heads: NDArray[np.int64]
    """The first 62 bits of each; 2^62 for a certain one."""

    @property
    def certain(self) -> int:
        return len(self.numerators) - 1

    def probability(self, count: int) -> Fraction:
        return Fraction(self.numerators[count], 1 << self.bits)

    def tail(self, count: int) -> Fraction:
        """What follows the first 62 bits, as a probability of its own."""
        rest = self.bits - _WORD_BITS
        return Fraction(self.numerators[count] & ((1 << rest) - 1), 1 << rest)


@lru_cache(maxsize=8)
def _keep_table(epsilon: Fraction, delta: Fraction) -> _KeepTable:
    """The recurrence in whole multiples of 2^-bits; the floor divisions round π down."""
    # Both are at most e^ε; the second is the larger where ε is so small that a float cannot hold e^ε − 1.
    growth = max(Fraction(exp_down(epsilon)), 1 + epsilon)
    up, down = growth.as_integer_ratio()
    bits = _GUARD_BITS + (delta.denominator // delta.numerator).bit_length()
    one, step = 1 << bits, int(delta * (1 << bits))
    numerators = [0]
    while numerators[-1] < one and len(numerators) <= _LARGEST_TABLE + 1:
        now = numerators[-1]
        numerators.append(min(now * up // down + step, one + (now + step - one) * down // up, one))
    heads = np.array([numerator >> bits - _WORD_BITS for numerator in numerators], dtype=np.int64)
    return _KeepTable(tuple(numerators), bits, heads)
