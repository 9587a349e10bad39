"""Hadamard response with one bit: a public row of a Hadamard matrix, and one randomized entry of it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.local.core.domain import Indexes
from sfumato.local.core.odds import epsilon_of, event_of, odds
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.oracle import FrequencyOracle
from sfumato.local.frequency.packing import integers_of, packed_integers, width_of
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.privacy.events import FiniteEvent

_EVEN_NIBBLES = 0x6996  # bit i says whether the number i has an odd number of ones


@dataclass(frozen=True, slots=True, init=False)
class HadamardResponse(FrequencyOracle):
    """Draws a row j of K uniformly and reports it with the sign H[j, v + 1], flipped with probability 1/(R + 1).

    K = 2^⌈log₂(d + 1)⌉, H[j, i] = (−1)^(ones of j & i), and R is the rational just below e^ε. A payload is j and one
    bit, in as few bytes as hold both. The value v is supported if the sign is H[j, v + 1], as it is for half of the
    rows if the person holds another value. The variance never falls below 1/n, however large ε is.

    **Guarantee**: a report has `realized_epsilon`-differential privacy in its value, with e^realized = R. Proof:
    proofs/local/frequency/hadamard.md.

    Args:
        domain: At most 2^20 values, in total.
        epsilon: From 10^−6 to 100.

    Example:
        >>> oracle = HadamardResponse(1024, epsilon=1)
        >>> oracle.payload_bytes, round(oracle.variance(reports=1), 3)
        (2, 4.683)

    References:
        [BS15] and [ASZ19]; [CMM21] compares them.
    """

    kind: ClassVar[str] = "hadamard"

    @property
    def rows(self) -> int:
        """K, the order of the matrix."""
        return 1 << len(self.domain).bit_length()

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """The odds R over R + 1, and one half."""
        ratio = odds(self.epsilon)
        return ratio / (ratio + 1), Fraction(1, 2)

    @property
    def event(self) -> FiniteEvent:
        """Two values have different signs in half of the rows; in the others the reports are alike."""
        kept, _ = self.support_probabilities
        half = Fraction(1, 2)
        return event_of(((half * kept, half * (1 - kept)), (half * (1 - kept), half * kept), (half, half)))

    @property
    def realized_epsilon(self) -> Fraction:
        """The logarithm of R, rounded up."""
        return epsilon_of(self.event)

    @property
    def payload_bytes(self) -> int:
        """As many as hold a row and a bit."""
        return width_of(2 * self.rows)

    @property
    def cells(self) -> int:
        """Two for each row: how often each sign came."""
        return 2 * self.rows

    def randomize(self, inputs: Indexes) -> Payloads:
        """A row, and whether the sign is −1."""
        kept, _ = self.support_probabilities
        rows = uniform_below(self.rows, len(inputs))
        signs = odd_ones(rows & (inputs + 1)) ^ bernoulli(1 - kept, len(inputs))
        return packed_integers(2 * rows + signs, self.payload_bytes)

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Those that name a row."""
        return integers_of(payloads) < 2 * self.rows

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """How many reports have each row and sign."""
        return np.bincount(integers_of(payloads), minlength=2 * self.rows)

    def supports(self, counts: NDArray[np.int64], reports: int, indexes: Indexes) -> NDArray[np.int64]:
        """Half of all reports, and half of the sum of signs with the column of the value: one transform for all."""
        signs = counts.reshape(-1, 2)
        sums = walsh_hadamard(signs[:, 0] - signs[:, 1])
        agreeing: NDArray[np.int64] = (reports + sums[indexes + 1]) // 2
        return agreeing


def odd_ones(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each number, at least 0 and below 2^32, has an odd number of ones.

    Example:
        >>> odd_ones(np.array([0, 1, 3, 2**31])).tolist()
        [False, True, False, True]
    """
    folded = numbers.astype(np.uint32)
    for shift in (16, 8, 4):
        folded ^= folded >> np.uint32(shift)
    folded &= np.uint32(15)
    return (np.uint32(_EVEN_NIBBLES) >> folded & np.uint32(1)).astype(np.bool_)


def walsh_hadamard(values: NDArray[Any]) -> NDArray[Any]:
    """H·x, with H[j, i] = (−1)^(ones of j & i), exactly in whole numbers: K·log₂ K additions.

    Args:
        values: x, as many as a power of two.

    Example:
        >>> walsh_hadamard(np.array([1, 0, 0, 2])).tolist()
        [3, -1, -1, 3]
    """
    transformed = values.copy()
    half = 1
    while half < len(transformed):
        pairs = transformed.reshape(-1, 2, half)
        sums, differences = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        pairs[:, 0], pairs[:, 1] = sums, differences
        half *= 2
    return transformed
