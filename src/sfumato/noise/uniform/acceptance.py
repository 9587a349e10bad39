"""Coins of probability exp(−x): floats decide where they can be trusted, integers where they cannot [CKS20].

One uniform number U in [0, 1) decides each coin: true if U < e^(−x). Its first 64 bits, compared with a float of
e^(−x), settle all but about one coin in 2^39; for those U is extended by fresh bits and e^(−x) enclosed by integers
until they part. The float may be wrong by up to `MARGIN`, so it never decides what it cannot see.
"""

from collections.abc import Callable
from fractions import Fraction
from math import exp
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.noise import entropy
from sfumato.noise.uniform.integers import Integers
from sfumato.numeric.enclosures import exp_bounds

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


def exponents_in_floats(numerators: Integers, denominator: int) -> Floats:
    """numerators/denominator, right to a relative 2^−52, and 1000 for some of those above 1000."""
    if numerators.dtype == object or denominator > _LARGEST_FLOAT:
        return np.array([_as_float(number, denominator) for number in numerators.tolist()], dtype=np.float64)
    return numerators / float(denominator)


def extended(leading: NDArray[Any]) -> Words:
    """64 bits of each U that begins with the 16 bits given: fresh ones follow."""
    rest = entropy.random_words(len(leading)) >> np.uint64(HALFWORD)
    return leading.astype(np.uint64) << np.uint64(WORD - HALFWORD) | rest


def _as_float(numerator: int, denominator: int) -> float:
    """An exponent as a float; beyond 1000 as 1000, where e^(−x) is below every margin."""
    return 1000.0 if numerator > 1000 * denominator else numerator / denominator
