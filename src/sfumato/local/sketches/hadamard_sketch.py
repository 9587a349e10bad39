"""The Hadamard count-mean sketch: one randomized bit about the value's column in one row of a sketch."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.local.core.domain import Indexes
from sfumato.local.core.odds import event_of, odds
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.hadamard import odd_ones
from sfumato.local.frequency.oracle import DomainLike
from sfumato.local.frequency.packing import integers_of, packed_integers, width_of
from sfumato.local.sketches.count_mean import SketchOracle, shared_fractions
from sfumato.local.sketches.polynomials import columns_of, row_totals
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.rationals import Number
from sfumato.privacy.events import FiniteEvent


@dataclass(frozen=True, slots=True, init=False)
class HadamardSketch(SketchOracle):
    """Reports a random row j, a random place l, and the sign H[l, h_j(v)], flipped with probability 1/(R + 1). HCMS.

    H[l, c] = (−1)^(ones of l & c) is a Hadamard matrix, and R is the rational just below e^ε. A payload is the row, the
    place and the bit, as one number. A value is supported if the sign is that of its column. The variance is about that
    of `HadamardResponse`, for any domain.

    **Guarantee**: a report has `realized_epsilon`-differential privacy in its value, with e^realized = R. Proof:
    proofs/local/sketches/hadamard_sketch.md.

    Args:
        domain: At most 2^31 values, or all texts.
        epsilon: From 10^−6 to 100.
        hashes: How many hash functions there are, at most 2^16.
        width: A power of two from 2 to 2^16; together at most 2^24 cells.

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> sketch = HadamardSketch(1024, epsilon=1, hashes=128, width=1024)
        >>> sketch.payload_bytes, round(sketch.variance(reports=1), 3)
        (3, 4.692)

    References:
        [App17].
    """

    kind: ClassVar[str] = "hadamard_sketch"

    def __init__(self, domain: DomainLike, *, epsilon: Number, hashes: int = 128, width: int = 1024) -> None:
        SketchOracle.__init__(self, domain, epsilon=epsilon, hashes=hashes, width=width)
        if self.width & (self.width - 1):
            raise ParameterError("width", width, "must be a power of two")

    @property
    def column_probabilities(self) -> tuple[Fraction, Fraction]:
        """The odds R over R + 1, and one half."""
        ratio = odds(self.epsilon)
        return ratio / (ratio + 1), Fraction(1, 2)

    @property
    def event(self) -> FiniteEvent:
        """Two columns have different signs in half of the places; in the others the reports are alike."""
        kept, half = self.column_probabilities
        return event_of(((half * kept, half * (1 - kept)), (half * (1 - kept), half * kept), (half, half)))

    @property
    def payload_bytes(self) -> int:
        """As many as hold a row, a place and a bit."""
        return width_of(2 * self.cells)

    def randomize(self, inputs: Indexes) -> Payloads:
        """A row, a place, and whether the sign is −1."""
        kept, _ = self.column_probabilities
        drawn = uniform_below(self.hashes, len(inputs))
        places = uniform_below(self.width, len(inputs))
        held = columns_of(drawn, inputs, functions=self.hashes, columns=self.width)
        signs = odd_ones(places & held) ^ bernoulli(1 - kept, len(inputs))
        return packed_integers(2 * (drawn * self.width + places) + signs, self.payload_bytes)

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Those that name a row and a place."""
        return integers_of(payloads) < 2 * self.cells

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """The sum of the signs at each row and place."""
        numbers = integers_of(payloads)
        pluses = np.bincount(numbers[numbers & 1 == 0] >> 1, minlength=self.cells)
        minuses = np.bincount(numbers[numbers & 1 == 1] >> 1, minlength=self.cells)
        return pluses - minuses

    def supports(self, counts: NDArray[np.int64], reports: int, indexes: Indexes) -> NDArray[np.int64]:
        """Half of all reports, and half of the sum of signs with the columns of the value: a transform for each row."""
        agreeing: NDArray[np.int64] = (reports + row_totals(self._transformed(counts), indexes)) // 2
        return agreeing

    def shared(self, counts: NDArray[np.int64], reports: int) -> float:
        """Σf², between 0 and 1."""
        kept, half = map(float, self.column_probabilities)
        each = reports / self.hashes
        found = self._transformed(counts) / (each * 2 * (kept - half))
        return shared_fractions(found, self.width / (each * 4 * (kept - half) ** 2))

    def _transformed(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Each row times the Hadamard matrix, exactly, by additions of halves."""
        cells = counts.reshape(self.hashes, self.width).copy()
        half = 1
        while half < self.width:
            pairs = cells.reshape(self.hashes, -1, 2, half)
            sums, differences = pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]
            pairs[:, :, 0], pairs[:, :, 1] = sums, differences
            half *= 2
        return cells
