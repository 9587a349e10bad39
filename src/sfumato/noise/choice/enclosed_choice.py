"""Exact choice among candidates whose weights are real numbers, known only as closely as one asks."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.uniform.integers import Integers, narrow, python_integers

Enclosures: TypeAlias = Sequence[tuple[int, int]]
"""For each candidate two integers, 0 ≤ lower ≤ weight · 2^bits ≤ upper."""

_FIRST_BITS: Final = 64  # a multiple of 8; less is only slower


def enclosed_choice(weights_at: Callable[[int], Enclosures], size: int) -> Integers:
    """`size` independent indexes i with P(i) = weight_i / Σ_j weight_j, exactly.

    One uniform number U in [0, 1) is compared with the cumulative probabilities. Both are known to some bits at first;
    where those do not settle the index, U gets fresh bits and the weights are asked for again, twice as closely.

    **Guarantee**: the distribution is that of the real weights, however wide the enclosures. Proof:
    proofs/noise/choice/enclosed_choice.md.

    Edge cases: a weight of exactly 0 is never chosen; a single candidate costs no refinement.

    Args:
        weights_at: Of a number of bits, the enclosures of all weights, the same candidates in the same order each time.
            As the bits grow the enclosures of the weights must draw together. All weights may be multiplied by one
            common factor, another one at each precision; it is best if the largest is then about 1.
        size: How many, 0 or more.

    Raises:
        ParameterError: There is no candidate, or all weights are 0; the size is out of range.

    Example:
        >>> thirds = lambda bits: [((1 << bits) // 3, (1 << bits) // 3 + 1)] * 2 + [(0, 0)]
        >>> sorted(set(enclosed_choice(thirds, 100).tolist()))
        [0, 1]
    """
    if size < 0:
        raise ParameterError("size", size, "must be 0 or more")
    boundaries = _enclosed(weights_at, _FIRST_BITS)
    return narrow(python_integers(_drawn(weights_at, boundaries) for _ in range(size)))


@dataclass(frozen=True, slots=True)
class _Boundaries:
    """Where U, as a whole number of 2^−bits, certainly belongs to a candidate: from its start to before its end."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def index(self, uniform: int) -> int | None:
        """The candidate of every U that begins with these bits, if it is one and the same."""
        found = bisect_right(self.ends, uniform)
        return found if found < len(self.ends) and self.starts[found] <= uniform else None


def _drawn(weights_at: Callable[[int], Enclosures], boundaries: _Boundaries) -> int:
    bits = _FIRST_BITS
    uniform = int.from_bytes(entropy.random_bytes(bits // 8))
    while (index := boundaries.index(uniform)) is None:
        uniform = uniform << bits | int.from_bytes(entropy.random_bytes(bits // 8))
        bits *= 2
        boundaries = _enclosed(weights_at, bits)
    return index


def _enclosed(weights_at: Callable[[int], Enclosures], bits: int) -> _Boundaries:
    """The cumulative probability C/(C + R) rises with the weight C up to a candidate and falls with the rest R."""
    weights = weights_at(bits)
    lowers = list(accumulate(lower for lower, _ in weights))
    uppers = list(accumulate(upper for _, upper in weights))
    if not weights or uppers[-1] == 0:
        raise ParameterError("weights_at", f"{len(weights)} weights", "must have at least one weight above 0")
    least, most = lowers[-1], uppers[-1]
    if least == 0:  # nothing is known at so few bits
        return _Boundaries((0,), (0,))
    sums = list(zip(lowers, uppers, strict=True))
    ends = tuple((lower << bits) // (lower + most - upper) for lower, upper in sums)
    starts = (0, *(-(-(upper << bits) // (upper + least - lower)) for lower, upper in sums[:-1]))
    return _Boundaries(starts, ends)
