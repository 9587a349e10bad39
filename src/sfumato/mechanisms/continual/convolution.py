"""Exact convolutions of whole numbers by Fourier transforms of floats: short pieces, whose errors are below a half.

A transform of N numbers in doubles errs by less than ‖x‖·‖y‖·16·log₂(N)·2^−53 in each term of a convolution [BPZ07],
which is above what pocketfft's radices add up to. Numbers are split into balanced digits so short that this is below
1/8, and every term is then the nearest whole number.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

Integers = NDArray[Any]

_MOST: Final = 1 << 62
_MOST_DIGITS: Final = 20
_ERROR: Final = 16 * 2.0**-53
_ALLOWED: Final = 1 / 8


def convolved(factors: Integers, columns: Integers) -> Integers:
    """The exact Σ_k factors[k]·columns[t − k], for each column.

    Args:
        factors: int64, at most 2^62 in size.
        columns: Rows × columns of whole numbers: int64, or Python integers.

    Returns:
        len(factors) + len(columns) − 1 rows; Python integers where one might not fit an int64.

    Example:
        >>> convolved(np.array([1, -2, 3]), np.array([[1], [10**9]])).ravel().tolist()
        [1, 999999998, -1999999997, 3000000000]
    """
    terms = len(factors) + len(columns) - 1
    if columns.dtype == object:
        return np.stack([np.convolve(factors.astype(object), column) for column in columns.T], axis=1)
    most = int(np.abs(factors).max()) * int(np.abs(columns).max()) * min(len(factors), len(columns))
    length = next_fast_len(terms)
    bits = _digit_bits(length, min(len(factors), len(columns)))
    first, second = _digits(factors[:, np.newaxis], bits), _digits(columns, bits)
    of_first = [rfft(digit.astype(np.float64), length, axis=0) for digit in first]
    of_second = [rfft(digit.astype(np.float64), length, axis=0) for digit in second]
    total = np.zeros((terms, columns.shape[1]), dtype=np.int64 if most < _MOST else object)
    for weight in range(len(first) + len(second) - 1):
        pairs = [(i, weight - i) for i in range(len(first)) if 0 <= weight - i < len(second)]
        for i, j in pairs:
            part = np.rint(irfft(of_first[i] * of_second[j], length, axis=0)[:terms]).astype(np.int64)
            total += part.astype(total.dtype) << bits * weight
    return total


def _digit_bits(length: int, shorter: int) -> int:
    """Bits of a digit with which ‖x‖·‖y‖ ≤ 4^(bits − 1)·√(length·shorter) keeps the error small."""
    for bits in range(_MOST_DIGITS, 1, -1):
        if 4.0 ** (bits - 1) * float(length * shorter) ** 0.5 * _ERROR * np.log2(length + 2) < _ALLOWED:
            return bits
    return 1


def _digits(values: Integers, bits: int) -> list[Integers]:
    """Balanced digits, from the lowest on: each between −2^(bits − 1) and 2^(bits − 1)."""
    found, rest, half = [], values, 1 << bits - 1
    while True:
        low = ((rest + half) & (1 << bits) - 1) - half
        found.append(low)
        rest = (rest - low) >> bits
        if not rest.any():
            return found
