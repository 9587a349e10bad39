"""Numbers and bits go into bytes and come back; sums of bits are right beyond what a byte counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.local.frequency.packing import (
    column_sums,
    have_no_bits_beyond,
    integers_of,
    packed_bits,
    packed_integers,
    width_of,
)


@given(st.lists(st.integers(0, 2**63 - 1), max_size=20))
def test_numbers_come_back(numbers):
    array = np.array(numbers, dtype=np.int64)
    width = width_of(max(numbers, default=0) + 1)
    packed = packed_integers(array, width)
    assert packed.shape == (len(numbers), width)
    assert integers_of(packed).tolist() == numbers
    assert [int.from_bytes(row.tobytes()) for row in packed] == numbers


@pytest.mark.parametrize("bits", [1, 7, 8, 9, 64, 65])
def test_bits_come_back_and_are_summed(bits):
    rows = np.random.default_rng(1).random((1000, bits)) < 0.9
    packed = packed_bits(rows)
    assert packed.shape == (1000, -(-bits // 8))
    assert (column_sums(packed, bits) == rows.sum(axis=0)).all()
    assert have_no_bits_beyond(packed, bits).all()
    if bits % 8:
        packed[3, -1] |= 1
        assert np.flatnonzero(~have_no_bits_beyond(packed, bits)).tolist() == [3]


def test_there_may_be_no_rows():
    assert column_sums(np.empty((0, 2), dtype=np.uint8), 9).tolist() == [0] * 9
    assert integers_of(np.empty((0, 2), dtype=np.uint8)).tolist() == []
