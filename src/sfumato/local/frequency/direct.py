"""Direct encoding, or k-ary randomized response: a report is a value, the true one a little more often than others."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.local.core.domain import Indexes
from sfumato.local.core.odds import odds
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.oracle import FrequencyOracle
from sfumato.local.frequency.packing import integers_of, packed_integers, width_of
from sfumato.mechanisms.response.kary_randomized_response import KaryRandomizedResponse
from sfumato.numeric.rounding import log_up
from sfumato.privacy.events import RandomizedResponseEvent


@dataclass(frozen=True, slots=True, init=False)
class DirectEncoding(FrequencyOracle):
    """Reports the true one of d values with probability p = R/(R + d − 1), each other one with q = 1/(R + d − 1).

    R is the rational just below e^ε that `odds` gives. The values are randomized by `KaryRandomizedResponse`. Also
    called k-RR or GRR; best for few values: d < 3·e^ε + 2.

    **Guarantee**: a report has `realized_epsilon`-differential privacy in its value, with e^realized = R. Proof:
    proofs/local/frequency/direct.md.

    A payload is the number of the reported value, in as few bytes as hold d − 1.

    ===========================  =================================================================
    Edge case                    Behavior
    ===========================  =================================================================
    a value not in the domain    counts as `other` of the domain, or as a uniformly random value
    a payload of d or more       refused: no client makes it
    ===========================  =================================================================

    Args:
        domain: At most 2^20 values, in total.
        epsilon: From 10^−6 to 100.

    Example:
        >>> oracle = DirectEncoding(["yes", "no"], epsilon=1)
        >>> [float(round(probability, 4)) for probability in oracle.support_probabilities]
        [0.7311, 0.2689]

    References:
        [War65], [KBR16]; [WBLJ17] Section 4.1.
    """

    kind: ClassVar[str] = "direct"

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """The odds R, and 1, over R + d − 1."""
        ratio = odds(self.epsilon)
        total = ratio + len(self.domain) - 1
        return ratio / total, 1 / total

    @property
    def realized_epsilon(self) -> Fraction:
        """ln(p/q), rounded up."""
        return log_up(odds(self.epsilon))

    @property
    def event(self) -> RandomizedResponseEvent:
        """The truth with probability p − q, otherwise a uniform value."""
        return self._randomized_response.event  # type: ignore[return-value] # it was given a probability

    @property
    def is_exclusive(self) -> bool:
        """A report supports the one value that it names."""
        return True

    @property
    def payload_bytes(self) -> int:
        """As many as hold d − 1."""
        return width_of(len(self.domain))

    @property
    def cells(self) -> int:
        """One for each value."""
        return len(self.domain)

    def randomize(self, inputs: Indexes) -> Payloads:
        """Randomized response, packed."""
        return packed_integers(self._randomized_response.release(inputs), self.payload_bytes)

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Those that name a value of the domain."""
        return integers_of(payloads) < len(self.domain)

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """How many reports name each value."""
        return np.bincount(integers_of(payloads), minlength=len(self.domain))

    def supports(self, counts: NDArray[np.int64], reports: int, indexes: Indexes) -> NDArray[np.int64]:
        """The counts themselves."""
        del reports
        return counts[indexes]

    @property
    def _randomized_response(self) -> KaryRandomizedResponse:
        told, other = self.support_probabilities
        return KaryRandomizedResponse(categories=len(self.domain), probability=told - other)
