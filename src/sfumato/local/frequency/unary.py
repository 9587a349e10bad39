"""Unary encodings: a report is one randomized bit for each value of the domain."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.local.core.domain import Indexes
from sfumato.local.core.odds import epsilon_of, event_of, odds
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.oracle import FrequencyOracle
from sfumato.local.frequency.packing import column_sums, have_no_bits_beyond, packed_bits
from sfumato.noise.uniform.bernoulli import Booleans, bernoulli
from sfumato.privacy.events import FiniteEvent

_BLOCK: Final = 1 << 17  # bits whose arrays stay in the processor's cache


@dataclass(frozen=True, slots=True, init=False)
class UnaryEncoding(FrequencyOracle):
    """Sets the bit of the true value with probability p and each other bit with probability q, independently.

    What p and q are is for the subclass. A payload is d bits, and the value v is supported by a 1 at its place.

    **Guarantee**: a report has ε-differential privacy in its value, with e^ε = p(1 − q)/((1 − p)q), and no smaller one.
    `realized_epsilon` is that ε, rounded up. Proof: proofs/local/frequency/unary.md.
    """

    @property
    def realized_epsilon(self) -> Fraction:
        """ln(p(1 − q)/((1 − p)q)), rounded up."""
        return epsilon_of(self.event)

    @property
    def event(self) -> FiniteEvent:
        """The two bits in which two values differ; all others have one distribution under both."""
        p, q = self.support_probabilities
        held, other = p * (1 - q), (1 - p) * q
        same = 1 - held - other
        return event_of(((held, other), (other, held), (same, same)))

    @property
    def payload_bytes(self) -> int:
        """Eight bits a byte."""
        return -(-len(self.domain) // 8)

    @property
    def cells(self) -> int:
        """One for each value."""
        return len(self.domain)

    def randomize(self, inputs: Indexes) -> Payloads:
        """All bits as those of a value that nobody holds; then the bit of the true value, drawn by itself."""
        size = len(self.domain)
        p, q = self.support_probabilities
        payloads = np.empty((len(inputs), self.payload_bytes), dtype=np.uint8)
        rows = max(1, _BLOCK // size)
        for start in range(0, len(inputs), rows):
            held = inputs[start : start + rows]
            bits: Booleans = bernoulli(q, len(held) * size).reshape(len(held), size)
            bits[np.arange(len(held)), held] = bernoulli(p, len(held))
            payloads[start : start + rows] = packed_bits(bits)
        return payloads

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
class SymmetricUnaryEncoding(UnaryEncoding):
    """Flips each of the d bits with the same probability 1/(√R + 1); basic RAPPOR with one report for each person.

    √R is the rational just below e^(ε/2). `OptimizedUnaryEncoding` errs less at every ε.

    **Guarantee**: as `UnaryEncoding`; e^realized = √R². Proof: proofs/local/frequency/unary.md.

    Example:
        >>> round(SymmetricUnaryEncoding(1024, epsilon=1).variance(reports=1), 3)
        3.918

    References:
        [EPK14]; [WBLJ17] Section 4.2.
    """

    kind: ClassVar[str] = "symmetric_unary"

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """√R/(√R + 1) and 1/(√R + 1)."""
        root = odds(self.epsilon / 2)
        return root / (root + 1), 1 / (root + 1)


@dataclass(frozen=True, slots=True, init=False)
class OptimizedUnaryEncoding(UnaryEncoding):
    """Keeps the bit of the true value with probability 1/2, and sets each other bit with probability 1/(R + 1).

    R is the rational just below e^ε. Of all p and q with this ε it has the least variance for rare values. Also called
    OUE; good for any domain that fits into a report.

    **Guarantee**: as `UnaryEncoding`; e^realized = R. Proof: proofs/local/frequency/unary.md.

    Example:
        >>> round(OptimizedUnaryEncoding(1024, epsilon=1).variance(reports=1), 3)
        3.683

    References:
        [WBLJ17] Section 4.2.
    """

    kind: ClassVar[str] = "optimized_unary"

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """1/2 and 1/(R + 1)."""
        return Fraction(1, 2), 1 / (odds(self.epsilon) + 1)
