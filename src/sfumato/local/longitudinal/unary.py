"""Longitudinal unary encodings: a bit for each value, randomized once for good and again in each report."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.local.core.domain import Indexes
from sfumato.local.core.odds import event_of, odds
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.packing import column_sums, have_no_bits_beyond, packed_bits
from sfumato.local.longitudinal.memory import LongitudinalOracle
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.privacy.events import FiniteEvent


@dataclass(frozen=True, slots=True, init=False)
class LongitudinalUnary(LongitudinalOracle):
    """Keeps the true bit with 1/2 and sets others with 1/(R∞ + 1), for good; flips each of them in each report. L-OSUE.

    R∞ and R₁ are the rationals just below e to the power of both ε. A report has the true bit with p* = 1/2 and each
    other one with q* = 1/(R₁ + 1), as `OptimizedUnaryEncoding`: all others are flipped so often that this holds.

    **Guarantee**: as `LongitudinalOracle`, with e^ε₁ = R₁ and e^ε∞ = R∞. Proof: proofs/local/longitudinal/memory.md.

    Example:
        >>> oracle = LongitudinalUnary(1024, epsilon=1, permanent_epsilon=2)
        >>> round(oracle.variance(reports=1), 3), [round(float(p), 4) for p in oracle.permanent_probabilities]
        (3.683, [0.5, 0.1192])

    References:
        [ACBX22].
    """

    kind: ClassVar[str] = "longitudinal_unary"
    most_values: ClassVar[int] = 1 << 12

    @property
    def permanent_probabilities(self) -> tuple[Fraction, Fraction]:
        """How often the true bit is set for good, and each other one."""
        return Fraction(1, 2), 1 / (odds(self.permanent_epsilon) + 1)

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """p* and q*."""
        return Fraction(1, 2), 1 / (odds(self.epsilon) + 1)

    @property
    def flipped(self) -> Fraction:
        """How often a report flips a bit: q* = q + (1 − 2q)·flipped."""
        other, reported = self.permanent_probabilities[1], self.support_probabilities[1]
        return (reported - other) / (1 - 2 * other)

    @property
    def event(self) -> FiniteEvent:
        """The two bits of a report in which two values differ."""
        return _two_bits(*self.support_probabilities)

    @property
    def permanent_event(self) -> FiniteEvent:
        """The two bits of a permanent response."""
        return _two_bits(*self.permanent_probabilities)

    @property
    def payload_bytes(self) -> int:
        """Eight bits a byte."""
        return -(-len(self.domain) // 8)

    @property
    def cells(self) -> int:
        """One for each value."""
        return len(self.domain)

    def remembered(self, indexes: Indexes, devices: NDArray[Any]) -> Indexes:
        """The values themselves."""
        del devices
        return indexes

    def permanent(self, remembered: NDArray[np.int64]) -> NDArray[Any]:
        """Bits as whole numbers, the first value's in the highest place of the bytes."""
        size = len(self.domain)
        held, other = self.permanent_probabilities
        bits = bernoulli(other, len(remembered) * size).reshape(len(remembered), size)
        bits[np.arange(len(remembered)), remembered] = bernoulli(held, len(remembered))
        rows = np.empty(len(remembered), dtype=object)
        rows[:] = [int.from_bytes(row.tobytes()) for row in packed_bits(bits)]
        return rows

    def instantaneous(self, permanent: NDArray[Any], devices: NDArray[Any]) -> Payloads:
        """Each bit flipped by itself."""
        del devices
        size, width = len(self.domain), self.payload_bytes
        flips = packed_bits(bernoulli(self.flipped, len(permanent) * size).reshape(len(permanent), size))
        rows = b"".join(int(row).to_bytes(width) for row in permanent)
        return np.frombuffer(rows, dtype=np.uint8).reshape(len(permanent), width) ^ flips

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Any bits, but zeros after the last value."""
        return have_no_bits_beyond(payloads, len(self.domain))

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """How many reports have a 1 for each value."""
        return column_sums(payloads, len(self.domain))

    def supports(self, counts: NDArray[np.int64], reports: int, indexes: Indexes) -> NDArray[np.int64]:
        """The counts themselves."""
        del reports
        return counts[indexes]


@dataclass(frozen=True, slots=True, init=False)
class LongitudinalSymmetricUnary(LongitudinalUnary):
    """Flips each bit with 1/(√R∞ + 1) for good, and again in each report. L-SUE; the same as `BasicRappor`.

    A report has the true bit with p* = √R₁/(√R₁ + 1) and each other one with q* = 1 − p*.

    **Guarantee**: as `LongitudinalOracle`, with e^ε₁ = √R₁² and e^ε∞ = √R∞². Proof:
    proofs/local/longitudinal/memory.md.

    Example:
        >>> round(LongitudinalSymmetricUnary(1024, epsilon=1, permanent_epsilon=2).variance(reports=1), 3)
        3.918

    References:
        [EPK14]; [ACBX22] for the comparison.
    """

    kind: ClassVar[str] = "longitudinal_symmetric_unary"

    @property
    def permanent_probabilities(self) -> tuple[Fraction, Fraction]:
        """√R∞/(√R∞ + 1) and 1/(√R∞ + 1)."""
        root = odds(self.permanent_epsilon / 2)
        return root / (root + 1), 1 / (root + 1)

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """√R₁/(√R₁ + 1) and 1/(√R₁ + 1)."""
        root = odds(self.epsilon / 2)
        return root / (root + 1), 1 / (root + 1)


def _two_bits(held: Fraction, other: Fraction) -> FiniteEvent:
    """Of a value's bit and of another value's bit, which change places between the two values."""
    first, second = held * (1 - other), (1 - held) * other
    same = 1 - first - second
    return event_of(((first, second), (second, first), (same, same)))
