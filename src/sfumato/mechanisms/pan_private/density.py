"""The share of a universe that was seen, from a state that hides who was: one random bit for each of a sample."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import log, sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import Exact, integers, opened
from sfumato.mechanisms.pan_private.state import PanPrivateState, numbers_of, read_copy
from sfumato.noise.laws.discrete_laplace import discrete_laplace_one
from sfumato.noise.uniform.bernoulli import Booleans, bernoulli
from sfumato.noise.uniform.integers import drawable
from sfumato.noise.uniform.uniform import uniform_one_below
from sfumato.numeric.arguments import of_kind, whole
from sfumato.numeric.distributions import (
    discrete_laplace_half_width,
    discrete_laplace_variance,
    failure_probability,
)
from sfumato.numeric.rationals import Number, open_probability, positive, positive_integer, probability, set_fields
from sfumato.numeric.rounding import exp_bounds
from sfumato.privacy.events import PureEvent
from sfumato.privacy.secret import Secret

_LARGEST_UNIVERSE: Final = 1 << 62
_LARGEST_SAMPLE: Final = 10_000_000
_LARGEST_EPSILON: Final = 64
_BITS: Final = 64


@dataclass(frozen=True, slots=True, init=False)
class PanPrivateDensity:
    """Estimates which share of a universe of items was seen at least once, in a state that hides each item's visits.

    The state has one bit for each item of a random sample. All bits begin at random, true with probability 1 − p, and
    each arrival of an item draws its bit anew, true with probability p = e^v/(1 + e^v), rounded toward ½. The released
    density is ((Σ bits + noise)/sample − ½)/(2p − 1) + ½, with discrete Laplace noise of scale 1/ω, where
    ω = output_share·ε and v = (ε − ω)/(saved_copies + 1).

    A copy holds each bit flipped with probability 1 − p, so that the state itself stays as exact as it was. A state
    that is restored from it flips each once more: what was seen before then weighs (2p − 1)² times as much.

    **Guarantee**: ε-differential privacy, together, of the released density, all saved copies, and one look at the
    memory of the state at a moment that nobody announces. Neighboring streams differ in all arrivals of one item:
    where an item is a person, it is the person that is protected. Two looks at the memory that nobody announces are
    not private. Proof: proofs/mechanisms/pan_private/density.md.

    ==================================  ======================================================
    Edge case                           Behavior
    ==================================  ======================================================
    an item outside the universe        counts for nothing
    an item outside the sample          counts for nothing; its density is estimated by others
    an estimate below 0 or above 1      is released as it is, which leaves it unbiased
    a copy restored twice, or beside    costs more: each state may be looked at, and released
    the state that it was saved from
    after the release                   nothing is counted any more: ParameterError
    ==================================  ======================================================

    Args:
        universe: How many items there are; they are the whole numbers from 0, and which is whose is public.
        epsilon: Above 0, at most 64.
        sample: How many items have a bit, at most 10,000,000; None: all items of the universe.
        saved_copies: How many copies of the state may be saved, from 0.
        output_share: The part of ε for the noise of the release, above 0 and below 1.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> customers = PanPrivateDensity(universe=100_000, epsilon=1).start()
        >>> customers.see(range(0, 50_000))
        >>> customers.see([3, 3, 3])
        >>> round(float(customers.release()), 1)
        0.5

    References:
        [DNPRY10] Section 3, with bits of ½ and ½ + ε/4, at most ε = 1 and one look; streams of [DNPR10].
    """

    universe: int
    epsilon: Fraction
    sample: int
    saved_copies: int
    output_share: Fraction

    def __init__(
        self,
        *,
        universe: int,
        epsilon: Number,
        sample: int | None = None,
        saved_copies: int = 0,
        output_share: Number = "0.25",
    ) -> None:
        most = min(positive_integer(universe, "universe", most=_LARGEST_UNIVERSE), _LARGEST_SAMPLE)
        if sample is None and universe > most:
            raise ParameterError("sample", None, f"must be given, at most {most:,}, for so large a universe")
        if positive(epsilon, "epsilon") > _LARGEST_EPSILON:
            raise ParameterError("epsilon", epsilon, f"must be at most {_LARGEST_EPSILON}")
        set_fields(
            self,
            universe=universe,
            epsilon=positive(epsilon, "epsilon"),
            sample=universe if sample is None else positive_integer(sample, "sample", most=most),
            saved_copies=whole(saved_copies, "saved_copies"),
            output_share=open_probability(output_share, "output_share"),
        )
        drawable(1 / self.output_epsilon, "scale")
        if self.gain < Fraction(1, 1 << _BITS // 2):
            raise ParameterError("epsilon", epsilon, "is too small for so many copies: bits would say nothing")

    @property
    def output_epsilon(self) -> Fraction:
        """ω, for the noise of the release."""
        return self.output_share * self.epsilon

    @property
    def view_epsilon(self) -> Fraction:
        """v, for each look at the state: one at its memory, and one at each copy."""
        return (self.epsilon - self.output_epsilon) / (self.saved_copies + 1)

    @property
    def truth(self) -> Fraction:
        """p, how likely the bit of an item that was seen is true, as that of another is false."""
        odds = _odds(self.view_epsilon)
        return odds / (1 + odds)

    @property
    def gain(self) -> Fraction:
        """2p − 1, by how much an item that was seen raises the probability of its bit."""
        return 2 * self.truth - 1

    @property
    def event(self) -> PureEvent:
        """The event of the whole stream, for accountants."""
        return PureEvent(self.epsilon)

    def start(self) -> "PanPrivateDensityState":
        """The state before anything is seen, with a fresh sample."""
        return PanPrivateDensityState(self, None)

    def restored(self, saved: str) -> "PanPrivateDensityState":
        """The state as a copy has it, after one more flip of each bit; restore each copy once.

        Raises:
            ParameterError: It is no text of `saved`, or of a mechanism with other parameters.
        """
        return PanPrivateDensityState(self, of_kind(saved, "saved", str, "a text that saved() gave"))

    def weight(self, restores: int = 0) -> Fraction:
        """By how much an item that was seen raises the probability of its bit, after so many restores.

        Raises:
            ParameterError: It is no whole number from 0 to `saved_copies`.
        """
        return self.gain ** (2 * whole(restores, "restores", most=self.saved_copies) + 1)

    def stddev(self, density: Number = "0.5", *, restores: int = 0) -> float:
        """The standard deviation of the released density around the true one, known beforehand.

        Args:
            density: The true one, from 0 to 1.
            restores: How often the state was restored from a copy.

        Raises:
            ParameterError: An argument is out of range.
        """
        seen, weight = probability(density, "density"), self.weight(restores)
        unsampled = Fraction(self.universe - self.sample, max(1, self.universe - 1))
        of_sample = seen * (1 - seen) / self.sample * unsampled
        of_bits = (1 - weight**2) / (4 * self.sample) / weight**2
        of_noise = discrete_laplace_variance(1 / self.output_epsilon) / float(self.sample * weight) ** 2
        return sqrt(float(of_sample + of_bits) + of_noise)

    def half_width(self, confidence: Number = "0.95", *, restores: int = 0) -> float:
        """How far the released density lies from the true one at most, with this confidence, whatever it is.

        By Hoeffding's inequality for the bits of the sample, and the distribution of the noise, for half of the
        failures each.

        Raises:
            ParameterError: An argument is out of range.
        """
        failure = failure_probability(confidence) / 2
        of_bits = sqrt(log(2 / failure) * self.sample / 2)
        of_noise = discrete_laplace_half_width(1 / self.output_epsilon, 1 - failure)
        return (of_bits + of_noise) / float(self.sample * self.weight(restores))


class PanPrivateDensityState(PanPrivateState):
    """The bits of a density, made by `PanPrivateDensity.start`, which says what they reveal.

    Example:
        >>> running = PanPrivateDensity(universe=10, epsilon=2, saved_copies=1).start()
        >>> running.see([1, 2])
        >>> copy = running.saved()
        >>> running.remaining_copies, running.restores
        (0, 0)
    """

    __slots__ = ("_bits", "_density", "_flip", "_is_released", "_members", "_restores", "_weight")

    def __init__(self, density: PanPrivateDensity, saved: str | None) -> None:
        """For `PanPrivateDensity`: from the beginning, or from a copy."""
        self._density, self._is_released, self._flip = density, False, 1 - density.truth
        self._members: NDArray[np.int64] | None = None
        if saved is None:
            super().__init__(density.saved_copies)
            self._restores, self._weight = 0, density.weight()
            if density.sample < density.universe:
                self._members = _sample(density.universe, density.sample)
            self._bits = bernoulli(self._flip, density.sample)
            return
        content = read_copy(saved, self._parameters(), most_copies=density.saved_copies)
        super().__init__(content["remaining_copies"])
        self._restores = whole(content.get("restores"), "saved", most=density.saved_copies - 1) + 1
        self._weight = density.weight(self._restores)
        if density.sample < density.universe:
            self._members = np.array(numbers_of(content, "members", density.sample), dtype=np.int64)
        self._bits = self._flipped(np.array(numbers_of(content, "bits", density.sample)) == 1)

    def __repr__(self) -> str:
        return f"PanPrivateDensityState(restores={self._restores}, remaining_copies={self._copies})"

    @property
    def restores(self) -> int:
        """How often the state was restored from a copy, which `stddev` and `half_width` ask for."""
        return self._restores

    def see(self, items: Exact | Secret[Exact]) -> None:
        """Items arrive, as often as they are named.

        Args:
            items: A number, or a vector of numbers; those outside the universe count for nothing.

        Raises:
            ParameterError: They are no whole numbers, or the density is released, whatever they are.
        """
        with self._alone():
            self._refuse_late()
            arrived = opened(items)
            is_many = getattr(arrived, "ndim", 0) or isinstance(arrived, list | tuple | range)
            numbers = integers(arrived if is_many else [arrived])
            inside = numbers[(numbers >= 0) & (numbers < self._density.universe)].astype(np.int64)
            if self._members is None:
                places = inside
            else:
                places = np.searchsorted(self._members, inside)
                places = places[self._members[np.minimum(places, len(self._members) - 1)] == inside]
            self._bits[places] = bernoulli((1 + self._weight) / 2, len(places))

    def release(self) -> Fraction:
        """The noisy density, after which the state counts nothing any more.

        Raises:
            ParameterError: It is released already.
        """
        with self._alone():
            self._refuse_late()
            self._is_released = True
            density = self._density
            true = int(np.count_nonzero(self._bits)) + discrete_laplace_one(1 / density.output_epsilon)
            half = Fraction(1, 2)
            return (Fraction(true, density.sample) - half) / self._weight + half

    def _parameters(self) -> dict[str, Any]:
        density = self._density
        return {
            "kind": "pan-private density",
            "universe": density.universe,
            "epsilon": str(density.epsilon),
            "sample": density.sample,
            "saved_copies": density.saved_copies,
            "output_share": str(density.output_share),
        }

    def _copied(self) -> dict[str, Any]:
        self._refuse_late()
        members = [] if self._members is None else self._members.tolist()
        bits = self._flipped(self._bits).astype(np.int64).tolist()
        return {"restores": self._restores, "members": members, "bits": bits}

    def _flipped(self, bits: Booleans) -> Booleans:
        """Each bit, or its contrary with probability 1 − p."""
        return np.logical_xor(bits, bernoulli(self._flip, len(bits)))

    def _refuse_late(self) -> None:
        if self._is_released:
            raise ParameterError("release", "the density of a stream", "is over; start another one, at its own cost")


@lru_cache(maxsize=64)
def _odds(epsilon: Fraction) -> Fraction:
    """A rational at or below e^ε, within a relative 2^−60, and never below 1."""
    precision = 2 * _BITS + 2 * int(epsilon)
    _, upper = exp_bounds(epsilon, precision)  # at or above 2^precision·e^−ε
    return max(Fraction(1), Fraction((1 << precision + _BITS) // upper, 1 << _BITS))


def _sample(universe: int, size: int) -> NDArray[np.int64]:
    """A uniform set of so many of the numbers below `universe`, in rising order, by Robert Floyd's algorithm."""
    chosen: set[int] = set()
    for last in range(universe - size, universe):
        drawn = uniform_one_below(last + 1)
        chosen.add(last if drawn in chosen else drawn)
    return np.array(sorted(chosen), dtype=np.int64)
