"""Which bound a sample gets: Gaussian noise is integrated, everything else is expanded."""

from dataclasses import dataclass
from fractions import Fraction

from sfumato.accounting.core.tally import Tally
from sfumato.accounting.renyi.bound import RenyiBound
from sfumato.accounting.renyi.gaussian_samples import exchanged_gaussian_bound, sampled_gaussian_bound
from sfumato.accounting.renyi.sampling import exchanged_bound, sampled_bound
from sfumato.numeric.rationals import sqrt_up
from sfumato.privacy.events import GaussianEvent


@dataclass(frozen=True, slots=True)
class Inside:
    """What is done to a sample: the events, and their bound."""

    tally: Tally
    bound: RenyiBound

    @property
    def distance(self) -> Fraction | None:
        """Of two means in standard deviations, if all noise is Gaussian: √ Σ (Δ/σ)²."""
        square = Fraction(0)
        for event, count in self.tally.counts:
            if not isinstance(event, GaussianEvent):
                return None
            square += count / event.noise_multiplier**2
        return sqrt_up(square)


def sampled(probability: Fraction, inside: Inside) -> RenyiBound:
    """A unit that is in the sample, or not at all."""
    if probability == 1:
        return inside.bound
    distance = inside.distance
    if distance is None:
        return sampled_bound(probability, inside.bound)
    return sampled_gaussian_bound(probability, inside.bound, distance=distance)


def exchanged(probability: Fraction, near: Inside, far: RenyiBound) -> RenyiBound:
    """A unit that shows one of two values if it is in the sample; `near` is of each of them against no unit."""
    if probability == 1:
        return far
    distance = near.distance
    if distance is None:
        return exchanged_bound(probability, near.bound, far)
    return exchanged_gaussian_bound(probability, far, distance=distance)
