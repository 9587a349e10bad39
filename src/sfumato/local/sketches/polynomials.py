"""Public hash functions of which any three values are hashed independently: polynomials over a prime field.

h(v) = ((a·v² + b·v + c) mod P) mod m with P = 2^61 − 1. Over random a, b and c, three different values below P have
independent uniform residues modulo P [WC81]; taking them modulo m favors some cells by m/2^61 at most.
"""

from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.local.core.domain import Indexes

PRIME: Final = (1 << 61) - 1
_HALF: Final = np.uint64(31)
_LOW: Final = np.uint64((1 << 31) - 1)
_REST: Final = np.uint64(30)
_LOW_REST: Final = np.uint64((1 << 30) - 1)
_EXPONENT: Final = np.uint64(61)
_PRIME: Final = np.uint64(PRIME)
_DIGITS: Final = 16  # bytes of which a coefficient is made: its bias is below 2^-67
_AT_A_TIME: Final = 1 << 18


@lru_cache(maxsize=8)
def coefficients(functions: int) -> NDArray[np.uint64]:
    """Three public coefficients for each function: SHA-256 of its number.

    Example:
        >>> coefficients(2).tolist() == coefficients(3)[:2].tolist()
        True
    """
    rows = []
    for number in range(functions):
        drawn = b"".join(sha256(b"sfumato sketch row %d part %d" % (number, part)).digest() for part in range(2))
        rows.append(
            [int.from_bytes(drawn[start : start + _DIGITS]) % PRIME for start in range(0, 3 * _DIGITS, _DIGITS)]
        )
    made = np.array(rows, dtype=np.uint64)
    made.flags.writeable = False
    return made


def columns_of(rows: NDArray[np.int64], values: Indexes, *, functions: int, columns: int) -> NDArray[np.int64]:
    """The column of each value in the row beside it; of a row of values beside rows in a column, all.

    Args:
        rows: Numbers of functions.
        values: At least 0 and below 2^61 − 1; larger ones are taken modulo that.
        functions: How many there are.
        columns: m, at most 2^32.

    Example:
        >>> columns_of(np.array([0, 1]), np.array([5, 5]), functions=2, columns=1024).tolist()
        [1015, 982]
    """
    held = coefficients(functions)
    points = values.astype(np.uint64) % _PRIME
    found = _modular(_modular(held[rows, 0], points) + held[rows, 1], points) + held[rows, 2]
    cells: NDArray[np.int64] = (_reduced(found) % np.uint64(columns)).astype(np.int64)
    return cells


def row_totals(cells: NDArray[Any], values: Indexes) -> NDArray[np.int64]:
    """For each value, the sum over all rows of what is in its column.

    Args:
        cells: A row for each function.
        values: At least 0.
    """
    functions, columns = cells.shape
    total = np.zeros(len(values), dtype=np.int64)
    some = max(1, _AT_A_TIME // max(1, len(values)))
    for start in range(0, functions, some):
        rows = np.arange(start, min(start + some, functions))[:, None]
        total += cells[rows, columns_of(rows, values, functions=functions, columns=columns)].sum(axis=0)
    return total


def _modular(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The product modulo P of numbers below 2^62 and below P, in words of 64 bits."""
    first = _reduced(first)
    high, low = first >> _HALF, first & _LOW
    other_high, other_low = second >> _HALF, second & _LOW
    middle = high * other_low + low * other_high  # below 2^62
    folded = (middle >> _REST) + ((middle & _LOW_REST) << _HALF)  # middle·2^31, because 2^61 is 1
    return _reduced(_reduced(high * other_high << np.uint64(1)) + _reduced(folded) + _reduced(low * other_low))


def _reduced(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers below 2^64 modulo P."""
    folded = (numbers & _PRIME) + (numbers >> _EXPONENT)
    reduced: NDArray[np.uint64] = np.where(folded >= _PRIME, folded - _PRIME, folded)
    return reduced
