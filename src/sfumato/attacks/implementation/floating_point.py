"""Attacks on the low bits of noisy answers: what the proofs of real-valued noise leave out.

The support attack [Mir12] asks whether a mechanism could have given this very output for another exact answer; a
floating-point sampler leaves holes between its values, and the holes move with the answer. The precision attack
[HDHSH22] asks on how fine a grid an output lies, which rounding ties to the exact answer. Both see outputs only.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, inf, isfinite, log, log1p, ulp
from typing import Any, Final, TypeAlias

import numpy as np

from sfumato.errors import ParameterError
from sfumato.numeric.arguments import listed, of_kind, real, result, whole
from sfumato.numeric.rationals import Number, nonnegative
from sfumato.numeric.rounding import float_up

Release: TypeAlias = Callable[[int], Sequence[Any]]
"""Called with a count, it gives the answers of as many independent runs on one database: numbers of any type."""

_CHANCE: Final = 1e-9  # of calling a set one-sided that only happened to be
_FEWEST_CELLS: Final = 2  # of releases that are told apart
_MOST_SAMPLES: Final = 10_000_000
_LARGEST_DENOMINATOR: Final = 1 << 12
_DOUBLES: Final = 1 << 53  # how many values a uniform double has
_NEIGHBORING_STEPS: Final = 4  # how far rounding in exp and log may displace the step that is sought


@dataclass(frozen=True, slots=True)
class Distinction:
    """The result of an attack that compares two samples of outputs.

    Attributes:
        fraction: The share of all outputs that give away which database they came from.
        readings: The readings that distinguish the samples, in words; empty if none does.
    """

    fraction: float
    readings: tuple[str, ...]


def support_attack(outputs: Sequence[Any], *, reaches: Callable[[Any], bool]) -> float:
    """The fraction of outputs that are impossible on the neighbor.

    Each one proves to whoever sees it that the data is not the neighbor's: no ε allows it, and δ must cover it.

    Args:
        outputs: Answers on one database.
        reaches: Whether the mechanism can give an answer on the neighbor.

    Raises:
        ParameterError: There are no outputs, or the function says something else than True or False.

    Example:
        >>> from_five = lambda output: textbook_laplace_reaches(output, location=5, scale=4)
        >>> support_attack([5 + 4 * log(0.25 + 0.25), 0.1], reaches=from_five)
        0.5

    References:
        [Mir12].
    """
    found = listed(outputs, "outputs")
    if len(found) == 0:
        raise ParameterError("outputs", "an empty sequence", "must hold at least one")
    return sum(not _says(reaches, output) for output in found) / len(found)


def _says(reaches: Callable[[Any], bool], output: Any) -> bool:
    said = result(reaches, "reaches", output)
    return bool(of_kind(said, "reaches(output)", (bool, np.bool_), "True or False"))


def textbook_laplace_reaches(value: float, *, location: float, scale: float) -> bool:
    """Whether the textbook's sampler gives exactly this value for some double u = j/2^53 between 0 and 1.

    It is the inverse transform, location + scale·ln(2u) below ½ and location − scale·ln(2 − 2u) above, each operation
    rounded, as NumPy and most textbooks write it.

    Args:
        value: An output.
        location: The exact answer it might have come from.
        scale: The scale of the noise.

    Raises:
        ParameterError: The scale is not above 0, or infinite, or something is no number.

    Example:
        >>> textbook_laplace_reaches(5 + 4 * log(0.25 + 0.25), location=5, scale=4)
        True
        >>> textbook_laplace_reaches(0.1, location=5, scale=4)
        False

    References:
        [Mir12].
    """
    value, location, scale = real(value, "value"), real(location, "location"), real(scale, "scale")
    if not (isfinite(scale) and scale > 0):
        raise ParameterError("scale", scale, "must be finite and above 0")
    if not (isfinite(value) and isfinite(location)):
        return False
    tail = exp(-abs(value - location) / scale) / 2
    reach = ceil(min(tail * _DOUBLES * ulp(value) / scale, _DOUBLES)) + _NEIGHBORING_STEPS
    if value < location:
        below = range(1, _DOUBLES // 2)
        return _is_reached(lambda u: location + scale * log(u + u), value, tail, reach=reach, steps=below)
    above = range(_DOUBLES // 2, _DOUBLES)
    return _is_reached(lambda u: location - scale * log(2.0 - u - u), value, 1 - tail, reach=reach, steps=above)


def _is_reached(sampler: Callable[[float], float], value: float, nearest: float, *, reach: int, steps: range) -> bool:
    """Whether a sampler, which rises with u = j/2^53, gives this value for some j within `reach` of the nearest."""
    low, high = (min(max(round(nearest * _DOUBLES) + way * reach, steps[0]), steps[-1]) for way in (-1, 1))
    while high - low > 2 * _NEIGHBORING_STEPS:  # many u may give one value where the location is large
        middle = (low + high) // 2
        low, high = (low, middle) if sampler(middle / _DOUBLES) >= value else (middle, high)
    window = range(max(low - _NEIGHBORING_STEPS, steps[0]), min(high + _NEIGHBORING_STEPS, steps[-1]) + 1)
    return any(sampler(j / _DOUBLES) == value for j in window)


def precision_attack(first: Release, second: Release, *, epsilon: Number, samples: int = 10_000) -> Distinction:
    """The fraction of outputs that lie where those of the neighbor never do, beyond what ε and chance explain.

    Outputs are sorted by three readings: their value; their octave and the finest bit they use; and, for quotients, the
    denominator they betray. A set seen on one side alone counts if it was seen often enough for a mechanism with this ε
    to show it on the other side too, except with probability about 1e-9.

    Args:
        first: The mechanism on one database.
        second: The mechanism on its neighbor.
        epsilon: The claimed ε.
        samples: Runs on each, at most ten million; about 21·(1 + e^ε) or more, since with fewer no set could count.

    Raises:
        ParameterError: There are too few samples for this ε or too many, or not as many outputs as were asked for.

    Example:
        >>> exact_quotients = (lambda n: [k / 5 for k in range(n)]), (lambda n: [k / 6 for k in range(n)])
        >>> precision_attack(*exact_quotients, epsilon=1, samples=1000).fraction > 0.5
        True

    References:
        [HDHSH22]; [Mir12] for the values.
    """
    claimed = float_up(nonnegative(epsilon, "epsilon"))
    samples = whole(samples, "samples", least=1, most=_MOST_SAMPLES)
    if _enough(_FEWEST_CELLS, epsilon=claimed) > samples:
        raise ParameterError(
            "samples",
            samples,
            "must be more for this epsilon: even a release without noise would pass; use about 21·(1 + e^ε)",
        )
    sides = _outputs(first, "first", samples), _outputs(second, "second", samples)
    found = {words: _told_apart(sides, reading, epsilon=claimed) for words, reading in _READINGS.items()}
    told = set[tuple[int, int]]().union(*found.values())
    return Distinction(len(told) / sum(map(len, sides)), tuple(words for words, places in found.items() if places))


def _outputs(release: Release, name: str, samples: int) -> list[Any]:
    """Python's numbers: NumPy's have other methods, and other widths."""
    outputs = listed(result(release, name, samples), f"{name}(samples)", of="outputs")
    if len(outputs) != samples:
        raise ParameterError(name, f"{len(outputs):,} outputs", "must return as many outputs as requested")
    return [output.item() if isinstance(output, np.generic) else output for output in outputs]


def _told_apart(
    sides: tuple[list[Any], list[Any]], reading: Callable[[Any], Hashable], *, epsilon: float
) -> set[tuple[int, int]]:
    """Side and place of each output that lies in a one-sided cell."""
    cells = [[reading(output) for output in side] for side in sides]
    found = (_one_sided(cells[side], cells[1 - side], epsilon=epsilon) for side in range(2))
    return {(side, at) for side, places in enumerate(found) for at in places}


def _one_sided(own: Sequence[Hashable], other: Sequence[Hashable], *, epsilon: float) -> set[int]:
    """Which outputs of one side lie in cells that are too common there to be absent from the other by chance.

    Of a outputs in a cell, the neighbor has none with probability at most (1 + e^−ε)^−a.
    """
    counts, absent = Counter(own), set(own) - set(other)
    enough = _enough(len(counts), epsilon=epsilon)
    return {at for at, cell in enumerate(own) if cell in absent and counts[cell] >= enough}


def _enough(cells: int, *, epsilon: float) -> float:
    per_output = log1p(exp(-epsilon))
    return log(cells / _CHANCE) / per_output if per_output > 0 else inf


def _exact(output: Any) -> Fraction | None:
    """The number that an output is; none for text, NaN and infinity."""
    try:
        return Fraction(*output.as_integer_ratio())
    except (AttributeError, TypeError, ValueError, OverflowError):
        return None


def _value(output: Any) -> Hashable:
    if isinstance(output, float):
        return output.hex()  # −0.0 is not 0.0, and NaN is one value
    number = _exact(output)
    return number if number is not None else repr(output)


def _grain(output: Any) -> Hashable:
    """The sign, the octave, and how fine a grid the output needs."""
    number = _exact(output)
    if number is None:
        return repr(output)
    if number == 0:
        return 0
    octave = abs(number.numerator).bit_length() - number.denominator.bit_length()
    coarse = number.numerator & -number.numerator
    return number > 0, octave, number.denominator, coarse


def _denominator(output: Any) -> Hashable:
    """The denominator of a rational, or of a simple one that rounds to this float; 0 if there is none."""
    number = _exact(output)
    if number is None:
        return repr(output)
    if not isinstance(output, float):
        return number.denominator
    simple = number.limit_denominator(_LARGEST_DENOMINATOR)
    return simple.denominator if float(simple) == output else 0


_READINGS: Final[dict[str, Callable[[Any], Hashable]]] = {
    "values": _value,
    "finest bits": _grain,
    "denominators": _denominator,
}
