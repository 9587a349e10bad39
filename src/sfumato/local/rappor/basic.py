"""Basic RAPPOR: a listed domain whose values have one bit each, randomized once for good and again in each report."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.local.core.domain import UNKNOWN
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.oracle import DomainLike, FrequencyOracle
from sfumato.local.frequency.packing import packed_bits
from sfumato.local.frequency.unary import UnaryEncoding
from sfumato.local.rappor.device import RandomizedTwice, checked_probabilities
from sfumato.local.rappor.permanent import LARGEST_FILTER, differing_bits, hmac_drbg
from sfumato.noise.uniform.bernoulli import Booleans
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, set_fields
from sfumato.privacy.events import FiniteEvent
from sfumato.query.model.columns import unicode_text

_UNKNOWN: Final = b"\x03"
_WIDTH: Final = 16


@dataclass(frozen=True, slots=True, init=False)
class BasicRappor(UnaryEncoding, RandomizedTwice):
    """RAPPOR without hashes: bit v stands for the value v. Permanent and instantaneous responses are those of `Rappor`.

    **Guarantee**: one report has `realized_epsilon`-differential privacy, e^ε₁ = q*(1 − p*)/(p*(1 − q*)). All reports
    of one value by a device that keeps its secret have `lifetime_epsilon`, e^ε∞ = ((1 − f/2)/(f/2))², if the
    pseudorandom function of the permanent response is secure. Proof: proofs/local/rappor/protocol.md.

    An unknown value is a uniformly random one, which is the same for as long as the device keeps its secret.

    Args:
        domain: At most 4,096 values, in total.
        f: How often a bit of the permanent response is uniform; above 0 and below 1.
        p: How often a report has a 1 where the permanent response has a 0.
        q: How often it has a 1 where the permanent response has a 1; above p.
        metric: The name of what is collected. Metrics of one device must have different names, none of which begins
            with another.

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> drinks = BasicRappor(["tea", "coffee"], f="0.5", p="0.5", q="0.75")
        >>> round(float(drinks.realized_epsilon), 4), round(float(drinks.lifetime_epsilon), 4)
        (0.5371, 2.1972)

    References:
        [EPK14] Section 3.1.
    """

    kind: ClassVar[str] = "basic_rappor"
    most_values: ClassVar[int] = LARGEST_FILTER
    cohorts = 1

    f: Fraction
    p: Fraction
    q: Fraction
    metric: str

    def __init__(self, domain: DomainLike, *, f: Number, p: Number, q: Number, metric: str = "") -> None:
        uniform, low, high = checked_probabilities(f, p, q)
        named = unicode_text(of_kind(metric, "metric", str, "a text"), "metric")
        set_fields(self, f=uniform, p=low, q=high, metric=named)
        FrequencyOracle.__init__(self, domain, epsilon=self.realized_epsilon)

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        """All fields but ε, which follows from the others."""
        return ("domain", "f", "p", "q", "metric")

    @property
    def bits(self) -> int:
        """One for each value."""
        return len(self.domain)

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """q* and p*."""
        return self.reported

    @property
    def lifetime_event(self) -> FiniteEvent:
        """All reports of one value: no more than the permanent response itself."""
        return differing_bits(1 - self.f / 2, self.f / 2, each=1)

    def remembered(self, value: Any, secret: bytes) -> int:
        """The number of the value; of an unknown one, a number that follows from the secret."""
        index = int(self.domain.indexes([value])[0])
        if index != UNKNOWN:
            return index
        return int.from_bytes(hmac_drbg(secret + _UNKNOWN + self.metric.encode(), _WIDTH)) % len(self.domain)

    def set_bits(self, value: Any, cohort: int) -> list[int]:
        """The bit of the value; there is one cohort."""
        del cohort
        return [int(value)]

    def payloads_of(self, cohorts: NDArray[np.int64], bits: Booleans) -> Payloads:
        """The bits alone, the first value's in the highest place."""
        del cohorts
        return packed_bits(bits)
