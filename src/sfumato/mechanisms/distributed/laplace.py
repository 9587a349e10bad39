"""Discrete Laplace noise that many parties make together, without anyone who knows it."""

from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np

from sfumato.mechanisms.distributed.shares import DistributedNoise
from sfumato.noise.laws.discrete_laplace import discrete_laplace, polya
from sfumato.noise.uniform.integers import Integers, add, drawable
from sfumato.numeric.distributions import discrete_laplace_variance, polya_difference_half_width
from sfumato.numeric.rationals import Number, nonnegative, set_fields
from sfumato.privacy.events import DiscreteLaplaceEvent, PureEvent


@dataclass(frozen=True, slots=True, init=False)
class DistributedLaplace(DistributedNoise):
    """Each of n parties adds a share of the noise to its integers, so that the sum has discrete Laplace noise.

    A share is the difference of two Pólya integers of shape 1/m, where m = n − max_dropouts. Those of m parties add up
    to exactly the noise k ∝ exp(−|k|/scale) of scale = Δ/ε, where Δ is the most by which one unit changes the vector of
    sums in L1; those of more parties to a little more.

    **Guarantee**: the combined sum is ε-differentially private for the neighboring relation of `l1_sensitivity`, if
    at least m parties add their share honestly and keep it to themselves. A single share hides next to nothing: it may
    be seen only by a protocol that reveals nothing but the sum. Proof: proofs/mechanisms/distributed/laplace.md.

    ==================================  ================================  =============  ===========
    Edge case                           Answer                            Accuracy       Event
    ==================================  ================================  =============  ===========
    l1_sensitivity = 0                  the exact sum                     0              PureEvent(0)
    epsilon = 0 otherwise               0, nothing of the data            ∞              PureEvent(0)
    one party, no dropouts              that of `Laplace`
    fewer shares than m                 ParameterError when combined
    None, NaN or masked for a share     ParameterError when combined
    scale below 1/1000 or above 2^50    ParameterError when constructed
    ==================================  ================================  =============  ===========

    Args:
        parties: n, 1 or more.
        l1_sensitivity: The most by which one unit changes the exact vector of sums in L1, 0 or more.
        epsilon: The privacy parameter of one release, 0 or more.
        max_dropouts: How many parties may send nothing, or share what they know of the noise; below n.
        modulus_bits: None, or b for sums modulo 2^b, as in `Parties`.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> votes = DistributedLaplace(parties=100, l1_sensitivity=1, epsilon="0.5", max_dropouts=10)
        >>> isinstance(votes.combine([votes.share(1) for _ in range(95)]), int), votes.accuracy(0.95)
        (True, 6)

    References:
        [DKMMN06] for the idea; [GX17] for shares of this distribution.
    """

    parties: int
    l1_sensitivity: Fraction
    epsilon: Fraction
    max_dropouts: int
    modulus_bits: int | None
    scale: Fraction
    """The scale of the noise of the sum; 0 where none is drawn."""

    def __init__(
        self,
        *,
        parties: int,
        l1_sensitivity: Number,
        epsilon: Number,
        max_dropouts: int = 0,
        modulus_bits: int | None = None,
    ) -> None:
        set_fields(
            self,
            parties=parties,
            l1_sensitivity=nonnegative(l1_sensitivity, "l1_sensitivity"),
            epsilon=nonnegative(epsilon, "epsilon"),
            max_dropouts=max_dropouts,
            modulus_bits=modulus_bits,
        )
        scale = self.l1_sensitivity / self.epsilon if self.epsilon else Fraction(0)
        set_fields(self, scale=drawable(scale, "scale") if scale else scale)
        _ = self._parties  # refuses impossible numbers of parties

    @property
    def event(self) -> DiscreteLaplaceEvent | PureEvent:
        """The event of the combined sum, for accountants."""
        return DiscreteLaplaceEvent(self.scale, self.l1_sensitivity) if self.scale else PureEvent(Fraction(0))

    @property
    def variance(self) -> float:
        """The variance of the noise of each sum if all parties send; infinite where nothing is told."""
        if not self.scale:
            return inf if self.l1_sensitivity else 0.0
        return discrete_laplace_variance(self.scale) * self.parties / self._parties.needed

    def accuracy(self, confidence: Number = "0.95", *, shares: int | None = None) -> int | float:
        """A half-width t with P(|answer − exact sum| ≤ t) ≥ confidence, for each sum.

        The smallest for as many shares as are needed, and for up to four times as many at scales up to 2,000; otherwise
        at most about twice that. A sum that wraps is not covered.

        Args:
            confidence: Between 0 and 1, both excluded.
            shares: How many there are. If not given, all; then it holds for fewer as well.

        Raises:
            ParameterError: An argument is out of range.
        """
        part = self._part(shares)
        if not self.scale:
            return inf if self.l1_sensitivity else 0
        return polya_difference_half_width(part, self.scale, confidence)

    def covers(self, change: int, numbers: int = 1) -> bool:
        """Whether the promise holds for a unit that may change each of so many numbers by so much."""
        return change * numbers <= self.l1_sensitivity

    def _perturb(self, values: Integers, part: Fraction) -> Integers:
        """Adds ⌊part⌋ differences of Pólya integers of shape 1, which are discrete Laplace, and one of the rest."""
        if not self.scale:
            return np.zeros(len(values), dtype=np.int64) if self.l1_sensitivity else values
        for _ in range(int(part)):
            values = add(values, discrete_laplace(self.scale, len(values)))
        rest = part - int(part)
        if rest:
            values = add(values, polya(rest, self.scale, len(values)))
            values = add(values, -polya(rest, self.scale, len(values)))
        return values
