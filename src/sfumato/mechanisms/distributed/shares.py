"""Sums to which each party adds its share of the noise, so that nobody ever holds the exact sum."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import sqrt
from typing import Any, cast

import numpy as np

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import Answer, Exact, integers, opened
from sfumato.mechanisms.lattice import is_vector
from sfumato.noise.uniform.integers import Integers, add, narrow, python_integers
from sfumato.numeric.arguments import whole
from sfumato.numeric.rationals import Number, positive_integer
from sfumato.privacy.events import Event
from sfumato.privacy.secret import Secret

_LARGEST_MODULUS_BITS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Parties:
    """Who adds up: how many parties, how many of them may fail, and the modulus of their arithmetic, if it has one.

    The noise of any `needed` parties is enough; that of more is more, and what is added to a private sum independently
    of the data keeps it private. A party that shows its own noise to others, or lies about it, counts as one that
    failed. Which parties fail must not depend on the data or on the noise.

    Args:
        parties: How many hold a contribution, 1 or more.
        max_dropouts: How many may send nothing, or collude, below `parties`.
        modulus_bits: None for integers of any size; b for integers modulo 2^b, as protocols of secure aggregation
            use, where a sum in [−2^(b−1), 2^(b−1)) comes back as it is and one beyond it wraps.

    Raises:
        ParameterError: A parameter is out of range.

    Example:
        >>> Parties(parties=3, modulus_bits=8).combine([250, 251, 2])
        -9

    References:
        [DKMMN06].
    """

    parties: int
    max_dropouts: int = 0
    modulus_bits: int | None = None

    def __post_init__(self) -> None:
        positive_integer(self.parties, "parties")
        if type(self.max_dropouts) is not int or not 0 <= self.max_dropouts < self.parties:
            raise ParameterError("max_dropouts", self.max_dropouts, "must be a whole number from 0 to parties − 1")
        if (
            self.modulus_bits is not None
            and positive_integer(self.modulus_bits, "modulus_bits") > _LARGEST_MODULUS_BITS
        ):
            raise ParameterError("modulus_bits", self.modulus_bits, f"must be at most {_LARGEST_MODULUS_BITS}")

    @property
    def needed(self) -> int:
        """How many parties must send their share, each with honest noise."""
        return self.parties - self.max_dropouts

    def share(self, contribution: Exact | Secret[Exact], perturb: Callable[[Integers], Integers]) -> Answer:
        """One party's integer or vector of integers with its share of the noise, reduced by the modulus."""
        value = opened(contribution)
        if is_vector(value):
            return self._reduced(perturb(integers(value)))
        return int(self._reduced(perturb(integers([value])))[0])

    def combine(self, shares: Sequence[Answer]) -> Answer:
        """The sum of the shares that arrived, as integers around 0.

        Args:
            shares: What `share` returned: integers, or int64 or object arrays of integers. What did not arrive is left
                out; nothing stands for it.

        Raises:
            ParameterError: One is no share, they are fewer than `needed` or more than `parties`, or not all of one
                length.
        """
        vectors = [_integers_of(share) for share in shares]  # before they are counted: each must bring its noise
        if not self.needed <= len(vectors) <= self.parties:
            requirement = f"must be {self.needed} to {self.parties} for the guarantee to hold"
            raise ParameterError("shares", f"{len(vectors)} shares", requirement)
        if len({(np.ndim(share), len(vector)) for share, vector in zip(shares, vectors, strict=True)}) > 1:
            raise ParameterError("shares", "vectors of different lengths", "must all have one length")
        answer = self._centered(reduce(add, vectors))
        return answer if np.ndim(shares[0]) else int(answer[0])

    def _reduced(self, values: Integers) -> Integers:
        return values if self.modulus_bits is None else narrow(values.astype(object) % (1 << self.modulus_bits))

    def _centered(self, values: Integers) -> Integers:
        if self.modulus_bits is None:
            return values
        half = 1 << self.modulus_bits - 1
        return narrow((values.astype(object) + half) % (2 * half) - half)


class DistributedNoise(ABC):
    """Noise that many parties make together: each adds a share of it to its own integers, and nobody knows it all."""

    __slots__ = ()
    parties: int
    max_dropouts: int
    modulus_bits: int | None

    @property
    @abstractmethod
    def event(self) -> Event:
        """The event of the combined sum, for accountants."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of the noise of each sum if all parties send."""

    @property
    def stddev(self) -> float:
        """The standard deviation of the noise on each sum if all parties send."""
        return sqrt(self.variance)

    def variance_of(self, shares: int) -> float:
        """The variance of the noise of each sum of so many shares: each adds as much as any other.

        Raises:
            ParameterError: There are not 1 to `parties`.
        """
        return self.variance * float(self._part(shares) / self._part(self.parties))

    @abstractmethod
    def accuracy(self, confidence: Number = "0.95", *, shares: int | None = None) -> int | float:
        """A half-width t with P(|answer − exact sum| ≤ t) ≥ confidence, for each sum."""

    @abstractmethod
    def covers(self, change: int, numbers: int = 1) -> bool:
        """Whether the promise holds for a unit that may change each of so many numbers by so much."""

    def share(self, contribution: Exact | Secret[Exact] = 0) -> Answer:
        """One party's integer, or vector of integers, with its share of the noise; drawn afresh at each call.

        Raises:
            ParameterError: The contribution holds something that is no integer.
        """
        parties = self._parties
        return parties.share(contribution, lambda values: self._perturb(values, Fraction(1, parties.needed)))

    def combine(self, shares: Sequence[Answer]) -> Answer:
        """The private sum of the shares that arrived; leave out those that did not.

        Raises:
            ParameterError: One is no share, such as None or NaN, or they are fewer than parties − max_dropouts or more
                than the parties.
        """
        return self._parties.combine(shares)

    def release(self, exact: Exact | Secret[Exact]) -> Answer:
        """What `combine` answers if all parties send their shares and the exact sums are these."""
        together = Parties(parties=1, modulus_bits=self.modulus_bits)
        part = Fraction(self.parties, self._parties.needed)
        return together.combine([together.share(exact, lambda values: self._perturb(values, part))])

    def _part(self, shares: int | None) -> Fraction:
        """So many shares of noise as a part of the noise that the needed parties make together."""
        sent = self.parties if shares is None else whole(shares, "shares", least=1, most=self.parties)
        return Fraction(sent, self._parties.needed)

    @property
    def _parties(self) -> Parties:
        return Parties(parties=self.parties, max_dropouts=self.max_dropouts, modulus_bits=self.modulus_bits)

    @abstractmethod
    def _perturb(self, values: Integers, part: Fraction) -> Integers:
        """Values with `part` times the noise that the needed parties make together."""


def _integers_of(share: Any) -> Integers:
    """The numbers of one share, none of them missing: a share that counts as 0 would count as one with noise."""
    if type(share) in {int, np.int64}:
        return narrow(python_integers([int(share)]))
    is_plain = type(share) is np.ndarray and share.ndim == 1
    if is_plain and (share.dtype == np.int64 or (share.dtype == object and {*map(type, share)} <= {int})):
        return cast("Integers", share)
    requirement = "must be integers, or one-dimensional int64 or object arrays of integers; leave out missing ones"
    raise ParameterError("shares", f"one of type {type(share).__name__}", requirement)
