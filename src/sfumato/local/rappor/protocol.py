"""RAPPOR itself: which bits a text sets, what one report of it is, and what one or all of them reveal."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.local.core.odds import epsilon_of
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.packing import column_sums, integers_of, packed_integers, width_of
from sfumato.local.rappor.device import RandomizedTwice, checked_probabilities
from sfumato.local.rappor.permanent import LARGEST_FILTER, ONE_BYTE, bloom_bits, differing_bits
from sfumato.mechanisms.lattice import present
from sfumato.noise.uniform.bernoulli import Booleans, bernoulli
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.arguments import of_kind
from sfumato.numeric.rationals import Number, positive_integer, set_fields
from sfumato.privacy.events import FiniteEvent
from sfumato.query.model.columns import unicode_text

if TYPE_CHECKING:
    from sfumato.local.rappor.estimates import RapporAggregator

LARGEST_COHORTS: Final = 1024
_MD5_BYTES: Final = 16
_BLOCK: Final = 1 << 17  # bits whose arrays stay in the processor's cache


@dataclass(frozen=True, slots=True, init=False)
class Rappor(RandomizedTwice):
    """A text sets h of k bits by its hash; a device randomizes them once for good, and again in each report.

    The permanent response makes a bit uniform with probability f, and remembers it. A report then has a 1 with
    probability q where the permanent response has a 1, and with probability p where it has a 0. So a bit that is set is
    reported as 1 with q* = f(p + q)/2 + (1 − f)q, any other one with p* = f(p + q)/2 + (1 − f)p. The bits of a text
    depend on the cohort, which the device draws once and reports.

    **Guarantee**: one report has `realized_epsilon`-differential privacy in the text, with
    e^ε₁ = (q*(1 − p*)/(p*(1 − q*)))^h. All reports of one text by a device that keeps its secret have
    `lifetime_epsilon`, with e^ε∞ = ((1 − f/2)/(f/2))^2h, if the pseudorandom function of the permanent response is
    secure. Proof: proofs/local/rappor/protocol.md.

    =============================================  ========================================================
    Edge case                                      Behavior
    =============================================  ========================================================
    a missing value, or one that is no text        sets no bit, which is as private as any text
    two hashes choose the same bit                 the text sets fewer bits; the guarantee holds
    f is no multiple of 1/128                      rounded up to one of 2^−63; Google's clients cannot do it
    a device loses its secret                      each new secret costs `lifetime_epsilon` again
    a device's texts change                        each text costs `lifetime_epsilon`, and the times of changes show
    =============================================  ========================================================

    A payload is the cohort, most significant byte first, and the bits as one whole number, likewise.

    Args:
        bits: k, from 1 to 4,096.
        hashes: h, from 1 to 16, or to 8 beyond 256 bits.
        cohorts: m, from 1 to 1,024.
        f: How often a bit of the permanent response is uniform; above 0 and below 1.
        p: How often a report has a 1 where the permanent response has a 0.
        q: How often it has a 1 where the permanent response has a 1; above p.
        metric: The name of what is collected. Metrics of one device must have different names, none of which begins
            with another.

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> homepages = Rappor(bits=128, hashes=2, cohorts=16, f="0.5", p="0.5", q="0.75")
        >>> round(float(homepages.realized_epsilon), 4), round(float(homepages.lifetime_epsilon), 4)
        (1.0743, 4.3944)

    References:
        [EPK14].
    """

    kind: ClassVar[str] = "rappor"

    bits: int
    hashes: int
    cohorts: int
    f: Fraction
    p: Fraction
    q: Fraction
    metric: str

    def __init__(
        self, *, bits: int, hashes: int, cohorts: int, f: Number, p: Number, q: Number, metric: str = ""
    ) -> None:
        size = positive_integer(bits, "bits", most=LARGEST_FILTER)
        most_hashes = _MD5_BYTES if size <= ONE_BYTE else _MD5_BYTES // 2
        uniform, low, high = checked_probabilities(f, p, q)
        set_fields(
            self, bits=size, hashes=positive_integer(hashes, "hashes", most=most_hashes),
            cohorts=positive_integer(cohorts, "cohorts", most=LARGEST_COHORTS), f=uniform, p=low, q=high,
            metric=unicode_text(of_kind(metric, "metric", str, "a text"), "metric"),
        )  # fmt: skip

    @property
    def event(self) -> FiniteEvent:
        """One report: the 2h bits in which two texts differ at most."""
        return differing_bits(*self.reported, each=self.hashes)

    @property
    def realized_epsilon(self) -> Fraction:
        """ε₁, rounded up."""
        return epsilon_of(self.event)

    @property
    def lifetime_event(self) -> FiniteEvent:
        """All reports of one text: no more than the permanent response itself."""
        return differing_bits(1 - self.f / 2, self.f / 2, each=self.hashes)

    @property
    def payload_bytes(self) -> int:
        """The cohort, and eight bits a byte."""
        return width_of(self.cohorts) + -(-self.bits // 8)

    @property
    def cells(self) -> int:
        """For each cohort, its reports and the ones at each bit."""
        return self.cohorts * (1 + self.bits)

    def inputs(self, values: Iterable[Any]) -> NDArray[Any]:
        """The texts; None for whatever is none."""
        texts = [value if isinstance(value, str) else present(value) for value in values]
        held = np.empty(len(texts), dtype=object)
        held[:] = [text if isinstance(text, str) else None for text in texts]
        return held

    def parse(self, text: str) -> str | None:
        """The text itself; an empty cell of a file is missing."""
        return text or None

    def remembered(self, value: Any, secret: bytes) -> str | None:
        """The text, or None."""
        del secret
        (text,) = self.inputs([value])
        held: str | None = text
        return held

    def set_bits(self, value: str | None, cohort: int) -> list[int]:
        """The numbers of the bits that a text sets in a cohort."""
        return [] if value is None else bloom_bits(value, cohort, bits=self.bits, hashes=self.hashes)

    def randomize(self, inputs: NDArray[Any]) -> Payloads:
        """First reports of devices of their own: each bit is one coin, which is 1 with q* or p*.

        So they have the distribution of permanent responses under fresh secrets, randomized again.
        """
        high, low = self.reported
        drawn = uniform_below(self.cohorts, len(inputs)).tolist()
        places = {pair: self.set_bits(*pair) for pair in set(zip(inputs.tolist(), drawn, strict=True))}
        payloads = np.empty((len(inputs), self.payload_bytes), dtype=np.uint8)
        rows = max(1, _BLOCK // self.bits)
        for start in range(0, len(inputs), rows):
            cohorts = drawn[start : start + rows]
            held = [places[pair] for pair in zip(inputs[start : start + rows].tolist(), cohorts, strict=True)]
            bits: Booleans = bernoulli(low, len(held) * self.bits)
            at = np.fromiter(
                {self.bits * row + bit: None for row, positions in enumerate(held) for bit in positions}, dtype=np.int64
            )
            bits[at] = bernoulli(high, len(at))
            payloads[start : start + rows] = self.payloads_of(np.array(cohorts), bits.reshape(len(held), self.bits))
        return payloads

    def payloads_of(self, cohorts: NDArray[np.int64], bits: Booleans) -> Payloads:
        """Cohorts and rows of bits as bytes."""
        whole = np.packbits(bits, axis=1, bitorder="little")[:, ::-1]
        return np.concatenate((packed_integers(cohorts, width_of(self.cohorts)), whole), axis=1)

    def parts_of(self, payloads: Payloads) -> tuple[NDArray[np.int64], Payloads]:
        """The cohorts, and the bits as whole numbers in bytes, most significant first."""
        width = width_of(self.cohorts)
        return integers_of(payloads[:, :width]), payloads[:, width:]

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Those of a cohort below m and of a number below 2^k."""
        cohorts, bits = self.parts_of(payloads)
        valid: NDArray[np.bool_] = (cohorts < self.cohorts) & (bits[:, 0] >> ((self.bits - 1) % 8) <= 1)
        return valid

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """For each cohort: how many reports, and how many of them have a 1 at each bit."""
        cohorts, bits = self.parts_of(payloads)
        found = np.zeros((self.cohorts, 1 + self.bits), dtype=np.int64)
        found[:, 0] = np.bincount(cohorts, minlength=self.cohorts)
        sorted_bits = bits[np.argsort(cohorts, kind="stable")]
        ends = np.cumsum(found[:, 0])
        for cohort in np.flatnonzero(found[:, 0]).tolist():
            members = sorted_bits[ends[cohort] - found[cohort, 0] : ends[cohort]]
            found[cohort, 1:] = column_sums(members, 8 * bits.shape[1])[::-1][: self.bits]
        return found.reshape(-1)

    def aggregator(self) -> "RapporAggregator":
        """An empty aggregator."""
        from sfumato.local.rappor.estimates import RapporAggregator  # noqa: PLC0415 # it decodes what this one encodes

        return RapporAggregator(self)
