"""Discrete Gaussian noise that many parties make together: the sum of shares is all but a discrete Gaussian."""

from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Final

from sfumato.accounting.gaussian.shares import share_stddev, spread_up
from sfumato.mechanisms.base import stated_for_vectors, stated_numbers
from sfumato.mechanisms.distributed.shares import DistributedNoise
from sfumato.noise.laws.discrete_gaussian import discrete_gaussian
from sfumato.noise.uniform.integers import Integers, add_noise, drawable
from sfumato.numeric.distributions import (
    discrete_gaussian_half_width,
    discrete_gaussian_variance,
    failure_probability,
)
from sfumato.numeric.rationals import Number, nonnegative, positive, positive_integer, set_fields, sqrt_up
from sfumato.privacy.events import PureEvent, ZCDPEvent

_MOST_PARTIES: Final = 1 << 31


@dataclass(frozen=True, slots=True, init=False)
class DistributedGaussian(DistributedNoise):
    """Each of n parties adds discrete Gaussian noise to its integers, so that the sum has almost such noise.

    A share has P(k) ∝ exp(−k²/(2·share_stddev²)). The sum of those of m = n − max_dropouts parties is not a discrete
    Gaussian, but no probability of it is far from one. What that costs is part of ρ, and next to nothing from a
    share_stddev of 1 on.

    **Guarantee**: the combined sum is ρ-zero-concentrated differentially private for the neighboring relation of the
    sensitivities, if at least m parties add their share honestly and keep it to themselves. A single share hides little
    by itself: it may be seen only by a protocol that reveals nothing but the sum. Proof:
    proofs/mechanisms/distributed/gaussian.md.

    ===================================  ================================  =============  ===========
    Edge case                            Answer                            Accuracy       Event
    ===================================  ================================  =============  ===========
    l2_sensitivity = 0                   the exact sum                     0              PureEvent(0)
    rho = 0 otherwise                    ParameterError when constructed
    a vector without l0_sensitivity      ParameterError
    fewer shares than m                  ParameterError when combined
    ===================================  ================================  =============  ===========

    Args:
        parties: n, from 1 to 2^31.
        l2_sensitivity: The most by which one unit changes the exact vector of sums in L2, 0 or more.
        rho: The ρ of one release, above 0; accountants turn it into (ε, δ).
        l0_sensitivity: The most sums of a vector that one unit changes; must be stated for vectors.
        max_dropouts: How many parties may send nothing, or share what they know of the noise; below n.
        modulus_bits: None, or b for sums modulo 2^b, as in `Parties`.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> hours = DistributedGaussian(parties=100, l2_sensitivity=60, rho="0.05", max_dropouts=10)
        >>> isinstance(hours.combine([hours.share(40) for _ in range(95)]), int), hours.accuracy(0.95)
        (True, 392)

    References:
        [KLS21] for the mechanism; the distance from a discrete Gaussian is bounded more tightly here.
    """

    parties: int
    l2_sensitivity: Fraction
    rho: Fraction
    l0_sensitivity: int | None
    max_dropouts: int
    modulus_bits: int | None
    share_stddev: Fraction
    """The parameter σ of each party's share; 0 where none is drawn."""

    def __init__(
        self,
        *,
        parties: int,
        l2_sensitivity: Number,
        rho: Number,
        l0_sensitivity: int | None = None,
        max_dropouts: int = 0,
        modulus_bits: int | None = None,
    ) -> None:
        set_fields(
            self,
            parties=positive_integer(parties, "parties", most=_MOST_PARTIES),
            l2_sensitivity=nonnegative(l2_sensitivity, "l2_sensitivity"),
            rho=nonnegative(rho, "rho"),
            l0_sensitivity=stated_numbers(l0_sensitivity),
            max_dropouts=max_dropouts,
            modulus_bits=modulus_bits,
        )
        needed, stddev = self._parties.needed, Fraction(0)
        if self.l2_sensitivity:
            moved, wanted = self.l0_sensitivity or 1, positive(rho, "rho")
            stddev = share_stddev(rho=wanted, shares=needed, l2_sensitivity=self.l2_sensitivity, l0_sensitivity=moved)
            drawable(stddev, "stddev")
        set_fields(self, share_stddev=stddev)

    @property
    def event(self) -> ZCDPEvent | PureEvent:
        """The event of the combined sum, for accountants."""
        return ZCDPEvent(self.rho) if self.share_stddev else PureEvent(Fraction(0))

    @property
    def variance(self) -> float:
        """The variance of the noise of each sum if all parties send."""
        return self.parties * discrete_gaussian_variance(self.share_stddev) if self.share_stddev else 0.0

    def accuracy(self, confidence: Number = "0.95", *, shares: int | None = None) -> int:
        """A half-width t with P(|answer − exact sum| ≤ t) ≥ confidence, for each sum; not for a sum that wraps.

        The smallest, or one or two more, from a share_stddev of 1 on.

        Args:
            confidence: Between 0 and 1, both excluded.
            shares: How many there are. If not given, all; then it holds for fewer as well.

        Raises:
            ParameterError: An argument is out of range.
        """
        count, failure = int(self._part(shares) * self._parties.needed), failure_probability(confidence)
        if not self.share_stddev:
            return 0
        beyond = failure * Fraction(exp(-spread_up(stddev=self.share_stddev, shares=count)) * (1 - 1e-9))
        return discrete_gaussian_half_width(sqrt_up(count * self.share_stddev**2), 1 - beyond)

    def covers(self, change: int, numbers: int = 1) -> bool:
        """Whether the promise holds for a unit that may change each of so many numbers by so much."""
        is_near = change**2 * numbers <= self.l2_sensitivity**2
        return change == 0 or (is_near and numbers <= (self.l0_sensitivity or 1))

    def _perturb(self, values: Integers, part: Fraction) -> Integers:
        """As many shares as the part is of those that are needed: a share is not divided any further."""
        stated_for_vectors(self.l0_sensitivity, len(values))
        if self.share_stddev:
            for _ in range(int(part * self._parties.needed)):
                values = add_noise(values, discrete_gaussian(self.share_stddev**2, len(values)))
        return values
