"""Attacks on the low bits of noisy answers: what the proofs of real-valued noise leave out.

The support attack [Mir12] asks whether a mechanism could have given this very output for another exact answer; a
floating-point sampler leaves holes between its values, and the holes move with the answer. The precision attack
[HDHSH22] asks on how fine a grid an output lies, which rounding ties to the exact answer. Both see outputs only.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, isfinite, log, log1p, ulp
from typing import Any, Final, TypeAlias

from sfumato.errors import ParameterError
from sfumato.numeric.rationals import Number, nonnegative

Release: TypeAlias = Callable[[int], Sequence[Any]]
"""Called with a count, it gives the answers of as many independent runs on one database: numbers of any type."""

_CHANCE: Final = 1e-9  # of calling a set one-sided that only happened to be
_LARGEST_DENOMINATOR: Final = 1 << 12
_DOUBLES: Final = 1 << 53  # how many values a uniform double has
_HALF: Final = 0.5
_NEIGHBORING_STEPS: Final = 4  # how far rounding in exp and log may displace the step that is sought


@dataclass(frozen=True, slots=True)
class Distinction:
    """What an attack makes of two samples.

    Attributes:
        fraction: The share of all outputs that give away which database they came from.
        readings: How they were told apart, in words; empty if they were not.
    """

    fraction: float
    readings: tuple[str, ...]


def support_attack(outputs: Sequence[Any], *, reaches: Callable[[Any], bool]) -> float:
    """The fraction of outputs that are impossible on the neighbour.

    Each one proves to whoever sees it that the data is not the neighbour's: no ε allows it, and δ must cover it.

    Args:
        outputs: Answers on one database.
        reaches: Whether the mechanism can give an answer on the neighbour.

    Raises:
        ParameterError: There are no outputs.

    Example:
        >>> support_attack([2, 4, 5], reaches=lambda output: output % 2 == 0)
        0.3333333333333333

    References:
        [Mir12].
    """
    if len(outputs) == 0:
        raise ParameterError("outputs", "an empty sequence", "must hold at least one")
    return sum(not reaches(output) for output in outputs) / len(outputs)


def textbook_laplace_reaches(value: float, *, location: float, scale: float) -> bool:
    """Whether the textbook's sampler gives exactly this value for some double u = j/2^53 between 0 and 1.

    It is the inverse transform, location + scale·ln(2u) below ½ and location − scale·ln(2 − 2u) above, each operation
    rounded, as NumPy and most textbooks write it.

    Args:
        value: An output.
        location: The exact answer it might have come from.
        scale: The scale of the noise.

    Example:
        >>> textbook_laplace_reaches(5 + 4 * log(0.25 + 0.25), location=5, scale=4)
        True
        >>> textbook_laplace_reaches(0.1, location=5, scale=4)
        False

    References:
        [Mir12].
    """
    tail = exp(-abs(value - location) / scale) / 2
    reach = ceil(tail * _DOUBLES * ulp(value) / scale) + _NEIGHBORING_STEPS
    if value < location:
        return any(location + scale * log(u + u) == value for u in _doubles_around(tail, reach=reach) if 0 < u < _HALF)
    return any(
        location - scale * log(2.0 - u - u) == value for u in _doubles_around(1 - tail, reach=reach) if _HALF <= u < 1
    )


def _doubles_around(u: float, *, reach: int) -> Iterator[float]:
    nearest = round(u * _DOUBLES)
    return (j / _DOUBLES for j in range(nearest - reach, nearest + reach + 1))


def precision_attack(first: Release, second: Release, *, epsilon: Number, samples: int = 10_000) -> Distinction:
    """The fraction of outputs that lie where those of the neighbour never do, beyond what ε and chance explain.

    Outputs are sorted by three readings: their value; their octave and the finest bit they use; and, for quotients, the
    denominator they betray. A set seen on one side alone counts if it was seen often enough for a mechanism with this ε
    to show it on the other side too, but for a chance of about 1e-9.

    Args:
        first: The mechanism on one database.
        second: The mechanism on its neighbour.
        epsilon: What the mechanism claims.
        samples: Runs on each.

    Example:
        >>> exact_quotients = (lambda n: [k / 5 for k in range(n)]), (lambda n: [k / 6 for k in range(n)])
        >>> precision_attack(*exact_quotients, epsilon=1, samples=1000).fraction > 0.5
        True

    References:
        [HDHSH22]; [Mir12] for the values.
    """
    sides = first(samples), second(samples)
    claimed = float(nonnegative(epsilon, "epsilon"))
    found = {words: _told_apart(sides, reading, epsilon=claimed) for words, reading in _READINGS.items()}
    told = set[tuple[int, int]]().union(*found.values())
    return Distinction(len(told) / sum(map(len, sides)), tuple(words for words, places in found.items() if places))


def _told_apart(
    sides: tuple[Sequence[Any], Sequence[Any]], reading: Callable[[Any], Hashable], *, epsilon: float
) -> set[tuple[int, int]]:
    """Side and place of each output that lies in a one-sided cell."""
    cells = [[reading(output) for output in side] for side in sides]
    found = (_one_sided(cells[side], cells[1 - side], epsilon=epsilon) for side in range(2))
    return {(side, at) for side, places in enumerate(found) for at in places}


def _one_sided(own: Sequence[Hashable], other: Sequence[Hashable], *, epsilon: float) -> set[int]:
    """Which outputs of one side lie in cells that are too common there to be absent from the other by chance.

    Of a outputs in a cell, the neighbour has none with a chance of at most (1 + e^−ε)^−a.
    """
    counts, absent = Counter(own), set(own) - set(other)
    enough = log(len(counts) / _CHANCE) / log1p(exp(-epsilon))
    return {at for at, cell in enumerate(own) if cell in absent and counts[cell] >= enough}


def _value(output: Any) -> Hashable:
    return float(output).hex() if isinstance(output, float) else output  # −0.0 is not 0.0, and NaN is one value


def _grain(output: Any) -> Hashable:
    """The sign, the octave, and how fine a grid the output needs."""
    if not isfinite(output):
        return str(output)
    number = Fraction(output)
    if number == 0:
        return 0
    octave = abs(number.numerator).bit_length() - number.denominator.bit_length()
    coarse = number.numerator & -number.numerator
    return number > 0, octave, number.denominator, coarse


def _denominator(output: Any) -> Hashable:
    """The denominator of a rational, or of a simple one that rounds to this float; 0 if there is none."""
    if not isfinite(output):
        return str(output)
    if not isinstance(output, float):
        return Fraction(output).denominator
    simple = Fraction(output).limit_denominator(_LARGEST_DENOMINATOR)
    return simple.denominator if float(simple) == output else 0


_READINGS: Final[dict[str, Callable[[Any], Hashable]]] = {
    "values": _value,
    "finest bits": _grain,
    "denominators": _denominator,
}
