"""Bits for a few sampled buckets, which a device draws once: short reports that stay as long as the value does."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.local.core.domain import Indexes, Label
from sfumato.local.core.odds import event_of, local_epsilon, odds
from sfumato.local.core.reports import Payloads
from sfumato.local.frequency.estimates import FrequencyEstimates, Supports
from sfumato.local.frequency.oracle import DomainLike, FrequencyAggregator, FrequencyOracle
from sfumato.local.frequency.packing import have_no_bits_beyond, integers_of, packed_bits, packed_integers, width_of
from sfumato.local.longitudinal.memory import LongitudinalOracle, epsilon_of_change, flip_share
from sfumato.noise.uniform.bernoulli import bernoulli
from sfumato.noise.uniform.uniform import uniform_below
from sfumato.numeric.rationals import Number, positive_integer, probability, set_fields
from sfumato.privacy.events import FiniteEvent

_MOST: Final = 64
_DIFFERING: Final = 2
"""In so many sampled bits two values differ, at most."""
_ELSEWHERE: Final = -1
"""What a device remembers a response by, to any value in no bucket that it sampled."""


@dataclass(frozen=True, slots=True, init=False)
class BucketBits(LongitudinalOracle):
    """A device samples d of b values, and remembers one bit for each: whether that is its value, randomized. dBitFlip.

    A bit is right with probability √R/(√R + 1), where √R is the rational just below e^(ε/2); or R/(R + 1), if a device
    samples one value: then two values differ in one bit. Reports repeat the permanent response, each bit of it flipped
    with probability γ: the output perturbation of [DKY17], which keeps it uncertain when a response changed. With γ = 0
    all reports of one value are alike. A value that moves among those that the device did not sample changes nothing. A
    device has at most d + 1 responses. A payload is the sampled values and the bits.

    **Guarantee**: as `LongitudinalOracle`, with e^ε∞ = √R² or R, whatever γ is. One report has as much if γ = 0, else
    less. A history whose response changes one report earlier differs by `change_epsilon`. Proof:
    proofs/local/longitudinal/memory.md.

    Args:
        domain: At most 2^16 values: buckets, if they are intervals.
        epsilon: The most that all reports of one value may reveal.
        sampled: d, from 1 to the number of values; at most 64.
        flipped: γ, from 0 to below 1/2: how often a report flips a bit, by a fresh coin.

    Raises:
        ParameterError: An argument is out of range.

    Example:
        >>> hours = BucketBits(32, epsilon=1, sampled=4)
        >>> hours.payload_bytes, hours.most_remembered, hours.variance(reports=1) / 8 > 3.9
        (5, 5, True)

    References:
        [DKY17].
    """

    kind: ClassVar[str] = "bucket_bits"
    most_values: ClassVar[int] = 1 << 16
    tells_of_all: ClassVar[bool] = False

    sampled: int
    flipped: Fraction

    def __init__(self, domain: DomainLike, *, epsilon: Number, sampled: int = 1, flipped: Number = 0) -> None:
        FrequencyOracle.__init__(self, domain, epsilon=epsilon)
        set_fields(self, permanent_epsilon=local_epsilon(epsilon))
        if positive_integer(sampled, "sampled", most=_MOST) > len(self.domain):
            raise ParameterError("sampled", sampled, f"must be at most {len(self.domain)}, the number of values")
        set_fields(self, sampled=sampled, flipped=flip_share(flipped))

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        """All fields but the second ε, which is the first one."""
        return ("domain", "epsilon", "sampled", "flipped")

    @property
    def permanent_probabilities(self) -> tuple[Fraction, Fraction]:
        """How often a response has a 1 for the true value, and for another one, where they are sampled."""
        ratio = odds(self.epsilon / min(self.sampled, _DIFFERING))
        return ratio / (ratio + 1), 1 / (ratio + 1)

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """The same of a report: s + (1 − 2s)·γ."""
        held, other = self.permanent_probabilities
        return held + (1 - 2 * held) * self.flipped, other + (1 - 2 * other) * self.flipped

    @property
    def event(self) -> FiniteEvent:
        """Two sampled bits of a report, which change places between two values; or the one that there is."""
        return self._event(*self.support_probabilities)

    @property
    def permanent_event(self) -> FiniteEvent:
        """Those of a response."""
        return self._event(*self.permanent_probabilities)

    def _event(self, held: Fraction, other: Fraction) -> FiniteEvent:
        """Bits that are 1 with the one probability for the true value, and with the other one for others."""
        if self.sampled == 1:
            return event_of(((held, other), (other, held)))
        return event_of(((held**2, other**2), (other**2, held**2), (2 * held * other, 2 * held * other)))

    @property
    def change_epsilon(self) -> Fraction | None:
        """By how much one report more or less before a change differs, rounded up; None if γ = 0: it is not bounded."""
        return epsilon_of_change(self.flipped, self.sampled)

    @property
    def most_remembered(self) -> int:
        """One for each sampled value, and one for all others."""
        return min(self.sampled + 1, len(self.domain))

    @property
    def payload_bytes(self) -> int:
        """The sampled values in their order, and a bit for each."""
        return self.sampled * width_of(len(self.domain)) + -(-self.sampled // 8)

    @property
    def cells(self) -> int:
        """Two for each value: how many reports sampled it, and in how many of them its bit is 1."""
        return 2 * len(self.domain)

    def variance(self, *, reports: int, fraction: Number = 0) -> float:
        """That of an estimate from the reports that sampled the value: d/b of all on average, and random ones."""
        held, asked = probability(fraction, "fraction"), Fraction(self.sampled, len(self.domain))
        drawn = held * (1 - held) * (1 / asked - 1) / positive_integer(reports, "reports")
        return float(drawn) + FrequencyOracle.variance(self, reports=reports, fraction=held) / float(asked)

    def devices(self, count: int) -> NDArray[Any]:
        """Different values for each device, sorted: the smallest of a uniform order."""
        chosen = np.empty((count, self.sampled), dtype=np.int64)
        for place in range(self.sampled):
            drawn = uniform_below(len(self.domain) - place, count)  # among those that are not drawn yet
            before = np.sort(chosen[:, :place], axis=1)
            for column in range(place):
                drawn += drawn >= before[:, column]
            chosen[:, place] = drawn
        return np.sort(chosen, axis=1)

    def remembered(self, indexes: Indexes, devices: NDArray[Any]) -> Indexes:
        """Which of the sampled values it is, or none."""
        is_value = devices == indexes[:, None]
        return np.where(is_value.any(axis=1), is_value.argmax(axis=1), _ELSEWHERE)

    def permanent(self, remembered: NDArray[np.int64]) -> NDArray[Any]:
        """A bit for each sampled value, as whole numbers: the first one in the highest place of the bytes."""
        held, other = self.permanent_probabilities
        bits = bernoulli(other, len(remembered) * self.sampled).reshape(len(remembered), self.sampled)
        known = np.flatnonzero(remembered != _ELSEWHERE)
        bits[known, remembered[known]] = bernoulli(held, len(known))
        rows = np.empty(len(remembered), dtype=object)
        rows[:] = [int.from_bytes(row.tobytes()) for row in packed_bits(bits)]
        return rows

    def instantaneous(self, permanent: NDArray[Any], devices: NDArray[Any]) -> Payloads:
        """The sampled values as they are, and the bits, some of them flipped."""
        count, width = len(permanent), width_of(len(self.domain))
        values = packed_integers(devices.reshape(-1), width).reshape(count, self.sampled * width)
        held = b"".join(int(row).to_bytes(-(-self.sampled // 8)) for row in permanent)
        bits = np.frombuffer(held, dtype=np.uint8).reshape(count, -(-self.sampled // 8))
        if self.flipped:
            bits = bits ^ packed_bits(bernoulli(self.flipped, count * self.sampled).reshape(count, self.sampled))
        return np.concatenate((values, bits), axis=1)

    def parts_of(self, payloads: Payloads) -> tuple[Indexes, Payloads]:
        """The sampled values of each report, and its bits in bytes."""
        width = width_of(len(self.domain))
        values = np.ascontiguousarray(payloads[:, : self.sampled * width]).reshape(-1, width)
        return integers_of(values).reshape(len(payloads), self.sampled), payloads[:, self.sampled * width :]

    def are_valid(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Values of the domain in rising order, and no bit beyond the last of them."""
        values, bits = self.parts_of(payloads)
        rising = (np.diff(values, axis=1) > 0).all(axis=1) & (values[:, -1] < len(self.domain))
        valid: NDArray[np.bool_] = rising & have_no_bits_beyond(bits, self.sampled)
        return valid

    def tally(self, payloads: Payloads) -> NDArray[np.int64]:
        """How many reports sampled each value, and then how many have a 1 for it."""
        values, rows = self.parts_of(payloads)
        bits = np.unpackbits(rows, axis=1, count=self.sampled).astype(np.bool_)
        size = len(self.domain)
        return np.concatenate((np.bincount(values.ravel(), minlength=size), np.bincount(values[bits], minlength=size)))

    def supports(self, counts: NDArray[np.int64], reports: int, indexes: Indexes) -> NDArray[np.int64]:
        """The ones, as if each value had been sampled by d/b of all reports, to the nearest whole number."""
        asked, ones = counts.reshape(2, -1)[:, indexes]
        expected = reports * self.sampled / len(self.domain)
        scaled: NDArray[np.int64] = np.rint(ones * (expected / np.maximum(asked, 1))).astype(np.int64)
        return scaled

    def aggregator(self) -> "BucketAggregator":
        """An empty aggregator."""
        return BucketAggregator(self)


class BucketAggregator(FrequencyAggregator):
    """Estimates each value from the reports that sampled it.

    Example:
        >>> hours = BucketBits(["work", "home"], epsilon=8, sampled=1)
        >>> collected = hours.aggregator()
        >>> collected.add(hours.client().report_many(["work"] * 3000 + ["home"] * 1000)).accepted
        4000
        >>> bool(abs(collected.estimate(["work"]).fractions[0] - 0.75) < 0.1)
        True
    """

    def __init__(self, protocol: BucketBits) -> None:
        super().__init__(protocol)
        self._buckets: Final = protocol

    def estimate(self, candidates: Iterable[Label] | None = None, confidence: Number = "0.95") -> FrequencyEstimates:
        """As that of `FrequencyAggregator`; the intervals include that random people sampled each value.

        Raises:
            ParameterError: As there, or no report sampled one of the values.
        """
        domain = self._buckets.domain
        labels = domain.values() if candidates is None else tuple(candidates)
        indexes = np.arange(len(domain)) if candidates is None else domain.candidates(labels)
        reports = positive_integer(len(self), "reports")
        if not self._counts[indexes].all():
            raise ParameterError("reports", reports, "must be so many that each of the values was sampled")
        p, q = map(float, self._buckets.support_probabilities)
        asked, ones = self._counts.reshape(2, -1)[:, indexes]
        supports = Supports(
            counts=ones, reports=reports, when_held=p, when_not=q, are_all=len(indexes) == len(domain),
            is_exclusive=False, asked=asked,
        )  # fmt: skip
        return supports.estimate(labels, confidence, extra_variance=0.0)
