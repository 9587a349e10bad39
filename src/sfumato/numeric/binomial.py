"""Binomial distributions to a certified relative error, for any number of trials: masses, tails and limits.

One mass in every block is worked out to 50 digits by Stirling's series; its neighbors follow by ratios.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from sfumato.numeric.rounding import deflated

BLOCK: Final = 4096
"""The longest run of masses that follow from one another: 4 roundings each, a relative 2e-12 in all."""

MASS_ERROR: Final = 1e-11
"""Above the relative error of a mass, and of sums of some 10⁷ products of masses with exact weights."""

SUBNORMAL: Final = Fraction(1, 10**290)
"""Below it floats, and steps made of them, no longer keep their relative precision."""

_CONTEXT: Final = Context(prec=50, Emin=MIN_EMIN, Emax=MAX_EMAX)
_LOG_SQRT_TWO_PI: Final = Decimal("0.918938533204672741780329736405617639861397473637783412817151540483")
_STIRLING: Final = ((1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156), (-3617, 122400))
_STIRLING_STARTS: Final = 1024  # from here the first term left out, 0.18/n^17, is below 1e-51
_REACH: Final = 24  # no more than e^(-2·24) of the mass lies further than √(24·trials) below the mean [Hoe63]
_CERTAIN: Final = 1000  # expected successes: without any with e^-1000
_ALMOST_ONE: Final = 1 - 2**-53


@dataclass(frozen=True, slots=True)
class Binomial:
    """The number of successes in `trials`, each with probability e^x/(1 + e^x), where x is `log_odds`.

    Example:
        >>> Binomial(4, Fraction(0)).masses(0, 4).tolist()
        [0.0625, 0.25, 0.375, 0.25, 0.0625]
    """

    trials: int
    log_odds: Fraction

    @property
    def mode(self) -> int:
        """The most likely number, or its neighbor."""
        with localcontext(_CONTEXT):
            failure = _logs(self.log_odds).log_failure.exp()
            return min(self.trials, int((self.trials + 1) * (1 - failure)))

    @property
    def lowest(self) -> int:
        """Below it lies less than 1e-20 of the mass [Hoe63]."""
        return max(0, self.mode - math.isqrt(_REACH * self.trials) - 2)

    def log_mass(self, successes: int) -> Decimal:
        """The logarithm ln Pr[X = successes], to an absolute 1e-30 for up to 10^15 trials.

        Example:
            >>> round(Binomial(2, Fraction(0)).log_mass(1).exp(), 20)
            Decimal('0.50000000000000000000')
        """
        logs, failures = _logs(self.log_odds), self.trials - successes
        with localcontext(_CONTEXT):
            ways = _log_factorial(self.trials) - _log_factorial(successes) - _log_factorial(failures)
            return ways + successes * logs.log_success + failures * logs.log_failure

    def ratio(self, successes: int) -> float:
        """Pr[X = successes + 1]/Pr[X = successes]; it falls in the number of successes."""
        return (self.trials - successes) / (successes + 1) * _logs(self.log_odds).odds

    def masses(self, first: int, last: int) -> NDArray[np.float64]:
        """Pr[X = i] for first ≤ i ≤ last, each within a relative `MASS_ERROR`, or 1e-300 of what it is."""
        return np.concatenate([masses for _, masses in self.blocks(first, last)])

    def blocks(self, first: int, last: int) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """The same in runs of at most `BLOCK`, each with the number it starts from."""
        for start in range(first, last + 1, BLOCK):
            yield start, self._block(start, min(last, start + BLOCK - 1))

    def _block(self, first: int, last: int) -> NDArray[np.float64]:
        """From the largest mass outward, so that no product overflows."""
        anchor = min(max(self.mode, first), last)
        logs = _logs(self.log_odds)
        rising = np.arange(anchor, last, dtype=np.float64)
        above = np.cumprod((self.trials - rising) / (rising + 1) * logs.odds) if rising.size else rising
        falling = np.arange(anchor, first, -1, dtype=np.float64)
        below = np.cumprod(falling / (self.trials - falling + 1) * logs.inverse_odds) if falling.size else falling
        with localcontext(_CONTEXT):
            peak = float(self.log_mass(anchor).exp())
        masses: NDArray[np.float64] = peak * np.concatenate([below[::-1], np.ones(1), above])
        return masses


def any_success(trials: Iterable[tuple[Fraction, int]]) -> float:
    """The probability 1 − Π(1 − pᵢ)^nᵢ that one at least of independent trials succeeds, to a relative 1e-14.

    Edge cases: where Σ nᵢpᵢ is below `SUBNORMAL` it is only right to about 1e-323; the sum itself is then the better
    bound.

    Example:
        >>> any_success([(Fraction(1, 2), 2), (Fraction(1, 10**20), 1)])
        0.75
    """
    expected = [(probability, probability * count) for probability, count in trials]
    if sum(mean for _, mean in expected) > _CERTAIN:
        return 1.0
    return -math.expm1(math.fsum(float(mean) * _log_failure_per_success(p) for p, mean in expected))


def _log_failure_per_success(probability: Fraction) -> float:
    """The quotient ln(1 − p)/p."""
    nearest = min(float(probability), _ALMOST_ONE)
    return math.log1p(-nearest) / nearest if nearest else -1.0


@dataclass(frozen=True, slots=True)
class _Logs:
    log_success: Decimal
    log_failure: Decimal
    odds: float
    inverse_odds: float


@lru_cache(maxsize=4096)
def _logs(log_odds: Fraction) -> _Logs:
    with localcontext(_CONTEXT):
        exponent = Decimal(log_odds.numerator) / Decimal(log_odds.denominator)
        odds, inverse = exponent.exp(), (-exponent).exp()
        log_success = -(1 + inverse).ln()
        return _Logs(log_success, log_success - exponent, float(odds), float(inverse))


@lru_cache(maxsize=4096)
def _log_factorial(number: int) -> Decimal:
    """The logarithm ln n!, by Stirling's series for large n; its error is below its first term left out."""
    with localcontext(_CONTEXT):
        if number < _STIRLING_STARTS:
            return Decimal(math.factorial(number)).ln()
        n = Decimal(number)
        total, power = (n + Decimal("0.5")) * n.ln() - n + _LOG_SQRT_TWO_PI, 1 / n
        for numerator, denominator in _STIRLING:
            total += power * numerator / denominator
            power /= n * n
        return total


def lower_limit(events: int, runs: int, *, significance: float) -> float:
    """The smallest probability that gives so many events or more with a chance above `significance`.

    Example:
        >>> round(lower_limit(5, 5, significance=0.05), 3)
        0.549
    """
    if events == 0:
        return 0.0
    return deflated(float(betaincinv(events, runs - events + 1, significance)))


def upper_limit(events: int, runs: int, *, significance: float) -> float:
    """The largest probability that gives so few events or fewer with a chance above `significance`.

    Example:
        >>> round(upper_limit(0, 5, significance=0.05), 3)
        0.451
    """
    return 1 - lower_limit(runs - events, runs, significance=significance)
