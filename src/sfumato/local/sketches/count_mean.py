"""The count-mean sketch: a row of bits for one hash function of many, in which only the value's bit is likely."""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.local.core.domain import LARGEST_DOMAIN, Indexes
from sfumato.local.core.odds import epsilon_of, event_of, odds
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.estimates import Floats, Supports
from sfumato.local.frequency.oracle import DomainLike, FrequencyAggregator, FrequencyOracle
from sfumato.local.frequency.packing import (
    column_sums,
    have_no_bits_beyond,
    integers_of,
    packed_bits,
    packed_integers,
    width_of,
)
from sfumato.local.sketches.polynomials import columns_of, row_totals
from sfumato.noise.uniform.bernoulli import Booleans, bernoulli
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.rationals import Number, positive_integer, set_fields
from sfumato.privacy.events import FiniteEvent

LARGEST_SKETCH: Final = 1 << 24
"""The most cells of a sketch."""
_MOST_ROWS: Final = 1 << 16
_MOST_COLUMNS: Final = 1 << 16
_BLOCK: Final = 1 << 17  # bits whose arrays stay in the processor's cache
_SUMMED: Final = 1 << 22
_MANY: Final = 16  # reports of each row, which are summed row by row


@dataclass(frozen=True, slots=True, init=False)
class SketchOracle(FrequencyOracle):
    """What both sketches share: rows are public hash functions, and a report is about the value's column in one row.

    All texts and domains of up to 2^31 values fit. Values that share a column in some rows cannot be told apart by
    these rows, which adds Σf²/(hashes·(width − 1)) to the variance of an estimate. Intervals include it, and more
    reports do not lower it.
    """

    takes_texts: ClassVar[bool] = True
    most_values: ClassVar[int] = LARGEST_DOMAIN

    hashes: int
    width: int

    def __init__(self, domain: DomainLike, *, epsilon: Number, hashes: int = 128, width: int = 1024) -> None:
        FrequencyOracle.__init__(self, domain, epsilon=epsilon)
        rows = positive_integer(hashes, "hashes", most=_MOST_ROWS)
        columns = positive_integer(width, "width", most=_MOST_COLUMNS)
        if columns == 1 or rows * columns > LARGEST_SKETCH:
            raise ParameterError("width", width, f"must be at least 2, and with hashes ≤ {LARGEST_SKETCH:,} cells")
        set_fields(self, hashes=rows, width=columns)

    @property
    @abstractmethod
    def event(self) -> FiniteEvent:
        """What a report reveals, if two values have different columns in its row."""

    @property
    def realized_epsilon(self) -> Fraction:
        """The logarithm of R, rounded up."""
        return epsilon_of(self.event)

    @property
    def cells(self) -> int:
        """One for each row and column."""
        return self.hashes * self.width

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """How often the column of the held value is supported; and of another one, over random hash functions."""
        held, other = self.column_probabilities
        return held, other + (held - other) / self.width

    @property
    @abstractmethod
    def column_probabilities(self) -> tuple[Fraction, Fraction]:
        """How often a report supports the column of its value, and how often each other one."""

    def aggregator(self) -> FrequencyAggregator:
        """An empty aggregator."""
        return SketchAggregator(self)

    @abstractmethod
    def shared(self, counts: NDArray[np.int64], reports: int) -> float:
        """Σf² over all values, from the cells alone: what the columns of one row hold, squared, tells it.

        In a row of m columns, the squares of the fractions in its columns add up to F + (1 − F)/m on average.
        """


class SketchAggregator(FrequencyAggregator):
    """Adds to each variance what values that share columns add."""

    def __init__(self, protocol: SketchOracle) -> None:
        self._sketch: Final = protocol
        super().__init__(protocol)

    def _extra_variance(self, supports: Supports) -> float:
        shared = self._sketch.shared(self._counts, supports.reports)
        return shared / (self._sketch.hashes * (self._sketch.width - 1))


@dataclass(frozen=True, slots=True, init=False)
class CountMeanSketch(SketchOracle):
    """Reports a random row and one bit for each column: that of the value is set, then each is flipped. Also CMS.

    Bits are flipped with probability 1/(√R + 1), where √R is the rational just below e^(ε/2). A payload is the row and
    the bits. A value is supported by a 1 in its column. The estimate is Apple's, and so is the variance: about that of
    `SymmetricUnaryEncoding`, for any domain.

    **Guarantee**: a report has `realized_epsilon`-differential privacy in its value, with e^realized = √R². Proof:
    proofs/local/sketches/count_mean.md.

    Args:
        domain: At most 2^31 values, or all texts.
        epsilon: From 10^−6 to 100.
        hashes: How many hash functions there are, at most 2^16.
        width: How many columns each has, from 2 to 2^16; together at most 2^24 cells.

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> sketch = CountMeanSketch(1024, epsilon=1, hashes=128, width=1024)
        >>> sketch.payload_bytes, round(sketch.variance(reports=1), 3)
        (129, 3.926)

    References:
        [App17].
    """

    kind: ClassVar[str] = "count_mean_sketch"

    @property
    def column_probabilities(self) -> tuple[Fraction, Fraction]:
        """√R/(√R + 1) and 1/(√R + 1)."""
        root = odds(self.epsilon / 2)
        return root / (root + 1), 1 / (root + 1)

    @property
    def event(self) -> FiniteEvent:
        """The two bits in which two values differ, if they have different columns in the row."""
        held, other = self.column_probabilities
        return event_of(((held**2, other**2), (other**2, held**2), (2 * held * other, 2 * held * other)))

    @property
    def payload_bytes(self) -> int:
        """The row, and eight columns a byte."""
        return width_of(self.hashes) + -(-self.width // 8)

    def randomize(self, inputs: Indexes) -> Payloads:
        """A row for each report; its bits as those of no value, and that of the value's column by itself."""
        held, other = self.column_probabilities
        drawn = uniform_below(self.hashes, len(inputs))
        places = columns_of(drawn, inputs, functions=self.hashes, columns=self.width)
        width = width_of(self.hashes)
        payloads = np.empty((len(inputs), self.payload_bytes), dtype=np.uint8)
        payloads[:, :width] = packed_integers(drawn, width)
        some = max(1, _BLOCK // self.width)
        for start in range(0, len(inputs), some):
            at = places[start : start + some]
            bits: Booleans = bernoulli(other, len(at) * self.width).reshape(len(at), self.width)
            bits[np.arange(len(at)), at] = bernoulli(held, len(at))
            payloads[start : start + some, width:] = packed_bits(bits)
        return payloads

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """A row that there is, and no bit beyond the last column."""
        width = width_of(self.hashes)
        return (integers_of(payloads[:, :width]) < self.hashes) & have_no_bits_beyond(payloads[:, width:], self.width)

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """How many reports of each row have a 1 in each column."""
        width = width_of(self.hashes)
        drawn = integers_of(payloads[:, :width])
        order = np.argsort(drawn, kind="stable")
        total = np.zeros((self.hashes, self.width), dtype=np.int64)
        if len(order) >= _MANY * self.hashes:
            ends = np.cumsum(np.bincount(drawn, minlength=self.hashes))[:-1]
            for row, members in enumerate(np.split(order, ends)):
                total[row] = column_sums(payloads[members, width:], self.width)
            return total.reshape(-1)
        some = max(1, _SUMMED // self.width)
        for start in range(0, len(order), some):
            part = order[start : start + some]
            rows, firsts = np.unique(drawn[part], return_index=True)
            bits = np.unpackbits(payloads[part, width:], axis=1, count=self.width)
            total[rows] += np.add.reduceat(bits, firsts, axis=0, dtype=np.int64)
        return total.reshape(-1)

    def supports(self, counts: NDArray[np.int64], reports: int, indexes: Indexes) -> NDArray[np.int64]:
        """For each value, the ones in its columns."""
        del reports
        return row_totals(counts.reshape(self.hashes, self.width), indexes)

    def shared(self, counts: NDArray[np.int64], reports: int) -> float:
        """Σf², between 0 and 1."""
        held, other = map(float, self.column_probabilities)
        cells = counts.reshape(self.hashes, self.width)
        each = cells.sum(axis=1, keepdims=True) / (self.width * other + held - other)  # reports of the row, nearly
        found = (cells / np.maximum(each, 1.0) - other) / (held - other)
        noise = (self.width - 1) * held * other * self.hashes / (reports * (held - other) ** 2)
        return shared_fractions(found, noise)


def shared_fractions(columns: Floats, noise: float) -> float:
    """Σf² from the estimated fractions of people in the columns of each row, less the noise of their squares.

    Example:
        >>> shared_fractions(np.array([[0.5, 0.5, 0, 0], [1, 0, 0, 0]]), 0.0)
        0.6666666666666666
    """
    width = columns.shape[1]
    squares = float((columns**2).sum() / len(columns)) - noise
    return float(min(1.0, max(0.0, (width * squares - 1) / (width - 1))))
