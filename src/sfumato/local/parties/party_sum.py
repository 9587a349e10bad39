"""A sum of several parties' numbers as a protocol: who takes part, who may fail, how much noise each of them adds."""

import json
from dataclasses import dataclass, fields
from fractions import Fraction
from hashlib import sha256
from math import floor, inf
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.mechanisms.base import opened, stated_for_vectors
from sfumato.mechanisms.distributed.shares import DistributedNoise
from sfumato.mechanisms.lattice import is_missing, is_vector
from sfumato.noise.uniform.uniform import uniform_one_below
from sfumato.numeric.arguments import of_kind, whole
from sfumato.numeric.distributions import failure_probability
from sfumato.numeric.rationals import Number, open_probability, positive_integer, set_fields
from sfumato.privacy.events import Event

Ring: TypeAlias = NDArray[np.uint64]
"""Numbers modulo 2^b: what a party sends, and what adds up."""
LARGEST_MODULUS_BITS: Final = 63
_LARGEST_PARTIES: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PartyEstimate:
    """What is published: noisy sums of the numbers of the parties that sent a share.

    Attributes:
        totals: The sums, one for each number of a party's vector.
        half_width: Each interval is the sum ± this.
        stddev: The standard deviation of the noise of so many shares, exactly that which is drawn.
        confidence: How often each interval holds the sum of the parties that sent. Numbers are clamped before.
        shares: How many parties sent one.
        parties: How many were to send one; nothing is estimated of those that did not.
        event: What the sums reveal of one unit, for accountants.
    """

    totals: tuple[int, ...]
    half_width: int
    stddev: float
    confidence: float
    shares: int
    parties: int
    event: Event

    @property
    def total(self) -> int:
        """The sum, if each party has one number.

        Raises:
            ParameterError: Each has several.
        """
        if len(self.totals) != 1:
            raise ParameterError("total", f"{len(self.totals)} sums", "must be read as totals: there are several")
        return self.totals[0]

    @property
    def intervals(self) -> tuple[tuple[int, int], ...]:
        """The lower and the upper end of each interval."""
        return tuple((total - self.half_width, total + self.half_width) for total in self.totals)

    def rows(self) -> list[dict[str, Any]]:
        """One row for each sum, for tables."""
        ends = zip(self.totals, self.intervals, strict=True)
        return [{"total": total, "low": low, "high": high, "shares": self.shares} for total, (low, high) in ends]


@dataclass(frozen=True, slots=True, init=False)
class PartySum:
    """What all parties agree on before they add up their numbers, none of which anybody else may see.

    Each party clamps its whole numbers to public bounds, adds its share of the noise, and reduces the result modulo
    2^b. Any h = parties − max_dropouts honest shares make the noise that is promised. `max_dropouts` of the noise
    counts both those who send nothing and those who collude, so that of n parties at most d = max_dropouts −
    max_colluders may be missing: with fewer than n − d shares no sum is published.

    **Guarantee**: whoever sees the published sums, and what up to `max_colluders` parties know, learns of one privacy
    unit of the other parties what `event` says, if at least n − d parties sent their share, all but the colluders
    follow the protocol, and nobody sees anything of their shares but the sum. `SecureSum` and `TrustedSum` provide
    the last, each under its own assumption. Proof: proofs/local/parties/party_sum.md.

    ==================================  ==========================================================
    Edge case                           Behavior
    ==================================  ==========================================================
    a number beyond a bound, ±∞         counts as the bound
    3.7                                 counts as 4: the nearest whole number, halves up
    None, NaN, a text                   counts as a uniformly random whole number between the bounds
    a value of another length           ParameterError: lengths are public
    fewer than n − d shares             ParameterError: no estimate
    a sum that no honest shares reach   ParameterError; an honest run ends so with `wrap_probability` at most
    ==================================  ==========================================================

    Args:
        noise: `DistributedLaplace`, `DistributedSkellam` or `DistributedGaussian`: the number of parties, the
            sensitivity and the cost. The sensitivity is that of the sum of rounded and clamped numbers. Whether a party
            has a number at all may depend on one unit only if that is the whole party: see `protects_whole_parties`.
        low: The lower bound of each number of a party, a whole number.
        high: The upper bound, above it.
        numbers: How many numbers each party adds: 1, or the length of its vector.
        max_colluders: How many parties may tell others what they know, the aggregator among them, at most the noise's
            `max_dropouts`. Each party knows its own share, so 1 is needed against a single curious party.
        wrap_probability: The largest probability with which the noise of honest parties takes any of the sums out of
            the ring, or past what is plausible.

    Raises:
        ParameterError: A parameter is out of range, or the noise has a modulus that is too small.

    Example:
        >>> from sfumato.mechanisms import DistributedLaplace
        >>> noise = DistributedLaplace(parties=20, l1_sensitivity=1, epsilon="0.5", max_dropouts=4)
        >>> cases = PartySum(noise, low=0, high=500)
        >>> cases.honest, cases.least_shares, cases.modulus_bits
        (16, 17, 15)
    """

    noise: DistributedNoise
    low: int
    high: int
    numbers: int
    max_colluders: int
    wrap_probability: Fraction
    modulus_bits: int
    """b: the sum is modulo 2^b."""

    def __init__(
        self,
        noise: DistributedNoise,
        *,
        low: int,
        high: int,
        numbers: int = 1,
        max_colluders: int = 1,
        wrap_probability: Number = "1e-9",
    ) -> None:
        of_kind(noise, "noise", DistributedNoise, "noise in shares, such as DistributedLaplace")
        if type(low) is not int or type(high) is not int or low >= high:
            raise ParameterError("high", high, "must be a whole number above low, which is one too")
        positive_integer(noise.parties, "parties", most=_LARGEST_PARTIES)
        colluders = whole(max_colluders, "max_colluders")
        if colluders > noise.max_dropouts:
            requirement = "must be at most the noise's max_dropouts, which counts colluders and those who send nothing"
            raise ParameterError("max_colluders", max_colluders, requirement)
        length = positive_integer(numbers, "numbers")
        stated_for_vectors(getattr(noise, "l0_sensitivity", length), length)
        set_fields(
            self,
            noise=noise,
            low=low,
            high=high,
            numbers=length,
            max_colluders=colluders,
            wrap_probability=open_probability(wrap_probability, "wrap_probability"),
        )
        set_fields(self, modulus_bits=self._modulus_bits())

    # Who takes part.

    @property
    def parties(self) -> int:
        """N."""
        return self.noise.parties

    @property
    def honest(self) -> int:
        """h: how many honest shares make the noise that is promised."""
        return self.noise.parties - self.noise.max_dropouts

    @property
    def least_shares(self) -> int:
        """N − d: with fewer shares no sum is published, as h of them must be honest whichever parties collude."""
        return self.honest + self.max_colluders

    # What is promised.

    @property
    def event(self) -> Event:
        """What the published sums reveal of one unit, for accountants."""
        return self.noise.event

    @property
    def protects_whole_parties(self) -> bool:
        """Whether the noise hides all that a party sends, and not only one person among its numbers."""
        return self.noise.covers(self.high - self.low, self.numbers)

    def surplus(self, shares: int) -> Fraction:
        """The variance of the noise of so many shares over that of the h that are promised, as more are more noise.

        Example:
            >>> from sfumato.mechanisms import DistributedLaplace
            >>> noise = DistributedLaplace(parties=20, l1_sensitivity=1, epsilon="0.5", max_dropouts=4)
            >>> PartySum(noise, low=0, high=500).surplus(20)
            Fraction(5, 4)
        """
        return Fraction(whole(shares, "shares", least=1, most=self.parties), self.honest)

    @property
    def trust(self) -> tuple[str, ...]:
        """What the guarantee rests on, in words."""
        whom = "all that a party sends" if self.protects_whole_parties else "one privacy unit among a party's numbers"
        return (
            f"It protects {whom} from whoever sees the sums and knows what {self.max_colluders} of the parties know.",
            f"At least {self.honest} parties add honest noise, drawn afresh, and keep it to themselves.",
            f"No sum of fewer than {self.least_shares} shares is published.",
            "Which parties fail depends neither on their numbers nor on the noise.",
            "Nobody sees anything of the shares but their sum: a share by itself hides next to nothing.",
        )

    # What a party does.

    def share(self, value: Any) -> Ring:
        """One party's numbers with its share of the noise, modulo 2^b; drawn afresh at each call.

        Nobody may see it: hand it to a `TrustedSum`, or to a protocol of secure aggregation.

        Raises:
            ParameterError: The value has not as many numbers as were agreed.
        """
        held = opened(value)
        given = held if is_vector(held) else [held]
        if len(given) != self.numbers:
            raise ParameterError("value", f"{len(given)} numbers", f"must be {self.numbers}, as was agreed")
        if isinstance(given, np.ndarray) and not isinstance(given, np.ma.MaskedArray) and given.dtype.kind == "i":
            clamped: Any = np.clip(given.astype(np.int64), self.low, self.high)
        else:
            clamped = [self._clamped(number) for number in given]
        noisy = np.asarray(self.noise.share(clamped))
        return (noisy & (1 << self.modulus_bits) - 1).astype(np.uint64)

    # What the sum says.

    def add(self, first: Ring, second: Ring) -> Ring:
        """The sum of two, modulo 2^b."""
        return (first + second) & np.uint64((1 << self.modulus_bits) - 1)

    def subtract(self, first: Ring, second: Ring) -> Ring:
        """The first without the second, modulo 2^b."""
        return (first - second) & np.uint64((1 << self.modulus_bits) - 1)

    def checked(self, numbers: Any, name: str) -> Ring:
        """Numbers of the ring, as many as were agreed.

        Raises:
            ParameterError: They are something else. The error shows none of them.
        """
        array = np.asarray(numbers)
        if array.dtype != np.uint64 or array.shape != (self.numbers,) or (array >> np.uint64(self.modulus_bits)).any():
            requirement = f"must be {self.numbers} whole numbers from 0 to 2^{self.modulus_bits} − 1, as uint64"
            raise ParameterError(name, "other numbers", requirement)
        return array

    def estimate(self, total: Any, *, shares: int, confidence: Number = "0.95") -> PartyEstimate:
        """What the sum of so many shares says of the sum of the numbers behind them.

        Args:
            total: The sum of the shares modulo 2^b, as `share` writes them.
            shares: How many parties' shares are in it.
            confidence: How often each interval holds the sum of the parties that sent.

        Raises:
            ParameterError: There are too few shares or too many, or no honest ones add up to this.
        """
        if not self.least_shares <= whole(shares, "shares") <= self.parties:
            requirement = f"must be {self.least_shares} to {self.parties}: fewer do not make the noise that is promised"
            raise ParameterError("shares", shares, requirement)
        half = 1 << self.modulus_bits - 1
        totals = tuple((int(number) + half) % (2 * half) - half for number in self.checked(total, "total"))
        reach = self._reach(shares)
        if not all(shares * self.low - reach <= number <= shares * self.high + reach for number in totals):
            requirement = "must be what honest shares can add up to; a share was wrong, so that the sum is worthless"
            raise ParameterError("total", "an impossible sum", requirement)
        return PartyEstimate(
            totals=totals,
            half_width=int(self.noise.accuracy(confidence, shares=shares)),
            stddev=self.noise.variance_of(shares) ** 0.5,
            confidence=float(1 - failure_probability(confidence)),
            shares=shares,
            parties=self.parties,
            event=self.event,
        )

    # What all agree on.

    @property
    def parameters(self) -> dict[str, Any]:
        """All public parameters as JSON; rationals as text."""
        noise = {"kind": type(self.noise).__name__} | _written(self.noise)
        return _written(self) | {"noise": noise}

    @property
    def fingerprint(self) -> bytes:
        """The SHA-256 of the parameters: parties that agreed on something else cannot add up together."""
        text = json.dumps(self.parameters, sort_keys=True, separators=(",", ":"))
        return sha256(b"sfumato-parties-1\n" + text.encode()).digest()

    def _clamped(self, number: Any) -> int:
        """The nearest whole number between the bounds; a random one for what is no number, so nothing is an error."""
        held = number.as_py() if hasattr(number, "as_py") else number
        try:
            if not is_missing(held) and not isinstance(held, str | bytes):
                held = held.item() if isinstance(held, np.generic | np.ndarray) and held.size == 1 else held
                if held in (inf, -inf):
                    return self.high if held > 0 else self.low
                return min(max(floor(Fraction(held) + Fraction(1, 2)), self.low), self.high)
        except (TypeError, ValueError, ArithmeticError):  # a NaN too
            pass
        return self.low + uniform_one_below(self.high - self.low + 1)

    def _reach(self, shares: int) -> int:
        """How far the noise of so many shares goes, but for `wrap_probability`."""
        reach = self.noise.accuracy(1 - self.wrap_probability / self.numbers, shares=shares)
        if reach == inf:
            raise ParameterError("epsilon", 0, "must be above 0: with 0 the sum says nothing")
        return int(reach)

    def _modulus_bits(self) -> int:
        largest = self.parties * max(abs(self.low), abs(self.high)) + self._reach(self.parties)
        bits, given = 1 + largest.bit_length(), self.noise.modulus_bits
        if bits > LARGEST_MODULUS_BITS:
            raise ParameterError("high", self.high, f"must leave room for the sum in {LARGEST_MODULUS_BITS} bits")
        if given is not None and not bits <= given <= LARGEST_MODULUS_BITS:
            requirement = f"must be None, or {bits} to {LARGEST_MODULUS_BITS}, so that the sum does not wrap"
            raise ParameterError("modulus_bits", given, requirement)
        return given or bits


def _written(made: Any) -> dict[str, Any]:
    """The fields of a frozen value."""
    values = {field.name: getattr(made, field.name) for field in fields(made)}
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in values.items()}
