"""Skellam noise that many parties make together: like a discrete Gaussian's, but its shares are of its own kind."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.accounting.gaussian.skellam import skellam_mean
from sfumato.errors import ParameterError
from sfumato.mechanisms.base import stated_for_vectors, stated_numbers
from sfumato.mechanisms.distributed.shares import DistributedNoise
from sfumato.noise.laws.poisson import skellam
from sfumato.noise.uniform.integers import Integers, add_noise
from sfumato.numeric.rationals import Number, nonnegative, open_probability, set_fields
from sfumato.numeric.skellam import LARGEST_MEAN, skellam_half_width
from sfumato.privacy.events import ApproxEvent, PureEvent


@dataclass(frozen=True, slots=True, init=False)
class DistributedSkellam(DistributedNoise):
    """Each of n parties adds a share of the noise to its integers, so that the sum has Skellam noise.

    A share is the difference of two Poisson integers of mean `mean`/m, where m = n − max_dropouts. Those of m parties
    add up to exactly the difference of two Poisson integers of `mean`, the smallest for which that distribution has (ε,
    δ); those of more parties to a little more.

    **Guarantee**: the combined sum is (ε, δ)-differentially private for the neighboring relation of the sensitivities,
    if at least m parties add their share honestly and keep it to themselves. A single share hides next to nothing: it
    may be seen only by a protocol that reveals nothing but the sum. Proof: proofs/mechanisms/distributed/skellam.md.

    ==================================  ================================  =============  ===========
    Edge case                           Answer                            Accuracy       Event
    ==================================  ================================  =============  ===========
    linf_sensitivity = 0                the exact sum                     0              PureEvent(0)
    epsilon = 0                         with noise: δ alone allows it
    delta = 0                           ParameterError when constructed
    fewer shares than m                 ParameterError when combined
    mean·n/m above 2^28                 ParameterError when constructed
    ==================================  ================================  =============  ===========

    Args:
        parties: n, 1 or more.
        linf_sensitivity: The most by which one unit changes each sum it moves: a whole number, 0 or more.
        epsilon: The privacy parameter of one release, 0 or more.
        delta: Above 0 and below 1; far below one over the number of people.
        l0_sensitivity: The most sums of a vector that one unit changes, each noised for ε and δ over so many; must be
            stated for vectors.
        max_dropouts: How many parties may send nothing, or share what they know of the noise; below n.
        modulus_bits: None, or b for sums modulo 2^b, as in `Parties`.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> votes = DistributedSkellam(parties=100, linf_sensitivity=1, epsilon=1, delta="1e-6", max_dropouts=10)
        >>> isinstance(votes.combine([votes.share(1) for _ in range(95)]), int), votes.accuracy(0.95)
        (True, 8)

    References:
        [DKMMN06] for the idea; [AKL21] for this distribution.
    """

    parties: int
    linf_sensitivity: int
    epsilon: Fraction
    delta: Fraction
    l0_sensitivity: int | None
    max_dropouts: int
    modulus_bits: int | None
    mean: Fraction
    """Of each of the two Poisson integers whose difference is the noise of m parties; 0 where none is drawn."""

    def __init__(
        self,
        *,
        parties: int,
        linf_sensitivity: int,
        epsilon: Number,
        delta: Number,
        l0_sensitivity: int | None = None,
        max_dropouts: int = 0,
        modulus_bits: int | None = None,
    ) -> None:
        if type(linf_sensitivity) is not int or linf_sensitivity < 0:
            raise ParameterError("linf_sensitivity", linf_sensitivity, "must be a whole number, 0 or more")
        set_fields(
            self,
            parties=parties,
            linf_sensitivity=linf_sensitivity,
            epsilon=nonnegative(epsilon, "epsilon"),
            delta=open_probability(delta, "delta"),
            l0_sensitivity=stated_numbers(l0_sensitivity),
            max_dropouts=max_dropouts,
            modulus_bits=modulus_bits,
        )
        needed = self._parties.needed
        each, mean = self.l0_sensitivity or 1, Fraction(0)
        if linf_sensitivity:
            share = {"epsilon": self.epsilon / each, "delta": self.delta / each}
            mean = skellam_mean(linf_sensitivity=linf_sensitivity, **share)
        set_fields(self, mean=mean)
        if mean * parties > LARGEST_MEAN * needed:
            requirement = "makes the noise of all parties larger than can be accounted for; expect fewer dropouts"
            raise ParameterError("max_dropouts", max_dropouts, requirement)

    @property
    def event(self) -> ApproxEvent | PureEvent:
        """The event of the combined sum, for accountants."""
        return ApproxEvent(self.epsilon, self.delta) if self.mean else PureEvent(Fraction(0))

    @property
    def variance(self) -> float:
        """The variance of the noise of each sum if all parties send."""
        return float(2 * self.mean * self._part(self.parties))

    def accuracy(self, confidence: Number = "0.95", *, shares: int | None = None) -> int:
        """The smallest t with P(|answer − exact sum| ≤ t) ≥ confidence, or a little more; not for a sum that wraps.

        Args:
            confidence: Between 0 and 1, both excluded.
            shares: How many there are. If not given, all; then it holds for fewer as well.

        Raises:
            ParameterError: An argument is out of range.
        """
        part = self._part(shares)
        return skellam_half_width(self.mean * part, confidence) if self.mean else 0

    def covers(self, change: int, numbers: int = 1) -> bool:
        """Whether the promise holds for a unit that may change each of so many numbers by so much."""
        return change == 0 or (change <= self.linf_sensitivity and numbers <= (self.l0_sensitivity or 1))

    def _perturb(self, values: Integers, part: Fraction) -> Integers:
        stated_for_vectors(self.l0_sensitivity, len(values))
        return add_noise(values, skellam(self.mean * part, len(values))) if self.mean else values
