"""Exact coins: true with a probability that is a rational, exp(−x), or a number known by its bounds [CKS20].

One uniform number U in [0, 1) decides each coin: true if U < p. Its first 16 bits decide nearly all coins of a rational
p. For e^(−x), its first 64 bits are compared with a float, which settles all but about one coin in 2^39; for those U is
extended by fresh bits and e^(−x) enclosed by integers until they part. The float may be wrong by up to `MARGIN`, so it
never decides what it cannot see.
"""

from collections.abc import Callable
from fractions import Fraction
from math import exp
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.noise import entropy
from sfumato.noise.uniform.integers import Integers
from sfumato.noise.uniform.uniform import size_of
from sfumato.numeric.rounding import exp_bounds

Booleans: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Words: TypeAlias = NDArray[np.uint64]
Halfwords: TypeAlias = NDArray[np.uint16]
MARGIN: Final = 2.0**-40
"""Above the error of the float e^(−x): 2^−42 from the exponent, some 2^−50 from exp, 2^−53 from cutting U short."""
WORD: Final = 64
HALFWORD: Final = 16

_ULP: Final = 2.0**-53
_LARGEST_FLOAT: Final = 1 << 1000
_EXTRA: Final = 32  # bits of the enclosure beyond those of U: undecided again once in 2^32
_BITS: Final = 16  # of U that decide all but one coin in 2^16


def bernoulli(probability: Fraction, size: int) -> Booleans:
    """`size` independent coins, each true with exactly `probability`.

    Args:
        probability: A rational between 0 and 1, both included.
        size: How many, 0 or more.

    Raises:
        ParameterError: The probability or the size is out of range.

    Example:
        >>> bernoulli(Fraction(1), 3).tolist(), bernoulli(Fraction(0), 2).tolist()
        ([True, True, True], [False, False])
    """
    if not 0 <= probability <= 1:
        raise ParameterError("probability", probability, "must lie between 0 and 1")
    scaled = probability * (1 << _BITS)
    threshold, rest = int(scaled), scaled - int(scaled)
    if rest == 0:
        return _leading(size) < threshold
    return _coins(threshold, size, lambda count: bernoulli(rest, count))


def bernoulli_within(bounds: Callable[[int], tuple[int, int]], size: int) -> Booleans:
    """`size` independent coins, each true with the one probability p that the bounds enclose, exactly.

    Args:
        bounds: Of a precision, integers around p·2^precision that draw together as the precision grows; p must not be
            a multiple of 2^−16, nor so near one that no precision in reach tells them apart (but 0).
        size: How many, 0 or more.

    Raises:
        ParameterError: The size is negative.

    Example:
        >>> from sfumato.numeric.rounding import exp_bounds
        >>> len(bernoulli_within(lambda bits: exp_bounds(Fraction(1), bits), 5))
        5
    """
    precision = 2 * _BITS
    lower, upper = bounds(precision)
    while lower >> precision - _BITS != upper >> precision - _BITS:
        precision += _BITS
        lower, upper = bounds(precision)
    threshold = lower >> precision - _BITS
    return _coins(threshold, size, lambda count: [below(threshold, _BITS, bounds) for _ in range(count)])


def exp_coins(exponents: Floats, exact: Callable[[int], Fraction], *, uniforms: Words | None = None) -> Booleans:
    """One coin for each exponent x, true with probability e^(−x), exactly.

    Args:
        exponents: Each x ≥ 0 as a float, near enough that e^(−x) is right to 2^−42; a relative error of 2^−41 is.
        exact: The exact x of a position.
        uniforms: The first 64 bits of each U; fresh ones if not given.

    Example:
        >>> exp_coins(np.array([0.0, 1e6]), lambda i: [Fraction(0), Fraction(10**6)][i]).tolist()
        [True, False]
    """
    words = entropy.random_words(len(exponents)) if uniforms is None else uniforms
    differences = np.exp(-exponents) - (words >> np.uint64(11)).view(np.int64) * _ULP
    coins: Booleans = differences > 0
    for i in np.flatnonzero(np.abs(differences) <= MARGIN).tolist():
        coins[i] = exact_coin(exact(i), int(words[i]), WORD)
    return coins


def exp_coin(exponent: float, exact: Callable[[], Fraction]) -> bool:
    """One coin of `exp_coins`."""
    word = int.from_bytes(entropy.random_bytes(8))
    difference = exp(-exponent) - (word >> 11) * _ULP
    return difference > 0 if abs(difference) > MARGIN else exact_coin(exact(), word, WORD)


def rational_coins(numerators: Integers, denominator: int, *, leading: Halfwords | None = None) -> Booleans:
    """One coin for each numerator ≥ 0, true with probability exp(−numerator/denominator), exactly.

    Args:
        numerators: int64, or Python integers of any size.
        denominator: A whole number above 0.
        leading: The first 16 bits of each U; fresh ones if not given.
    """
    uniforms = None if leading is None else extended(leading)
    exponents = exponents_in_floats(numerators, denominator)
    return exp_coins(exponents, lambda i: Fraction(int(numerators[i]), denominator), uniforms=uniforms)


def exact_coin(exponent: Fraction, prefix: int, bits: int) -> bool:
    """Whether U < e^(−exponent), for the U whose first `bits` bits are `prefix`."""
    return below(prefix, bits, lambda precision: exp_bounds(exponent, precision))


def below(prefix: int, bits: int, bounds: Callable[[int], tuple[int, int]]) -> bool:
    """Whether U < p, for the U whose first `bits` bits are `prefix` and a p known by integer bounds at any precision.

    Args:
        prefix: The first bits of U as a number.
        bits: How many they are.
        bounds: Of a precision, integers around p·2^precision that draw together as the precision grows.
    """
    while True:
        lower, upper = bounds(bits + _EXTRA)
        if (prefix + 1) << _EXTRA <= lower:
            return True
        if prefix << _EXTRA >= upper:
            return False
        prefix, bits = prefix << WORD | int.from_bytes(entropy.random_bytes(8)), bits + WORD


def exponents_in_floats(numerators: Integers, denominator: int) -> Floats:
    """numerators/denominator, right to a relative 2^−52; 1000 for some above, where e^(−x) is below every margin."""
    if numerators.dtype == object or denominator > _LARGEST_FLOAT:
        most = 1000 * denominator
        floats = [1000.0 if number > most else number / denominator for number in numerators.tolist()]
        return np.array(floats, dtype=np.float64)
    return numerators / float(denominator)


def extended(leading: NDArray[Any]) -> Words:
    """64 bits of each U that begins with the 16 bits given: fresh ones follow."""
    rest = entropy.random_words(len(leading)) >> np.uint64(HALFWORD)
    return leading.astype(np.uint64) << np.uint64(WORD - HALFWORD) | rest


def _leading(size: int) -> NDArray[np.uint16]:
    """The first bits of `size` uniform numbers."""
    return entropy.random_halfwords(size_of(size))


def _coins(threshold: int, size: int, decide: Callable[[int], Any]) -> Booleans:
    """Coins settled by the first bits of U, but for those that equal the threshold's: `decide` tosses these."""
    leading = _leading(size)
    coins: Booleans = leading < threshold
    ties = np.flatnonzero(leading == threshold)
    if len(ties):
        coins[ties] = decide(len(ties))
    return coins
