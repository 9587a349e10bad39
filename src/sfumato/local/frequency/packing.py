"""Whole numbers and bits as rows of bytes, most significant first, with no bit to spare that could differ."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.local.core.reports import Payloads

_LONGEST: Final = 8
_ONES: Final = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


def width_of(numbers: int) -> int:
    """How many bytes hold each of the numbers 0 to numbers − 1.

    Example:
        >>> width_of(2), width_of(256), width_of(257)
        (1, 1, 2)
    """
    return max(1, ((numbers - 1).bit_length() + 7) // 8)


def packed_integers(numbers: NDArray[np.integer], width: int) -> Payloads:
    """Each number as so many bytes, most significant first.

    Example:
        >>> packed_integers(np.array([1, 258]), 2).tolist()
        [[0, 1], [1, 2]]
    """
    whole = numbers.astype(">u8").view(np.uint8).reshape(len(numbers), _LONGEST)
    return np.ascontiguousarray(whole[:, _LONGEST - width :])


def integers_of(rows: Payloads) -> NDArray[np.int64]:
    """The numbers that `packed_integers` packed, of up to eight bytes; the top bit of eight is lost to the sign.

    Example:
        >>> integers_of(np.array([[0, 1], [1, 2]], dtype=np.uint8)).tolist()
        [1, 258]
    """
    numbers = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        numbers <<= 8
        numbers |= column
    return numbers


def packed_bits(bits: NDArray[np.bool_]) -> Payloads:
    """Rows of bits, eight to a byte, the first one in the highest place; the last byte ends in zeros.

    Example:
        >>> packed_bits(np.array([[True, False, True]])).tolist()
        [[160]]
    """
    return np.packbits(bits, axis=1)


def have_no_bits_beyond(rows: Payloads, bits: int) -> NDArray[np.bool_]:
    """Whether the places after the last bit are zeros, as they are in every canonical payload."""
    spare = -bits % 8
    return (rows[:, -1] & ((1 << spare) - 1)) == 0 if spare else np.ones(len(rows), dtype=np.bool_)


def ones_of(rows: Payloads) -> NDArray[np.int64]:
    """How many ones each row has.

    Example:
        >>> ones_of(np.array([[160], [128]], dtype=np.uint8)).tolist()
        [2, 1]
    """
    ones: NDArray[np.int64] = _ONES[rows].sum(axis=1, dtype=np.int64)
    return ones


def column_sums(rows: Payloads, bits: int) -> NDArray[np.int64]:
    """How many rows have a 1 at each of the places.

    Example:
        >>> column_sums(np.array([[160], [128]], dtype=np.uint8), 3).tolist()
        [2, 0, 1]
    """
    most = 255  # ones that a byte can count
    total = np.zeros(8 * rows.shape[1], dtype=np.int64)
    for start in range(0, len(rows), most):
        ones = np.unpackbits(rows[start : start + most], axis=1)
        total += np.add.reduce(ones, axis=0, dtype=np.uint8)
    return total[:bits]
