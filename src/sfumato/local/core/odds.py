"""Exact probabilities for a local ε: all are made of one rational just below e^ε."""

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Final

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, positive
from sfumato.numeric.rounding import exp_bounds, log_up
from sfumato.privacy.events import FiniteEvent

SMALLEST_EPSILON: Final = Fraction(1, 10**6)
LARGEST_EPSILON: Final = Fraction(100)
_SHORTENED: Final = 1 - Fraction(1, 1 << 40)
_BITS: Final = 64
_OCTAVES: Final = Fraction(3, 2)  # above 1/ln 2


def local_epsilon(epsilon: Number) -> Fraction:
    """The ε of one report, exactly as written.

    Raises:
        ParameterError: It is not from 10^−6 to 100. Below, reports reveal nothing; above, they reveal all.
    """
    exact = positive(epsilon, "epsilon")
    if not SMALLEST_EPSILON <= exact <= LARGEST_EPSILON:
        raise ParameterError("epsilon", epsilon, "must be from 0.000001 to 100")
    return exact


@lru_cache(maxsize=256)
def odds(epsilon: Fraction) -> Fraction:
    """⌊2^64·e^x⌋/2^64 with x = ε·(1 − 2^−40): the rational from which every probability of a protocol is made.

    It is the same on every machine. What it lacks of e^ε leaves room for accountants, who round logarithms up.

    **Guarantee**: it is below e^ε, and so is e to its logarithm as `log_up` rounds it: probabilities whose largest
    ratio is this number have ε-differential privacy, and accountants charge no more. Proof: proofs/local/core/odds.md.

    Args:
        epsilon: Above 0; below 10^−9 few digits of it are left.

    Example:
        >>> 0 < 2.718281828459045 - odds(Fraction(1)) < 1e-11
        True
    """
    exponent = epsilon * _SHORTENED
    precision = 2 * _BITS + int(_OCTAVES * exponent)
    while True:
        lower, upper = exp_bounds(exponent, precision)  # around 2^precision·e^−x
        least, most = ((1 << precision + _BITS) // bound for bound in (upper, lower))
        if least == most:
            return Fraction(least, 1 << _BITS)
        precision += _BITS


def event_of(outcomes: Iterable[tuple[Fraction, Fraction]]) -> FiniteEvent:
    """The event of a report whose outcomes have these probabilities under two values that are as unlike as any.

    Outcomes of one ratio are added up, because they reveal the same; those that never occur are left out.

    Args:
        outcomes: For each outcome, its probability under the one value and under the other.

    Example:
        >>> third = Fraction(1, 3)
        >>> event_of([(third, third), (third / 2, third / 2), (third / 2, third / 2), (third, third)])
        FiniteEvent(p=(Fraction(1, 1),), q=(Fraction(1, 1),))
    """
    by_ratio: dict[Fraction, list[Fraction]] = defaultdict(lambda: [Fraction(0), Fraction(0)])
    for first, second in outcomes:
        if first == second == 0:
            continue
        both = by_ratio[first / (first + second)]
        both[0] += first
        both[1] += second
    return FiniteEvent(tuple(p for p, _ in by_ratio.values()), tuple(q for _, q in by_ratio.values()))


def epsilon_of(event: FiniteEvent) -> Fraction:
    """The logarithm of the largest ratio of two probabilities of one outcome, rounded up.

    Example:
        >>> epsilon_of(FiniteEvent((Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 2), Fraction(1, 2))))
        Fraction(0, 1)
    """
    return log_up(max(max(p / q, q / p) for p, q in zip(event.p, event.q, strict=True)))
